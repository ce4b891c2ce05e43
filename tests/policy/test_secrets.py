"""[secrets] and [people] keep = "all" in a policy file."""

import pyarrow.csv as csv
import pytest

from sfumato.errors import PolicyError
from sfumato.policy import Policy
from sfumato.policy.schema import policy_schema
from tests.makers import encounters

TEXT = """
[people]
key = "patient"
keep = "all"
quasi = "first by day"
[columns]
identifier = ["patient"]
quasi = ["age", "sex"]
other = ["day"]
[secrets]
diagnosis = ["diag_1", "diag_2", "diag_3"]
ward = "ward"
[recode]
age = { width = 10 }
[requirement]
model = "f-privacy"
theta = 2
offset = "0.1"
[requirement.columns.diagnosis.sets]
low = { values = ["i0", "i1"], bound = "0.95" }
"""


def test_a_policy_reads_a_table_and_is_published_by_the_command_line(tmp_path, monkeypatch):
    import json

    from typer.testing import CliRunner

    from sfumato.cli.app import app

    monkeypatch.setenv("SFUMATO_RECEIPTS", str(tmp_path / "receipts"))
    csv.write_csv(encounters(), tmp_path / "rows.csv")
    (tmp_path / "policy.toml").write_text(TEXT)
    run = CliRunner().invoke
    check = run(app, ["policy", "check", str(tmp_path / "policy.toml"), str(tmp_path / "rows.csv")])
    assert check.exit_code == 0, check.output
    where = ["--policy", str(tmp_path / "policy.toml")]
    made = run(app, ["publish", str(tmp_path / "rows.csv"), *where, "--out", str(tmp_path / "out"), "--seed", "1"])
    assert made.exit_code == 0, made.output
    frame = encounters()
    assert f"{frame.num_rows:,} rows of 600 people" in " ".join(made.output.split())
    assert " facts" in made.output
    audited = run(app, ["audit", str(tmp_path / "out"), "--table", str(tmp_path / "rows.csv"), *where])
    assert audited.exit_code == 0, audited.output
    told = run(app, ["explain", str(tmp_path / "rows.csv"), *where, "--quick"])
    assert "it is shown, and not protected" in " ".join(told.output.split())
    found = run(app, ["query", str(tmp_path / "out"), "diagnosis = 'i3' AND age < 50", "--json"])
    assert found.exit_code == 0, found.output
    assert json.loads(found.output)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('ward = "ward"', "ward = 3", r"\[secrets\] 'ward': expected a column"),
        ('keep = "all"', 'keep = "every"', r"\[people\] keep: expected"),
        ('keep = "all"', 'keep = "all"\nalike = [1]', r"\[people\] alike: expected"),
        ('quasi = "first by day"', 'quasi = "first by ward"', "on a secret"),
        ("[columns]", '[columns]\nsensitive = ["other"]', "named twice"),
    ],
)
def test_mistakes_are_said_in_the_words_of_the_file(old, new, said):
    with pytest.raises(PolicyError, match=said):
        Policy.parse(TEXT.replace(old, new, 1))


def test_sensitive_stays_the_short_spelling():
    text = TEXT.replace('[secrets]\ndiagnosis = ["diag_1", "diag_2", "diag_3"]\nward = "ward"\n', "").split("[requirement.col")[0]
    short = Policy.parse(text.replace("other = [", 'sensitive = ["ward"]\nother = ["diag_1", "diag_2", "diag_3", ')).schema
    long = Policy.parse(
        text.replace("[recode]", '[secrets]\nward = "ward"\n[recode]').replace(
            "other = [", 'other = ["diag_1", "diag_2", "diag_3", '
        )
    ).schema
    assert short.secrets == long.secrets == {"ward": ("ward",)}
    assert short.sensitive == long.sensitive == ("ward",)


def test_the_schema_of_policies_knows_the_sections():
    found = policy_schema()
    assert "secrets" in found["properties"]
    import tomllib

    import jsonschema

    document = tomllib.loads(TEXT)
    jsonschema.validate(document, found)
    document["people"]["alike"] = [1]
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(document, found)
