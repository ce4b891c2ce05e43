"""004, Ambiguity and PriView: the worked numbers of presence and association, and enumeration of possible worlds as the oracle.

Hui Wang, Privacy-preserving data sharing in cloud computing, Journal of Computer Science and Technology 25(3), 2010.
"""

from collections import Counter
from fractions import Fraction
from itertools import combinations, permutations, product

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sfumato.auditor import audit_release
from sfumato.auditor.claims import Case
from sfumato.auditor.columns import ColumnsAudit
from sfumato.auditor.views import ViewsAudit, meets
from tests.makers import people
from tests.release._fragments import columns_of, views_of

NAMES = ["Alan", "Charles", "George", "Henry", "Alice", "Carol", "Grace", "Helen"]
AGE = [45, 20, 50, 60, 20, 50, 60, 60]
GENDER = ["M", "M", "M", "M", "F", "F", "F", "F"]
ZIP = [11000, 12000, 23000, 12000, 54000, 23000, 23000, 21000]
DISEASE = ["diabetes", "flu", "diarrhea", "stroke", "leukemia", "diabetes", "leukemia", "dyspepsia"]
GROUPS = [0, 0, 0, 0, 1, 1, 1, 1]

FIG_1 = people(DISEASE, age=AGE, gender=GENDER, zipcode=ZIP)


def person(name):
    k = NAMES.index(name)
    return {"age": AGE[k], "gender": GENDER[k], "zipcode": ZIP[k]}


def belief(release, name, disease):
    return release.mean_beliefs([person(name)])[0, release.domain.labels.index(disease)]


def test_figure_2_presence_is_a_third_for_alan_and_four_ninths_for_alice():
    release = columns_of(FIG_1, GROUPS)
    assert release.presence([person("Alan"), person("Alice")]) == pytest.approx([1 / 3, 4 / 9])
    assert sorted(ColumnsAudit(Case(release)).presence) == [Fraction(1, 3), Fraction(4, 9)]


def test_figure_2_association_is_a_quarter_for_alan_and_a_half_for_alice():
    release = columns_of(FIG_1, GROUPS)
    assert belief(release, "Alan", "diabetes") == pytest.approx(1 / 4)
    assert belief(release, "Alice", "leukemia") == pytest.approx(1 / 2)
    found = audit_release(release, FIG_1)
    assert found.problems == ()
    assert found.claims[1].holds
    assert Counter(zip(release.st_value, release.st_count, strict=True))[release.domain.labels.index("leukemia"), 2] == 1


def test_figure_9_presence_by_matchings():
    release = views_of(FIG_1, GROUPS, ["zipcode"])
    found = release.presence([person(name) for name in ("Alan", "Charles", "Grace", "Helen")])
    assert found == pytest.approx([1 / 4, 1 / 2, 5 / 6, 1 / 2])


def test_figure_9_association_by_matchings():
    release = views_of(FIG_1, GROUPS, ["zipcode"])
    assert belief(release, "Alan", "diabetes") == pytest.approx(1)
    assert belief(release, "Charles", "flu") == pytest.approx(1 / 2)
    assert belief(release, "Helen", "dyspepsia") == pytest.approx(1)
    # Grace's own belief; that *some* row with her quasi values has it is the paper's figure, and the larger one.
    assert belief(release, "Grace", "leukemia") == pytest.approx(1 / 2)
    assert meets(4, 2, 1) / meets(4, 2, 2) == Fraction(3, 5)


def test_two_groups_that_say_a_half_each_say_three_quarters_together():
    table = people(["s", "t", "s", "t"], age=[20, 30, 20, 30], sex=["M", "F", "F", "M"])
    release = columns_of(table, [0, 0, 1, 1])
    assert [float(belief) for belief in ColumnsAudit(Case(release)).presence] == [1 / 2, 1 / 2]
    assert release.presence([{"age": 20, "sex": "F"}]) == pytest.approx([3 / 4])


def test_theorem_6_presence_is_one_over_the_group_only_for_rows_that_occur_once():
    assert meets(10, 1, 1) == Fraction(1, 10)
    assert meets(10, 2, 1) == Fraction(2, 10)
    assert meets(10, 2, 2) == Fraction(17, 45)
    assert meets(10, 6, 5) == 1


def worlds_of_columns(columns, counts):
    """Every set of n different combinations that shows every value of every column, with every way to give them the values."""
    size = sum(counts.values())
    values = sorted(counts.elements())
    for chosen in combinations(list(product(*columns)), size):
        if all({one[j] for one in chosen} == set(column) for j, column in enumerate(columns)):
            for given_values in sorted(set(permutations(values))):
                yield dict(zip(chosen, given_values, strict=True))


@st.composite
def small_groups(draw):
    """One group of at most four people with different quasi values."""
    cells = [(a, b, c) for a in (1, 2, 3) for b in ("f", "m") for c in ("x", "y")]
    chosen = draw(st.lists(st.sampled_from(cells), min_size=2, max_size=4, unique=True))
    return chosen, [draw(st.sampled_from(["s", "t", "u"])) for _ in chosen]


@given(small_groups())
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_enumerated_worlds_of_columns_agree_with_theorems_1_and_2(group):
    chosen, values = group
    table = people(values, a=[one[0] for one in chosen], b=[one[1] for one in chosen], c=[one[2] for one in chosen])
    release = columns_of(table, [0] * len(chosen))
    columns = [sorted({one[j] for one in chosen}) for j in range(3)]
    worlds = list(worlds_of_columns(columns, Counter(values)))
    (presence,) = ColumnsAudit(Case(release)).presence
    for cell in product(*columns):
        inside = [world for world in worlds if cell in world]
        assert Fraction(len(inside), len(worlds)) == presence
        asked = [dict(zip("abc", cell, strict=True))]
        assert release.presence(asked) == pytest.approx([float(presence)])
        for label, found in zip(release.domain.labels, release.mean_beliefs(asked)[0], strict=True):
            share = Fraction(sum(world[cell] == label for world in inside), len(inside))
            assert share == Fraction(values.count(label), len(values))
            assert found == pytest.approx(float(share))


@given(small_groups(), small_groups())
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_enumerated_worlds_of_two_groups_agree_with_combined_presence(one, other):
    cells, values = [*one[0], *other[0]], [*one[1], *other[1]]
    table = people(values, a=[c[0] for c in cells], b=[c[1] for c in cells], c=[c[2] for c in cells])
    release = columns_of(table, [0] * len(one[0]) + [1] * len(other[0]))
    worlds = []
    for chosen, _ in (one, other):
        columns = [sorted({cell[j] for cell in chosen}) for j in range(3)]
        worlds.append([set(world) for world in worlds_of_columns(columns, Counter(["s"] * len(chosen)))])
    for cell in cells:
        absent = sum(cell not in left and cell not in right for left, right in product(*worlds))
        expected = 1 - absent / (len(worlds[0]) * len(worlds[1]))
        assert release.presence([dict(zip("abc", cell, strict=True))]) == pytest.approx([expected])


@given(st.lists(st.tuples(st.sampled_from([1, 2, 3]), st.sampled_from("xyz"), st.sampled_from("stu")), min_size=1, max_size=5))
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_enumerated_matchings_of_views_agree_with_the_formulas(rows):
    table = people([row[2] for row in rows], a=[row[0] for row in rows], z=[row[1] for row in rows])
    release = views_of(table, [0] * len(rows), ["z"])
    left, right = [row[0] for row in rows], [(row[1], row[2]) for row in rows]
    worlds = [[(a, *right[k]) for a, k in zip(left, order, strict=True)] for order in permutations(range(len(rows)))]
    worst_presence = Fraction(0)
    worst: dict[str, Fraction] = {}
    for a, z in product(set(left), {pair[0] for pair in right}):
        inside = [world for world in worlds if any(row[:2] == (a, z) for row in world)]
        presence = Fraction(len(inside), len(worlds))
        worst_presence = max(worst_presence, presence)
        assert release.presence([{"a": a, "z": z}]) == pytest.approx([float(presence)])
        for s in {pair[1] for pair in right}:
            some = Fraction(sum((a, z, s) in world for world in inside), len(inside))
            own = Fraction(right.count((z, s)), sum(pair[0] == z for pair in right))
            assert own <= some
            worst[s] = max(worst.get(s, Fraction(0)), some)
            found = release.mean_beliefs([{"a": a, "z": z}])[0, release.domain.labels.index(s)]
            assert found == pytest.approx(float(own))
    read = ViewsAudit(Case(release))
    assert read.presence == [worst_presence]
    assert read._beliefs == worst
