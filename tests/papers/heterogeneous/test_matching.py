from collections import Counter
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment

from sfumato.errors import ClaimBroken
from sfumato.papers.heterogeneous._assignment_kernel import FORBIDDEN, cheapest_assignment
from sfumato.papers.heterogeneous.costs import Costs
from sfumato.papers.heterogeneous.matchers import match, roomy, split_values
from sfumato.papers.heterogeneous.packing import pack
from sfumato.papers.heterogeneous.partition import cut_at_ranks
from sfumato.papers.heterogeneous.scheme import deal, deal_far_apart
from sfumato.privacy import BetaLikeness, LDiversity
from sfumato.randomness import SeededRandomness
from sfumato.table import Schema, Table

MATCHERS = ("hungarian", "sortgreedy", "greedy")


def table_of(values, seed=0):
    coins = np.random.default_rng(seed)
    many = len(values)
    columns = {
        "age": pa.array(coins.integers(20, 60, many).astype(float), mask=coins.random(many) < 0.05),
        "sex": pa.array(np.array(["f", "m"])[coins.integers(0, 2, many)].tolist(), mask=coins.random(many) < 0.05),
        "job": np.array(list("pqrst"))[coins.integers(0, 5, many)],
        "value": values,
    }
    return Table.from_frame(pa.table(columns), Schema(quasi=["age", "sex", "job"], sensitive=["value"]))


def links_of(table, requirement, *, matcher="hungarian", packing="paper", seed=1, largest=None, distant=False):
    bounds = requirement.bounds(table.sensitive.histogram())
    plan = pack(bounds, packing)
    coins = SeededRandomness(seed)
    costs = Costs.of(table.quasi, table.schema)
    codes = table.sensitive.codes
    slots = deal_far_apart(plan, codes, costs, coins) if distant else deal(plan, codes, coins)
    starts = np.array([0, plan.size])
    if largest is not None:
        slots, starts = cut_at_ranks(slots, table.quasi, codes, costs, largest=largest, once=plan.once, random=coins)
    links = match(slots, codes, costs, once=plan.once, starts=starts, matcher=matcher)
    return plan, slots, links, starts, costs


def require_regular(slots, links):
    pools, size = slots.shape
    for b in range(pools):
        assert (links[b, :, b] == np.arange(size)).all()
        for other in range(pools):
            assert sorted(links[b, :, other]) == list(range(size))


def values_met(slots, links, codes):
    """Return per published record how often it meets each value."""
    pools, size = slots.shape
    for b in range(pools):
        for i in range(size):
            rows = [slots[o, links[b, i, o]] for o in range(pools)]
            yield Counter(int(codes[row]) for row in rows if row >= 0)


COUNTS = st.lists(st.integers(1, 12), min_size=3, max_size=8)


@pytest.mark.usefixtures("one_thread")
@settings(max_examples=40)
@given(COUNTS, st.integers(2, 5), st.sampled_from(MATCHERS), st.booleans(), st.integers(0, 5))
def test_graphs_are_regular_contain_every_record_and_repair_never_fails(counts, l, matcher, distant, seed):
    values = [f"v{k}" for k, count in enumerate(counts) for _ in range(count)]
    l = min(l, len(values) // max(counts))
    table = table_of(values, seed)
    plan, slots, links, _, _ = links_of(table, LDiversity(l), matcher=matcher, seed=seed, distant=distant)
    assert plan.pools == l
    assert sorted(slots[slots >= 0]) == list(range(len(values)))
    require_regular(slots, links)
    assert all(max(met.values()) == 1 for met in values_met(slots, links, table.sensitive.codes))


@settings(max_examples=30)
@given(COUNTS, st.sampled_from(["1/2", "1", "3"]), st.sampled_from(MATCHERS), st.sampled_from(["paper", "tight"]))
def test_every_record_meets_each_value_within_its_cap(counts, beta, matcher, packing):
    values = [f"v{k}" for k, count in enumerate(counts) for _ in range(count)]
    table = table_of(values)
    bounds = BetaLikeness(beta).bounds(table.sensitive.histogram())
    plan, slots, links, _, _ = links_of(table, BetaLikeness(beta), matcher=matcher, packing=packing)
    require_regular(slots, links)
    caps = bounds.caps([plan.pools])[:, 0]
    label = {value: k for k, value in enumerate(bounds.values)}
    order = [label[text] for text in table.sensitive.labels]
    for met in values_met(slots, links, table.sensitive.codes):
        assert all(times <= caps[order[code]] for code, times in met.items())


def ncp(costs, rows):
    """Return ΣNCP of a set of rows, by hand."""
    total = 0.0
    for line in costs.places[:, rows]:
        known = line[~np.isnan(line)]
        total += known.max() - known.min() if len(known) else 0.0
    for codes, weight in zip(costs.codes[:, rows], costs.weights, strict=True):
        total += (len(set(codes.tolist())) - 1) * weight
    return total


def test_the_hungarian_matcher_costs_what_a_straightforward_algorithm_2_costs():
    table = table_of([f"v{k % 6}" for k in range(120)])
    plan, slots, links, _, costs = links_of(table, LDiversity(6))
    ours = plain = 0.0
    for b in range(plan.pools):
        sets = [[row] for row in slots[b]]
        for step in range(1, plan.pools):
            other = slots[(b + step) % plan.pools]
            grown = np.array([[ncp(costs, [*mine, row]) - ncp(costs, mine) for row in other] for mine in sets])
            for i, j in zip(*linear_sum_assignment(grown), strict=True):
                sets[i].append(other[j])
        plain += sum(ncp(costs, mine) for mine in sets)
        ours += sum(ncp(costs, [slots[o, links[b, i, o]] for o in range(plan.pools)]) for i in range(plan.size))
    assert ours == pytest.approx(plain, rel=0.03)


def test_the_first_round_of_greedy_and_sortgreedy_is_what_their_definitions_give():
    table = table_of([f"v{k % 2}" for k in range(60)])
    for matcher in ("greedy", "sortgreedy"):
        _, slots, links, _, costs = links_of(table, LDiversity(2), matcher=matcher)
        for anchor, other in ((0, 1), (1, 0)):
            cost = np.array([[ncp(costs, [one, two]) for two in slots[other]] for one in slots[anchor]])
            pairs = [(i, j) for i in range(30) for j in range(30)]
            key = (
                (lambda p, c=cost: (p[0], round(c[p], 5), p[1]))
                if matcher == "greedy"
                else (lambda p, c=cost: (round(c[p], 5), *p))
            )
            taken, back = {}, set()
            for i, j in sorted(pairs, key=key):
                if i not in taken and j not in back:
                    taken[i] = j
                    back.add(j)
            expected = sum(cost[i, j] for i, j in taken.items())
            assert sum(cost[i, links[anchor, i, other]] for i in range(30)) == pytest.approx(expected, rel=1e-3)


@settings(max_examples=60)
@given(st.integers(1, 14), st.integers(0, 10_000), st.sampled_from([2, 5, 1000, 1 << 23]), st.sampled_from([0, 0.2, 0.6]))
def test_the_compiled_assignment_is_a_cheapest_one_and_avoids_forbidden_matches(n, seed, largest, barred):
    coins = np.random.default_rng(seed)
    cost = coins.integers(0, largest, (n, n)).astype(np.int32)
    cost[(coins.random((n, n)) < barred) & (np.arange(n) != coins.permutation(n)[:, None])] = FORBIDDEN
    to = assigned(cost)
    rows, columns = linear_sum_assignment(cost)
    assert cost[np.arange(n), to].sum(dtype=np.int64) == cost[rows, columns].sum(dtype=np.int64)


@pytest.mark.parametrize("allowed", [0, 5, 30])
def test_an_assignment_that_cannot_avoid_forbidden_matches_is_still_one_and_holds_some(allowed):
    cost = np.full((40, 40), FORBIDDEN, np.int32)
    cost[:allowed] = np.random.default_rng(allowed).integers(0, 1000, (allowed, 40))
    assert (cost[np.arange(40), assigned(cost)] == FORBIDDEN).any()


def assigned(cost):
    """Return the column of every row, one to one."""
    n = len(cost)
    to, back = np.empty(n, np.int64), np.empty(n, np.int64)
    cheapest_assignment(cost, to, back)
    assert sorted(to) == list(range(n))
    assert (back[to] == np.arange(n)).all()
    return to


@settings(max_examples=30)
@given(COUNTS, st.integers(2, 4), st.integers(1, 4), st.integers(0, 3))
def test_blocks_cut_at_the_same_ranks_keep_the_graph_regular_and_values_apart(counts, l, largest, seed):
    values = [f"v{k}" for k, count in enumerate(counts) for _ in range(count)]
    l = min(l, len(values) // max(counts))
    table = table_of(values, seed)
    plan, slots, links, starts, _ = links_of(table, LDiversity(l), largest=largest, seed=seed)
    assert starts[0] == 0
    assert starts[-1] == plan.size
    assert sorted(slots[slots >= 0]) == list(range(len(values)))
    require_regular(slots, links)
    for begin, end in pairwise(starts.tolist()):
        assert (links[:, begin:end] >= begin).all()
        assert (links[:, begin:end] < end).all()
    assert all(max(met.values()) == 1 for met in values_met(slots, links, table.sensitive.codes))


def test_blocks_are_as_small_as_asked_where_no_value_is_split():
    table = table_of([f"v{k % 4}" for k in range(400)])
    _, _, _, starts, _ = links_of(table, LDiversity(4), largest=12)
    assert np.diff(starts).max() <= 12
    assert np.diff(starts).min() >= 6


def test_a_block_without_room_is_seen_and_a_matching_that_must_repeat_a_value_is_refused():
    # Both pools hold nothing but value 0: whoever is matched meets it twice.
    slots, sensitive = np.array([[0, 1], [2, 3]]), np.zeros(4, np.int64)
    assert not roomy(split_values(slots, sensitive))
    costs = Costs.of(table_of(["a", "a", "a", "a"]).quasi)
    with pytest.raises(ClaimBroken, match="twice"):
        match(slots, sensitive, costs, once=True, starts=np.array([0, 2]), matcher="greedy")


def test_the_number_of_processors_changes_nothing():
    import numba

    table = table_of([f"v{k % 5}" for k in range(200)])
    before = numba.get_num_threads()
    found = []
    for threads in (1, before):
        numba.set_num_threads(threads)
        found.append(links_of(table, LDiversity(5), largest=10)[2])
    numba.set_num_threads(before)
    assert (found[0] == found[1]).all()


def test_declared_domains_normalise_the_costs():
    frame = pa.table({"age": [20, 40], "job": ["p", "q"], "value": ["a", "b"]})
    schema = Schema(quasi=["age", "job"], sensitive=["value"], domains={"age": {"min": 0, "max": 100}, "job": ["p", "q", "r"]})
    costs = Costs.of(Table.from_frame(frame, schema).quasi, schema)
    assert np.diff(costs.places[0]).tolist() == [pytest.approx(0.2)]
    assert costs.weights.tolist() == [pytest.approx(0.5)]


def test_threshold_mode_puts_people_where_the_others_are_unlike_them():
    # Values a and b have a pool each, of the old and of the young; c's old people belong with the young and vice versa.
    age = [60] * 4 + [20] * 4 + [60, 60, 20, 20]
    frame = pa.table({"age": age, "value": ["a"] * 4 + ["b"] * 4 + ["c"] * 4})
    table = Table.from_frame(frame, Schema(quasi=["age"], sensitive=["value"]))
    plan = pack(LDiversity(2).bounds(table.sensitive.histogram()), "paper")
    slots = deal_far_apart(plan, table.sensitive.codes, Costs.of(table.quasi), SeededRandomness(1))
    homes = {int(row): b for b in range(2) for row in slots[b]}
    assert homes[8] == homes[9] == homes[4]
    assert homes[10] == homes[11] == homes[0]
