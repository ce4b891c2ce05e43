"""Every small table: which of them make a release, and what somebody believes who knows that."""

from collections import defaultdict
from fractions import Fraction

import numpy as np
import pyarrow as pa

from sfumato.errors import Infeasible
from sfumato.table.column import Column


def columns_of(cells, widths):
    """Return the quasi columns of people who stand in these cells."""
    codes = np.array(cells, dtype=np.uint8).reshape(len(cells), len(widths))
    return [Column(f"q{j}", "numeric", pa.array(range(width)), codes[:, j]) for j, width in enumerate(widths)]


def shown(cells, values, grouping):
    """Return what a columns release shows of these groups, apart from the order of rows and groups."""
    groups = defaultdict(list)
    for g, cell, value in zip(grouping.group.tolist(), cells, values, strict=True):
        groups[g].append((cell, value))
    columns = range(len(cells[0]))
    boxes = []
    for people in groups.values():
        sides = [tuple(sorted({cell[j] for cell, _ in people})) for j in columns]
        boxes.append((*sides, tuple(sorted(value for _, value in people))))
    return tuple(sorted(boxes))


def makers(worlds, make):
    """Return for every release which worlds make it. A world is the cells that people stand in, and their values."""
    found = defaultdict(list)
    for cells, values in worlds:
        try:
            found[shown(cells, values, make(cells, values))].append((cells, values))
        except Infeasible:  # no release, which is seen
            continue
    return found


def belief(worlds, holds):
    """Return the share of the worlds in which a statement is true: they are equally likely."""
    return Fraction(sum(map(holds, worlds)), len(worlds))
