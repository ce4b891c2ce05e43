"""004, the making of groups: its worked examples, its theorems about groups where they hold, and where they do not."""

from fractions import Fraction

import numpy as np
import pytest

from sfumato.groups.fragments.boxes import presence_boxes
from sfumato.groups.fragments.cover import PresenceRule, combinations
from sfumato.groups.fragments.matchings import association, meeting, worst
from sfumato.groups.fragments.views import ViewRows
from sfumato.papers.overlapping._bucket_kernels import pick
from sfumato.papers.overlapping._scatter_kernels import enter
from sfumato.papers.overlapping.scattered import scattered_groups
from sfumato.papers.overlapping.views import published_groups
from sfumato.privacy import PresenceAssociation
from sfumato.table import Schema, Table
from sfumato.table.generators import census
from tests.makers import people

NAMES = ("Alan", "Charles", "George", "Henry", "Alice", "Carol", "Grace", "Helen")
DISEASES = ("diabetes", "flu", "diarrhea", "stroke", "leukemia", "diabetes", "leukemia", "dyspepsia")


@pytest.fixture(scope="module")
def figure_1():
    """Fig. 1(a)."""
    return people(
        DISEASES,
        age=[45, 20, 50, 60, 20, 50, 60, 60],
        gender=list("MMMMFFFF"),
        zipcode=[11000, 12000, 23000, 12000, 54000, 23000, 23000, 21000],
    )


@pytest.fixture(scope="module")
def real():
    """A census-like table of 7 quasi columns with Occupation."""
    data = census(20_000, 1).drop(["salary"])
    quasi = [name for name in data.column_names if name != "occupation"]
    types = dict.fromkeys(["gender", "marital", "race", "workclass", "country", "occupation"], "categorical")
    return Table.from_frame(data, Schema(quasi=quasi, sensitive=["occupation"], types=types))


def _bounds(table, alpha, beta):
    return PresenceAssociation(alpha, beta).bounds(table.sensitive.histogram())


def test_figure_2_is_what_boxes_make_when_gender_comes_first(figure_1):
    """Presence 4/12 in one group and 4/9 in the other; the largest share of a disease is 1/4 and 1/2."""
    alpha, beta = Fraction(4, 9), Fraction(1, 2)
    found = presence_boxes(
        figure_1.quasi,
        figure_1.sensitive.codes,
        _bounds(figure_1, alpha, beta),
        PresenceRule(alpha, tight=True, floor=4, weights={"gender": 10}),
    )
    first = found.group[0]
    assert (found.group == np.array([first] * 4 + [1 - first] * 4)).all()
    men, women = ([column.take(np.arange(k, k + 4)) for column in figure_1.quasi] for k in (0, 4))
    assert (combinations(men), combinations(women)) == (12, 9)
    assert Fraction(4, combinations(men)) == Fraction(1, 3)
    assert Fraction(4, combinations(women)) == alpha


def test_step_1s_group_of_two_tuples_has_presence_two_quarters(figure_1):
    """The text says 1/4, counting sensitive values for |G|; Fig. 8 has the same slip."""
    pair = [column.take(np.array([0, 1])) for column in figure_1.quasi]
    assert Fraction(2, combinations(pair)) == Fraction(2, 4)


@pytest.mark.parametrize(
    ("name", "mine", "joined", "presence", "belief"),
    [
        ("Alan", 1, 1, "1/4", "1"),
        ("Charles", 1, 2, "1/2", "1/2"),
        ("Grace", 2, 2, "5/6", "3/5"),
        ("Helen", 2, 1, "1/2", "1"),
    ],
)
def test_figure_9_has_beliefs_far_above_theorem_6(figure_1, name, mine, joined, presence, belief):
    """With 4 people in a group Theorem 6 says 1/4 for everybody's presence, and c/4 for values."""
    views = ViewRows.of(figure_1.quasi, ["zipcode"])
    person = NAMES.index(name)
    group = np.arange(4) if person < 4 else np.arange(4, 8)
    assert (views.left[group] == views.left[person]).sum() == mine
    assert (views.right[group] == views.right[person]).sum() == joined
    assert meeting(4, mine, joined) == Fraction(presence)
    assert association(4, mine, joined, 1) == Fraction(belief)


def test_groups_as_published_for_two_views_are_not_private_where_the_paper_says_so(real):
    """Theorem 6 is false in general: with Age moved, most joined values are alone in their group and tell their Occupation."""
    alpha, beta = Fraction(1, 10), Fraction(1, 5)
    bounds = _bounds(real, alpha, beta)
    views = ViewRows.of(real.quasi, ["age"])
    found = published_groups(views, real.sensitive.codes, bounds, alpha, suppress=False)
    assert found.sizes.min() >= 10
    alone = 0
    for group in range(200):
        mine = np.flatnonzero(found.group == group)
        told = worst(views.left[mine], views.right[mine], real.sensitive.codes[mine], bounds.limits)
        alone += told.belief == 1
    assert alone == 200


def test_theorem_5_every_group_has_one_over_beta_values_and_few_people_are_residues(real):
    """A random pick leaves next to nobody over; every group has ⌈1/β⌉ different values and keeps α by itself."""
    alpha, beta = Fraction(1, 10), Fraction(1, 5)
    found = scattered_groups(real.quasi, real.sensitive.codes, _bounds(real, alpha, beta), alpha, suppress=False)
    assert (found.group >= 0).all()
    assert found.figures["residues"] < 50
    pairs = np.unique(found.group.astype(np.int64) * 1000 + real.sensitive.codes)
    assert np.bincount(pairs // 1000).min() >= 5
    assert found.sizes.mean() < 5.1


def test_figure_7_picks_the_tuple_with_which_the_group_covers_most_buckets(figure_1):
    """Alan (45, M, 11000) and George (50, M, 23000): of the leukemia bucket, Grace (60, F, 23000) adds 2 values and Alice 3."""
    codes = np.stack([column.codes for column in figure_1.quasi], axis=1).astype(np.int32)
    first = np.concatenate(([0], np.cumsum([column.size for column in figure_1.quasi])))
    stamp, distinct = np.full(first[-1], -1, np.int32), np.zeros(3, np.int64)
    for name in ("Alan", "George"):
        enter(NAMES.index(name), codes, first, stamp, 0, distinct)
    leukemia = np.array([NAMES.index("Grace"), NAMES.index("Alice")], dtype=np.int32)
    assert pick(leukemia, codes, first, stamp, 0) == 1
    assert pick(leukemia, codes, first, stamp, 1) == 0  # an empty group: both add 3, the first stays


@pytest.mark.parametrize(
    ("alpha", "beta", "groups", "residues"),
    [
        # 1/8 and 1/3: a tuple of each of the four largest buckets (diabetes, leukemia, then by name), twice.
        ("1/3", "1/4", [{"Alan", "Alice", "George", "Helen"}, {"Charles", "Henry", "Carol", "Grace"}], 0),
        # Alan and Alice 2/8; Carol and George 2/2, extended by Helen to 3/8; Charles and Grace 2/8. Henry is a residue, and joins
        # the second group (4/12).
        ("3/8", "1/2", [{"Alan", "Alice"}, {"Carol", "George", "Helen", "Henry"}, {"Charles", "Grace"}], 1),
    ],
)
def test_figure_1_in_the_groups_of_the_three_steps_as_printed(figure_1, alpha, beta, groups, residues):
    bounds, alpha = _bounds(figure_1, alpha, beta), Fraction(alpha)
    found = scattered_groups(figure_1.quasi, figure_1.sensitive.codes, bounds, alpha, suppress=False, greedy=True)
    assert _named(found) == groups
    assert found.figures["residues"] == residues


def test_figure_1_in_groups_of_two_views_bucketized_on_zipcode_and_disease(figure_1):
    """All eight pairs differ and are taken in order: four, then Carol, George, Grace and Alice, two of them with leukemia."""
    alpha = Fraction(1, 4)
    bounds, codes = _bounds(figure_1, alpha, "1/2"), figure_1.sensitive.codes
    found = published_groups(ViewRows.of(figure_1.quasi, ["zipcode"]), codes, bounds, alpha, suppress=False, pairs=True)
    assert _named(found) == [{"Alan", "Charles", "Henry", "Helen"}, {"Carol", "George", "Grace", "Alice"}]


def _named(grouping):
    return [{NAMES[row] for row in np.flatnonzero(grouping.group == g)} for g in range(grouping.groups)]


def test_the_greedy_pick_uses_up_diverse_people_first_and_leaves_more_residues_than_a_random_one(real):
    alpha, beta = Fraction(1, 10), Fraction(1, 5)
    bounds = _bounds(real, alpha, beta)
    random, greedy = (
        scattered_groups(real.quasi, real.sensitive.codes, bounds, alpha, suppress=False, greedy=one) for one in (False, True)
    )
    assert greedy.figures["residues"] > 5 * random.figures["residues"]
    assert greedy.groups < random.groups


def test_no_pair_is_picked_twice_for_a_group_of_two_views_bucketized_on_pairs(real):
    """β = 1/10 and α = 1/20: a value may occur twice in a group, but beside different ages."""
    alpha, beta = Fraction(1, 20), Fraction(1, 10)
    codes = real.sensitive.codes
    views = ViewRows.of(real.quasi, ["age"])
    found = published_groups(views, codes, _bounds(real, alpha, beta), alpha, suppress=False, pairs=True)
    assert found.figures["residues"] < 1000
    assert found.sizes.min() >= 20
    keys = np.stack([found.group, real.quasi[0].codes, codes])
    picked = real.rows - found.figures["residues"]
    assert np.unique(keys[[0, 2]], axis=1).shape[1] < picked <= np.unique(keys, axis=1).shape[1]


def test_many_small_groups_cover_a_person_and_together_break_alpha(real):
    """Theorem 1 speaks of the group that covers a person: 1 − Π(1 − p) over all that do exceeds α for most members."""
    alpha, beta = Fraction(1, 10), Fraction(1, 5)
    found = scattered_groups(real.quasi, real.sensitive.codes, _bounds(real, alpha, beta), alpha, suppress=False)
    covers = np.ones((300, found.groups), bool)
    volume = np.ones(found.groups)
    for column in real.quasi:
        shown = np.zeros((found.groups, column.size), bool)
        shown[found.group, column.codes] = True
        covers &= shown[:, column.codes[:300]].T
        volume *= shown.sum(axis=1)
    own = found.sizes / volume
    assert own.max() <= 0.1 + 1e-12
    combined = 1 - np.prod(np.where(covers, 1 - own, 1.0), axis=1)
    assert covers.sum(axis=1).mean() > 10
    assert (combined > 0.1).mean() > 0.5


def test_two_groups_that_say_one_half_each_say_three_quarters_together():
    """{20, 30} × {M, F}, two people each: 1 − (1 − 1/2)²."""
    pair = list(people(list("ab"), age=[20, 30], gender=["M", "F"]).quasi)
    own = Fraction(2, combinations(pair))
    assert own == Fraction(1, 2)
    assert 1 - (1 - own) ** 2 == Fraction(3, 4)
