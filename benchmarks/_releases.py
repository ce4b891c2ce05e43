"""Tables whose secret is `occupation`, and the releases of them that estimators are measured on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import sfumato
from sfumato.privacy.requirement import Against, Requirement
from sfumato.table.generators import census, hospital

CENSUS = ("age", "gender", "education", "marital", "race", "workclass", "country")
BASES = ("safe", "soft", "tight", "noisy")
AGAINST: dict[str, Against] = {
    "safe": "engineer",
    "soft": "engineer",
    "tight": "reader",
    "noisy": "insider",
    "matched": "engineer",
}


def tables(quick: bool, table: Path | None, *, whole: bool = True) -> Iterator[tuple[str, pa.Table, str]]:
    """Yield name, frame and secret of a table of one's own, a sample of it first where it is large; or of the bundled ones."""
    if table is None:
        yield "census", census(20_000 if quick else 100_000, 1).select([*CENSUS, "occupation"]), "occupation"
        yield "hospital", hospital(10_000 if quick else 50_000, 1).drop_columns(["patient"]), "diagnosis"
        return
    given = pq.read_table(table)
    few = 20_000 if quick else 100_000
    if given.num_rows > few:
        rows = np.sort(np.random.default_rng(1).permutation(given.num_rows)[:few])
        yield f"{table.stem}, {few:,} of its people", given.take(rows), "occupation"
    if given.num_rows <= few or (whole and not quick):
        yield table.stem, given, "occupation"


def people_of(frame: pa.Table, secret: str, *, codes: Sequence[str] = ()) -> sfumato.Table:
    """Return a frame as a table; columns whose name begins with the secret's are left out, and `codes` are categories."""
    quasi = [column for column in frame.column_names if not column.startswith(secret)]
    schema = sfumato.Schema(
        quasi=quasi, sensitive=(secret,), types={name: "categorical" for name in (secret, *codes) if name in (secret, *quasi)}
    )
    return sfumato.Table.from_frame(frame.select([*quasi, secret]), schema)


def released(own: sfumato.Table, frame: pa.Table, basis: str, bound: str, *, random: int = 1) -> sfumato.Release:
    """Return boxes of a basis, or matched groups, with a bound (8f+0.02 or 1/5); noisy boxes declare the table's own shares."""
    against = AGAINST[basis]
    requirement: Requirement = (
        sfumato.LDiversity(5, against=against) if bound == "1/5" else sfumato.FPrivacy(theta=8, offset="0.02", against=against)
    )
    if basis == "noisy":
        shares = own.sensitive.histogram()
        method = sfumato.NoisyBoxes(shares=shares, otherwise=next(iter(shares)))
        names = [*(column.name for column in own.quasi), *own.sensitive.domain.names]
        closed = sfumato.Table.from_frame(frame.select(names), method.close(own.schema))
        return method.run(closed, requirement, random=random).release
    if basis == "matched":
        return sfumato.NearGroups(form="buckets").run(own, requirement, random=random).release
    return sfumato.Boxes(patience=0 if basis == "safe" else None).run(own, requirement, random=random).release
