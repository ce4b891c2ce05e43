"""BuReL (Cao and Karras, PVLDB 2012): the worked example, and what the proof rests on."""

import math
from fractions import Fraction
from itertools import combinations, pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato import BetaLikeness
from sfumato.groups.burel import EcTree, plan_burel, value_buckets
from sfumato.privacy.bounds import Bounds

COUNTS = {"a": 4, "b": 5, "c": 10, "d": 11, "e": 30, "f": 40}
ROOT = (9, 21, 30, 40)


def example(*, enhanced):
    return BetaLikeness(2, enhanced=enhanced, against="reader").bounds(COUNTS)


def test_the_bounds_of_the_example():
    limits = example(enhanced=True).limits
    assert limits[:4] == (Fraction(12, 100), Fraction(15, 100), Fraction(30, 100), Fraction(33, 100))
    assert [round(float(limit), 4) for limit in limits[4:]] == [0.6612, 0.7665]


@pytest.mark.parametrize(
    ("enhanced", "buckets"), [(True, ((0, 1), (2, 3), (4,), (5,))), (False, ((0, 1), (2, 3), (4, 5)))], ids=["enhanced", "basic"]
)
def test_the_value_buckets_of_the_example(enhanced, buckets):
    assert value_buckets(example(enhanced=enhanced)) == buckets


def test_the_templates_of_the_example():
    bounds = example(enhanced=True)
    tree = EcTree([bounds.limits[values[0]] for values in value_buckets(bounds)], "floor")
    assert tree.leaves(ROOT) == (
        (1, 2, 3, 5),
        (1, 3, 4, 5),
        (1, 2, 4, 5),
        (1, 3, 4, 5),
        (1, 2, 3, 5),
        (1, 3, 4, 5),
        (3, 6, 8, 10),
    )


def test_alternate_halves_differ_by_one_person_at_most():
    tree = EcTree([Fraction(1)] * 4, "alternate")
    left, right = tree.split((9, 21, 30, 41))
    assert left == (4, 11, 15, 20)
    assert right == (5, 10, 15, 21)


def test_a_template_may_take_nobody_from_a_rare_bucket():
    tree = EcTree([Fraction(1, 2), Fraction(1), Fraction(1)], "floor")
    assert tree.split((1, 4, 4)) == ((0, 2, 2), (1, 2, 2))


def test_a_comparison_at_the_very_bound_is_exact():
    third = Fraction(1, 3)
    assert EcTree([third, Fraction(1)], "floor").eligible((1, 2))
    assert not EcTree([third - Fraction(1, 10**30), Fraction(1)], "floor").eligible((1, 2))


def fewest_by_trying_all(bounds):
    """The smallest number of intervals, by ascending share, whose shares add up to at most the bound of the rarest value."""
    order = sorted(range(len(bounds.counts)), key=lambda v: bounds.counts[v])
    for cuts in range(len(order)):
        for places in combinations(range(1, len(order)), cuts):
            edges = [0, *places, len(order)]
            parts = [order[a:b] for a, b in pairwise(edges)]
            if all(sum(bounds.shares[v] for v in part) <= bounds.limits[part[0]] for part in parts):
                return len(parts)
    raise AssertionError("every value alone fits")


counts = st.lists(st.integers(1, 60), min_size=2, max_size=7)


@settings(max_examples=60, deadline=None)
@given(counts, st.sampled_from(["0", "0.5", "1", "2", "5"]), st.booleans())
def test_no_packing_into_intervals_has_fewer_buckets(counts, beta, enhanced):
    bounds = BetaLikeness(beta, enhanced=enhanced).bounds({f"v{k}": count for k, count in enumerate(counts)})
    assert len(value_buckets(bounds)) == fewest_by_trying_all(bounds)


@settings(max_examples=60, deadline=None)
@given(counts, st.sampled_from(["0", "0.5", "1", "2", "5"]), st.booleans(), st.sampled_from(["fewest", "roomy"]))
def test_every_template_keeps_the_bounds_whoever_is_drawn(counts, beta, enhanced, packing):
    bounds = BetaLikeness(beta, enhanced=enhanced).bounds({f"v{k}": count for k, count in enumerate(counts)})
    plan = plan_burel(bounds, packing)
    assert sorted(v for values in plan.buckets for v in values) == list(range(len(counts)))
    for values, drawn in zip(plan.buckets, zip(*plan.templates, strict=True), strict=True):
        assert sum(drawn) == sum(bounds.counts[v] for v in values)
        for many, template in zip(drawn, plan.templates, strict=True):
            assert all(Fraction(many, sum(template)) <= bounds.limits[v] for v in values)


def test_roomy_buckets_never_have_a_larger_loss_than_the_fewest():
    def loss(plan):
        return sum(sum(one) * math.log(sum(one) * sum(many > 0 for many in one)) for one in plan.templates)

    for limits in ((Fraction(1, 5),) * 12, tuple(Fraction(k, 20) for k in range(4, 16))):
        bounds = Bounds.of(tuple("abcdefghijkl"), tuple(range(40, 52)), limits)
        fewest, roomy = (plan_burel(bounds, packing) for packing in ("fewest", "roomy"))
        assert loss(roomy) <= loss(fewest)
        assert len(roomy.buckets) >= len(fewest.buckets)
