"""Pictures of generalization by matching: the graph of a small heterogeneous release, and ranges of Mondrian and near groups."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

import sfumato
from benchmarks._charts import FAMILIES
from sfumato.charts import Chart, altair, save_picture
from sfumato.charts.svg import colour
from sfumato.papers.heterogeneous.costs import Costs
from sfumato.papers.heterogeneous.scheme import MatchedRecords, SchemeOptions, heterogeneous_records
from sfumato.privacy import LDiversity
from sfumato.randomness import SeededRandomness
from sfumato.studies.draw import titled, values
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
COLOUR = {"asthma": 0, "flu": 1, "gout": 2}
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
    """Write who is linked with whom among nine people in three pools, and whose value each record carries."""
    alt = altair()
    records = _nine_records()
    at = [float(row + 0.4 * (row // 3)) for row in range(len(PEOPLE))]
    links = [
        {"x": 0, "x2": 1, "y": at[row], "y2": at[own], "value": PEOPLE[row][3], "carried": row == int(records.carried[r])}
        for r, own in enumerate(records.own.tolist())
        for row in records.matches[records.start[r] : records.start[r + 1]].tolist()
    ]
    people = [
        {"x": 0, "y": at[row], "value": value, "text": f"{name}, {age}, {hours} h · {value}"}
        for row, (name, age, hours, value) in enumerate(PEOPLE)
    ]
    shown = [_record(records, r, at[own]) for r, own in enumerate(records.own.tolist())]
    frames = [{"x": -1.05, "x2": 0.06, "y": at[k] - 0.55, "y2": at[k + 2] + 0.55, "value": PEOPLE[k][3]} for k in (0, 3, 6)]
    scale = alt.Scale(domain=list(COLOUR), range=[colour(shade) for shade in COLOUR.values()])
    x = alt.X("x:Q", axis=None, scale=alt.Scale(domain=[-1.1, 2.1], nice=False))
    y = alt.Y("y:Q", axis=None, scale=alt.Scale(domain=[at[-1] + 0.8, -1.4], nice=False))
    tint = alt.Color("value:N", scale=scale, legend=None)
    thin, thick = ([one for one in links if one["carried"] == carried] for carried in (False, True))
    heads = [{"x": 0, "y": -1, "text": "people: age, hours a week, diagnosis"}, {"x": 1, "y": -1, "text": "published records"}]
    chart = alt.layer(
        values(frames).mark_rect(opacity=0.1, cornerRadius=6).encode(x=x, x2="x2:Q", y=y, y2="y2:Q", color=tint),
        values(thin).mark_rule(color=colour("axis"), opacity=0.6).encode(x=x, x2="x2:Q", y=y, y2="y2:Q"),
        values(thick).mark_rule(strokeWidth=3).encode(x=x, x2="x2:Q", y=y, y2="y2:Q", color=tint),
        values(people).mark_point(filled=True, size=150, opacity=1).encode(x=x, y=y, color=tint),
        values(shown).mark_point(filled=True, size=150, opacity=1, shape="square").encode(x=x, y=y, color=tint),
        values(people).mark_text(align="right", dx=-14, fontSize=13).encode(x=x, y=y, text="text:N"),
        values(shown).mark_text(align="left", dx=14, fontSize=13).encode(x=x, y=y, text="text:N"),
        values(heads[:1]).mark_text(align="right", color=colour("soft"), fontSize=12.5).encode(x=x, y=y, text="text:N"),
        values(heads[1:]).mark_text(align="left", color=colour("soft"), fontSize=12.5).encode(x=x, y=y, text="text:N"),
    )
    title = "Nine people, three pools: every record is linked with one person of each pool"
    note = (
        f"ℓ-diversity, ℓ = 3 · thick: the link whose diagnosis the record carries, each with probability 1/3 · after this draw "
        f"{_repeated(records)} meet a value twice"
    )
    return save_picture(titled(chart.properties(width=800, height=420), title, note), path, title=title)


def _nine_records() -> MatchedRecords:
    """Return the records that the scheme makes of the nine people."""
    names = ("age", "hours", "diagnosis")
    frame = pa.table({name: [person[1 + k] for person in PEOPLE] for k, name in enumerate(names)})
    table = sfumato.Table.from_frame(frame, sfumato.Schema(quasi=names[:2], sensitive=names[2:]))
    bounds = LDiversity(3).bounds(table.sensitive.histogram())
    costs = Costs.of(table.quasi)
    made = heterogeneous_records(table.quasi, table.sensitive.codes, bounds, costs, SchemeOptions(), random=SeededRandomness(3))
    return made.records


def _repeated(records: MatchedRecords) -> str:
    """Return the names of those for whom two of the linked records carry the same value."""
    record_of = np.repeat(np.arange(len(records.own)), np.diff(records.start))
    names = []
    for row, person in enumerate(PEOPLE):
        carried = [PEOPLE[int(records.carried[r])][3] for r in record_of[records.matches == row]]
        if len(set(carried)) < len(carried):
            names.append(person[0])
    return " and ".join(names)


def _record(records: MatchedRecords, r: int, place: float) -> dict[str, Any]:
    linked = [PEOPLE[row] for row in records.matches[records.start[r] : records.start[r + 1]].tolist()]
    value = PEOPLE[int(records.carried[r])][3]
    ages, hours = [person[1] for person in linked], [person[2] for person in linked]
    text = f"{min(ages)}–{max(ages)}, {min(hours)}–{max(hours)} h · {value}"
    return {"x": 1, "y": place, "value": value, "text": text}


def draw_ranges(path: Path) -> Path:
    """Write the ranges of Mondrian's groups beside those of near groups, for the same sixty people."""
    alt = altair()
    title = "The same sixty people, the same bound: ranges before and after"
    note = "people of the census, known by age and salary class · no belief in an occupation above 1/5"
    chart = alt.hconcat(*(_drawn(plan, first=k == 0) for k, plan in enumerate(_plans())), spacing=28)
    return save_picture(titled(chart, title, note), path, title=title)


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
        groups = len(np.unique(release.group))
        plans.append(_Plan(f"{name}: {groups} groups, GCP {gcp(release).value:.3f}", places, release.group))
    return plans


def _drawn(plan: _Plan, *, first: bool) -> Chart:
    """Return the rectangles of the groups, and everybody joined with the middle of her group."""
    alt = altair()
    low, far = plan.places.min(axis=0) - 2, plan.places.max(axis=0) + 2
    scales = [alt.Scale(domain=[float(a), float(b)], nice=False) for a, b in zip(low, far, strict=True)]
    x = alt.X("x:Q", scale=scales[0], axis=alt.Axis(title="age", grid=False, tickCount=6))
    y = alt.Y("y:Q", scale=scales[1], axis=alt.Axis(title="salary class" if first else None, grid=False, tickCount=6))
    boxes: list[dict[str, Any]] = []
    spokes: list[dict[str, Any]] = []
    members = [plan.places[plan.group == g] for g in np.unique(plan.group)]
    for mine, k in zip(members, _colours(members), strict=True):
        (x0, y0), (x1, y1) = mine.min(axis=0) - 0.6, mine.max(axis=0) + 0.6
        boxes.append({"x": x0, "x2": x1, "y": y0, "y2": y1, "k": str(k)})
        cx, cy = mine.mean(axis=0)
        spokes += [{"x": px, "y": py, "x2": cx, "y2": cy, "k": str(k)} for px, py in mine]
    tints = alt.Scale(domain=["0", "1", "2", "3"], range=[colour(shade) for shade in FAMILIES])
    tint = alt.Color("k:N", scale=tints, legend=None)
    rows = [{name: value if isinstance(value, str) else float(value) for name, value in one.items()} for one in spokes]
    frames = [{name: value if isinstance(value, str) else float(value) for name, value in one.items()} for one in boxes]
    chart = alt.layer(
        values(frames).mark_rect(opacity=0.16, cornerRadius=4).encode(x=x, x2="x2:Q", y=y, y2="y2:Q", color=tint),
        values(rows).mark_rule(opacity=0.55).encode(x=x, x2="x2:Q", y=y, y2="y2:Q", color=tint),
        values(rows).mark_circle(size=38, opacity=1).encode(x=x, y=y, color=tint),
    )
    return titled(chart.properties(width=380, height=330), plan.title)


def _colours(members: list[npt.NDArray[np.float64]]) -> list[int]:
    """Return a colour for each group that those overlapping or near it use least."""
    centres = np.stack([mine.mean(axis=0) for mine in members])
    chosen: list[int] = []
    for centre in centres:
        crowd = np.zeros(4)
        for h, shade in enumerate(chosen):
            crowd[shade] += 1 / (1 + float(np.hypot(*(centres[h] - centre))) ** 2)
        chosen.append(int(np.argmin(crowd)))
    return chosen
