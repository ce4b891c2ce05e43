"""The first picture of the guide: six people, what is published of them, what that tells about one of them and about all.

`python -m benchmarks._first_picture` publishes a small made-up table and draws what came of it, side by side and one below the
other, into docs/pictures. Every figure in it is the table's or the release's.
"""

from __future__ import annotations

import random
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

import pyarrow as pa

import sfumato as sf
from sfumato.charts.svg import colour, on_its_own

PICTURES = Path(__file__).parent.parent / "docs" / "pictures"

PEOPLE, LARGEST = 240, 2
AGES = ((20, 39), (40, 59), (60, 79))
FREQUENT = {"Flu": 19, "Asthma": 15, "Migraine": 15, "Back pain": 15, "Depression": 12, "Gout": 10, "Diabetes": 10, "HIV": 4}
GROWING, RARE = "Heart disease", "HIV"
NAMES = ("Adam", "Ben", "Carl", "David", "Emil", "Finn")
CHOSEN = 2

CARD, HIGH, GAP = 360, 330, 16
MIDDLE = 80
"""Where the rows of a card begin, below its heading."""


@dataclass(frozen=True)
class Told:
    """What the picture shows: six people, their box, beliefs about one of them beside shares, and answers by age."""

    six: Sequence[dict[str, Any]]
    box: int
    counts: Sequence[tuple[str, int]]
    beliefs: Sequence[tuple[str, float, float]]
    bound: float
    answers: Sequence[tuple[str, float, float, float, int]]


def people() -> pa.Table:
    """Return the made-up table: heart disease grows with age, all else does not."""
    draw = random.Random(1)
    rows = []
    for number in range(PEOPLE):
        age, sex = 20 + int(60 * draw.random()), "female" if draw.random() < 0.5 else "male"
        grown = draw.random() < 0.02 + 0.01 * max(0, age - 35)
        illness = GROWING if grown else draw.choices(list(FREQUENT), list(FREQUENT.values()))[0]
        rows.append({"name": f"person {number}", "age": age, "sex": sex, "illness": illness})
    return pa.Table.from_pylist(rows)


def told() -> Told:
    """Publish the table, and return what the release tells about the first six who share a box with somebody who has HIV."""
    frame = people()
    table = sf.Table.from_frame(frame, sf.Schema(identifier=["name"], quasi=["age", "sex"], sensitive=["illness"]))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sf.PublicationWarning)  # of the seed, which makes the picture the same every time
        release = sf.publish(table, sf.LDiversity(LARGEST), method=sf.Boxes(floor=6), seed=1)
    tables = {name: one.to_pylist() for name, one in release.tables().items()}
    listed = {row["group"] for row in tables["st"] if row["illness"] == RARE}
    box = next(group + 1 for group, size in enumerate(release.sizes.tolist()) if size == 6 and group + 1 in listed)
    counts = {row["illness"]: row["count"] for row in tables["st"] if row["group"] == box}
    ends = [(row["age"], row["sex"]) for row in tables["qit"] if row["group"] == box]
    six = sorted((row for row in frame.to_pylist() if (row["age"], row["sex"]) in ends), key=lambda row: row["age"])
    shares = {value: frame["illness"].to_pylist().count(value) / PEOPLE for value in counts}
    chosen = pa.Table.from_pylist([{"age": six[CHOSEN]["age"], "sex": six[CHOSEN]["sex"]}])
    believed = dict(zip(release.labels, release.beliefs(chosen)[0].tolist(), strict=True))
    ranked = sorted(counts, key=lambda value: (-counts[value], value))
    return Told(
        six=[{**row, "name": name} for row, name in zip(six, NAMES, strict=True)],
        box=box,
        counts=[(value, counts[value]) for value in ranked],
        beliefs=[(value, believed[value], shares[value]) for value in ranked],
        bound=1 / LARGEST,
        answers=[_answer(release, frame, *ages) for ages in AGES],
    )


def _answer(release: sf.Release, frame: pa.Table, low: int, high: int) -> tuple[str, float, float, float, int]:
    answer: Any = release.count(f"age BETWEEN {low} AND {high} AND illness = '{GROWING}'")
    truth = sum(row["illness"] == GROWING and low <= row["age"] <= high for row in frame.to_pylist())
    return f"{low}–{high}", answer.value, answer.low, answer.high, truth


def text(x: float, y: float, words: str, *, size: int = 16, fill: str = "ink", anchor: str = "start", bold: bool = False) -> str:
    """Return words at a place."""
    look = f'font-size="{size}" fill="{colour(fill)}" text-anchor="{anchor}"' + (' font-weight="600"' if bold else "")
    return f'<text x="{x:g}" y="{y:g}" {look}>{escape(words)}</text>'


def bar(x: float, y: float, wide: float, high: float, fill: str, *, opacity: float = 1, round_by: float = 3) -> str:
    """Return a filled rectangle."""
    place = f'x="{x:g}" y="{y:g}" width="{wide:.1f}" height="{high:.1f}" rx="{round_by:g}"'
    return f'<rect {place} fill="{colour(fill)}" fill-opacity="{opacity:g}"/>'


def line(x: float, y: float, x2: float, y2: float, stroke: str, *, wide: float = 1, dash: str = "") -> str:
    """Return a line between two places."""
    dashed = f' stroke-dasharray="{dash}"' if dash else ""
    ends = f'x1="{x:.1f}" y1="{y:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"'
    return f'<line {ends} stroke="{colour(stroke)}" stroke-width="{wide:g}" stroke-linecap="round"{dashed}/>'


def heading(number: int, title: str, note: str) -> list[str]:
    """Return the frame of a card with its number, its title and a line below it."""
    frame = f'<rect x="0.5" y="0.5" width="{CARD - 1}" height="{HIGH - 1}" rx="10" fill="none" stroke="{colour("grid")}"/>'
    mark = f'<circle cx="30" cy="32" r="14" fill="{colour("0")}"/>'
    digit = text(30, 38, str(number), size=17, fill="paper", anchor="middle", bold=True)
    return [frame, mark, digit, text(54, 38, title, size=19, bold=True), text(18, 64, note, size=15, fill="soft")]


def the_table(found: Told) -> list[str]:
    """Draw the six people as the publisher knows them."""
    parts = heading(1, "The table", f"{PEOPLE} people; these are six of them")
    for x, name in ((18, "name"), (110, "age"), (160, "sex"), (226, "illness")):
        parts.append(text(x, MIDDLE + 16, name, size=14, fill="soft"))
    parts.append(line(18, MIDDLE + 25, CARD - 18, MIDDLE + 25, "grid"))
    parts.append(bar(214, MIDDLE + 31, CARD - 18 - 214, 6 * 30, "1", opacity=0.12, round_by=6))
    for k, row in enumerate(found.six):
        y = MIDDLE + 51 + 30 * k
        parts += [text(18, y, row["name"], bold=k == CHOSEN), text(110, y, str(row["age"])), text(160, y, row["sex"])]
        parts.append(text(226, y, row["illness"], fill="1", bold=True))
    parts.append(text(18, MIDDLE + 234, f"… and {PEOPLE - 6} more", size=14, fill="soft"))
    parts.append(text(226, MIDDLE + 234, "the secret", size=14, fill="1"))
    return parts


def the_release(found: Told) -> list[str]:
    """Draw what is published of the six: their quasi values, and the counts of their box."""
    parts = heading(2, "What is published", "no names; illnesses counted per box")
    parts += [text(30, MIDDLE + 16, "age", size=14, fill="soft"), text(80, MIDDLE + 16, "sex", size=14, fill="soft")]
    parts.append(text(210, MIDDLE + 16, f"illnesses of box {found.box}", size=14, fill="soft"))
    parts.append(bar(18, MIDDLE + 27, 132, 6 * 30 + 8, "0", opacity=0.12, round_by=6))
    parts.append(bar(198, MIDDLE + 27, CARD - 18 - 198, 6 * 30 + 8, "1", opacity=0.12, round_by=6))
    for k, row in enumerate(found.six):
        y = MIDDLE + 51 + 30 * k
        parts += [text(30, y, str(row["age"])), text(80, y, row["sex"])]
        parts.append(line(150, y - 6, 198, MIDDLE + 121, "axis", dash="1 5", wide=1.6))
    top = MIDDLE + 121 - 15 * len(found.counts)
    for k, (value, many) in enumerate(found.counts):
        y = top + 20 + 30 * k
        parts += [text(210, y, f"{many} ×", fill="1", bold=True), text(246, y, value, fill="1")]
    parts.append(text(18, MIDDLE + 236, "Who has which? The release does not say.", size=14, fill="soft"))
    return parts


def the_reader(found: Told) -> list[str]:
    """Draw how sure a reader becomes of one person's illness, beside the shares and the bound."""
    one = found.six[CHOSEN]
    parts = heading(3, "What a reader learns", f"about {one['name']}, whom he knows: {one['sex']}, {one['age']}")
    left, wide = 112, 330
    bottom, reach = MIDDLE + 26 + 36 * len(found.beliefs), left + wide * found.bound
    parts += [line(reach, MIDDLE + 20, reach, bottom, "4", wide=2, dash="5 4")]
    parts.append(text(reach, MIDDLE + 13, f"bound: {100 * found.bound:.0f} %", size=14, fill="4", anchor="middle", bold=True))
    for k, (value, belief, share) in enumerate(found.beliefs):
        y = MIDDLE + 28 + 36 * k
        parts += [text(left - 10, y + 16, value, anchor="end"), bar(left, y, wide * belief, 22, "1")]
        parts.append(text(CARD - 18, y + 16, f"{100 * belief:.0f} %", anchor="end", bold=True))
        parts.append(line(left + wide * share, y - 3, left + wide * share, y + 25, "ink", wide=2.5))
    parts.append(bar(18, MIDDLE + 193, 14, 12, "1"))
    parts.append(text(40, MIDDLE + 204, f"how sure he is that {one['name']} has it", size=14, fill="soft"))
    parts.append(line(25, MIDDLE + 216, 25, MIDDLE + 230, "ink", wide=2.5))
    parts.append(text(40, MIDDLE + 228, f"how many of all {PEOPLE} have it", size=14, fill="soft"))
    return parts


def the_analyst(found: Told) -> list[str]:
    """Draw what questions about everybody are answered, beside the truth."""
    parts = heading(4, "What an analyst learns", f"about all {PEOPLE}: heart disease, by age")
    floor, most = MIDDLE + 158, max(high for _, _, _, high, _ in found.answers)
    scale = 130 / most
    for k, (ages, value, low, high, truth) in enumerate(found.answers):
        x = 62 + 118 * k
        parts.append(bar(x - 32, floor - scale * value, 64, scale * value, "2", opacity=0.75))
        parts.append(line(x, floor - scale * low, x, floor - scale * high, "ink", wide=2))
        parts += [line(x - 6, floor - scale * end, x + 6, floor - scale * end, "ink", wide=2) for end in (low, high)]
        parts.append(diamond(x + 42, floor - scale * truth))
        parts.append(text(x, floor - scale * high - 9, f"{value:.0f}", size=17, anchor="middle", bold=True))
        parts.append(text(x, floor + 21, ages, size=14, fill="soft", anchor="middle"))
    parts.append(line(18, floor, CARD - 18, floor, "axis"))
    parts.append(bar(18, MIDDLE + 193, 14, 12, "2", opacity=0.75))
    parts.append(text(40, MIDDLE + 204, "what the release answers, with its margin", size=14, fill="soft"))
    parts.append(diamond(25, MIDDLE + 223))
    parts.append(
        text(40, MIDDLE + 228, "what is true: " + ", ".join(str(truth) for *_, truth in found.answers), size=14, fill="soft")
    )
    return parts


def diamond(x: float, y: float) -> str:
    """Return a mark of the truth."""
    return f'<path d="M{x:g},{y - 8:.1f}l8,8l-8,8l-8,-8z" fill="{colour("3")}"/>'


def drawn(found: Told, *, across: int) -> str:
    """Return the picture with so many cards beside each other."""
    cards = [draw(found) for draw in (the_table, the_release, the_reader, the_analyst)]
    wide, high = across * (CARD + GAP) + GAP, -(-4 // across) * (HIGH + GAP) + GAP
    body = "".join(
        f'<g transform="translate({GAP + (CARD + GAP) * (k % across)},{GAP + (HIGH + GAP) * (k // across)})">{"".join(card)}</g>'
        for k, card in enumerate(cards)
    )
    one = found.six[CHOSEN]["name"]
    named = f"<title>Six people of a table, what is published of them, what it tells about {one} and about everybody</title>"
    size = f'viewBox="0 0 {wide} {high}" width="{wide}" height="{high}"'
    return on_its_own(f'<svg xmlns="http://www.w3.org/2000/svg" role="img" {size}>{named}{body}</svg>')


def pictures() -> dict[str, str]:
    """Return the pictures by the names of their files: for wide screens, and for narrow ones."""
    found = told()
    return {"six-people.svg": drawn(found, across=2), "six-people-narrow.svg": drawn(found, across=1)}


if __name__ == "__main__":
    for name, made in pictures().items():
        (PICTURES / name).write_text(made, encoding="utf-8")
