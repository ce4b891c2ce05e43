"""Do decoys keep what 001 and 003 promise: that whoever knows all others of a bucket is right once in 1 + σ times?

Three bundled tables: census (occupation), a table like COIL 2000 (sub type) and hospital (diagnosis), each with the largest ℓ up
to 4 that leaves room for the decoys, and one whose values are all equally frequent, where no value gives a decoy away. She knows
how frequent values are, which the papers do not grant her, and who is in which bucket: people have a number.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa

import sfumato
from benchmarks._releases import CENSUS
from benchmarks._show import Cell, Show
from sfumato.attacks import attack
from sfumato.errors import SfumatoError
from sfumato.table.generators import census, hospital, insurance


def tables(people: int) -> Iterator[tuple[str, sfumato.Table]]:
    """Yield tables by name, with a number for everybody, by which an insider knows who is where."""
    frames = {
        "census, occupation": census(people, 1).select([*CENSUS, "occupation"]),
        "like COIL 2000, sub type": insurance(people, 1),
        "hospital, diagnosis": hospital(people, 1).drop_columns(["patient"]),
        "equal shares": pa.table({"value": [f"v{k % 30}" for k in range(people)]}),
    }
    for name, frame in frames.items():
        secret = frame.column_names[-1]
        numbered = frame.add_column(0, "person", pa.array(np.arange(frame.num_rows)))
        quasi = numbered.column_names[:-1]
        schema = sfumato.Schema(quasi=quasi, sensitive=[secret], types={secret: "categorical"})
        yield name, sfumato.Table.from_frame(numbered, schema)


def run(show: Show, quick: bool) -> None:
    """Show success beside the promise."""
    rows: list[list[Cell]] = []
    for name, table in tables(600 if quick else 3_000):
        for sigma in (1, 2, 3):
            release, ell = _released(table, sigma)
            if release is None:
                show.note(f"- {name}, σ = {sigma}: no ℓ leaves room for so many decoys")
                continue
            found = {one.variant: one for one in attack(release, table, "corruption", random=1)}
            one = found["all others known"]
            if one.refused or one.interval is None:
                show.note(f"- {name}, σ = {sigma}: {one.refused}")
                continue
            low, high = one.interval
            promised = one.figures["promised"]
            kept = "yes" if low <= promised else "no"
            rows.append(
                [name, sigma, ell, one.people, one.success, low, high, promised, one.mean_belief, one.largest_belief, kept]
            )
    heading = ["table", "σ", "ℓ", "victims", "right", "from", "to", "promised", "mean belief", "largest", "within its interval"]
    show.table("Whoever knows all others of a bucket with decoys", heading, rows)


def _released(table: sfumato.Table, sigma: int) -> tuple[sfumato.Release | None, int]:
    for ell in (4, 3, 2):
        try:
            return sfumato.Decoys(decoys=sigma).run(table, sfumato.LDiversity(ell), random=2).release, ell
        except SfumatoError:
            continue
    return None, 0
