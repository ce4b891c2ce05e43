"""Groups for two views: the exact formulas, boxes that keep them, and a table built so that boxes exist."""

from fractions import Fraction
from itertools import permutations
from math import comb

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from sfumato import LDiversity
from sfumato.errors import Infeasible
from sfumato.groups.fragments._view_kernels import GOOD, GREY, Matched, judge, meets
from sfumato.groups.fragments.matchings import association, meeting, worst
from sfumato.groups.fragments.views import ViewRows, smallest_first, view_boxes
from sfumato.groups.grouping import need_table
from sfumato.papers.overlapping.views import published_groups
from sfumato.privacy import FPrivacy, PresenceAssociation
from tests.groups.fragments._crowds import crowd, groups_of, keeps_bounds, places
from tests.makers import people

pytestmark = pytest.mark.usefixtures("one_thread")


def built(cells, joined, rows, *, values=7, seed=0):
    """Return a table with groups along the cuts: in each cell of x so many joined values z, each with `rows` different values.

    Everybody differs in x, and so in the view without z.
    """
    coins = np.random.default_rng(seed)
    x, z, value = [], [], []
    for cell in range(cells):
        place = coins.permutation(joined * rows).tolist()
        for k in range(joined):
            drawn = coins.permutation(values)[:rows]
            for s in drawn:
                x.append(1000 * cell + place.pop())
                z.append(f"z{k}")
                value.append(f"v{s}")
    return people(value, x=x, z=z)


def cut(table, moved, alpha, beta, *, others=True):
    requirement = PresenceAssociation(alpha, beta, against="reader")
    bounds = requirement.bounds(table.sensitive.histogram())
    found = view_boxes(table.quasi, moved, table.sensitive.codes, bounds, Fraction(alpha), others=others)
    return bounds, found


def beliefs(table, moved, rows):
    """Return presence and, per value, association of every row of one view beside every row of the other, by counting."""
    left = [tuple(int(c.codes[r]) for c in table.quasi if c.name not in moved) for r in rows]
    right = [tuple(int(c.codes[r]) for c in table.quasi if c.name in moved) for r in rows]
    value = [int(table.sensitive.codes[r]) for r in rows]
    n = len(rows)

    def hit(mine, theirs):
        return 1 - Fraction(comb(n - theirs, mine), comb(n, mine))

    for a in set(left):
        for z in set(right):
            mine, theirs = left.count(a), right.count(z)
            for s in set(value):
                both = sum(one == z and other == s for one, other in zip(right, value, strict=True))
                yield hit(mine, theirs), s, max(Fraction(both, theirs), hit(mine, both) / hit(mine, theirs))


def test_a_table_built_for_it_is_cut_into_the_smallest_groups_there_are():
    table = built(8, 4, 3)
    bounds, found = cut(table, ["z"], "1/4", "1/3")
    assert found.groups == 8
    assert (found.sizes == 12).all()
    for rows in groups_of(found):
        for presence, s, belief in beliefs(table, ["z"], rows):
            assert presence == Fraction(1, 4)
            assert belief <= bounds.limits[s]


@given(
    st.integers(1, 4),
    st.integers(2, 5),
    st.integers(2, 4),
    st.sampled_from([Fraction(1, 2), Fraction(1, 3), Fraction(3, 5)]),
    st.sampled_from([Fraction(1, 2), Fraction(2, 3), Fraction(1, 3)]),
    st.integers(0, 999),
)
@settings(max_examples=40, deadline=None)
def test_boxes_are_disjoint_and_keep_the_exact_formulas_for_every_row_beside_every_row(cells, joined, rows, alpha, beta, seed):
    table = built(cells, joined, rows, seed=seed)
    coins = np.random.default_rng(seed)
    x = table.quasi[0].arrow().to_numpy().copy()
    some = coins.random(len(x)) < 0.2
    x[some] = x[coins.permutation(len(x))][some]  # several people share a row of the first view
    table = people(
        np.array(table.sensitive.domain.labels)[table.sensitive.codes].tolist(),
        x=x.tolist(),
        z=table.quasi[1].arrow().to_pylist(),
    )
    try:
        bounds, found = cut(table, ["z"], alpha, beta)
    except Infeasible:
        assume(False)
    everywhere = groups_of(found)
    assert len(np.concatenate(everywhere)) == table.rows
    for group in everywhere:
        for presence, s, belief in beliefs(table, ["z"], group):
            assert presence <= alpha
            assert belief <= bounds.limits[s]
    shown = [places(table, group) for group in everywhere]
    for k, one in enumerate(shown):
        for other in shown[:k]:
            assert any(mine.isdisjoint(theirs) for mine, theirs in zip(one, other, strict=True))


def test_a_box_that_breaks_a_bound_is_cut_where_its_parts_keep_it():
    """People of one x-value share a row of the first view; alone in their box they would be certain, and they are not."""
    table = built(4, 4, 3, seed=2)
    _, found = cut(table, ["z"], "1/4", "1/3")
    _, whole = cut(table, ["z"], "1", "1")
    assert found.groups == 4
    assert whole.groups >= 4


def test_a_refused_table_is_told_which_condition_fails_in_numbers_and_what_one_group_would_keep():
    frequent = people([f"v{k % 5}" for k in range(20)], x=range(20), z=["often"] * 12 + ["rare"] * 8)
    with pytest.raises(Infeasible, match="z has 12 of 20 rows") as caught:
        cut(frequent, ["z"], "1/2", "1/2")
    assert caught.value.nearest == {"alpha": Fraction(3, 5), "beta": Fraction(1, 2)}
    assert "often" not in str(caught.value)
    assert "suppress" not in caught.value.hint  # boxes leave out nobody
    assert "or move another column" in caught.value.hint
    with pytest.raises(Infeasible) as tried:
        cut(frequent, ["z"], "1/2", "1/2", others=False)
    assert "another column" not in tried.value.hint
    _, found = cut(frequent, ["z"], caught.value.nearest["alpha"], caught.value.nearest["beta"])
    assert found.groups == 1
    alone = people([f"v{k % 5}" for k in range(21)], x=range(21), z=[f"z{k % 4}" for k in range(20)] + ["alone"])
    with pytest.raises(Infeasible, match=r"11 of 21 people(.|\n)*z, 1, there are 1") as caught:
        cut(alone, ["z"], "1/3", "1/2")
    assert caught.value.nearest == {"alpha": Fraction(1, 3), "beta": 1}


def test_where_nothing_below_one_is_kept_no_parameters_are_advised_but_another_method():
    alone = people([f"v{k % 5}" for k in range(12)], x=[1] * 12, z=[f"z{k % 4}" for k in range(11)] + ["alone"])
    with pytest.raises(Infeasible, match=r"all people.*alpha.*beta below 1") as caught:
        cut(alone, ["z"], "1/3", "1/2", others=False)
    assert caught.value.nearest == {}
    assert 'name = "ambiguity"' in caught.value.hint
    own = FPrivacy(theta=1, offset="1/4").bounds(alone.sensitive.histogram())
    with pytest.raises(Infeasible, match=r"alpha.*bound below 1") as caught:
        view_boxes(alone.quasi, ["z"], alone.sensitive.codes, own, Fraction(1, 3), others=False)
    assert caught.value.nearest == {}


def test_bounds_that_differ_are_advised_only_where_one_group_keeps_them():
    table = people([f"v{min(k % 6, 4)}" for k in range(20)], x=range(20), z=["often"] * 12 + ["rare"] * 8)
    for offset, nearest in (("3/4", {"alpha": Fraction(3, 5)}), ("0.001", {})):
        bounds = FPrivacy(theta=1, offset=offset).bounds(table.sensitive.histogram())
        with pytest.raises(Infeasible, match="keep alpha") as caught:
            view_boxes(table.quasi, ["z"], table.sensitive.codes, bounds, Fraction(1, 2), others=True)
        assert caught.value.nearest == nearest
    assert "bounds of up to" in caught.value.hint


def test_several_columns_may_be_moved_and_people_who_share_a_row_are_still_unsure():
    coins = np.random.default_rng(5)
    rows = 600
    table = people(
        [f"v{k}" for k in coins.integers(0, 6, rows)],
        a=coins.integers(0, 300, rows).tolist(),
        b=[f"b{k}" for k in coins.integers(0, 2, rows)],
        c=[f"c{k}" for k in coins.integers(0, 3, rows)],
    )
    bounds, found = cut(table, ["b", "c"], "1", "2/3")
    assert found.groups >= 1
    for group in groups_of(found):
        assert all(belief <= bounds.limits[s] for _, s, belief in beliefs(table, ["b", "c"], group))


@pytest.mark.parametrize("pairs", [False, True])
def test_groups_as_published_have_one_over_alpha_people_and_keep_the_bounds_by_the_papers_count(pairs):
    table = crowd(900, 3, values=9, seed=7, widths=(30, 12, 8))
    bounds = LDiversity(4).bounds(table.sensitive.histogram())
    views = ViewRows.of(table.quasi, ["q0"])
    for alpha, least in ((Fraction(1, 3), 4), (Fraction(1, 12), 12)):
        found = published_groups(views, table.sensitive.codes, bounds, alpha, suppress=False, pairs=pairs)
        everywhere = groups_of(found)
        assert sorted(np.concatenate(everywhere).tolist()) == list(range(900))
        assert all(len(rows) >= least for rows in everywhere)
        assert all(keeps_bounds(table, bounds, rows) for rows in everywhere)
        assert found.sizes.mean() < 1.2 * least
    with pytest.raises(Infeasible) as caught:
        published_groups(views, table.sensitive.codes, bounds, Fraction(1, 901), suppress=False, pairs=pairs)
    assert caught.value.nearest == {"alpha": Fraction(12, 10_000)}


def test_the_column_whose_joined_values_are_most_even_is_moved_first():
    table = people(list("abcd" * 6), sex=["f", "m"] * 12, town=[k % 8 for k in range(24)], age=range(24))
    assert smallest_first(table.quasi, table.sensitive.codes) == ["age", "town", "sex"]


def test_equal_rows_have_equal_numbers():
    table = people(list("abab"), a=[1, 1, 2, 1], b=["x", "y", "x", "x"], c=[5, 5, 5, 6])
    views = ViewRows.of(table.quasi, ["c"])
    assert views.left.tolist() == [0, 1, 2, 0]
    assert views.right.tolist() == [0, 0, 0, 1]


def test_formulas_agree_with_all_matchings_of_a_small_group():
    left, right = list("aabcd"), ["y", "y", "z", "z", "z"]
    value = ["s", "t", "s", "s", "t"]
    worlds = [[(left[k], right[p[k]], value[p[k]]) for k in range(5)] for p in permutations(range(5))]
    for a, mine in (("a", 2), ("b", 1)):
        for z, theirs, both in (("y", 2, 1), ("z", 3, 2)):
            here = [world for world in worlds if any(row[:2] == (a, z) for row in world)]
            assert Fraction(len(here), len(worlds)) == meeting(5, mine, theirs)
            some = Fraction(sum((a, z, "s") in world for world in here), len(here))
            assert association(5, mine, theirs, both) == max(some, Fraction(both, theirs))


@given(st.integers(2, 25), st.data())
def test_both_beliefs_grow_with_the_number_of_equal_rows(n, data):
    theirs = data.draw(st.integers(1, n))
    both = data.draw(st.integers(1, theirs))
    presence = [meeting(n, mine, theirs) for mine in range(1, n + 1)]
    belief = [association(n, mine, theirs, both) for mine in range(1, n + 1)]
    assert presence == sorted(presence)
    assert belief == sorted(belief)
    assert belief[0] == Fraction(both, theirs)


@given(st.integers(2, 400), st.data())
def test_the_kernels_probability_is_the_exact_one_within_its_error(n, data):
    mine, theirs = data.draw(st.integers(1, n)), data.draw(st.integers(1, n))
    exact = meeting(n, mine, theirs)
    assert abs(Fraction(meets(n, mine, theirs)) - exact) <= exact * Fraction(8 + 4 * min(mine, theirs)) / 10**15


@given(st.integers(0, 10_000), st.sampled_from(["1/2", "1/3", "2/3", "5/6", "1"]), st.sampled_from(["1/2", "2/3", "5/6"]))
@settings(max_examples=60, deadline=None)
def test_the_kernels_judgement_is_the_exact_one_unless_it_says_that_it_cannot_tell(seed, alpha, beta):
    coins = np.random.default_rng(seed)
    rows = int(coins.integers(2, 30))
    left, right = coins.integers(0, int(coins.integers(1, 30)), rows), coins.integers(0, int(coins.integers(1, 6)), rows)
    sensitive = coins.integers(0, 4, rows)
    sensitive = np.unique(sensitive, return_inverse=True)[1]
    alpha, beta = Fraction(alpha), Fraction(beta)
    try:
        bounds = PresenceAssociation(alpha, beta).bounds({str(k): int(c) for k, c in enumerate(np.bincount(sensitive))})
    except Infeasible:
        assume(False)
    need, start = need_table(bounds)
    most = np.array([alpha * size // 1 for size in range(rows + 1)], dtype=np.int64)
    limits = np.array([float(limit) for limit in bounds.limits])
    views = Matched(left, right, need, start, limits, most, float(alpha), 1, 1, strict=True)
    found = judge(np.arange(rows), sensitive, views)
    exact = worst(left, right, sensitive, bounds.limits)
    good = exact.presence <= alpha and exact.belief <= exact.limit
    assert found == GREY or (found == GOOD) == good
