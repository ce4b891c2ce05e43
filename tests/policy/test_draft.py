"""A draft of a policy: guesses that make sense, figures that are right, and a file that runs as it is."""

from __future__ import annotations

import tomllib
from fractions import Fraction
from pathlib import Path

import pytest

import sfumato as sf
from sfumato.errors import InputError
from sfumato.policy import Policy, draft_policy
from sfumato.policy.rule import rule_for
from sfumato.table import write_table
from sfumato.table.generators import sample


@pytest.fixture(scope="module")
def hospital(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("draft") / "hospital.csv"
    write_table(sample("hospital", 3000, 1), path)
    return path


def written(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "data.csv"
    path.write_text(text)
    return path


def test_the_draft_for_the_hospital_table_can_be_published_as_it_is(hospital: Path) -> None:
    policy = Policy.parse(draft_policy(hospital))
    table = policy.read_table(hospital)
    release = sf.publish(table, policy.requirement, method=policy.method, random=1)
    assert release.rows == 3000
    assert sf.audit(release, table).holds is True


def test_roles_types_and_recodings_of_the_hospital_table_are_guessed(hospital: Path) -> None:
    schema = Policy.parse(draft_policy(hospital)).schema
    assert schema.identifier == ("patient",)
    assert schema.sensitive == ("diagnosis",)
    assert schema.quasi == ("sex", "insurance", "ward", "admitted", "age", "postcode")  # fewest values first
    assert schema.types["postcode"] == "categorical"
    assert schema.types["admitted"] == "date"
    assert schema.to_dict()["recode"] == {"age": {"width": 5, "top": 90}, "postcode": {"prefix": 2}, "admitted": {"to": "month"}}


def test_the_draft_says_that_it_is_one_that_nobody_reviewed_and_that_is_private(hospital: Path) -> None:
    head = draft_policy(hospital).splitlines()[:4]
    assert head[3].startswith("reviewed = false ")
    assert Policy.parse(draft_policy(hospital, reviewed=True)).reviewed is True
    assert "DRAFT" in head[0]
    assert "check every one" in head[1]
    assert "private" in head[2]


def test_each_value_is_listed_once_the_most_sensitive_first_with_what_the_rule_allows(tmp_path: Path) -> None:
    rows = [f"{20 + i % 30},{'HIV' if i < 3 else 'Gout' if i < 100 else 'Flu'}" for i in range(1000)]
    lines = draft_policy(written(tmp_path, "age,illness\n" + "\n".join(rows))).splitlines()
    told = [line for line in lines if "of people have it" in line]
    assert told == [
        # usual patience 30 / (0.9·0.9863 + 0.097·0.5 + …) is 33 when rounded up, and 33·0.9863/(0.9863 − 0.9) is 377.1…
        '# "Flu" = 1  # 90 % of people have it, and at most 98.63 % of a group may: boxes mixed like the table can be divided '
        "from about 378 people on; open, from about 40",
        '# "HIV" = "0.03"  # 0.3 % of people have it; a reader may become at most 4.4 % sure (1 in 23), 14.7 times surer than '
        "before",
        '# "Gout" = "0.3"  # 9.7 % of people have it; a reader may become at most 50 % sure (50 % likely), 5.15 times surer than '
        "before",
    ]


@pytest.mark.parametrize(
    ("top", "bound"),
    [
        (40, "0.34"),  # 8 · 4 % + 2 %
        (60, "0.5"),
        (100, "0.5"),  # fewer than one in nine
        (240, "48/67"),  # 8 · 24 : 76
        (990, "792/793"),
    ],
)
def test_bounds_are_those_of_every_table_and_leave_no_value_without_one(top: int, bound: str) -> None:
    rest = 1000 - top
    rule = rule_for({"most": top} | {f"v{i}": 10 for i in range(rest // 10)})
    assert rule.bound("most") == Fraction(bound)
    assert all(rule.shares[value] <= rule.bound(value) < 1 for value in rule.shares)


def test_the_rule_is_said_in_its_words_and_a_draft_can_be_asked_to_be_stricter(tmp_path: Path) -> None:
    path = written(tmp_path, "age,illness\n" + "\n".join(f"{20 + i % 30},v{i % 3 * (i % 2)}" for i in range(1000)))
    draft, strict = " ".join(draft_policy(path).split("# ")), " ".join(draft_policy(path, strict=True).split("# "))
    assert ("odds grow at most 8-fold (24 % → at most 72 %)") in " ".join(draft.split())
    assert "odds grow at most 4-fold (24 % → at most 56 %)" in " ".join(strict.split())
    asked, stricter = (Policy.parse(draft_policy(path, strict=strict)).requirement for strict in (False, True))
    assert [str(one) for one in (asked.theta, asked.offset, asked.odds)] == ["8", "1/50", "8"]
    assert [str(one) for one in (stricter.theta, stricter.offset, stricter.odds)] == ["4", "1/50", "4"]
    assert "DERIVED" not in draft


def test_the_surest_belief_in_what_few_have_is_told_with_the_line_that_lowers_it(tmp_path: Path) -> None:
    path = written(
        tmp_path, "age,illness\n" + "\n".join(f"{20 + i % 30},{'Flu' if i % 100 < 24 else f'v{i % 9}'}" for i in range(1000))
    )
    draft = " ".join(draft_policy(path).replace("\n#", "").split())
    assert ("at most 71.64 %. In") in draft


@pytest.mark.parametrize("counts", [(900, 97, 3), (500, 500), (334, 333, 333), (199, 1), (2, 1), (1, 1, 1, 1, 1, 1, 1)])
def test_the_unedited_draft_protects_every_value_and_can_be_published(tmp_path: Path, counts: tuple[int, ...]) -> None:
    values = [f"v{i}" for i, count in enumerate(counts) for _ in range(count)]
    path = written(tmp_path, "age,illness\n" + "\n".join(f"{20 + i % 9},{value}" for i, value in enumerate(values)))
    policy = Policy.parse(draft_policy(path))
    table = policy.read_table(path)
    assert max(policy.requirement.bounds(table.sensitive.histogram()).limits) < 1
    assert sf.audit(sf.publish(table, policy.requirement, method=policy.method, random=1), table).holds is True


def test_a_table_with_one_sensitive_value_is_pointed_out(tmp_path: Path) -> None:
    draft = draft_policy(written(tmp_path, "age,sex,illness\n" + "\n".join(f"{i % 9},{'fm'[i % 2]},same" for i in range(50))))
    assert Policy.parse(draft).schema.sensitive == ("illness",)
    assert "ATTENTION: everybody has" in draft


NAMED = [
    "name", "Name", "first name", "LastName", "patient_name", "surname", "E-Mail", "email_address", "phone", "Phone Number",
    "mobile", "SSN", "passport_no", "IBAN", "home address", "street", "Vorname", "Nachname", "Telefonnummer", "Straße", "Adresse",
    "Prénom", "Nom de famille", "téléphone", "apellidos", "Nombre", "teléfono", "Dirección",
]  # fmt: skip


@pytest.mark.parametrize("name", NAMED)
def test_what_names_a_person_is_an_identifier_even_when_values_repeat(tmp_path: Path, name: str) -> None:
    rows = "\n".join(f"P{i},x{i % 7},{20 + i % 40},{['Flu', 'Gout', 'HIV', 'Cold', 'Lupus'][i % 5]}" for i in range(200))
    schema = Policy.parse(draft_policy(written(tmp_path, f"id,{name},age,illness\n{rows}"))).schema
    assert schema.identifier == ("id", name)
    assert schema.quasi == ("age",)


@pytest.mark.parametrize(("name", "role"), [
    ("ward name", "quasi"), ("hospital_name", "quasi"), ("nationality", "quasi"), ("email", "other"), ("calledback", "other"),
    ("x7", "other"),
])  # fmt: skip
def test_names_of_other_things_are_no_identifiers_and_what_is_unclear_is_dropped(tmp_path: Path, name: str, role: str) -> None:
    kinds = 2 if name == "email" else 7  # an email of two values is a yes or no
    rows = "\n".join(f"P{i},x{i % kinds},{20 + i % 40},{['Flu', 'Gout', 'HIV', 'Cold', 'Lupus'][i % 5]}" for i in range(200))
    draft = draft_policy(written(tmp_path, f"id,{name},age,illness\n{rows}"))
    assert Policy.parse(draft).schema.role(name) == role
    assert (f"# ? {name}, {kinds}: other; not clear what it is ({kinds} values)" in draft) == (role == "other")


@pytest.mark.parametrize(("name", "why"), [
    ("weight", "survey weight"), ("wgt", "survey weight"), ("Gewicht", "survey weight"), ("pweight", "survey weight"),
    ("weight_kg", "not clear"), ("body weight", "not clear"),
])  # fmt: skip
def test_survey_weights_are_dropped_and_body_weights_are_dropped_for_another_reason(tmp_path: Path, name: str, why: str) -> None:
    rows = "\n".join(f"{20 + i % 40},{0.5 + i / 10},{['Flu', 'Gout', 'HIV', 'Cold', 'Lupus'][i % 5]}" for i in range(200))
    policy = Policy.parse(draft := draft_policy(path := written(tmp_path, f"age,{name},illness\n{rows}")))
    assert policy.schema.role(name) == "other"
    assert why in next(line for line in draft.splitlines() if f" {name}, 200: " in line)
    assert policy.read_table(path).rows == 200


@pytest.mark.parametrize(("encoding", "noted"), [("cp1252", "cp1252"), ("utf-16", "utf-16"), ("utf-8", None)])
def test_an_encoding_is_tried_and_written_into_the_draft(tmp_path: Path, encoding: str, noted: str | None) -> None:
    text = "age;illness\n" + "\n".join(f"{20 + i % 30};{['Übelkeit', 'Gicht', 'Röteln €'][i % 3]}" for i in range(90))
    path = tmp_path / "data.csv"
    path.write_bytes(text.encode(encoding))
    draft = draft_policy(path)
    assert tomllib.loads(draft).get("input", {}).get("encoding") == noted
    assert ("not UTF-8" in draft) == (noted is not None)
    assert set(Policy.parse(draft).read_table(path).sensitive.labels) == {"Übelkeit", "Gicht", "Röteln €"}


def test_a_decimal_comma_is_noticed_and_thousands_are_not_taken_for_one(tmp_path: Path) -> None:
    rows = "\n".join(f"{i % 30},5;{'0' * (i % 2)}123;{['Flu', 'Gout'][i % 2]}" for i in range(90))
    path = written(tmp_path, f"dose;zip;illness\n{rows}")
    draft = draft_policy(path, roles={"quasi": ["dose"]})
    assert tomllib.loads(draft)["input"] == {"decimal": ","}
    assert Policy.parse(draft).read_table(path).column("dose").values.to_pylist()[:2] == [0.5, 1.5]
    rows = "\n".join(f"{1 + i % 30},500;0{i % 7}234;{['Flu', 'Gout'][i % 2]}" for i in range(90))
    assert "input" not in tomllib.loads(draft_policy(written(tmp_path, f"cost;zip;illness\n{rows}")))


def test_how_the_file_is_read_can_be_said(tmp_path: Path) -> None:
    path = tmp_path / "data.csv"
    path.write_bytes("\n".join(["age:illness", *(f"{i % 30},5:{['Grün', 'Rot'][i % 2]}" for i in range(60))]).encode("latin-1"))
    draft = draft_policy(path, delimiter=":", decimal=",", encoding="latin-1")
    assert tomllib.loads(draft)["input"] == {"delimiter": ":", "decimal": ",", "encoding": "latin-1"}
    assert set(Policy.parse(draft).read_table(path).sensitive.labels) == {"Grün", "Rot"}
    with pytest.raises(InputError, match="not valid utf-8"):
        draft_policy(path, delimiter=":", encoding="utf-8")
    parquet = tmp_path / "data.parquet"
    write_table(sample("hospital", 50, 1), parquet)
    with pytest.raises(InputError, match="not a text file"):
        draft_policy(parquet, delimiter=";")


def test_the_draft_is_short_and_mentions_the_other_sections(hospital: Path) -> None:
    draft = draft_policy(hospital)
    assert len(draft.splitlines()) <= 70
    for section in ("# [input]", "# [bins]", "# [domains]"):
        assert section in draft


def test_every_suggested_bound_is_feasible_once_its_line_is_used(hospital: Path) -> None:
    draft = draft_policy(hospital)
    head, bounds = draft.split("[requirement.bounds]")
    used = "\n".join(line[2:] if line.startswith('# "') else line for line in bounds.splitlines())
    policy = Policy.parse(head + "[requirement.bounds]" + used)
    counts = policy.read_table(hospital).sensitive.histogram()
    found = policy.requirement.bounds(counts)
    assert len(found.limits) == len(counts)
    assert min(found.limits) >= Fraction(1, 50)


def test_a_numeric_sensitive_column_gets_bins(tmp_path: Path) -> None:
    text = "sex,salary\n" + "\n".join(f"{'fm'[i % 2]},{1000 + 7 * i}" for i in range(400))
    policy = Policy.parse(draft_policy(path := written(tmp_path, text)))
    assert policy.schema.sensitive == ("salary",)
    labels = policy.read_table(path).sensitive.labels
    assert 5 <= len(labels) <= 11
    # From 1000 to 3793: the 1 % and 99 % points lie at 1028 and 3765, in steps of 100.
    assert policy.schema.bins_of("salary").edges[0] == 1000
    assert policy.schema.bins_of("salary").edges[-1] == 3800
    assert policy.schema.bins_of("salary").clip is True


def test_missing_values_get_a_rule(tmp_path: Path) -> None:
    text = "sex,illness\n" + "\n".join(f"{'fm'[i % 2] if i % 9 else ''},{['Flu', 'Gout', ''][i % 3]}" for i in range(90))
    policy = Policy.parse(draft_policy(path := written(tmp_path, text)))
    assert (policy.schema.missing_rule("illness"), policy.schema.missing_rule("sex")) == ("value", "value")
    assert policy.read_table(path).sensitive.histogram()["(missing)"] == 30


def test_people_with_several_rows_are_pointed_out(tmp_path: Path) -> None:
    text = "patient,age,illness\n" + "\n".join(f"P{i % 150},{i % 40},{['Flu', 'Gout'][i % 2]}" for i in range(200))
    schema = Policy.parse(draft_policy(path := written(tmp_path, text))).schema
    assert (schema.identifier, schema.people_rule.key, schema.people_rule.keep) == (("patient",), ("patient",), "all")
    assert schema.people_rule.quasi == {"age": "least"}
    assert Policy.parse(draft_policy(path)).read_table(path).rows == 150
    kept = draft_policy(path, declared=True)
    assert "ATTENTION: two rows" in kept
    assert Policy.parse(kept).schema.one_row_per_person is False


def test_awkward_names_and_values_survive(tmp_path: Path) -> None:
    values = ['say ""no""', "back\\slash", "# hash", "läng = 1", "\x1b[31mred\x9b\u202e"]
    rows = "\n".join(f'{i % 7},"{values[i % 5]}"' for i in range(100))
    path = written(tmp_path, '"age [years]","the ""illness"" = #1"\n' + rows)
    draft = draft_policy(path)
    assert draft.replace("\n", "").isprintable()
    policy = Policy.parse("\n".join(line[2:] if line.startswith('# "') else line for line in draft.splitlines()))
    assert policy.schema.quasi == ("age [years]",)
    assert policy.requirement.bounds(policy.read_table(path).sensitive.histogram()).people == 100
    assert policy.schema.sensitive == ('the "illness" = #1',)
    assert set(policy.read_table(path).sensitive.labels) == {'say "no"', *values[1:]}


@pytest.mark.parametrize(
    ("header", "sensitive"),
    [("a,salary,b", "salary"), ("Diagnosis,a,b", "Diagnosis"), ("a,b,MainDisease", "MainDisease"), ("a,b,c", "c")],
)
def test_the_sensitive_column_is_found_by_name_or_else_the_last_likely_one(tmp_path: Path, header: str, sensitive: str) -> None:
    rows = "\n".join(f"v{i % 6},w{i % 7},x{i % 8}" for i in range(100))
    assert Policy.parse(draft_policy(written(tmp_path, f"{header}\n{rows}"))).schema.sensitive == (sensitive,)


@pytest.mark.parametrize("text", ["", "only\n1\n2\n", "a,b\n"])
def test_a_table_that_is_none_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(InputError):
        draft_policy(written(tmp_path, text))
