"""Groups as published, made complete: nobody is lost, and every group keeps α and the bounds by itself."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato import FPrivacy, LDiversity
from sfumato.errors import Infeasible
from sfumato.papers.overlapping.scattered import scattered_groups
from sfumato.privacy import PresenceAssociation
from sfumato.randomness import SeededRandomness
from tests.groups.fragments._crowds import ALPHAS, attempt, covered, crowd, crowds, groups_of, keeps_bounds
from tests.makers import people

pytestmark = pytest.mark.usefixtures("one_thread")


def scatter(table, alpha, beta, *, suppress=False, seed=1, greedy=False):
    requirement = PresenceAssociation(alpha, beta)
    bounds = requirement.bounds(table.sensitive.histogram())
    turned, rows = table.shuffled(SeededRandomness(seed))
    found = scattered_groups(turned.quasi, turned.sensitive.codes, bounds, Fraction(alpha), suppress=suppress, greedy=greedy)
    return bounds, replace(found, group=found.group[np.argsort(rows)])


BETAS = [Fraction(1, 2), Fraction(1, 3), Fraction(2, 5), FPrivacy(theta=1, offset="1/5"), FPrivacy(theta="3/2", offset="1/20")]


@given(
    table=crowds(),
    alpha=st.sampled_from(ALPHAS),
    beta=st.sampled_from(BETAS),
    suppress=st.booleans(),
    seed=st.integers(0, 99),
    greedy=st.booleans(),
)
@settings(max_examples=40, deadline=None)
def test_everybody_is_in_one_group_or_counted_as_suppressed_and_every_group_keeps_alpha_and_bounds(
    table, alpha, beta, suppress, seed, greedy
):
    whole = Fraction(table.rows, covered(table, np.arange(table.rows)))
    made, refused = attempt(lambda: scatter(table, alpha, beta, suppress=suppress, seed=seed, greedy=greedy))
    if refused is not None:
        assert "beta" in refused.nearest or (whole > alpha and refused.nearest["alpha"] >= min(whole, 1))
        return
    bounds, found = made
    everywhere = groups_of(found)
    placed = np.concatenate(everywhere)
    assert len(set(placed.tolist())) == len(placed) == table.rows - found.suppressed
    assert found.figures["suppressed"] == found.suppressed == (found.group < 0).sum()
    assert not found.suppressed or (suppress and whole > alpha)
    for rows in everywhere:
        assert alpha == 1 or Fraction(len(rows), covered(table, rows)) <= alpha
        assert keeps_bounds(table, bounds, rows)


@pytest.mark.parametrize("l", [2, 3, 5])
def test_every_group_has_at_least_one_over_beta_different_values(l):
    """Theorem 5 of the paper: ⌈1/β⌉-diversity."""
    table = crowd(2000, 4, values=9, seed=l)
    for beta in (Fraction(1, l), Fraction(2, 2 * l - 1)):
        _, found = scatter(table, "1/4", beta)
        for rows in groups_of(found):
            assert len(set(table.sensitive.codes[rows].tolist())) >= -(-beta.denominator // beta.numerator)


def test_groups_are_as_small_as_beta_allows_where_alpha_is_easily_kept():
    table = crowd(2000, 4, values=10, seed=5, widths=(50, 40, 30, 20))
    _, found = scatter(table, "1/4", "1/5")
    sizes = found.sizes
    assert (sizes >= 5).all()
    assert sizes.mean() < 5.5


def test_groups_are_extended_until_they_keep_alpha():
    table = crowd(3000, 3, values=8, seed=6, widths=(30, 12, 9))
    _, loose = scatter(table, "1", "1/4")
    _, strict = scatter(table, "1/60", "1/4")
    assert strict.sizes.mean() > loose.sizes.mean()
    assert all(60 * len(rows) <= covered(table, rows) for rows in groups_of(strict))


def test_a_value_that_takes_all_its_room_leaves_no_residue_behind():
    values = ["often"] * 200 + [f"v{k % 7}" for k in range(200)]
    table = people(values, x=range(400), y=range(400))
    bounds, found = scatter(table, "1/2", FPrivacy(theta=0, offset="1/2"))
    assert len(np.concatenate(groups_of(found))) == 400
    assert all(keeps_bounds(table, bounds, rows) for rows in groups_of(found))
    assert found.groups > 150


def test_leftovers_become_one_group_with_groups_that_have_room():
    table = crowd(38, 3, values=4, seed=1, widths=(12, 6, 4))
    bounds, found = scatter(table, "1/3", "2/5")
    assert found.figures["merged"] > 0
    assert found.groups > 1
    assert len(np.concatenate(groups_of(found))) == 38
    assert all(keeps_bounds(table, bounds, rows) for rows in groups_of(found))
    assert all(3 * len(rows) <= covered(table, rows) for rows in groups_of(found))


def test_what_no_group_can_take_is_refused_with_what_could_be_kept_or_left_out_on_request():
    same = people(list("abcd" * 5), x=[1] * 20, y=[1, 2] * 10)
    with pytest.raises(Infeasible, match="20 of the people") as caught:
        scatter(same, "1/3", "1/2")
    assert caught.value.nearest == {"alpha": 1}
    assert scatter(same, "1", "1/2")[1].groups >= 1
    with pytest.raises(Infeasible, match="20 of the people"):
        scatter(same, "1/3", "1/2", suppress=True)
    mixed = people(list("abcd" * 12), x=[*range(8), *[50] * 40], y=[*range(8), *[60] * 40])
    with pytest.raises(Infeasible):
        scatter(mixed, "1/8", "1/2")
    _, found = scatter(mixed, "1/8", "1/2", suppress=True)
    assert 0 < found.suppressed < 48
    assert (found.group < 0).sum() == found.figures["suppressed"]


def test_sizes_follow_from_the_tightest_bound_where_bounds_differ():
    table = people([f"v{k % 12}" for k in range(1200)], x=range(1200), y=range(1200))
    own = {"v0": "1/10"}
    bounds, found = scatter(table, "1/5", FPrivacy(offset="1/4", bounds=own))
    assert bounds.limit("v0") == Fraction(1, 10)
    with_it = [len(rows) for rows in groups_of(found) if (table.sensitive.codes[rows] == 0).any()]
    assert min(with_it) >= 10
    _, even = scatter(table, "1/5", LDiversity(4))
    assert even.sizes.max() <= 5
