"""Synthetic releases for tests: the table's own values as declared domains, or declared tables of the conformance suite."""

import pyarrow as pa

import sfumato as sf
from sfumato.testing import example_tables


def declared(table, **more):
    """Return the same people read with the values that occur as domains."""
    quasi = {column.name: column.values.to_pylist() for column in table.quasi}
    names = table.sensitive.domain.names
    secret = {name: sorted(set(table.sensitive.domain.table[name].to_pylist())) for name in names}
    schema = sf.Schema(quasi=list(quasi), sensitive=list(names), domains={**quasi, **secret, **more})
    return sf.Table.from_frame(table.to_arrow(), sf.PrivBayes().close(schema))


def release_of(table, *, epsilon=2, random=1):
    """Return records drawn by PrivBayes."""
    return sf.PrivBayes().run(declared(table), sf.Differential(epsilon), random=random).release


def declared_examples():
    """Return the tables of the conformance suite, read with domains that hold more values than occur."""
    domains = {"age": {"min": 20, "max": 59}, "sex": ["f", "m", "x"], "value": [f"v{k}" for k in range(9)], "more": ["x", "y"]}
    found = {}
    for name, table in example_tables().items():
        columns = [*table.schema.quasi, *table.schema.sensitive]
        frame = table.to_arrow()
        if name == "missing values":
            frame = frame.set_column(0, "age", frame["age"].cast(pa.int64()))
        schema = sf.Schema(
            quasi=table.schema.quasi,
            sensitive=table.schema.sensitive,
            protect=table.schema.protect,
            domains={column: domains[column] for column in columns},
            missing=dict.fromkeys(table.schema.quasi, "value") if name == "missing values" else {},
        )
        found[name] = sf.Table.from_frame(frame, sf.PrivBayes().close(schema))
    return found
