"""004 §1 and the usual estimate on generalized tables: worked examples."""

import numpy as np
import pytest

from sfumato.query import parse_sql
from sfumato.query.answering import answer
from sfumato.query.ranges import ranges_engine
from tests.makers import people
from tests.release._ranges import of_groups

# Fig. 1(a); the groups of Fig. 1(b) are men and women.
PATIENTS = people(
    ["diabetes", "flu", "diarrhea", "stroke", "leukemia", "diabetes", "leukemia", "dyspepsia"],
    age=[45, 20, 50, 60, 20, 50, 60, 60],
    gender=list("MMMMFFFF"),
    zipcode=[11000, 12000, 23000, 12000, 54000, 23000, 23000, 21000],
)


def estimate(release, sql, **options):
    return answer(ranges_engine(release, **options), parse_sql(sql), "paper", 0.95, release.native).value


def test_figure_1b_is_what_the_form_shows():
    rows = of_groups(PATIENTS, [0] * 4 + [1] * 4).tables()["records"].to_pylist()
    shown = sorted((r["age_min"], r["age_max"], *r["gender"], r["zipcode_min"], r["zipcode_max"], r["value"]) for r in rows)
    assert shown == sorted(
        [(20, 60, "M", 11000, 23000, value) for value in ("diabetes", "flu", "diarrhea", "stroke")]
        + [(20, 60, "F", 21000, 54000, value) for value in ("leukemia", "diabetes", "leukemia", "dyspepsia")]
    )


def test_query_1_is_three_eighths_by_length_and_sixteen_of_41_ages():
    release = of_groups(PATIENTS, [0] * 4 + [1] * 4)
    query = "value = 'stroke' AND age >= 45"
    assert estimate(release, query, units="continuous") == pytest.approx(3 / 8)
    assert estimate(release, query) == pytest.approx(16 / 41)


def test_a_range_beats_single_values_where_many_people_share_one():
    # Three of 20 and one of 60, count of those over 50: 4·11/41 ages from 50 to 60.
    release = of_groups(people(list("abcd"), age=[20, 20, 20, 60]), [0] * 4)
    assert estimate(release, "age >= 50") == pytest.approx(44 / 41)


def test_the_mondrian_example_is_21_thirteenths():
    table = people(list("fhfhfchc"), age=[20, 20, 25, 30, 30, 35, 40, 60], zip=[1, 3, 2, 4, 9, 8, 7, 10])
    release = of_groups(table, np.array([0, 0, 0, 1, 1, 2, 2, 2]))
    assert estimate(release, "age BETWEEN 20 AND 40 AND zip BETWEEN 2 AND 8 AND value = 'h'") == pytest.approx(21 / 13)
