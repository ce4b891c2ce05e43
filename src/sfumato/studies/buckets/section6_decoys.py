"""Do decoys keep what is promised: that whoever knows all others of a bucket is right once in 1 + σ times?

She knows the program and the shares, which the paper does not grant her. "Uniform" and "uniform, anybody" are the paper's: decoys
drawn from the domain, and only such as no learned association excludes for anybody of the bucket; "imitated" is ours: as frequent
as what they imitate. "Surely real": of the values that associations exclude for somebody of their bucket, how many are real.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from sfumato.charts import Chart
from sfumato.errors import Infeasible
from sfumato.groups.settings.plan import plan
from sfumato.papers.decoys.adversary import BucketValues, guessing
from sfumato.papers.decoys.decoys import slots_with_decoys
from sfumato.papers.decoys.printed import excludable_for_somebody, uniform_decoys
from sfumato.privacy import LDiversity
from sfumato.randomness import SeededRandomness
from sfumato.studies.cells import Cell
from sfumato.studies.census import CENSUS, GENERATED
from sfumato.studies.draw import lines
from sfumato.studies.source import Source
from sfumato.studies.study import SEEDS, Claims, Rows, Study, Verdict
from sfumato.table import Table

UNIFORM, ANYBODY, IMITATED = "uniform (the paper)", "uniform, anybody (the paper)", "imitated (ours)"
SLACK = 0.02
"""Of 4,000 guesses: more than two standard errors."""


def measure(source: Source, *, people: int, ell: int, sigmas: Sequence[int], seed: int) -> Rows:
    """Return per table, σ and kind of decoys how often the best guess is right, and how many excludable values are real."""
    rows: list[dict[str, Any]] = []
    for secret in source.secrets:
        table = source.table(secret, people)
        for sigma in sigmas:
            for kind in (UNIFORM, ANYBODY, IMITATED):
                case: dict[str, Any] = {"table": secret, "σ": sigma, "decoys": kind}
                found = _measured(table, min(ell, _most(table, sigma)), sigma, kind, seed)
                rows.append({**case, "promised": 1 / (1 + sigma), **found})
    return rows


def _most(table: Table, sigma: int) -> int:
    """Return the largest ℓ whose buckets have room for σ decoys beside the most frequent value."""
    return max(int(table.rows // table.sensitive.counts.max()) - sigma, 1)


def _measured(table: Table, ell: int, sigma: int, kind: str, seed: int) -> dict[str, Any]:
    bounds = LDiversity(ell, against="reader").bounds(table.sensitive.histogram())
    coins, codes = SeededRandomness(seed), table.sensitive.codes
    try:
        setting = plan(bounds, strategy="optimal", max_size=50, once=True)
        if kind == IMITATED:
            slots, holder = slots_with_decoys(codes, setting, bounds, sigma, coins)
        else:
            slots, holder = uniform_decoys(table.quasi, codes, setting, bounds, sigma, coins, anybody=kind == ANYBODY)
    except Infeasible:
        return {"ℓ": ell, "right": None, "surely real": None}
    return {"ℓ": ell, "right": guessing(slots, coins)[-1]["right"], "surely real": _surely_real(table, slots, holder)}


def _surely_real(table: Table, slots: BucketValues, holder: np.ndarray) -> float | None:
    excludable = excludable_for_somebody(table.quasi, slots, holder)
    return float((~slots.decoy[excludable]).mean()) if excludable.any() else None


def draw(rows: Rows) -> Chart:
    """Return how often she is right against σ, beside the promise."""
    promised = [{**row, "right": row["promised"], "decoys": "promised"} for row in rows if row["decoys"] == UNIFORM]
    return lines([*rows, *promised], x="σ", y="right", series="decoys", panel="table", steps=True, y_title="right")


def judge(rows: Rows) -> Verdict:
    """Return whether the printed decoys keep 1/(1 + σ), and whether her rule hides which values are real."""
    known = [row for row in rows if row["right"] is not None]
    claims: Claims = {
        f"{kind}: right 1/(1 + σ) of the times at most (to {SLACK:g})": [
            row["right"] <= row["promised"] + SLACK for row in known if row["decoys"] == kind
        ]
        for kind in (UNIFORM, ANYBODY)
    }
    ours = [row["right"] / row["promised"] for row in known if row["decoys"] == IMITATED]
    printed = [row["right"] / row["promised"] for row in known if row["decoys"] == UNIFORM]
    why = f"With uniform decoys she is right {min(printed):.2f} to {max(printed):.2f} times as often as promised"
    if ours:
        why += f", with decoys that imitate {min(ours):.2f} to {max(ours):.2f} times"
    real = [row["surely real"] for row in known if row["decoys"] == ANYBODY and row["surely real"] is not None]
    if real:
        claims[f"{ANYBODY}: an excludable value is no more surely real than any (to 9 in 10)"] = [share <= 0.9 for share in real]
        why += (
            f"; under the rule 'for anybody' {100 * min(real):.0f} to {100 * max(real):.0f} % of the excludable values are real"
        )
    return Verdict(claims, why + ".")


def table(rows: Rows) -> list[dict[str, Cell]]:
    """Return figures of every kind beside the promise."""
    return [
        {
            "table": row["table"],
            "ℓ": row["ℓ"],
            "σ": row["σ"],
            "decoys": row["decoys"],
            "promised": f"{100 * row['promised']:.1f} %",
            "right": None if row["right"] is None else f"{100 * row['right']:.1f} %",
            "excludable for somebody: real": None if row["surely real"] is None else f"{100 * row['surely real']:.1f} %",
        }
        for row in rows
    ]


STUDY = Study(
    paper="001",
    figure="Section 6",
    says="even if all but one record of a bucket are known, the adversary has only 1/(1 + σ) certainty; a fake value should not "
    "be excludable for any record.",
    printed={},
    full={"people": 30_000, "ell": 4, "sigmas": (1, 2, 3), "seeds": SEEDS},
    quick={"people": 3_000, "ell": 4, "sigmas": (1, 2), "seeds": 1},
    measure=measure,
    draw=draw,
    judge=judge,
    table=table,
    source=lambda: CENSUS,
    stand_in=(GENERATED,),
    deviations=("she knows the shares and the program; the paper prints no figures",),
)
