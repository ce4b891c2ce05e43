"""Drafts of tables in which people have several rows, or columns that are one list."""

from pathlib import Path

import numpy as np
import pytest

import sfumato as sf
from sfumato.policy import Policy, differences, draft_policy
from sfumato.table.generators.encounters import encounters
from sfumato.table.write import write_table
from tests.policy._ten_tables import write

COINS = np.random.default_rng(4)
ILLNESSES = np.array(["Flu", "Gout", "HIV", "Lupus", "Asthma", "Scurvy", "Rabies", "Mumps"])


@pytest.fixture(scope="module")
def visits(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    path = tmp_path_factory.mktemp("visits") / "visits.csv"
    write_table(encounters(1500, seed=2), path)
    return path, draft_policy(path)


def drafted(path: Path, columns: list[tuple[str, object]]) -> tuple[Policy, str]:
    text = draft_policy(write(path / "t.csv", columns))
    return Policy.parse(text), text


def listed(people: int, columns: int) -> list[np.ndarray]:
    """So many columns of different illnesses in every row."""
    order = np.array([COINS.permutation(len(ILLNESSES)) for _ in range(people)])
    return [ILLNESSES[order[:, k]] for k in range(columns)]


def test_the_draft_of_encounters_says_people_secrets_and_that_the_band_is_published(visits: tuple[Path, str]) -> None:
    path, text = visits
    schema = Policy.parse(text).schema
    rule = schema.people_rule
    assert (rule.key, rule.keep, rule.quasi, rule.alike) == (("patient",), "all", "first by admitted", "rows")
    assert schema.secrets == {"diag": ("diag_1", "diag_2", "diag_3")}
    assert "# ? How often somebody was there is published" in text
    assert "and not protected" in text
    assert 'diag" = ["diag_1", "diag_2", "diag_3"]  # ?' in text
    choice = Policy.parse(text).read_table(path).choice
    assert choice is not None
    assert f"{choice.rows:,} rows of 1,500 people, {choice.facts:,} facts" in text


def test_the_untouched_draft_publishes_audits_and_answers(visits: tuple[Path, str]) -> None:
    path, text = visits
    policy = Policy.parse(text)
    table = policy.read_table(path)
    release = sf.publish(table, policy.requirement, method=policy.method, seed=1)
    assert sf.audit(release, table).holds is True
    assert table.bundles is not None
    have = table.sensitive.histogram()["Hypertension"]
    found = release.count("diag = 'Hypertension'")
    assert found.value == found.low == found.high == have


@pytest.mark.parametrize("names", [("diag_1", "diag_2"), ("icd1", "icd2"), ("drug_a", "drug_b"), ("illness", "illness_2")])
def test_columns_of_one_list_are_one_secret_also_where_a_row_is_a_person(tmp_path: Path, names: tuple[str, str]) -> None:
    columns = [("age", COINS.integers(20, 80, 600)), ("sex", COINS.choice(["f", "m"], 600))]
    policy, _ = drafted(tmp_path, [*columns, *zip(names, listed(600, 2), strict=True)])
    assert list(policy.schema.secrets.values()) == [names]
    assert policy.read_table(tmp_path / "t.csv").bundles is not None


def test_answers_to_several_questions_are_no_list(tmp_path: Path) -> None:
    scale = ["never", "seldom", "often", "always", "no answer", "daily", "weekly"]
    known = [("age", COINS.integers(20, 80, 600)), ("sex", COINS.choice(["f", "m"], 600))]
    mood = COINS.choice(scale, 600)
    other = np.where(COINS.random(600) < 0.6, mood, COINS.choice(scale, 600))
    policy, _ = drafted(tmp_path, [*known, ("depression_1", mood), ("depression_2", other)])
    assert policy.schema.sensitive == ("depression_1", "depression_2")
    assert not policy.schema.secrets
    unlike = [("diag_1", COINS.choice(ILLNESSES, 600)), ("diag_2", COINS.choice(["A", "B", "C", "D", "E", "F"], 600))]
    policy, _ = drafted(tmp_path, [*known, *unlike])
    assert not policy.schema.secrets


def test_a_name_that_is_taken_is_not_given_to_a_list(tmp_path: Path) -> None:
    known = [("age", COINS.integers(20, 80, 600)), ("diag", COINS.normal(size=600)), ("sex", COINS.choice(["f", "m"], 600))]
    text = draft_policy(
        write(tmp_path / "t.csv", [*known, *zip(("diag_1", "diag_2"), listed(600, 2), strict=True)]),
        roles={"other": ["diag"], "sensitive": ["diag_1", "diag_2"]},
    )
    assert Policy.parse(text).schema.secrets == {"any diag": ("diag_1", "diag_2")}


def rows(*, ward: bool) -> list[tuple[str, object]]:
    person = np.repeat(np.arange(400), COINS.integers(1, 4, 400))
    age = COINS.integers(20, 80, 400)[person]
    found: list[tuple[str, object]] = [
        ("patient_id", [f"P{one:04d}" for one in person]),
        ("age", age + COINS.integers(0, 2, len(person))),
        ("sex", np.array(["f", "m"])[COINS.integers(0, 2, 400)][person]),
        ("illness", COINS.choice(ILLNESSES, len(person))),
    ]
    return [*found, ("ward", COINS.choice(["north", "south", "west"], len(person)))] if ward else found


def test_without_a_date_numbers_are_shown_by_their_least_and_texts_that_differ_are_not(tmp_path: Path) -> None:
    policy, _ = drafted(tmp_path, rows(ward=False))
    assert policy.schema.people_rule.quasi == {"age": "least"}
    policy, text = drafted(tmp_path, rows(ward=True))
    assert "ward" in policy.schema.other
    assert "# ? ward, 3: other;" in text
    assert "differs between rows of one person, and nothing says which of them is shown" in text
    assert policy.read_table(tmp_path / "t.csv").rows == 400


def test_a_declared_draft_keeps_one_value_a_person(visits: tuple[Path, str]) -> None:
    schema = Policy.parse(draft_policy(visits[0], declared=True)).schema
    assert schema.people_rule.keep == "first by admitted"
    assert not schema.secrets


def test_a_band_that_cannot_keep_the_bounds_is_said_in_the_draft(tmp_path: Path) -> None:
    person = np.repeat(np.arange(600), np.where(np.arange(600) < 60, 2, 1))
    illness = np.where(person < 60, "Rabies", COINS.choice(ILLNESSES[:6], len(person)))
    columns = [
        ("patient_id", [f"P{one:04d}" for one in person]),
        ("age", COINS.integers(20, 80, 600)[person]),
        ("illness", illness),
    ]
    _, text = drafted(tmp_path, columns)
    assert "ATTENTION: this is refused: people with 2 or more rows" in " ".join(text.replace("\n#", "").split())


def test_what_a_policy_says_of_who_has_none_is_told_as_a_difference(visits: tuple[Path, str]) -> None:
    text = visits[1]
    old, new = Policy.parse(text.replace('"diag" = "value"', "")), Policy.parse(text)
    assert differences(old, new) == ["Who has no 'diag' had no value, and has the value (missing) now."]
    assert differences(new, old) == ["Who has no 'diag' had the value (missing), and has no value now."]
    fewer = Policy.parse(text.replace('"diag_2", "diag_3"]', '"diag_2"]').replace("other      = [", 'other      = ["diag_3"'))
    assert "'diag_3' was sensitive (published and protected) and is now other (dropped)." in differences(new, fewer)
