"""Annealed groups: exact changes of cost against brute force, caps at every step, and what decides nothing."""

import numba
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import njit

from sfumato import BetaLikeness, FPrivacy, LDiversity, Schema, Table
from sfumato.errors import PolicyError
from sfumato.groups.grouping import histograms, require_bounds
from sfumato.groups.near import _anneal_kernels as kernels
from sfumato.groups.near._anneal_kernels import (
    exchange,
    may_join,
    may_leave,
    may_swap,
    move_cost,
    open_groups,
    shift,
    swap_cost,
    undo,
)
from sfumato.groups.near.anneal import _small_needs, annealed_groups, first_groups, schedule
from sfumato.groups.near.order import NEIGHBOURS, BoxCost, domain_widths, neighbours
from sfumato.groups.near.window import Search, Windows
from sfumato.privacy.bounds import Bounds
from sfumato.randomness import SeededRandomness
from sfumato.utility.gcp import gcp_of_groups

ONE, ANY = kernels.ONE, 1 << 62


@njit
def changes(w, moves):
    """Return per move its told cost, also when costs above 0 need not be exact, whether it is told to keep the bounds, the groups
    after it and what they are told to cost; and whether undoing all restores everything."""
    open_groups(w)
    told, early, cost, kept = np.zeros(len(moves)), np.zeros(len(moves)), np.zeros(len(moves)), np.zeros(len(moves), np.int64)
    homes = np.zeros((len(moves) + 1, len(w.people)), np.int64)
    before = (w.groups[:, 3:].copy(), w.counts.copy())
    for k in range(len(moves)):
        a, b = moves[k, 1], moves[k, 2]
        if moves[k, 0] == 0 and w.people[a, 0] != w.people[b, 0]:
            told[k] = swap_cost(w, a, b, ANY) / ONE
            early[k] = swap_cost(w, a, b, 0) / ONE
            kept[k] = may_swap(w, a, b) and may_swap(w, b, a)
            exchange(w, a, b)
        elif moves[k, 0] == 1 and w.people[a, 0] != b:
            told[k] = move_cost(w, a, b, ANY) / ONE
            early[k] = move_cost(w, a, b, 0) / ONE
            kept[k] = may_leave(w, a) and may_join(w, a, b, w.groups[b, 0] + 1)
            shift(w, a, b)
        else:
            kept[k] = -1
        homes[k] = w.people[:, 0]
        cost[k] = (w.groups[:, 0] * w.groups[:, 3]).sum() / ONE
    undo(w)
    homes[-1] = w.people[:, 0]
    same = (w.groups[:, 3:] == before[0]).all() and (w.counts == before[1]).all()
    return told, early, kept, homes, cost, same


def table_of(seed, rows=120, values=5):
    coins = np.random.default_rng(seed)
    frame = pa.table(
        {
            "age": pa.array(coins.integers(0, 300, rows).astype(float), mask=coins.random(rows) < 0.1),
            "town": pa.array([f"t{k}" for k in coins.integers(0, 6, rows)], mask=coins.random(rows) < 0.1),
            "sex": np.array(["f", "m"])[coins.integers(0, 2, rows)],
            "born": pa.array(coins.integers(0, 4000, rows).astype("datetime64[D]")),
            "value": [f"v{k}" for k in np.minimum(coins.geometric(0.4, rows), values)],
        }
    )
    return Table.from_frame(frame, Schema(quasi=["age", "town", "sex", "born"], sensitive=["value"]))


def cost_of(table, home):
    """Return Σ size·ΣNCP of a grouping, by the definition."""
    found = gcp_of_groups(table.quasi, np.unique(home, return_inverse=True)[1].astype(np.int32))
    return found.value * len(table.quasi) * table.rows


def keeps(table, home, bounds):
    group = np.unique(home, return_inverse=True)[1].astype(np.int32)
    sizes = np.bincount(group)
    found = histograms(group, table.sensitive.codes, len(bounds.values))
    return all(
        count <= bounds.limits[v] * int(sizes[g])
        for g, v, count in zip(found.group, found.value, found.count.tolist(), strict=True)
    )


def run(table, requirement, *, effort=0.02, seed=1):
    bounds = requirement.bounds(table.sensitive.histogram())
    found = annealed_groups(
        table.quasi,
        table.sensitive.codes,
        bounds,
        widths=domain_widths(table.quasi, table.schema),
        effort=effort,
        random=SeededRandomness(seed),
    )
    return bounds, found


@pytest.mark.parametrize("seed", range(4))
def test_the_told_change_of_cost_is_the_brute_force_one_and_undoing_restores_everything(seed):
    table = table_of(seed)
    bounds = LDiversity(2, against="reader").bounds(table.sensitive.histogram())
    scale = BoxCost.of(table.quasi, domain_widths(table.quasi, table.schema))
    need, start = _small_needs(bounds)
    coins = np.random.default_rng(seed)
    home = coins.integers(0, 9, table.rows)
    moves = np.stack([coins.integers(0, 2, 120), coins.integers(0, table.rows, 120), coins.integers(0, table.rows, 120)], axis=1)
    moves[moves[:, 0] == 1, 2] %= 10  # group 9 is empty at first, and groups may become empty
    value = table.sensitive.codes.astype(np.int32)
    near = np.full((table.rows, 1), -1, np.int32)
    everybody = np.arange(table.rows)
    whole = Windows(9, everybody, np.array([0, table.rows]), np.zeros(table.rows, np.int64), everybody)
    window = Search(scale, value, need, start, near).open(home, whole, 0, np.zeros(1, np.uint64))
    told, early, kept, homes, cost, same = changes(window._replace(log=np.zeros(8 * len(moves) + 64, np.int64)), moves)
    assert ((early == told) | ((early > 0) & (told > 0))).all()
    before, checked = home, 0
    for k in range(len(moves)):
        assert told[k] == pytest.approx(cost_of(table, homes[k]) - cost_of(table, before), abs=1e-8)
        touched = set(before[before != homes[k]]) | set(homes[k][before != homes[k]])
        assert cost[k] == pytest.approx(cost_of(table, homes[k]), abs=1e-6)
        if kept[k] >= 0 and all(_kept(bounds, table, before, g) for g in touched):
            assert (kept[k] == 1) == all(_kept(bounds, table, homes[k], g) for g in touched)
            checked += 1
        before = homes[k]
    assert checked > 30
    assert same
    assert (homes[-1] == home).all()


def _kept(bounds, table, home, g):
    """Return whether a group keeps its bounds."""
    mask = home == g
    used = np.unique(table.sensitive.codes[mask])
    mine = Bounds.of(*(tuple(part[v] for v in used) for part in (bounds.values, bounds.counts, bounds.limits)))
    return not mask.any() or keeps(table.take(mask), home[mask], mine)


REQUIREMENTS = [
    LDiversity(2, against="reader"),
    BetaLikeness(1, against="reader"),
    BetaLikeness("0.1", enhanced=True, against="reader"),
    FPrivacy(theta=2, offset="0.05", against="reader"),
]


@pytest.mark.usefixtures("one_thread")
@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 10_000), rows=st.integers(2, 300), which=st.integers(0, len(REQUIREMENTS) - 1))
def test_every_record_is_in_one_group_and_every_group_keeps_the_bounds(seed, rows, which):
    table = table_of(seed, rows)
    counts = table.sensitive.histogram()
    if which == 0 and 2 * max(counts.values()) > rows:
        which = 1
    bounds, found = run(table, REQUIREMENTS[which], seed=seed)
    grouping = found
    assert grouping.sizes.min() >= 1
    assert grouping.sizes.sum() == rows
    require_bounds(histograms(grouping.group, table.sensitive.codes, len(bounds.values)), grouping.sizes, bounds)


@pytest.mark.parametrize("requirement", REQUIREMENTS, ids=str)
def test_the_first_groups_keep_the_bounds(requirement):
    table = table_of(3, rows=500)
    if isinstance(requirement, LDiversity):
        table = table.take(np.flatnonzero(table.sensitive.codes > 0))
    bounds = requirement.bounds(table.sensitive.histogram())
    need, start = _small_needs(bounds)
    home = first_groups(table.sensitive.codes.astype(np.int32), need, start)
    assert keeps(table, home, bounds)


def test_bounds_that_only_one_group_can_keep_make_one_group():
    table = table_of(2, rows=101)
    bounds, found = run(table, BetaLikeness(0, against="reader"))
    assert all(limit == share for limit, share in zip(bounds.limits, bounds.shares, strict=True))
    assert found.groups == 1


def test_the_figure_is_the_gcp_of_the_groups():
    table = table_of(5, rows=400)
    _, found = run(table, FPrivacy(theta=2, offset="0.05", against="reader"))
    assert found.figures["gcp"] == pytest.approx(gcp_of_groups(table.quasi, found.group).value)


def test_more_effort_makes_narrower_groups():
    table = table_of(6, rows=600)
    little, much = (run(table, REQUIREMENTS[3], effort=effort)[1].figures["gcp"] for effort in (0.002, 0.1))
    assert much < 0.9 * little


def test_the_number_of_processors_changes_nothing(monkeypatch):
    monkeypatch.setattr("sfumato.groups.near.anneal.WINDOW", 500)  # so that there are several windows to share
    table = table_of(7, rows=3000)
    threads = numba.get_num_threads()
    try:
        numba.set_num_threads(1)
        one = run(table, REQUIREMENTS[3], effort=0.01)[1].group
    finally:
        numba.set_num_threads(threads)
    assert (one == run(table, REQUIREMENTS[3], effort=0.01)[1].group).all()


def test_neighbours_are_the_nearest_of_a_small_table():
    table = table_of(9, rows=100)
    scale = BoxCost.of(table.quasi, domain_widths(table.quasi, table.schema))
    near = neighbours(scale, [np.arange(100)], SeededRandomness(1))
    apart = np.array([[distance(scale, a, b) if a != b else np.inf for b in range(100)] for a in range(100)])
    blocks = near >= 0
    assert blocks.all(axis=1).mean() > 0.5  # a block boundary may fall inside the table
    for a in np.flatnonzero(blocks.all(axis=1)):
        assert len(set(near[a].tolist())) == NEIGHBOURS
    whole = neighbours(scale, [np.arange(100)] * 6, SeededRandomness(2))
    assert np.allclose(np.sort(apart, axis=1)[:, :NEIGHBOURS], np.take_along_axis(apart, whole.astype(int), axis=1), atol=1e-6)


def distance(scale, a, b):
    total = 0.0
    for j, unit in enumerate(scale.unit):
        x, y = scale.codes[a, j], scale.codes[b, j]
        place = scale.place[scale.first[j] : scale.first[j + 1]]
        total += (unit if x != y else 0.0) if unit > 0 else abs(place[x] - place[y])
    return total


def test_orders_hold_every_row_once():
    scale = BoxCost.of(table_of(10).quasi, [300, 5, 1, 4000])
    assert sorted(scale.order(SeededRandomness(1), wobble=0.7).tolist()) == list(range(120))


def test_equal_bounds_start_with_swaps_and_others_with_every_step():
    table = table_of(11)
    counts = {"a": 50, "b": 50}
    equal = schedule(100, LDiversity(2).bounds(counts), 1.0)
    other, twice = (schedule(100, BetaLikeness(1).bounds(table.sensitive.histogram()), effort) for effort in (1.0, 2.0))
    assert equal.early[0] == 0 < equal.late[0]
    assert other.early == other.late
    assert twice.steps == 2 * other.steps


def test_an_effort_that_is_not_positive_is_refused():
    with pytest.raises(PolicyError, match="above 0"):
        run(table_of(1), REQUIREMENTS[3], effort=0)
