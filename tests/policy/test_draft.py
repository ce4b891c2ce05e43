"""A draft of a policy: guesses that make sense, figures that are right, and a file that runs as it is."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest

import sfumato as sf
from sfumato.errors import InputError
from sfumato.policy import Policy, draft_policy
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
    table = policy.read(hospital)
    release = sf.publish(table, policy.requirement, method=policy.method, random=1)
    assert release.rows == 3000
    assert sf.audit(release, table).holds is True


def test_roles_types_and_recodings_of_the_hospital_table_are_guessed(hospital: Path) -> None:
    schema = Policy.parse(draft_policy(hospital)).schema
    assert schema.identifier == ("patient",)
    assert schema.sensitive == ("diagnosis",)
    assert schema.quasi == ("age", "sex", "postcode", "admitted", "ward", "insurance")
    assert schema.types["postcode"] == "categorical"
    assert schema.types["admitted"] == "date"
    assert schema.to_dict()["recode"] == {"age": {"width": 5}, "postcode": {"prefix": 2}, "admitted": {"to": "month"}}


def test_the_draft_says_that_it_is_one_and_that_it_is_private(hospital: Path) -> None:
    head = draft_policy(hospital).splitlines()[:3]
    assert "DRAFT" in head[0]
    assert "check every one" in head[1]
    assert "private" in head[2]


def test_values_are_listed_rarest_first_with_what_the_rule_allows(tmp_path: Path) -> None:
    rows = [f"{20 + i % 30},{'HIV' if i < 3 else 'Gout' if i < 100 else 'Flu'}" for i in range(1000)]
    lines = draft_policy(written(tmp_path, "age,illness\n" + "\n".join(rows))).splitlines()
    told = [line for line in lines if "of people now" in line]
    assert told == [
        "# HIV: 0.3 % of people now; a reader may become at most 4.4 % sure",
        "# Gout: 9.7 % of people now; a reader may become at most 79.6 % sure",
        "# Flu: 90 % of people now; a reader may become certain: the rule does not protect this value",
    ]
    assert lines[lines.index(told[0]) + 1] == '# "HIV" = "0.03"'
    assert lines[lines.index(told[1]) + 1] == '# "Gout" = "0.5"'
    assert lines[lines.index(told[2]) + 1] == '# "Flu" = "1"'


def test_every_suggested_bound_is_feasible_once_its_line_is_used(hospital: Path) -> None:
    draft = draft_policy(hospital)
    head, bounds = draft.split("[requirement.bounds]")
    used = "\n".join(line[2:] if line.startswith('# "') else line for line in bounds.splitlines())
    policy = Policy.parse(head + "[requirement.bounds]" + used)
    counts = policy.read(hospital).sensitive.histogram()
    found = policy.requirement.bounds(counts)
    assert len(found.limits) == len(counts)
    assert min(found.limits) >= Fraction(1, 50)


def test_a_numeric_sensitive_column_gets_bins(tmp_path: Path) -> None:
    text = "sex,salary\n" + "\n".join(f"{'fm'[i % 2]},{1000 + 7 * i}" for i in range(400))
    policy = Policy.parse(draft_policy(path := written(tmp_path, text)))
    assert policy.schema.sensitive == ("salary",)
    labels = policy.read(path).sensitive.labels
    assert 5 <= len(labels) <= 11
    assert labels[0].startswith("(-inf")


def test_missing_values_get_a_rule(tmp_path: Path) -> None:
    text = "sex,illness\n" + "\n".join(f"{'fm'[i % 2] if i % 9 else ''},{['Flu', 'Gout', ''][i % 3]}" for i in range(90))
    policy = Policy.parse(draft_policy(path := written(tmp_path, text)))
    assert (policy.schema.missing_rule("illness"), policy.schema.missing_rule("sex")) == ("value", "value")
    assert policy.read(path).sensitive.histogram()["(missing)"] == 30


def test_people_with_several_rows_are_pointed_out(tmp_path: Path) -> None:
    text = "patient,age,illness\n" + "\n".join(f"P{i % 150},{i % 40},{['Flu', 'Gout'][i % 2]}" for i in range(200))
    draft = draft_policy(written(tmp_path, text))
    assert "ATTENTION: somebody has several rows" in draft
    assert Policy.parse(draft).schema.identifier == ("patient",)
    assert Policy.parse(draft).schema.one_row_per_person is False


def test_awkward_names_and_values_survive(tmp_path: Path) -> None:
    values = ['say ""no""', "back\\slash", "# hash", "läng = 1"]
    rows = "\n".join(f'{i % 7},"{values[i % 4]}"' for i in range(80))
    path = written(tmp_path, '"age [years]","the ""illness"" = #1"\n' + rows)
    policy = Policy.parse(draft_policy(path))
    assert policy.schema.quasi == ("age [years]",)
    assert policy.schema.sensitive == ('the "illness" = #1',)
    assert set(policy.read(path).sensitive.labels) == {'say "no"', "back\\slash", "# hash", "läng = 1"}


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
