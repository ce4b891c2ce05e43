"""What does each adversary reach on each kind of release, and where is she above a bound?

Bundled census, or a Parquet file whose secret is `occupation`. Every release is attacked by everybody, with a second run of the
same method for composition and as many people of the same table who are not in it as a control. A cell is how often the best
guess is right, in %, and in brackets how many people, in %, have a belief above its bound. Bounds are 8·share + 0.02; matched
groups and rings know equal ones only, here 1/10, or the smallest 1/ℓ above it that the table allows.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import sfumato
from benchmarks._releases import CENSUS, people_of
from benchmarks._show import Cell, Show
from sfumato.attacks import AttackResult, attack
from sfumato.errors import SfumatoError
from sfumato.methods import Method
from sfumato.privacy.requirement import Against, Requirement
from sfumato.table.generators import census

SECRET = "occupation"
PEOPLE, FEW = 100_000, 20_000
"""How many people a release has, and how many where making it or attacking it takes time with every pair of them."""


@dataclass(frozen=True)
class Way:
    """How a release is made: its method, against whom, whether bounds are equal, and whether it is made for fewer people."""

    make: Callable[[Mapping[str, int]], Method]
    against: Against
    equal: bool = False
    few: bool = False


WAYS: Mapping[str, Way] = {
    "blind": Way(lambda shares: sfumato.MultiSize(), "engineer"),
    "safe": Way(lambda shares: sfumato.Boxes(patience=0), "engineer"),
    "soft": Way(lambda shares: sfumato.Boxes(), "engineer"),
    "tight": Way(lambda shares: sfumato.Boxes(), "reader"),
    "mondrian": Way(lambda shares: sfumato.Mondrian(), "reader"),
    "annealed": Way(lambda shares: sfumato.NearGroups(form="buckets"), "reader", few=True),
    "BuReL": Way(lambda shares: sfumato.BuReL(form="buckets"), "reader"),
    "noisy": Way(lambda shares: sfumato.NoisyBoxes(shares=shares, otherwise=next(iter(shares))), "insider"),
    "randomized": Way(lambda shares: sfumato.UniformPerturbation(), "engineer"),
    "matched": Way(lambda shares: sfumato.NearGroups(form="buckets"), "engineer", equal=True, few=True),
    "ring": Way(lambda shares: sfumato.Ring(partition="merged", accept_weaker_claim=True), "reader", equal=True, few=True),
}


def run(show: Show, quick: bool, table: Path | None = None) -> None:
    """Show a table adversary × way, then processor time, then what else was found."""
    results: dict[str, list[AttackResult]] = {}
    spent: dict[str, list[Cell]] = {}
    for name, way in WAYS.items():
        size = (2_000 if way.few else 5_000) if quick else FEW if way.few else PEOPLE
        own, away, frame = _people(size, table)
        began = time.process_time()
        try:
            release, again = (_released(own, frame, way, seed) for seed in (1, 2))
        except SfumatoError as error:
            show.note(f"- {name}: {error.message}")
            continue
        made = (time.process_time() - began) / 2
        began = time.process_time()
        results[name] = attack(release, own, outsiders=away, others=[again], random=1)
        took = {one.attack: 0.0 for one in results[name]}
        for one in results[name]:
            took[one.attack] += one.seconds
        total = time.process_time() - began
        spent[name] = [own.rows, made, total, took["nb"], took["minimality"]]
        show.note(f"- {name}: {own.rows:,} people, {total:.1f} s")
    _shown(show, results)
    heading = ["release", "people", "made, s", "all attacks, s", "naive Bayes, s", "minimality, s"]
    show.table("Processor time", heading, [[name, *row] for name, row in spent.items()])
    full = [name for name in spent if not WAYS[name].few]
    if full:
        show.target("all attacks, at most, s", max(float(spent[name][2] or 0) for name in full), 120)
        show.target("naive Bayes, at most, s", max(float(spent[name][3] or 0) for name in full), 3)
        show.target("minimality by sampling, at most, s", max(float(spent[name][4] or 0) for name in full), 60)


def _people(size: int, path: Path | None) -> tuple[sfumato.Table, sfumato.Table, pa.Table]:
    """Return people, others of the same table who are not among them, and the first as a frame."""
    if path is None:
        frame = census(size + FEW, 1).select([*CENSUS, SECRET])
    else:
        given = pq.read_table(path)
        rows = np.random.default_rng(1).permutation(given.num_rows)[: size + FEW]
        frame = given.take(pa.array(rows)).replace_schema_metadata(None)
    whole = people_of(frame, SECRET)
    size = min(size, whole.rows - FEW)
    kept = [*(column.name for column in whole.quasi), SECRET]
    return whole.take(np.arange(size)), whole.take(np.arange(size, whole.rows)), frame.slice(0, size).select(kept)


def _released(own: sfumato.Table, frame: pa.Table, way: Way, seed: int) -> sfumato.Release:
    shares = own.sensitive.histogram()
    largest = own.rows // max(shares.values())
    needs: Requirement = (
        sfumato.LDiversity(min(10, largest), against=way.against)
        if way.equal
        else sfumato.FPrivacy(theta=8, offset="0.02", against=way.against)
    )
    method = way.make(shares)
    if isinstance(method, sfumato.NoisyBoxes):
        own = sfumato.Table.from_frame(frame, method.close(own.schema))
    return method.run(own, needs, random=seed).release


def _shown(show: Show, results: Mapping[str, list[AttackResult]]) -> None:
    names = list(dict.fromkeys(one.name for found in results.values() for one in found if not one.refused))
    lines: list[list[Cell]] = []
    for name in names:
        line: list[Cell] = [name]
        for found in results.values():
            one = next((each for each in found if each.name == name), None)
            line.append(None if one is None else _cell(one))
        lines.append(line)
    lines.append(["guessing", *(_percent(found[0].baseline) for found in results.values())])
    show.table("Right in % (people with a belief above a bound, in %); outsiders right in %", ["attack", *results], lines)
    for way, found in results.items():
        for one in found:
            if one.refused:
                show.note(f"- {way}, {one.attack}: not tried, {one.refused}")
            if one.verdict == "refuted":
                show.note(f"- {way}, **{one.name} refutes the claim**: {one.worst} where {one.bound} is claimed")
            for text, figure in one.figures.items():
                show.note(f"- {way}, {one.name}: {text} {figure:.4g}")


def _cell(one: AttackResult) -> str:
    over = "" if one.over is None else f" ({_percent(one.over)})"
    away = "" if one.control is None else f"; {_percent(one.control)}"
    return f"{_percent(one.success)}{over}{away}"


def _percent(figure: float | None) -> str:
    return "–" if figure is None else f"{100 * figure:.3g}"
