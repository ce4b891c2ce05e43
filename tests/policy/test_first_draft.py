"""The first draft for files that people really have: what is published names nobody, and tells one secret at most unprotected."""

from __future__ import annotations

from pathlib import Path

import pytest

import sfumato as sf
from sfumato.errors import InputError, PolicyError
from sfumato.policy import Policy, draft_policy
from tests.policy import _tables

SECRETS = {
    "visits": {"time_in_hospital", "num_medications", "number_diagnoses", "diag_1", "diag_2", "insulin"},
    "court": {"charge_desc", "is_recid", "religion", "juv_fel_count", "c_offense_date", "c_jail_in"},
    "census": {"column_7", "column_8"},
    "adult": {"column_7", "column_11", "column_12", "column_15"},
}
NAMING = {
    "visits": {"encounter_id", "patient_nbr"},
    "court": {"id", "name", "first", "last", "dob", "c_case_number"},
    "census": {"column_1", "column_2"},
    "adult": {"column_3"},
}


def drafted(tmp_path: Path, kind: str) -> tuple[Path, Policy, str]:
    path = tmp_path / ("adult.data" if kind == "adult" else f"{kind}.csv")
    path.write_text(getattr(_tables, kind)())
    text = draft_policy(path)
    return path, Policy.parse(text), text


@pytest.mark.parametrize("kind", SECRETS)
def test_the_draft_publishes_no_name_no_person_key_and_no_second_secret(tmp_path: Path, kind: str) -> None:
    path, policy, text = drafted(tmp_path, kind)
    schema = policy.schema
    assert not NAMING[kind] & {*schema.quasi, *schema.sensitive}
    assert not SECRETS[kind] & {*schema.quasi}
    assert SECRETS[kind] & {*schema.sensitive}
    assert schema.quasi
    if kind == "court":  # two people may have one name: whether they are one, only the publisher knows
        with pytest.raises(InputError, match=r"'name' .*key of people"):
            sf.publish(policy.read_table(path), policy.requirement)
        policy = Policy.parse(text + '[people]\nrows = "people"\n')
    table = policy.read_table(path)
    release = sf.publish(table, policy.requirement, method=policy.method, random=1)
    shown = {name for one in release.tables().values() for name in one.column_names} - {"group", "count", "account"}
    shown -= {"values", "set"} if table.bundles is not None else set()  # numbers of values, and sets
    named = {*schema.sensitive} if len(schema.sensitive) == 1 else {"secret", "value"}
    assert shown == {*schema.quasi, *named}
    assert {*release.secrets} == {*schema.sensitive}
    assert sf.audit(release, table).holds is True


def test_every_single_value_of_several_secrets_stays_bounded(tmp_path: Path) -> None:
    path, policy, text = drafted(tmp_path, "court")
    table = policy.read_table(path)
    assert len(policy.schema.sensitive) > 1
    assert policy.schema.protect == "each"
    for name, one in zip(policy.schema.sensitive, table.each(), strict=True):
        assert max(policy.requirement.of(name).bounds(one.sensitive.histogram()).limits) < 1
    assert 'protect = "each"' in text


def test_a_patient_with_several_visits_is_one_person(tmp_path: Path) -> None:
    path, policy, _ = drafted(tmp_path, "visits")
    rows = path.read_text().splitlines()[1:]
    people = {line.split(",")[1] for line in rows}
    table = policy.read_table(path)
    assert policy.schema.people_rule.key == ("patient_nbr",)
    assert table.rows == len(people) < len(rows)


def test_a_file_without_a_header_is_drafted_and_no_line_of_it_is_taken_for_names(tmp_path: Path) -> None:
    path, policy, text = drafted(tmp_path, "adult")
    assert policy.options.header is False
    assert policy.read_table(path).rows == 2000
    assert "header = false  # a guess" in text
    assert "'?' in column_2" in text
    names = (
        "age", "workclass", "fnlwgt", "education", "education_num", "marital", "occupation", "relationship", "race", "sex",
        "gain", "loss", "hours", "country", "income",
    )  # fmt: skip
    named = Policy.parse(draft_policy(path, names=names))
    assert named.schema.quasi == (
        "sex",
        "race",
        "country",
        "marital",
        "relationship",
        "workclass",
        "education",
        "education_num",
        "age",
        "hours",
    )
    sizes = [column.size for column in named.read_table(path).quasi]
    assert sizes == sorted(sizes)  # boxes are cut across columns of few values first
    assert "income" in named.schema.sensitive


def rows_of(name: str, values: list[str]) -> str:
    known = ("Flu", "Gout", "HIV", "Cold", "Lupus")
    return f"{name},age,illness\n" + "\n".join(f"{value},{20 + i % 40},{known[i % 5]}" for i, value in enumerate(values)) + "\n"


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("patient_id", [str(1000 + i % 130) for i in range(200)]),
        ("mrn", [f"{i % 150:06d}x" for i in range(200)]),
        ("subject_id", [f"S{i % 90}" for i in range(200)]),
        ("client_number", [str(50_000 + 3 * (i % 120)) for i in range(200)]),
        ("Kundennummer", [str(70_000 + i % 120) for i in range(200)]),
        ("numero_cliente", [str(70_000 + i % 120) for i in range(200)]),
        ("nhs_number", [str(4_000_000_000 + 17 * (i % 190)) for i in range(200)]),
        ("Geburtsdatum", [f"19{40 + i % 50}-0{1 + i % 9}-1{i % 10}" for i in range(200)]),
        ("date_of_birth", [f"19{40 + i % 50}-0{1 + i % 9}-1{i % 10}" for i in range(200)]),
        ("x1", [f"u{i % 180}@example.org" for i in range(200)]),
        ("x1", [f"+49 30 {1000 + i % 180}55" for i in range(200)]),
        ("x1", [f"DE89370400440532{i % 180:06d}" for i in range(200)]),
        ("x1", [f"10.0.{i % 7}.{i % 31}" for i in range(200)]),
        ("x1", [f"https://example.org/{i % 180}" for i in range(200)]),
        ("x1", [f"{_tables.FIRST[i % 14]} {_tables.LAST[i % 13]}" for i in range(200)]),
        ("x1", [_tables.LAST[i % 13] for i in range(200)]),
        ("x1", [f"{i % 97 + 1} Long{'abc'[i % 3]} Street" for i in range(200)]),
        ("x1", [f"came in with pain number {i % 150} and left" for i in range(200)]),
        ("x1", [f"AB-{10000 + i}" for i in range(200)]),
    ],
    ids=lambda one: one if isinstance(one, str) else one[0],
)
def test_what_leads_to_a_person_is_an_identifier_by_name_or_by_values(tmp_path: Path, name: str, values: list[str]) -> None:
    path = tmp_path / "t.csv"
    path.write_text(rows_of(name, values))
    assert Policy.parse(draft_policy(path)).schema.role(name) == "identifier"


@pytest.mark.parametrize("name", ["diagnosis_date", "age_at_diagnosis", "number_of_diagnoses", "days_in_prison"])
def test_a_date_an_age_or_a_count_is_not_the_secret(tmp_path: Path, name: str) -> None:
    path = tmp_path / "t.csv"
    path.write_text(rows_of(name, [f"2024-01-{1 + i % 28:02d}" if "date" in name else str(i % 40) for i in range(200)]))
    schema = Policy.parse(draft_policy(path)).schema
    assert (schema.role(name), schema.sensitive) == ("other", ("illness",))


def test_a_number_with_repeats_and_no_clear_name_is_not_published(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text(rows_of("nr_x", [str(10_000_019 + 7919 * (i % 400)) for i in range(1000)]))
    assert Policy.parse(draft_policy(path)).schema.role("nr_x") in ("identifier", "other")


def test_roles_can_be_fixed_up_front(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text(_tables.court(300))
    roles = {"sensitive": ["religion"], "quasi": ["sex", "charge_desc"], "identifier": ["age"], "other": ["race"]}
    schema = Policy.parse(draft_policy(path, roles=roles)).schema  # type: ignore[arg-type]
    assert (schema.sensitive, schema.quasi) == (("religion",), ("sex", "charge_desc"))
    assert (schema.role("age"), schema.role("race"), schema.role("is_recid")) == ("identifier", "other", "other")
    with pytest.raises(PolicyError, match="column 'religon'") as caught:
        draft_policy(path, roles={"sensitive": ["religon"]})
    assert caught.value.hint == "did you mean 'religion'?"
    with pytest.raises(PolicyError, match=r"'age'.*quasi and other"):
        draft_policy(path, roles={"quasi": ["age"], "other": ["age"]})


def test_the_draft_says_what_the_rule_means_for_the_values_that_look_most_sensitive(tmp_path: Path) -> None:
    values = ["HIV"] * 4 + ["Suicidal ideation"] * 6 + ["Flu"] * 190 + ["Cold"] * 200
    path = tmp_path / "t.csv"
    path.write_text("age,illness\n" + "\n".join(f"{20 + i % 40},{value}" for i, value in enumerate(values)))
    lines = draft_policy(path).splitlines()
    hiv = next(i for i, line in enumerate(lines) if line.startswith('# "HIV" = "0.05"'))
    assert "at most 10 % sure (1 in 10), 10 times" in lines[hiv]
    assert lines[hiv + 1].startswith('# "Suicidal ideation" = "0.1"')
