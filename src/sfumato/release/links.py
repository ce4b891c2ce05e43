"""The private sidecar of a release whose records have ranges of their own: which people of the table each record is linked with.

It undoes the release, so it never lies in one. An audit with it computes what somebody who knew the links would believe.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from sfumato.arrays import Array, Integers, Small
from sfumato.errors import FormatError, OutputError
from sfumato.release.atomic import write_private
from sfumato.release.files import MANIFEST, read_file

_LINKED, _CARRIED = "linked", "carried"


@dataclass(frozen=True, eq=False)
class Links:
    """Record r is linked with rows `linked[start[r] : start[r + 1]]` of the table, and carries the value of row `carried[r]`."""

    start: Integers
    linked: Small
    carried: Integers

    def at_rows(self, order: Array) -> Links:
        """Return the links to a table whose row `order[i]` is row i of the one they speak of."""
        linked = order[self.linked].astype(np.int32)
        owner = np.repeat(np.arange(len(self.carried)), np.diff(self.start))
        ascending = np.lexsort((linked, owner))  # in each record by row: the order of coins must not remain
        return Links(self.start, linked[ascending], order[self.carried].astype(np.int64))

    def save(self, path: str | Path) -> None:
        """Write the sidecar to a new file that only its owner can read; a place inside a release is refused."""
        place = Path(path)
        require_private_place(place)
        lists = pa.ListArray.from_arrays(pa.array(self.start.astype(np.int32)), pa.array(self.linked))
        try:
            table = pa.table({_LINKED: lists, _CARRIED: pa.array(self.carried)})
            write_private(place, lambda file: pq.write_table(table, file))
        except FileExistsError:
            raise OutputError(f"{place} exists already", hint="choose a new file") from None
        except OSError as error:
            raise OutputError(f"{place} cannot be written: {error.strerror or error}") from None

    @classmethod
    def load(cls, path: str | Path) -> Links:
        """Return the links in a file; one that holds something else is refused."""
        try:
            table = pq.read_table(pa.BufferReader(read_file(Path(path))))
            table.validate(full=True)
            linked, carried = table[_LINKED].combine_chunks(), table[_CARRIED].combine_chunks()
            start, people = np.asarray(linked.offsets, dtype=np.int64), linked.flatten()
            if linked.null_count or people.null_count or carried.null_count:
                raise ValueError("a link without a row")
            links = cls(start - start[0], np.asarray(people, dtype=np.int32), np.asarray(carried, dtype=np.int64))
        except (FormatError, OSError, KeyError, AttributeError, ValueError, TypeError, pa.ArrowException):
            raise FormatError(
                f"{path} is not a file of links", hint="give the file that was written beside the release"
            ) from None
        return links


def require_private_place(place: Path, *releases: Path) -> None:
    """Raise `OutputError` unless this is a new file in a directory that exists, is no release, and will be none of these."""
    folders = place.absolute().parents
    if any((folder / MANIFEST).exists() for folder in folders) or any(path.absolute() in folders for path in releases):
        raise OutputError(
            f"{place} lies in a release; whoever gets that release would get the links too", hint="choose another directory"
        )
    if place.exists():
        raise OutputError(f"{place} exists already", hint="choose a new file")
    if not place.absolute().parent.is_dir():
        raise OutputError(f"{place} cannot be written: there is no directory {place.parent}")
