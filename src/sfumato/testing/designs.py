"""Small tables that are hard in different ways."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from sfumato.table import Schema, Table

SECRET = "secret-name-of-a-person"


def example_tables() -> dict[str, Table]:
    """Return small tables that are hard in different ways: plain, with missing values, compound, one quasi column, all alike."""
    coins = np.random.default_rng(7)
    people = 240
    value = np.array([f"v{k}" for k in range(8)])[coins.integers(0, 8, people)]
    plain = {
        "name": [f"{SECRET}-{k}" for k in range(people)],
        "age": coins.integers(20, 60, people),
        "sex": np.array(["f", "m"])[coins.integers(0, 2, people)],
        "secret-note": [f"{SECRET} note {k}" for k in range(people)],
        "value": value,
    }
    gaps = plain | {
        "age": pa.array(np.asarray(plain["age"], dtype=float), mask=coins.random(people) < 0.1),
        "sex": pa.array(np.asarray(plain["sex"]).tolist(), mask=coins.random(people) < 0.1),
    }
    roles = Schema(identifier=["name"], quasi=["age", "sex"], sensitive=["value"], other=["secret-note"])
    return {
        "plain": Table.from_frame(pa.table(plain), roles),
        "missing values": Table.from_frame(pa.table(gaps), roles),
        "compound": Table.from_frame(
            pa.table({"age": plain["age"], "value": value, "more": np.array(["x", "y"])[coins.integers(0, 2, people)]}),
            Schema(quasi=["age"], sensitive=["value", "more"], protect="combination"),
        ),
        "all alike": Table.from_frame(
            pa.table({"sex": ["f"] * people, "value": value}), Schema(quasi=["sex"], sensitive=["value"])
        ),
    }


def two_secrets() -> Table:
    """Return people with two secrets, each protected by itself."""
    coins, people = np.random.default_rng(13), 240
    columns = {
        "age": coins.integers(20, 60, people),
        "sex": np.array(["f", "m"])[coins.integers(0, 2, people)],
        "value": np.array([f"v{k}" for k in range(8)])[coins.integers(0, 8, people)],
        "more": np.array([f"w{k}" for k in range(6)])[coins.integers(0, 6, people)],
    }
    schema = Schema(quasi=["age", "sex"], sensitive=["value", "more"], protect="each")
    return Table.from_frame(pa.table(columns), schema)


def several_values() -> Table:
    """Return people with all their rows and two columns of a secret: any number of values, some of them none."""
    coins = np.random.default_rng(11)
    who = np.repeat(np.arange(160), coins.choice([1, 2, 4], 160))
    many = len(who)
    value = np.array([f"v{k}" for k in range(8)])
    first, second = (pa.array(value[coins.integers(0, 8, many)], mask=coins.random(many) < part) for part in (0.2, 0.6))
    visits = {
        "name": [f"{SECRET}-{k}" for k in who],
        "age": 20 + who % 40,
        "sex": np.array(["f", "m"])[who % 2],
        "value": first,
        "more": second,
        "secret-note": [f"{SECRET} note {k}" for k in range(many)],
    }
    order = pa.array(coins.permutation(many))
    schema = Schema(
        identifier=["name"],
        quasi=["age", "sex"],
        secrets={"value": ["value", "more"]},
        other=["secret-note"],
        people={"key": "name", "keep": "all"},
    )
    return Table.from_frame(pa.table(visits).take(order), schema)


def balanced_designs() -> dict[str, Table]:
    """Return small tables full of ties, where rounding in the order of the rows would decide: columns that permute each other,
    categories with equal means, a Latin square, twins, and equal counts of everything."""
    six = [f"v{k}" for k in range(6)]
    side = range(4)
    designs: dict[str, dict[str, list[Any]]] = {
        "permuted columns": {"a": [39, 44, 47, 59, 69, 75], "b": [75, 47, 44, 69, 59, 39], "value": six},
        "equal means": {
            "zip": list("CCCAAABBBDDD"),
            "age": [20, 21, 22, 30, 40, 50, 30, 40, 50, 60, 61, 62],
            "value": sorted(six * 2),
        },
        "Latin square": {
            "row": [row / 10 for row in side for _ in side],
            "column": [f"c{column}" for _ in side for column in side],
            "value": [f"v{(row + column) % 4}" for row in side for column in side],
        },
        "twins": {
            "age": [30, 30, 30, 41, 41, 41] * 3,
            "sex": ["f"] * 6 + ["m"] * 6 + ["f"] * 6,
            "value": ["v0", "v0", "v1", "v2", "v3", "v4"] * 3,
        },
        "equal counts": {
            "x": [f"x{k % 3}" for k in range(18)],
            "y": [f"y{k // 3 % 3}" for k in range(18)],
            "z": [f"z{(k + k // 3) % 3}" for k in range(18)],
            "value": six * 3,
        },
    }
    return {
        name: Table.from_frame(pa.table(columns), Schema(quasi=list(columns)[:-1], sensitive=["value"]))
        for name, columns in designs.items()
    }


def one_small_side() -> tuple[list[str], list[tuple[str, ...]]]:
    """Return quasi values of six people, two of them unlike the others, and every world: who has the two rare values.

    Whoever cuts the two apart wherever that keeps a bound of 1/2 on the rare value, and does not where it does not, tells with a
    cut not made that both of them have it.
    """
    worlds = [tuple("rare" if k in (a, b) else "usual" for k in range(6)) for a in range(6) for b in range(a)]
    return ["f", "f", "m", "m", "m", "m"], worlds
