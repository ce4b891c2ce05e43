"""One row a person: which of somebody's rows is kept, by what that is decided, and which columns look like keys of people."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from sfumato.errors import InputError, PolicyError
from sfumato.table import People, Schema, Table
from sfumato.table.people import names_a_person, person_keys

VISITS = pa.table(
    {
        "patient": ["p1", "p2", "p1", "p3", "p2", "p2"],
        "admitted": ["2024-05-01", "2024-01-09", "2024-02-03", "2024-03-03", "2024-01-10", "2024-06-06"],
        "age": [40, 50, 41, 60, 51, 52],
        "ill": ["a", "b", "c", "d", "e", "f"],
    }
)
ROLES: dict[str, Any] = {"quasi": ["age"], "sensitive": ["ill"], "other": ["patient", "admitted"]}


def kept(data: pa.Table, random: Any = 0, **people: Any) -> dict[int, str]:
    table = Table.from_frame(data, Schema(**ROLES, people=people), random=random)
    shown = table.to_arrow()
    return dict(zip(shown["age"].to_pylist(), shown["ill"].to_pylist(), strict=True))


def shuffled(data: pa.Table, seed: int) -> pa.Table:
    return data.take(pa.array(np.random.default_rng(seed).permutation(data.num_rows)))


def test_the_first_or_the_last_row_of_each_person_is_kept_and_counted() -> None:
    assert kept(VISITS, key="patient", keep="first by admitted") == {41: "c", 50: "b", 60: "d"}
    assert kept(VISITS, key=["patient"], keep="last by admitted") == {40: "a", 52: "f", 60: "d"}
    table = Table.from_frame(VISITS, Schema(**ROLES, people=People(key="patient", keep="first by admitted")))
    assert table.choice is not None
    assert (table.choice.rows, table.choice.people, table.choice.tied, table.dropped) == (6, 3, 0, 0)
    assert "6 rows of 3 people" in table.choice.sentence


def test_several_rows_are_refused_without_a_rule_and_keys_must_be_there() -> None:
    with pytest.raises(InputError, match=r"'patient': 2 people.*5 rows"):
        kept(VISITS, key="patient")
    gaps = VISITS.set_column(0, "patient", pa.array(["p1", None, "p1", "p3", None, "p2"]))
    with pytest.raises(InputError, match="2 of 6 rows"):
        kept(gaps, key="patient", keep="first by admitted")


def test_a_row_without_the_deciding_value_is_kept_only_where_there_is_no_other() -> None:
    gaps = VISITS.set_column(1, "admitted", pa.array([None, "2024-01-09", "2024-02-03", None, "2024-01-10", "2024-06-06"]))
    for rule in ("first by admitted", "last by admitted"):
        assert kept(gaps, key="patient", keep=rule)[41] == "c"
        assert kept(gaps, key="patient", keep=rule)[60] == "d"


@pytest.mark.parametrize(
    ("people", "message"),
    [
        ({"key": "ill"}, "'ill' is sensitive"),
        ({"key": "patient", "keep": "first by ill"}, "on a secret"),
        ({"key": "patint"}, "no column 'patint'"),
        ({"key": "patient", "keep": "first"}, "or error"),
        ({"keep": "first by admitted"}, "needs a key"),
        ({"rows": "visits"}, 'expected "people"'),
        ({"kee": "error"}, "kee: unknown key"),
    ],
)
def test_rules_that_make_no_sense_or_look_at_a_secret_are_refused(people: dict[str, Any], message: str) -> None:
    with pytest.raises(PolicyError) as problem:
        Schema(**ROLES, people=people)
    assert message in problem.value.message


def test_what_decides_must_be_numbers_or_dates() -> None:
    words = VISITS.set_column(1, "admitted", pa.array(["may", "jan", "feb", "mar", "jan", "jun"]))
    with pytest.raises(InputError, match="numbers or dates"):
        kept(words, key="patient", keep="first by admitted")
    slashed = VISITS.set_column(
        1, "admitted", pa.array(["13/5/2024", "9/1/2024", "3/2/2024", "3/3/2024", "10/1/2024", "6/6/2024"])
    )
    assert kept(slashed, key="patient", keep="first by admitted")[41] == "c"


TIED = pa.table(
    {
        "patient": ["p1"] * 3 + ["p2"] * 2 + ["p3"],
        "admitted": [5, 5, 5, 7, 7, 1],
        "age": [40, 40, 40, 50, 50, 60],
        "ill": ["a", "b", "c", "b", "c", "a"],
    }
)


def test_among_equally_early_rows_every_one_is_as_likely_whatever_it_says() -> None:
    """Each of 6 outcomes has chance 1/6: 1,200 seeds leave ±80 of 200 with false alarm below 1e-8 (6σ); a rule by value fails."""
    drawn = Counter()
    for seed in range(1200):
        found = kept(TIED, seed, key="patient", keep="first by admitted")
        drawn[found[40], found[50]] += 1
    assert set(drawn) == {(one, two) for one in "abc" for two in "bc"}
    assert all(abs(times - 200) < 80 for times in drawn.values())


def test_the_order_of_the_input_decides_nothing_and_a_seed_or_the_coins_make_the_same_choice_again() -> None:
    schema = Schema(**ROLES, people={"key": "patient", "keep": "first by admitted"})
    first = Table.from_frame(TIED, schema, random=3)
    assert first.choice is not None
    assert first.choice.tied == 2
    for seed in range(20):
        for random in (3, first.choice.coins):
            again = Table.from_frame(shuffled(TIED, seed), schema, random=random)
            assert again.fingerprint.digest == first.fingerprint.digest
    assert str(first.choice.coins.hex()) not in repr(first.choice)


def test_rows_that_agree_in_what_is_published_need_no_coin() -> None:
    same = pa.table({"patient": ["p1", "p1", "p2"], "admitted": [5, 5, 6], "age": [40, 40, 50], "ill": ["a", "a", "b"]})
    table = Table.from_frame(same, Schema(**ROLES, people={"key": "patient", "keep": "first by admitted"}))
    assert table.choice is not None
    assert table.choice.tied == 0


def test_rows_that_are_not_kept_decide_nothing_not_even_a_type(tmp_path: Any) -> None:
    """The only fraction, and the only word among numbers, stand in rows that are left out."""
    text = "patient,day,size,ill\np1,1,40,a\np1,2,40.5,b\np2,1,50,b\np3,1,60,c\np3,3,large,d\n"
    (tmp_path / "t.csv").write_text(text)
    schema = Schema(
        quasi=["size"], sensitive=["ill"], other=["patient", "day"], people={"key": "patient", "keep": "first by day"}
    )
    table = Table.read(tmp_path / "t.csv", schema)
    assert str(table.column("size").values.type) == "int64"
    assert table.sensitive.histogram() == {"a": 1, "b": 1, "c": 1}


# --- likely keys of people


def visits(people: int = 300, seed: int = 1) -> pa.Table:
    """Visits of patients who have a diagnosis each, two or three times on average."""
    coins = np.random.default_rng(seed)
    rows = []
    for person in range(people):
        ill = f"d{min(19, int(coins.geometric(0.12)) - 1)}"
        fixed = ("fm"[coins.integers(2)], int(coins.integers(1930, 2005)), f"t{coins.integers(8)}")
        for _ in range(1 + int(coins.integers(4))):
            rows.append((f"N{person * 7 + 1000}", int(coins.integers(1, 365)), *fixed, "we"[coins.integers(2)], ill))
    names = ["number", "day", "sex", "born", "town", "kind", "ill"]
    return pa.table(dict(zip(names, map(list, zip(*rows, strict=True)), strict=True)))


@pytest.mark.parametrize("role", ["quasi", "other", "identifier"])
@pytest.mark.parametrize("name", ["patient_nbr", "PersonID", "zz"])
def test_a_key_of_people_is_found_whatever_its_role_and_its_name(role: str, name: str) -> None:
    data = visits().rename_columns([name, "day", "sex", "born", "town", "kind", "ill"])
    data = data.append_column("visit", pa.array(range(data.num_rows)))
    roles = {"quasi": ["sex", "born", "town"], "other": ["kind", "day"], "identifier": ["visit"]}
    roles[role] = [*roles[role], name]
    table = Table.from_frame(data, Schema(sensitive=["ill"], **roles))
    assert [key.column for key in table.suspects] == [name]
    with pytest.raises(InputError, match=f"'{name}'.*a key of"):
        table.require_people()


def test_what_the_policy_says_of_rows_settles_the_matter() -> None:
    roles: dict[str, Any] = {"sensitive": ["ill"], "quasi": ["sex", "born", "town"], "other": ["number", "day", "kind"]}
    for said in ({"people": {"rows": "people"}}, {"one_row_per_person": False}):
        assert Table.from_frame(visits(), Schema(**roles, **said)).suspects == ()
    table = Table.from_frame(visits(), Schema(**roles, people={"key": "number", "keep": "last by day"}))
    assert table.rows == 300
    assert table.suspects == ()


def test_a_wrong_key_leaves_the_right_one_suspected() -> None:
    data = visits().append_column("visit", pa.array(range(visits().num_rows)))
    roles: dict[str, Any] = {"sensitive": ["ill"], "quasi": ["sex", "born", "town"], "other": ["number", "day", "kind", "visit"]}
    table = Table.from_frame(data, Schema(**roles, people={"key": "visit"}))
    assert [key.column for key in table.suspects] == ["number"]


def test_the_suspicion_never_looks_at_secrets() -> None:
    """The same table with other secrets is suspected in the same way, and a secret is never suspected itself."""
    roles: dict[str, Any] = {"sensitive": ["ill"], "quasi": ["sex", "born", "town"], "other": ["number", "day", "kind"]}
    data = visits()
    found = Table.from_frame(data, Schema(**roles)).suspects
    other = data.set_column(6, "ill", pa.array([f"x{i % 7}" for i in range(data.num_rows)]))
    assert Table.from_frame(other, Schema(**roles)).suspects == found
    secret = Schema(sensitive=["number"], quasi=["sex", "born", "town"], other=["ill", "day", "kind"])
    assert Table.from_frame(data, secret).suspects == ()


def test_ordinary_columns_are_not_suspected() -> None:
    coins = np.random.default_rng(5)
    rows = 4000
    place = coins.integers(0, 300, rows)
    table = {
        "age": pa.chunked_array([coins.integers(18, 90, rows)]),
        "postcode": pa.chunked_array([[f"{10000 + 37 * one}" for one in place]]),
        "town": pa.chunked_array([[f"t{one // 10}" for one in place]]),
        "income": pa.chunked_array([np.round(coins.normal(3000, 900, rows), 2)]),
        "admitted": pa.chunked_array([[f"2024-{1 + one % 12:02d}-{1 + one % 28:02d}" for one in coins.integers(0, 900, rows)]]),
        "patient_kind": pa.chunked_array([np.array(["in", "out"])[coins.integers(0, 2, rows)]]),
        "row_id": pa.chunked_array([np.arange(rows)]),
    }
    assert person_keys(table) == []


@pytest.mark.parametrize("name", ["patient_nbr", "PatientID", "mrn", "subject id", "client_number", "ID", "person", "Kunden-Nr"])
def test_names_of_numbers_of_people(name: str) -> None:
    assert names_a_person(name)


@pytest.mark.parametrize("name", ["age", "visit_id", "hospital_id", "icd_code", "house_number", "diagnosis", "nationality"])
def test_names_of_other_things(name: str) -> None:
    assert not names_a_person(name)
