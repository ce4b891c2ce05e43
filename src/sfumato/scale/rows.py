"""From the rows of a source to blocks of codes on disk, and to fingerprints of the table: one pass, batch by batch."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from sfumato.arrays import Array, Unsigned
from sfumato.scale.layout import Blocks, Layout
from sfumato.scale.outline import Known, Outline
from sfumato.table.fingerprint import (
    SKETCH,
    Fingerprint,
    column_digest,
    hash_people,
    hash_rows,
    mix,
    sketched,
    value_hashes,
)
from sfumato.table.marks import Marks
from sfumato.table.schema import Schema

_PARTS = 64
"""Row hashes lie in so many files by their highest bits, so that they are sorted a file at a time."""


Batches = Callable[[Mapping[tuple[str, ...], pa.Table], Sequence[str]], Iterable[pa.RecordBatch]]
"""What coding needs of an engine: its rows, with the number of each known combination, and further columns as they are."""


class RowHashes:
    """The hashes of all rows, on disk, until they are sorted and digested."""

    def __init__(self, place: Path) -> None:
        place.mkdir(mode=0o700)
        layout = Layout((np.dtype(np.uint64),))
        self.files = [Blocks(place / f"{part:02d}", layout) for part in range(_PARTS)]

    def add(self, hashes: Unsigned) -> None:
        """Keep the hashes of some rows."""
        mixed = mix(hashes)
        mixed.sort()
        ends = np.searchsorted(mixed, (np.arange(1, _PARTS, dtype=np.uint64) << np.uint64(58)))
        for file, some in zip(self.files, np.split(mixed, ends), strict=True):
            file.append([some])

    def digest(self, columns: Mapping[str, str], identities: tuple[int, ...]) -> Fingerprint:
        """Return the fingerprint of rows with these hashes, and of these identities: the one that a table in memory has."""
        whole, smallest, rows = hashlib.blake2b(digest_size=16), np.zeros(0, np.uint64), 0
        for file in self.files:
            hashes = np.sort(file.take()[0])
            rows += len(hashes)
            whole.update(hashes.astype("<u8").tobytes())
            if len(smallest) < SKETCH:
                smallest = np.unique(np.concatenate([smallest, hashes]))[:SKETCH]
        return Fingerprint(whole.hexdigest(), rows, tuple(int(number) for number in smallest), dict(columns), identities)


def code_rows(batches: Batches, outline: Outline, place: Path) -> Blocks:
    """Return the published codes of everybody: the quasi columns, then the sensitive value."""
    blocks = Blocks(place / "coded", Layout(outline.types))
    for numbers, _ in _numbered(batches, outline.known, ()):
        blocks.append([column.codes[number] for column, number in zip(outline.known, numbers, strict=True)])
    return blocks


Hashes = Sequence[Unsigned]
"""Of some rows: of who a person is, identifiers and quasi values alone; of the whole row; of quasi values; of identifiers and of
whom the row is about, if there are columns for them."""


class Plain(NamedTuple):
    """The columns that are hashed as they come: identifiers, and those that tell people apart."""

    identifier: tuple[str, ...]
    identified_by: tuple[str, ...]

    @classmethod
    def of(cls, schema: Schema) -> Plain:
        """Return those of a schema."""
        return cls(tuple(schema.identifier), schema.identified_by)

    @property
    def names(self) -> tuple[str, ...]:
        """All of them, each once."""
        return tuple(dict.fromkeys((*self.identifier, *self.identified_by)))

    @property
    def hashes(self) -> int:
        """How many hashes a row has."""
        return 3 + bool(self.identifier) + bool(self.identified_by)


def row_hashes(
    numbers: Sequence[Array], columns: Mapping[str, pa.ChunkedArray], known: Sequence[Sequence[Unsigned]], plain: Plain
) -> Hashes:
    """Return the hashes of rows with these numbers of combinations; `known` are the hashes of those, the sensitive ones last."""
    rows = len(numbers[0])
    quasi = np.zeros(rows, np.uint64)
    for hashes, number in zip(known[:-1], numbers[:-1], strict=True):
        quasi += hashes[0][number]
    named = [hash_rows([(name, columns[name]) for name in plain.identifier], rows)] if plain.identifier else []
    people = quasi + named[0] if named else quasi
    total = people.copy()
    for of_column in known[-1]:
        total += of_column[numbers[-1]]
    persons = [hash_people({name: columns[name] for name in plain.identified_by}, rows)] if plain.identified_by else []
    return people, total, quasi, *named, *persons


def hashed_rows(batches: Batches, outline: Outline) -> Iterator[Hashes]:
    """Yield the hashes of all rows."""
    known, plain = [column.hashes for column in outline.every], Plain.of(outline.table.schema)
    for numbers, columns in _numbered(batches, outline.every, plain.names):
        yield row_hashes(numbers, dict(columns), known, plain)


class Marked(NamedTuple):
    """The fingerprint of a table as it came, and what tells its people in a later one."""

    table: Fingerprint
    marks: Marks


@dataclass(frozen=True, eq=False)
class _Rows:
    """Hashes of whom rows are about and of their quasi values, in files."""

    blocks: Blocks
    identified: bool

    def __iter__(self) -> Iterator[tuple[Unsigned | None, Unsigned]]:
        for quasi, *who in self.blocks:
            yield who[0] if self.identified else None, quasi


def fingerprints(rows: Iterable[Hashes], outline: Outline, place: Path) -> Marked:
    """Return the fingerprint of the table as it came, and what tells who is in it, from the hashes of its rows."""
    schema: Schema = outline.table.schema
    plain = Plain.of(schema)
    whole, people = RowHashes(place / "table"), RowHashes(place / "people")
    identified = bool(plain.identified_by)
    marks = Blocks(place / "marks", Layout((np.dtype(np.uint64),) * (1 + identified)))
    identities = np.zeros(0, np.uint64)
    for who, row, quasi, *more in rows:
        people.add(who)
        whole.add(row)
        marks.append([quasi, *more[len(more) - identified :]])
        if plain.identifier:
            identities = np.array(sketched(np.sort(np.concatenate([identities, more[0]]))), np.uint64)
    own = {
        column.name: column_digest(value_hashes(column), np.append(counts, [0] * (len(column.values) + 1 - len(counts))))
        for column, counts in zip(outline.source, outline.source_counts, strict=True)
    }
    quasi_columns = {name: own[name] for name in schema.quasi}
    sketch = sketched(identities)
    fingerprint = people.digest(quasi_columns, sketch)
    return Marked(
        whole.digest(own, sketch), Marks(fingerprint, schema.identified_by, schema.one_row_per_person, _Rows(marks, identified))
    )


def _numbered(
    batches: Batches, known: Sequence[Known], plain: Sequence[str]
) -> Iterable[tuple[list[Array], list[tuple[str, pa.ChunkedArray]]]]:
    """Yield for some rows at a time the number of each known combination, and further columns."""
    tables = {column.names: column.combinations for column in known}
    for batch in batches(tables, plain):
        if batch.num_rows == 0:
            continue
        numbers = [np.asarray(batch.column(k)) for k in range(len(known))]
        yield numbers, [(name, pa.chunked_array([batch.column(len(known) + j)])) for j, name in enumerate(plain)]
