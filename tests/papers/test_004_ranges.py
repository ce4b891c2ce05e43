"""004 §1 and the usual estimate on generalized tables: worked examples."""

import numpy as np
import pytest

from sfumato import Anatomy, LDiversity, Ring
from sfumato.errors import FormatError
from sfumato.query import parse_sql
from sfumato.query.answering import answer
from sfumato.query.ranges import ranges_engine
from tests.makers import people
from tests.release._fragments import columns_of
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


def test_figure_3_generalization_hides_presence_behind_all_combinations_of_its_ranges():
    # Fig. 1(b): four men aged 20 to 60 (41 ages) in zipcodes 11000 to 23000 (12,001 of them), all M.
    release = of_groups(PATIENTS, [0] * 4 + [1] * 4)
    asked = [
        {"age": 45, "gender": "M", "zipcode": 11000},  # Alan
        {"age": 46, "gender": "M", "zipcode": 11001},  # nobody, as likely to a stranger
        {"age": 50, "gender": "F", "zipcode": 23000},
        {"age": 61, "gender": "M", "zipcode": 11000},
    ]
    men, women = 4 / (41 * 12001), 4 / (41 * 33001)
    assert release.presence(asked) == pytest.approx([men, men, women, 0], abs=1e-15)


def test_figure_3_generalization_hides_presence_better_than_ambiguity_and_exact_quasi_values_do_not_hide_it():
    zipcodes = [str(one) for one in (11000, 12000, 23000, 12000, 54000, 23000, 23000, 21000)]
    values = ["diabetes", "flu", "diarrhea", "stroke", "leukemia", "diabetes", "leukemia", "dyspepsia"]
    table = people(values, age=[45, 20, 50, 60, 20, 50, 60, 60], gender=list("MMMMFFFF"), zipcode=zipcodes)
    alan = [{"age": 45, "gender": "M", "zipcode": "11000"}]
    groups = [0] * 4 + [1] * 4
    assert of_groups(table, groups).presence(alan) == pytest.approx([4 / (41 * 1 * 3)])
    assert columns_of(table, groups).presence(alan) == pytest.approx([1 / 3])
    with pytest.raises(FormatError, match="in the table"):
        Anatomy().run(table, LDiversity(2), random=1).release.presence(alan)


def test_presence_over_groups_that_overlap_is_combined():
    # Two people in 20 to 22, and two in 21 to 24: 2/3 and 2/4, together 1 − 1/3 · 1/2 for whoever is 21 or 22.
    release = of_groups(people(list("abcd"), age=[20, 22, 21, 24]), [0, 0, 1, 1])
    assert release.presence([{"age": age} for age in (20, 21, 24, 30)]) == pytest.approx([2 / 3, 5 / 6, 1 / 2, 0])


def test_a_missing_value_is_one_more_combination_and_full_groups_are_certain():
    table = people(list("abcd"), age=[1, 3, None, 9], sex=["f", "f", None, "m"])
    release = of_groups(table, [0, 0, 0, 1])
    known = [{"age": 2, "sex": "f"}, {"age": None, "sex": None}, {"age": 9, "sex": "m"}, {"age": 9, "sex": "f"}]
    assert release.presence(known) == pytest.approx([3 / 8, 3 / 8, 1, 0])


def test_where_values_lie_anywhere_between_two_ends_presence_has_no_number():
    release = of_groups(people(list("ab"), weight=[1.5, 2.5]), [0, 0])
    with pytest.raises(FormatError, match="how many combinations"):
        release.presence([{"weight": 2.0}])


def test_records_with_ranges_of_their_own_refuse_presence_and_say_why():
    release = Ring(accept_weaker_claim=True).run(PATIENTS, LDiversity(2, against="reader"), random=1).release
    with pytest.raises(FormatError, match="several people"):
        release.presence([{"age": 45, "gender": "M", "zipcode": 11000}])
