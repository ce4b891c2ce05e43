from collections import Counter
from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from sfumato import FPrivacy, RhoPrivacy
from sfumato.randomize.balance import balance
from sfumato.randomize.problem import SortedValues

histograms = st.lists(st.integers(1, 60), min_size=2, max_size=14)


def named(counts):
    return {f"v{k:02}": count for k, count in enumerate(counts)}


def dealt(problem):
    groups = balance(problem)
    return [dict(zip(*(column.tolist() for column in groups.entries(g)), strict=True)) for g in range(len(groups))]


def by_figure_1(counts):
    """Figure 1 and equation 13 word by word, on falling counts: the records of every group, value by value."""
    left = dict(enumerate(counts))
    theta = sum(counts) // max(counts)
    groups = []
    while left:
        ranked = sorted(left, key=lambda value: (-left[value], value))
        total = sum(left.values())
        mu = [left[value] for value in ranked] + [0]
        last, following = mu[theta - 1], mu[theta]
        slack = Fraction(total, theta) - max(mu[0] - last, following)
        h = last if slack >= last else int(Fraction(total, theta) - following)
        groups.append(dict.fromkeys(ranked[:theta], h) if h else dict(left))
        left = {value: count - groups[-1].get(value, 0) for value, count in left.items()}
        left = {value: count for value, count in left.items() if count}
    return groups


@given(histograms)
def test_balancing_follows_figure_1_and_every_group_is_balanced(counts):
    problem = SortedValues.of(FPrivacy(offset="0.999").bounds(named(counts)))
    found = dealt(problem)
    assert found == by_figure_1(problem.counts)
    theta = problem.total // max(problem.counts)
    assert all(max(group.values()) * theta <= sum(group.values()) for group in found)


@given(histograms, st.integers(2, 12))
def test_every_record_is_dealt_once_also_when_only_rare_values_are_protected(counts, divisor):
    rho1 = Fraction(max(min(counts), max(counts) // divisor), sum(counts))
    if rho1 >= 1:
        return
    bounds = RhoPrivacy(rho1, (1 + rho1) / 2).bounds(named(counts))
    problem = SortedValues.of(bounds)
    found = dealt(problem)
    assert sum((Counter(group) for group in found), Counter()) == Counter(dict(enumerate(problem.counts)))
    protected = set(np.flatnonzero(problem.protected).tolist())
    assert all(protected & set(group) for group in found)


def test_unprotected_records_fill_the_groups_in_proportion_and_the_last_takes_the_residue():
    # T' = {a: 4, b: 4, c: 2, d: 2}: θ' = 3, groups of 3·2 and 6 left; T'' = 15 records, so ⌊6/12·15⌋ = 7 and 7 + 1.
    counts = {"big": 9, "mid": 6, "a": 4, "b": 4, "c": 2, "d": 2}
    problem = SortedValues.of(RhoPrivacy("4/27", "1/2").bounds(counts))
    labels = ["big", "mid", "a", "b", "c", "d"]
    found = [{labels[value]: count for value, count in group.items()} for group in dealt(problem)]
    assert found == [
        {"a": 2, "b": 2, "c": 2, "big": 7},
        {"a": 2, "b": 2, "d": 2, "big": 2, "mid": 6},
    ]


def test_values_are_ordered_by_count_and_text_whatever_their_order_in_the_table():
    counts = {"c": 3, "a": 3, "b": 5, "d": 3}
    turned = dict(reversed(counts.items()))
    texts = []
    for histogram in (counts, turned):
        problem = SortedValues.of(FPrivacy(offset="0.9").bounds(histogram))
        labels = list(histogram)
        texts.append([{labels[problem.codes[value]]: count for value, count in group.items()} for group in dealt(problem)])
    assert texts[0] == texts[1]
    assert list(texts[0][0]) == ["b", "a"]
