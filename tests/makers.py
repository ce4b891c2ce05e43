"""Small tables and releases for tests."""

import numpy as np
import pyarrow as pa

from sfumato.table import Schema, Table


def people(values, **quasi):
    """Return a table with these sensitive values; without quasi columns, everybody has a number of her own."""
    quasi = quasi or {"number": list(range(len(values)))}
    return Table.from_frame(pa.table({**quasi, "value": list(values)}), Schema(quasi=list(quasi), sensitive=["value"], other=[]))


def closed_for(method, table):
    """Return the same people read for a method with declared parameters: each value from its own cell, into a declared one."""
    schema = Schema(
        quasi=[column.name for column in table.quasi],
        sensitive=list(table.sensitive.domain.names),
        protect=table.schema.protect,
    )
    return Table.from_frame(table.to_arrow(), method.close(schema))


def skewed(rows=600, seed=3, values=9):
    """Return a table of skewed values that depend on age."""
    coins = np.random.default_rng(seed)
    age = coins.integers(20, 70, rows)
    weight = 1.0 / np.arange(1, values + 1)
    drawn = coins.choice(values, size=rows, p=weight / weight.sum())
    shift = np.where(age > 45, 1, 0)
    code = np.minimum(drawn + shift, values - 1)
    return people([f"v{k}" for k in code], age=age.tolist(), sex=np.array(["f", "m"])[coins.integers(0, 2, rows)].tolist())
