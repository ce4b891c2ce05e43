"""Pictures of generalization by matching: the graph of a small heterogeneous release, and ranges of Mondrian and near groups."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

import sfumato
from benchmarks._svg import card, upright, write
from sfumato.papers.heterogeneous.costs import Costs
from sfumato.papers.heterogeneous.scheme import Choices, Records, heterogeneous_records
from sfumato.privacy import LDiversity
from sfumato.randomness import SeededRandomness
from sfumato.table.column import Kind
from sfumato.table.generators import census
from sfumato.utility import gcp

PEOPLE = (
    ("Ann", 37, 44, "asthma"),
    ("Ben", 40, 34, "asthma"),
    ("Cora", 48, 42, "asthma"),
    ("Dan", 38, 38, "flu"),
    ("Eva", 56, 32, "flu"),
    ("Finn", 64, 28, "flu"),
    ("Gwen", 46, 26, "gout"),
    ("Hugo", 49, 37, "gout"),
    ("Iris", 54, 36, "gout"),
)
COLOUR = {"asthma": 3, "flu": 1, "gout": 2}
Group = npt.NDArray[np.int64]


@dataclass(frozen=True)
class _Plan:
    """People as places, and the group of each."""

    title: str
    places: npt.NDArray[np.float64]
    group: Group


def draw_pictures(directory: Path) -> list[Path]:
    """Write both pictures and return their paths."""
    return [draw_graph(directory / "matching.svg"), draw_ranges(directory / "near-groups.svg")]


def draw_graph(path: Path) -> Path:
    """Write who is linked with whom among nine people in three buckets, and whose value each record carries."""
    wide, high, top, step = 900, 596, 140, 44
    left, right = 330, 570
    records = _nine_records()
    at = [top + step * row + 14 * (row // 3) for row in range(len(PEOPLE))]
    title = "Nine people, three buckets: every record is linked with one person of each bucket"
    note = (
        f"ℓ-diversity, ℓ = 3 · each link carries with probability 1/3 · after this draw {_repeated(records)} meet a value twice"
    )
    parts = card(wide, high, title, note)
    parts += [_head(left, "people: age, hours a week, diagnosis", "end"), _head(right, "published records", "start")]
    for bucket, first in enumerate(range(0, len(PEOPLE), 3)):
        shape = f'x="28" y="{at[first] - 24}" width="{left - 10}" height="{2 * step + 48}" rx="8"'
        parts.append(f'<rect {shape} class="s{COLOUR[PEOPLE[first][3]]}" fill-opacity="0.09"/>')
        parts.append(f'<text x="42" y="{at[first + 1] + 4}" font-size="12.5" class="soft">bucket {bucket + 1}</text>')
    thin, thick = [], []
    for r, own in enumerate(records.own.tolist()):
        for row in records.matches[records.start[r] : records.start[r + 1]].tolist():
            bend = f"M{left},{at[row]} C{left + 90},{at[row]} {right - 90},{at[own]} {right},{at[own]}"
            if row == records.carried[r]:
                thick.append(f'<path d="{bend}" fill="none" class="l{COLOUR[PEOPLE[row][3]]}" stroke-width="3"/>')
            else:
                thin.append(f'<path d="{bend}" fill="none" class="axis" stroke-width="1.1" stroke-opacity="0.6"/>')
    parts += [*thin, *thick]
    for row, (name, age, hours, value) in enumerate(PEOPLE):
        parts.append(f'<circle cx="{left}" cy="{at[row]}" r="6.5" class="s{COLOUR[value]}"/>')
        text = f'{name}, {age}, {hours} h · <tspan class="s{COLOUR[value]}" font-weight="600">{value}</tspan>'
        parts.append(f'<text x="{left - 16}" y="{at[row] + 5}" font-size="14" text-anchor="end" class="ink">{text}</text>')
    for r, own in enumerate(records.own.tolist()):
        parts += _record(records, r, right, at[own])
    return write(path, [*parts, *_legend(left - 172, high - 24)])


def _nine_records() -> Records:
    """Return the records that the scheme makes of the nine people."""
    names = ("age", "hours", "diagnosis")
    frame = pa.table({name: [person[1 + k] for person in PEOPLE] for k, name in enumerate(names)})
    table = sfumato.Table.from_frame(frame, sfumato.Schema(quasi=names[:2], sensitive=names[2:]))
    bounds = LDiversity(3).bounds(table.sensitive.histogram())
    costs = Costs.of(table.quasi)
    made = heterogeneous_records(table.quasi, table.sensitive.codes, bounds, costs, Choices(), random=SeededRandomness(4))
    return made.records


def _repeated(records: Records) -> str:
    """Return the names of those for whom two of the linked records carry the same value."""
    record_of = np.repeat(np.arange(len(records.own)), np.diff(records.start))
    names = []
    for row, person in enumerate(PEOPLE):
        carried = [PEOPLE[int(records.carried[r])][3] for r in record_of[records.matches == row]]
        if len(set(carried)) < len(carried):
            names.append(person[0])
    return " and ".join(names)


def _head(px: float, text: str, anchor: str) -> str:
    return f'<text x="{px}" y="98" font-size="13" text-anchor="{anchor}" class="soft">{escape(text)}</text>'


def _record(records: Records, r: int, px: float, py: float) -> list[str]:
    linked = [PEOPLE[row] for row in records.matches[records.start[r] : records.start[r + 1]].tolist()]
    value = PEOPLE[int(records.carried[r])][3]
    ages, hours = [person[1] for person in linked], [person[2] for person in linked]
    ranges = f"{min(ages)}–{max(ages)}, {min(hours)}–{max(hours)} h"
    text = f'{ranges} · <tspan class="s{COLOUR[value]}" font-weight="600">{value}</tspan>'
    return [
        f'<rect x="{px - 6}" y="{py - 6}" width="12" height="12" rx="2" class="s{COLOUR[value]}"/>',
        f'<text x="{px + 16}" y="{py + 5}" font-size="14" class="ink">{text}</text>',
    ]


def _legend(px: float, py: float) -> list[str]:
    return [
        f'<path d="M{px},{py - 4} h34" class="axis" stroke-width="1.4"/>',
        f'<text x="{px + 42}" y="{py}" font-size="12.5" class="soft">linked: within the record’s ranges</text>',
        f'<path d="M{px + 282},{py - 4} h34" class="l3" stroke-width="3"/>',
        f'<text x="{px + 324}" y="{py}" font-size="12.5" class="soft">the link whose diagnosis the record carries</text>',
    ]


def draw_ranges(path: Path) -> Path:
    """Write the ranges of Mondrian's groups beside those of near groups, for the same sixty people."""
    wide, high, left, top, bottom, gap = 900, 540, 60, 132, 60, 32
    width, height = (wide - left - 28 - gap) / 2, high - top - bottom
    title = "The same sixty people, the same bound: ranges before and after"
    note = "people of the census, known by age and salary class · no belief in an occupation above 1/5"
    parts = card(wide, high, title, note)
    for k, plan in enumerate(_plans()):
        parts.append(f'<g transform="translate({left + k * (width + gap):.1f},{top})">')
        parts += _drawn(plan, width, height)
        parts.append(
            f'<text x="{width / 2:.1f}" y="{height + 42}" font-size="13" text-anchor="middle" class="ink">age</text></g>'
        )
    return write(path, [*parts, upright(32, top + height / 2, "salary class")])


def _plans() -> list[_Plan]:
    kinds: dict[str, Kind] = {"occupation": "categorical"}
    schema = sfumato.Schema(quasi=["age", "salary"], sensitive=["occupation"], types=kinds)
    table = sfumato.Table.from_frame(census(60, 1).select(["age", "salary", "occupation"]), schema)
    needed = LDiversity(5, against="reader")
    plans = []
    methods = {"Mondrian": sfumato.Mondrian(form="buckets"), "Near groups": sfumato.NearGroups(form="buckets")}
    for name, method in methods.items():
        release: Any = method.run(table, needed, random=1).release
        places = np.stack([np.asarray(column.values)[column.codes] for column in release.quasi], axis=1).astype(float)
        groups = len(np.unique(release.bucket))
        plans.append(_Plan(f"{name}: {groups} groups, GCP {gcp(release).value:.3f}", places, release.bucket))
    return plans


def _drawn(plan: _Plan, width: float, height: float) -> list[str]:
    """Return the rectangles of the groups, and everybody joined with the middle of her group."""
    low, far = plan.places.min(axis=0) - 2, plan.places.max(axis=0) + 2
    here = (plan.places - low) / (far - low) * (width, -height) + (0, height)
    parts = [
        f'<text y="-16" font-size="15" font-weight="600" class="ink">{escape(plan.title)}</text>',
        f'<rect width="{width:.1f}" height="{height:.1f}" rx="4" fill="none" class="grid"/>',
    ]
    boxes, joins, dots = [], [], []
    members = [here[plan.group == g] for g in np.unique(plan.group)]
    for mine, k in zip(members, _colours(members), strict=True):
        (x0, y0), (x1, y1) = mine.min(axis=0) - 4.5, mine.max(axis=0) + 4.5
        look = f'rx="5" class="s{k} l{k}" fill-opacity="0.12" stroke-width="1.2" stroke-opacity="0.75"'
        boxes.append(f'<rect x="{x0:.1f}" y="{y0:.1f}" width="{x1 - x0:.1f}" height="{y1 - y0:.1f}" {look}/>')
        cx, cy = mine.mean(axis=0)
        spokes = "".join(f"M{cx:.1f} {cy:.1f}L{px:.1f} {py:.1f}" for px, py in mine)
        joins.append(f'<path d="{spokes}" fill="none" class="l{k}" stroke-opacity="0.55" stroke-width="1"/>')
        dots += [f'<circle cx="{px:.1f}" cy="{py:.1f}" r="3.4" class="s{k}"/>' for px, py in mine]
    for tick in range(20, int(far[0]) + 1, 10):
        px = (tick - low[0]) / (far[0] - low[0]) * width
        parts.append(f'<text x="{px:.1f}" y="{height + 18}" font-size="12" text-anchor="middle" class="soft">{tick}</text>')
    return [*parts, *boxes, *joins, *dots]


def _colours(members: list[npt.NDArray[np.float64]]) -> list[int]:
    """Return a colour for each group that those overlapping or near it use least."""
    centres = np.stack([mine.mean(axis=0) for mine in members])
    chosen: list[int] = []
    for centre in centres:
        crowd = np.zeros(4)
        for h, colour in enumerate(chosen):
            crowd[colour] += 1 / (1 + float(np.hypot(*(centres[h] - centre))) ** 2)
        chosen.append(int(np.argmin(crowd)))
    return chosen
