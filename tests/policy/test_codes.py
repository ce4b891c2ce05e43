"""Numbers that are codes are categories in a draft, and quantities are not; a key of people numbers people."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from sfumato.policy import Policy, draft_policy
from sfumato.policy.codes import coded
from sfumato.policy.profile import profile
from sfumato.policy.proposal import kind_of
from sfumato.table.people import person_keys
from tests.policy._ten_tables import write

COINS = np.random.default_rng(11)
ROWS = 4000
AGE = ("age", COINS.integers(20, 60, ROWS))
OCCUPATIONS = COINS.choice(np.arange(2, 1966), 90, replace=False) * 5  # as the census has them, four digits and gaps


def why(name: str, values: object) -> str:
    return coded(profile(name, pa.chunked_array([pa.array(values)])))


@pytest.mark.parametrize(
    "name", ["occupation", "OCCP", "occupation_code", "naics", "SIC", "industry_code", "occ2010", "site_code"]
)
def test_numbers_are_codes_by_the_name_of_their_column(name: str) -> None:
    assert why(name, COINS.integers(0, 99, ROWS)).endswith("like a code")


def test_numbers_are_codes_by_gaps_that_so_many_people_would_have_filled() -> None:
    assert why("kind", COINS.choice(OCCUPATIONS, ROWS)) == "shared by many, with gaps between them"


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("cholesterol", COINS.normal(200, 30, ROWS).round()),
        ("grams", COINS.normal(3200, 400, ROWS).round(-1)),  # rounded to tens: no step is left out in the middle
        ("steps", COINS.normal(9000, 2500, ROWS).round(-2)),
        ("charges", COINS.lognormal(9, 1, ROWS).round()),  # hardly two people share one
        ("visits", COINS.geometric(0.02, ROWS)),
        ("capital_gain", np.where(COINS.random(ROWS) < 0.9, 0, COINS.choice(OCCUPATIONS, ROWS))),
        ("salary", COINS.choice(OCCUPATIONS, ROWS)),  # money is never a code
        ("number_diagnoses", COINS.integers(1, 200, ROWS)),
        ("days_in_industry", COINS.integers(1, 200, ROWS)),
        ("code", np.arange(ROWS)),  # nobody shares one: it may number people
    ],
)
def test_quantities_and_counts_are_no_codes(name: str, values: object) -> None:
    assert why(name, values) == ""


def test_a_secret_of_codes_is_drafted_as_categories_with_a_question(tmp_path: Path) -> None:
    jobs = COINS.choice(OCCUPATIONS[:60], ROWS)
    path = write(tmp_path / "t.csv", [AGE, ("sex", COINS.choice(["f", "m"], ROWS)), ("occupation_code", jobs)])
    draft = draft_policy(path, roles={"sensitive": ["occupation_code"]})
    schema = Policy.parse(draft).schema
    assert schema.types["occupation_code"] == "categorical"
    assert not schema.bins
    assert '"occupation_code" = "categorical"  # ? numbers that look like codes' in draft


def test_numbers_of_illnesses_are_drafted_as_their_chapters(tmp_path: Path) -> None:
    codes = np.round(np.concatenate([np.arange(250, 250.9, 0.01), [8, 410, 428.0, 486, 715.9, 786.5, 995]]), 2)
    numbers = profile("diag_1", pa.chunked_array([pa.array(COINS.choice(codes, ROWS))]))
    assert kind_of(numbers) == "categorical"
    path = write(tmp_path / "t.csv", [AGE, ("diag_1", COINS.choice(codes, ROWS))])
    draft = draft_policy(path, reviewed=True)
    policy = Policy.parse(draft)
    assert policy.schema.to_dict()["recode"]["diag_1"] == {"icd": 9}
    chapters = set(policy.read_table(path).sensitive.histogram())
    assert {"endocrine, nutritional and metabolic diseases", "circulatory system", "infectious diseases"} <= chapters
    assert "no ICD code" not in chapters
    assert len(chapters) == 7


@pytest.mark.parametrize("party", [np.arange(7), np.array(list("abcdefg"))])
def test_few_values_number_no_people_whatever_their_column_is_called(tmp_path: Path, party: np.ndarray) -> None:
    rows = 300
    pid, age, vote = COINS.choice(party, rows), COINS.integers(20, 60, rows), COINS.choice(["a", "b"], rows)
    draft = draft_policy(write(tmp_path / "t.csv", [("PID", pid), ("age", age), ("vote", vote)]))
    schema = Policy.parse(draft).schema
    assert schema.other == ("PID",)
    assert schema.one_row_per_person
    assert "# ? PID, 7: other; it may be called like a person's number, but 7 values number no 300 rows" in draft
    assert "ATTENTION" not in draft


def test_few_values_with_which_other_columns_go_are_still_keys_of_people() -> None:
    key = np.repeat(np.arange(7), 43)
    follows = {"town": key % 5, "pid": key}
    columns = {name: pa.chunked_array([values]) for name, values in follows.items()}
    assert [one.column for one in person_keys(columns)] == ["pid"]
    assert not person_keys({**columns, "town": pa.chunked_array([COINS.permutation(key % 5)])})
    assert [one.column for one in person_keys({"patient_id": columns["pid"]})] == ["patient_id"]
