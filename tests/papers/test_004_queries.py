"""004 §6 and §8.2: count estimates from Ambiguity and PriView, and queries for which Theorems 3 and 7 do not hold."""

import pytest

from tests.makers import people
from tests.query._fragments import columns_of, views_of
from tests.release._ranges import of_groups

# Fig. 1(a); the groups of Fig. 2 and Fig. 9 are men and women.
PATIENTS = people(
    ["diabetes", "flu", "diarrhea", "stroke", "leukemia", "diabetes", "leukemia", "dyspepsia"],
    age=[45, 20, 50, 60, 20, 50, 60, 60],
    gender=list("MMMMFFFF"),
    zipcode=[11000, 12000, 23000, 12000, 54000, 23000, 23000, 21000],
)
SEXES = [0] * 4 + [1] * 4


def estimate(release, query):
    return release.count(query, estimator="paper").value


def test_figure_2_is_what_the_form_shows():
    tables = columns_of(PATIENTS, SEXES).tables()
    assert {name: table.num_rows for name, table in tables.items()} == {"at_age": 7, "at_gender": 2, "at_zipcode": 6, "st": 7}


def test_query_1_is_three_quarters():
    assert estimate(columns_of(PATIENTS, SEXES), "value = 'stroke' AND age >= 45") == pytest.approx(3 / 4)


def test_query_2_multiplies_the_fractions_of_its_columns():
    query = "age >= 50 AND zipcode = 23000 AND value = 'diabetes'"
    # 1 · 2/4 · 1/3 and 1 · 2/3 · 1/3.
    assert estimate(columns_of(PATIENTS, SEXES), query) == pytest.approx(7 / 18)


def test_query_2_from_the_two_views_of_figure_9():
    # Nobody in group 1 has diabetes in 23000; in group 2 one entry of four does, and three of four rows are of 50 and more.
    query = "age >= 50 AND zipcode = 23000 AND value = 'diabetes'"
    assert estimate(views_of(PATIENTS, SEXES, ["zipcode"]), query) == pytest.approx(3 / 4)
    # Both groups: men 2 of 4 rows · 1 of 1 entry, women 3/4.
    assert estimate(views_of(PATIENTS, SEXES, ["zipcode"]), "age >= 50 AND value = 'diabetes'") == pytest.approx(2 / 4 + 3 / 4)


def test_ambiguity_does_not_always_beat_generalization():
    # Theorem 3's scheme, the same group: the true answer is 1. Equal weights for 20 and 60 say 2, the range 20–60 says 44/41.
    table = people(list("abcd"), age=[20, 20, 20, 60])
    ambiguity, generalized = columns_of(table, [0] * 4), of_groups(table, [0] * 4)
    assert estimate(ambiguity, "age >= 50") == pytest.approx(2)
    assert estimate(generalized, "age >= 50") == pytest.approx(44 / 41)


def test_priview_does_not_always_beat_ambiguity():
    # Theorem 7's scheme, the same group, a in the auxiliary table: the true answer is 1. Ambiguity says 1/2, PriView 1/4.
    table = people(list("sttt"), a=[2, 1, 1, 1], b=[1, 2, 3, 4])
    query = "a = 2 AND value = 's'"
    assert estimate(columns_of(table, [0] * 4), query) == pytest.approx(1 / 2)
    assert estimate(views_of(table, [0] * 4, ["b"]), query) == pytest.approx(1 / 4)
