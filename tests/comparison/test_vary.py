import pytest

from sfumato import Boxes, FPrivacy, PolicyError
from sfumato.comparison.vary import parse_vary, variations

POLICY = FPrivacy(theta=8, offset="0.02")
COLUMNS = ("age", "sex")


def test_values_of_an_option_are_whole_numbers_flags_or_exact_text():
    assert parse_vary(["theta=2,4", "offset=0.02, 0.05", "suppress=true"]) == {
        "theta": [2, 4],
        "offset": ["0.02", "0.05"],
        "suppress": [True],
    }


@pytest.mark.parametrize("text", ["theta", "theta=", "=2", "theta=,"])
def test_an_option_without_name_or_values_is_refused(text):
    with pytest.raises(PolicyError, match="parameter and its"):
        parse_vary([text])


def test_every_combination_comes_once_and_the_policy_is_among_them():
    made = variations(POLICY, Boxes(floor=100), {"theta": [4, 8], "floor": [50, 100]}, COLUMNS)
    assert [one.varied for one in made] == [
        {"theta": 4, "floor": 50},
        {"theta": 4, "floor": 100},
        {"theta": 8, "floor": 50},
        {"theta": 8, "floor": 100},
    ]


def test_a_policy_that_no_value_hits_is_added_under_its_own_value():
    made = variations(FPrivacy(theta="6.44", offset="0.02"), Boxes(), {"theta": [4, 8]}, COLUMNS)
    assert [one.varied for one in made] == [{"theta": 4}, {"theta": 8}, {"theta": "6.44"}]


def test_nothing_varied_is_the_policy_alone():
    assert [one.varied for one in variations(POLICY, Boxes(), {}, COLUMNS)] == [{}]


def test_a_recoding_is_of_a_quasi_column():
    made = variations(POLICY, Boxes(), {"recode.age": ["none", 5]}, COLUMNS)
    assert [dict(one.recode) for one in made] == [{"age": "none"}, {"age": 5}, {}]
    with pytest.raises(PolicyError, match="no quasi column 'ages'") as refused:
        variations(POLICY, Boxes(), {"recode.ages": [5]}, COLUMNS)
    assert "age" in str(refused.value.hint)


def test_a_misspelt_parameter_names_the_nearest():
    with pytest.raises(PolicyError, match="has a parameter 'thta'") as refused:
        variations(POLICY, Boxes(), {"thta": [2]}, COLUMNS)
    assert "theta" in str(refused.value.hint)
