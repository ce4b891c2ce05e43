"""Small tables and releases for tests."""

import numpy as np
import pyarrow as pa

from sfumato.table import Schema, Table


def tells(told, *facts):
    """Require the one thing that is told, a text or a list of one, to name these facts: names, numbers, a key word of it."""
    [text] = [told] if isinstance(told, str) else told
    assert [fact for fact in map(str, facts) if fact not in text] == [], text
    return True


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


def encounters(people=600, seed=5, *, shuffled=0):
    """Return rows of patients who come once to five times, with up to three diagnoses each time, and a ward."""
    coins = np.random.default_rng(seed)
    patient = np.repeat(np.arange(people), coins.choice([1, 1, 1, 2, 2, 3, 5], people))
    rows = len(patient)
    born, sex = coins.integers(1930, 2000, people), np.array(["f", "m"])[coins.integers(0, 2, people)]
    drawn = [(coins.integers(0, 9, rows) + born[patient] // 25) % 9 for _ in range(3)]
    table = pa.table(
        {
            "patient": patient,
            "day": coins.integers(0, 400, rows),
            "age": 2020 - born[patient] + coins.integers(0, 2, rows),
            "sex": sex[patient],
            "diag_1": [f"i{one}" for one in drawn[0]],
            "diag_2": [f"i{one}" if one % 3 else None for one in drawn[1]],
            "diag_3": [f"i{one}" if one % 5 == 1 else None for one in drawn[2]],
            "ward": [f"ward {one}" for one in coins.integers(0, 6, rows)],
        }
    )
    return table.take(np.random.default_rng(shuffled).permutation(rows)) if shuffled else table


def visits(frame=None, **told):
    """Return patients with all their encounters, as a table."""
    rule = {"key": "patient", "keep": "all", "quasi": "first by day", **told.pop("people", {})}
    schema = {
        "identifier": ["patient"],
        "quasi": ["age", "sex"],
        "other": ["day"],
        "secrets": {"diagnosis": ["diag_1", "diag_2", "diag_3"], "ward": "ward"},
    }
    return Table.from_frame(encounters() if frame is None else frame, Schema(**{**schema, "people": rule, **told}), seed=1)
