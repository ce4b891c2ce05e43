"""What a draft sees in columns that real tables have, and what it used to miss."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.errors import InputError
from sfumato.policy import Decision, Policy, draft_policy, review
from sfumato.policy.profile import profile
from sfumato.policy.roles import decide
from sfumato.table.people import person_keys
from tests.makers import tells
from tests.policy._ten_tables import TABLES, write

COINS = np.random.default_rng(7)


def decided(**columns: object) -> dict[str, Decision]:
    """What a draft decides about columns, beside an age and a diagnosis."""
    rows = len(next(iter(columns.values())))  # type: ignore[arg-type]
    known = {"age": COINS.integers(20, 60, rows), "diagnosis": COINS.choice(["Flu", "Gout", "HIV"], rows)}
    table = pa.table({**known, **columns})
    return {one.column: one for one in decide([profile(name, table[name]) for name in table.column_names], {})}


def numbers(high: int, rows: int = 400) -> list[int]:
    return COINS.integers(0, high, rows).tolist()


@pytest.mark.parametrize(
    ("name", "sure"),
    [
        ("affairs", True), ("abuse", False), ("qsmk", False), ("owngun", False), ("chcond", False), ("readmitted", True),
        ("A1Cresult", True), ("decile_score", False), ("rate_marriage", False),
    ],
)  # fmt: skip
def test_secrets_with_short_names_are_found(name: str, sure: bool) -> None:
    found = decided(**{name: numbers(8)})[name]
    assert (found.role, found.sure) == ("sensitive", sure)


@pytest.mark.parametrize("name", ["male", "female", "black", "white", "south"])
def test_columns_of_zeros_and_ones_are_known_by_their_names(name: str) -> None:
    assert decided(**{name: numbers(2)})[name].role == "quasi"


@pytest.mark.parametrize("name", ["tax71", "tax82", "taxes", "cigarette_tax", "state_cig_tax", "cig_tax86"])
def test_a_tax_may_be_that_of_a_good_and_is_no_secret_of_a_person(name: str) -> None:
    assert decided(**{name: numbers(30)})[name].role == "other"


@pytest.mark.parametrize(
    ("name", "role"),
    [
        ("psn", "identifier"), ("upid", "identifier"), ("hid", "identifier"), ("ihid", "identifier"), ("hhid", "identifier"),
        ("serial", "identifier"), ("serialno", "identifier"), ("household", "identifier"), ("psu", "other"), ("cluster", "other"),
    ],
)  # fmt: skip
def test_pseudonyms_households_and_sampling_units_are_known_by_their_names(name: str, role: str) -> None:
    assert decided(**{name: [1000 + i // 2 for i in range(400)]})[name].role == role


@pytest.mark.parametrize("name", ["practice", "gp_practice", "provider", "site", "household"])
def test_few_places_and_kinds_of_households_may_be_known(name: str) -> None:
    assert decided(**{name: [f"{name} {one}" for one in numbers(6)]})[name].role == "quasi"


def test_amounts_measures_and_differences_number_no_people() -> None:
    rows = 900
    key = np.repeat(np.arange(300), 3)
    follows = {"town": key % 40, "school": key % 7}
    for name, values in {"wt82_71": key - 150, "change": key - 150, "prewage": key, "popul": key}.items():
        assert person_keys({k: pa.chunked_array([v]) for k, v in {name: values, **follows}.items()}) == []
    found = person_keys({k: pa.chunked_array([v]) for k, v in {"code": key, **follows}.items()})
    assert [(one.column, one.people, one.rows) for one in found] == [("code", 300, rows)]


def test_pseudonyms_that_look_like_codes_of_illnesses_are_keys_of_people(tmp_path: Path) -> None:
    people = np.repeat(np.arange(3000), COINS.integers(1, 5, 3000))
    visit = np.arange(len(people))
    age, sex = COINS.integers(20, 90, 3000), COINS.choice(["f", "m"], 3000)
    columns = [
        ("pseudonym", [f"A{one:05d}" for one in people]),
        ("visit", visit),
        ("age", age[people]),
        ("sex", sex[people]),
        ("illness", COINS.choice(["Flu", "Gout", "HIV"], len(people))),
    ]
    for name in ("pseudonym", "code"):
        path = write(tmp_path / f"{name}.csv", [(name, columns[0][1]), *columns[1:]])
        policy = Policy.parse(draft_policy(path))
        assert policy.schema.sensitive == ("illness",)
        assert policy.schema.people_rule.key == (name,)
        assert policy.read_table(path).rows == 3000


def test_real_codes_of_illnesses_are_still_found_with_a_question() -> None:
    codes = ["I10", "E11.9", "J45.0", "F32", "K21.0", "Z00", "C50.9", "M54.5"]
    found = decided(**{f"kode{k}": COINS.choice(codes, 400) for k in (1, 2, 3)})
    assert {(found[f"kode{k}"].role, found[f"kode{k}"].sure) for k in (1, 2, 3)} == {("sensitive", False)}


def test_columns_with_the_values_of_a_secret_are_secrets_too_but_not_any_yes_or_no() -> None:
    drug = ["No", "Steady", "Up", "Down"]
    found = decided(
        insulin=COINS.choice(drug, 400), nateglinide=COINS.choice(drug[:2], 400), smoker=COINS.choice(["yes", "no"], 400),
        member=COINS.choice(["yes", "no"], 400),
    )  # fmt: skip
    assert (found["nateglinide"].role, found["nateglinide"].sure) == ("sensitive", False)
    assert tells(found["nateglinide"].why, "'insulin'", "a secret")
    assert found["member"].role == "other"


@pytest.mark.parametrize("more", [[], [("wage", COINS.integers(1, 9, 600))]])
def test_what_a_published_column_determines_is_no_secret_and_that_is_certain(
    more: list[tuple[str, object]], tmp_path: Path
) -> None:
    school = COINS.integers(0, 21, 600)
    known = [("age", COINS.integers(20, 60, 600)), ("sex", COINS.choice(["f", "m"], 600)), ("educ", school)]
    path = write(tmp_path / "t.csv", [*known, *more, ("educsq", school**2), ("hobby", COINS.integers(1, 30, 600))])
    draft = draft_policy(path)
    said = "it follows from 'educ', which is published: no secret"
    assert f"#   educsq, 21: other; {said}" in draft
    policy = Policy.parse(draft)
    assert {one.column: (one.sure, one.why) for one in review(path, policy.schema, policy.options)}["educsq"] == (True, said)
    other = Policy.parse(
        draft.replace('"educ", ', "", 1).replace(', "educ"]', "]").replace("other      = [", 'other      = ["educ", ')
    )
    told = {one.column: one for one in review(path, other.schema, other.options)}
    assert not told["educsq"].sure  # where educ is not published
    assert said not in told["educsq"].why


def test_ages_of_a_file_that_names_no_columns_are_found_and_hours_are_not(tmp_path: Path) -> None:
    rows = 2000
    hours = np.where(COINS.random(rows) < 0.5, 40, COINS.integers(1, 99, rows))
    columns = [("", COINS.integers(17, 91, rows)), ("", COINS.choice(["Private", "State-gov"], rows)), ("", hours),
               ("", COINS.choice(["<=50K", ">50K"], rows))]  # fmt: skip
    draft = draft_policy(write(tmp_path / "t.csv", columns, header=False))
    assert "column_1, 74: quasi; whole numbers from 17 to 90" in draft
    assert "column_3" not in Policy.parse(draft).schema.quasi


def test_dates_written_as_text_are_dates() -> None:
    days = pa.chunked_array([[f"20{year:02d}-{month:02d}-17" for year in range(10, 25) for month in range(1, 13)]])
    assert profile("admitted", days).kind == "date"


def test_whole_numbers_written_with_a_point_are_whole() -> None:
    found = decided(PID=np.array(numbers(7), float))["PID"]
    assert found.role == "other"
    assert "identifier" not in found.why


def test_naming_the_secrets_raises_no_further_questions() -> None:
    table = pa.table({name: pa.array(values) for name, values in {
        "age": numbers(60), "diagnosis": COINS.choice(["Flu", "HIV"], 400), "religion": COINS.choice(["a", "b"], 400),
        "income": numbers(9), "zzz": numbers(9)}.items()})  # fmt: skip
    columns = [profile(name, table[name]) for name in table.column_names]
    before, after = (
        sum(not one.sure for one in decide(columns, given)) for given in ({}, {"sensitive": ["diagnosis"], "quasi": ["age"]})
    )
    assert after <= before


def test_doubled_columns_are_all_named_and_can_be_numbered(tmp_path: Path) -> None:
    path = write(tmp_path / "court.csv", TABLES["court"](np.random.default_rng(1)))
    with pytest.raises(InputError) as caught:
        draft_policy(path)
    assert tells(caught.value.message, "columns 5, 9", "'decile_score'")
    assert "--rename" in str(caught.value.hint)
    draft = draft_policy(path, rename=True)
    policy = Policy.parse(draft)
    assert "rename = true" in draft
    assert "decile_score" in policy.schema.sensitive
    assert "decile_score_2" in policy.schema.other  # the same column again
    assert "#   decile_score_2, 10: other; it is 'decile_score' again, equal in every row" in draft
    assert policy.read_table(path).rows == 5000


@pytest.mark.parametrize("second", ["score.1", "score_2", "score2", "score 1"])
def test_a_column_that_stands_twice_under_a_numbered_name_is_used_once(second: str, tmp_path: Path) -> None:
    score, age = COINS.integers(0, 9, 400), COINS.integers(20, 60, 400)
    known = [("age", age), ("diagnosis", COINS.choice(["Flu", "HIV"], 400)), ("score", score)]
    draft = draft_policy(write(tmp_path / "t.csv", [*known, (second, score)]), roles={"sensitive": ["score"]})
    assert f"#   {second}, 9: other; it is 'score' again, equal in every row" in draft
    apart = draft_policy(write(tmp_path / "u.csv", [*known, (second, COINS.permutation(score))]))
    asked = f"# ? {second}, 9: other; a secret, or what others may know; it is called like 'score' and differs from it: "
    "another column?"
    assert (asked in apart) == second.startswith("score.")
    stated = draft_policy(write(tmp_path / "v.csv", [*known, (second, score)]), roles={"sensitive": ["score", second]})
    assert second in Policy.parse(stated).schema.sensitive


@pytest.mark.parametrize("name", ["hospital", "court", "marriages", "voters", "smokers"])
def test_a_draft_stays_valid_whichever_of_its_proposals_are_used(name: str, tmp_path: Path) -> None:
    path = write(tmp_path / f"{name}.csv", TABLES[name](np.random.default_rng(1)))
    lines = draft_policy(path, rename=name == "court").splitlines()
    proposals = [k for k, line in enumerate(lines) if re.match(r'# ("[^"]*"|\w+) *= ', line)]
    assert proposals
    for used in ([one] for one in proposals):
        tomllib.loads("\n".join(line[2:] if k in used else line for k, line in enumerate(lines)))


def test_signs_of_missing_values_can_be_declared_missing_without_another_edit(tmp_path: Path) -> None:
    rows = 300
    columns = [("age", numbers(60, rows)), ("illness", COINS.choice(["Flu", "Gout", "HIV", "?"], rows))]
    path = write(tmp_path / "t.csv", columns)
    draft = draft_policy(path)
    used = re.sub(r"^# (null = )", r"\1", draft, flags=re.MULTILINE)
    assert used != draft
    assert Policy.parse(used).read_table(path).sensitive.histogram()["(missing)"] > 0


def test_a_sign_that_a_set_names_is_not_declared_missing(tmp_path: Path) -> None:
    columns = [
        ("age", numbers(60, 300)),
        ("HIV status", COINS.choice(["negative", "positive", "unknown"], 300, p=[0.8, 0.1, 0.1])),
        ("income", COINS.choice(["low", "high", "n/a"], 300)),
    ]
    draft = draft_policy(write(tmp_path / "t.csv", columns))
    assert '"not negative" = { values = ["positive", "unknown"]' in draft
    used = re.sub(r"^# (null = )", r"\1", draft, flags=re.MULTILINE)
    assert used != draft
    policy = Policy.parse(used)
    assert sf.publish(policy.read_table(tmp_path / "t.csv"), policy.requirement, random=1).rows == 300


def test_a_sign_that_a_bound_names_is_not_declared_missing(tmp_path: Path) -> None:
    columns = [
        ("age", numbers(60, 300)),
        ("illness", COINS.choice(["Flu", "Gout", "?"], 300, p=[0.2, 0.1, 0.7])),
        ("income", COINS.choice(["low", "high", "n/a"], 300)),
    ]
    draft = draft_policy(write(tmp_path / "t.csv", columns))
    assert '"?" = 1' in draft
    used = re.sub(r"^# (null = )", r"\1", draft, flags=re.MULTILINE)
    assert used != draft
    policy = Policy.parse(used)
    assert sf.publish(policy.read_table(tmp_path / "t.csv"), policy.requirement, random=1).rows == 300


def test_a_hierarchy_and_chapters_of_icd_put_secrets_together(tmp_path: Path) -> None:
    codes = COINS.choice(["I10", "I21", "E11.9", "F32.1"], 3000)
    frame = pa.table({"age": COINS.integers(20, 80, 3000), "diag": codes})
    (tmp_path / "icd.csv").write_text("I10;I;heart\nI21;I;heart\nE11.9;E;other\nF32.1;F;other\n")
    for rule, value, many in (
        ("{ icd = 10 }", "circulatory system", {"I10", "I21"}),
        ('{ hierarchy = "icd.csv", level = 2 }', "heart", {"I10", "I21"}),
        ("{ prefix = 1 }", "I", {"I10", "I21"}),
    ):
        text = f"""[columns]\nquasi = ["age"]\nsensitive = ["diag"]\n[recode]\ndiag = {rule}
[requirement]\nmodel = "f-privacy"\ntheta = 8\noffset = "0.02"\nodds = 8\n"""
        policy = Policy.parse(text, base=tmp_path)
        release = sf.publish(frame, policy, random=1)
        release.save(tmp_path / value)
        table = sf.Table.from_frame(frame, policy.schema)
        assert sf.audit(tmp_path / value, table).holds is True
        true = int(np.isin(codes, list(many)).sum())
        assert sf.Release.load(tmp_path / value).count(f"diag = '{value}'").value == true
