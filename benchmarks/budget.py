"""Time and memory of booking a draw, by the number of people: `python benchmarks/budget.py 10000000`."""

from __future__ import annotations

import resource
import sys
import tempfile
import time
from fractions import Fraction
from pathlib import Path

import numpy as np
import pyarrow as pa

from sfumato.budget import book
from sfumato.table.fingerprint import Fingerprint, hash_people, mix
from sfumato.table.marks import Marks

EARLIER = 3


def marks_of(first: int, people: int) -> Marks:
    """Return what tells people with these numbers, one after another, whose quasi rows are nearly all different."""
    numbers = np.arange(first, first + people, dtype=np.uint64)
    named = pa.chunked_array([pa.array(numbers).cast(pa.string())])
    return Marks(
        Fingerprint(str(first), people, tuple(range(first, first + 256))),
        ("id",),
        one_row_per_person=True,
        rows=[(hash_people({"id": named}, people), mix(numbers % np.uint64(people)))],
    )


def main(people: int) -> None:
    """Book draws of overlapping cohorts, and print what each takes; the hashes of identifiers come first."""
    with tempfile.TemporaryDirectory() as place:
        for number in range(EARLIER + 1):
            before = time.process_time()
            marks = marks_of(number * people // 3, people)
            hashed, start = time.process_time() - before, time.process_time()
            spent = book(marks, Fraction(2), Path(place))
            took = time.process_time() - start
            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
            size = sum(path.stat().st_size for path in Path(place).iterdir()) / 2**20 / (number + 1)
            print(
                f"{people:,} people, {number} earlier draws: hashed {hashed:.1f} s, booked {took:.1f} s of processor time; "
                f"{peak:.2f} GiB at most; {size:.0f} MiB a draw; {spent.draws} draws of one person at most"
            )


if __name__ == "__main__":
    main(int(sys.argv[1]))
