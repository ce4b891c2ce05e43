"""Visits and households made of a table of people, a row each: real values and quasi values, and relations that are made up."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sfumato.arrays import Integers

NEAR = 40  # people this far off in some order of the quasi columns are much alike
ORDERS = 4
MORE, MOST = 0.38, 20  # chance of one more visit; visits at most
SAME = 0.4  # chance that a later visit is for somebody's own value again
EMPTY = (0.35, 0.5)  # of the second and of the third column
SHARING = 0.3  # of couples, that both have one value


def sample(people: pa.Table, many: int, seed: int) -> pa.Table:
    """Return so many of the people."""
    return people.take(pa.array(np.sort(np.random.default_rng(seed).permutation(people.num_rows)[:many])))


def visits_of(people: pa.Table, quasi: list[str], secret: str, seed: int) -> pa.Table:
    """Return visits of people: the first for their own value, the others for those of people much like them."""
    random, own = np.random.default_rng(seed), np.array([str(one) for one in people.column(secret).to_pylist()], dtype=object)
    who = np.repeat(np.arange(people.num_rows), np.minimum(random.geometric(1 - MORE, people.num_rows), MOST))
    first = np.append(True, who[1:] != who[:-1])
    orders = [_order(people, random.permutation(quasi).tolist(), random) for _ in range(ORDERS)]
    columns = [_near(who, orders, random) for _ in range(3)]
    mine = first | (random.random(len(who)) < SAME)
    columns[0][mine] = who[mine]
    shown = [own[one] for one in columns]
    shown[1][random.random(len(who)) < EMPTY[0]] = None
    shown[2][np.array([value is None for value in shown[1]]) | (random.random(len(who)) < EMPTY[1])] = None
    cells = {name: people.column(name).combine_chunks().take(pa.array(who)) for name in quasi}
    diagnoses = {f"diag_{k}": pa.array(one.tolist(), pa.string()) for k, one in enumerate(shown, 1)}
    return pa.table({"patient": who, "admitted": np.arange(len(who)), **cells, **diagnoses})


def _order(people: pa.Table, columns: list[str], random: np.random.Generator) -> Integers:
    """Return people sorted by these columns, coins deciding among those who are alike."""
    keyed = people.select(columns).append_column("coin", pa.array(random.random(people.num_rows)))
    order: Integers = pc.sort_indices(keyed, [(name, "ascending") for name in keyed.column_names]).to_numpy().astype(np.int64)
    return order


def _near(who: Integers, orders: list[Integers], random: np.random.Generator) -> Integers:
    """Return somebody much like each of these people."""
    chosen, found = random.integers(len(orders), size=len(who)), np.empty(len(who), np.int64)
    step = random.integers(-NEAR, NEAR + 1, len(who))
    for k, order in enumerate(orders):
        place, mine = np.empty_like(order), chosen == k
        place[order] = np.arange(len(order))
        found[mine] = order[np.clip(place[who[mine]] + step[mine], 0, len(order) - 1)]
    return found


def households_of(people: pa.Table, age: str, secret: str, seed: int) -> pa.Table:
    """Return people with the number of their household: couples of about one age, alone or with a third, and people alone.

    Of three in ten couples both have one value; half of the people live in couples, and every third couple has somebody else.
    """
    random, many = np.random.default_rng(seed), people.num_rows
    ages, values = people.column(age).to_numpy(), np.array([str(one) for one in people.column(secret).to_pylist()])
    near = ages + random.normal(0.0, 2.0, many)
    order, household = random.permutation(many), np.full(many, -1)
    sharing, other, third = np.split(order[: many // 2 + many // 12], [int(SHARING * many) // 4 * 2, many // 2])
    sharing = sharing[np.lexsort((near[sharing], values[sharing]))]
    couples = sharing[: len(sharing) // 2 * 2].reshape(-1, 2)
    other = np.append(other, couples[values[couples[:, 0]] != values[couples[:, 1]]])
    couples = couples[values[couples[:, 0]] == values[couples[:, 1]]]
    other = other[np.argsort(near[other], kind="stable")]
    couples = np.concatenate([couples, other[: len(other) // 2 * 2].reshape(-1, 2)])
    household[couples] = np.arange(len(couples))[:, None]
    household[third] = random.permutation(len(couples))[: len(third)]
    alone = np.flatnonzero(household < 0)
    household[alone] = len(couples) + np.arange(len(alone))
    return people.append_column("household", pa.array(household))
