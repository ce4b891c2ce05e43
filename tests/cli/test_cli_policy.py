"""`sfumato policy`: drafts that are not published unseen, checks that tell everything at once, and differences in sentences."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

from tests.cli.conftest import Run
from tests.policy import _tables


def test_a_draft_is_explained_and_refused_until_somebody_has_looked(place: Path, run: Run) -> None:
    assert run("policy", "init", "people.csv", "--out", "draft.toml").code == 0
    explained = run("explain", "people.csv", "--policy", "draft.toml", "--quick")
    assert (explained.code, "a draft that nobody has reviewed" in explained.err) == (0, True)
    refused = run("publish", "people.csv", "--policy", "draft.toml", "--out", "out")
    assert (refused.code, (place / "out").exists()) == (2, False)
    assert "draft.toml: an unreviewed draft" in refused.err
    for column in tomllib.loads((place / "draft.toml").read_text())["columns"]["quasi"]:
        assert f" {column}: quasi; " in refused.err
    assert "illness: sensitive; it is called like something about health" in refused.err
    before = (place / "draft.toml").read_text()
    assert run("policy", "check", "draft.toml", "--reviewed").code == 2
    checked = run("policy", "check", "draft.toml", "people.csv", "--reviewed")
    assert (checked.code, "It says reviewed = true now" in checked.out) == (0, True)
    assert (place / "draft.toml").read_text() == before.replace("reviewed = false", "reviewed = true")
    assert run("publish", "people.csv", "--policy", "draft.toml", "--out", "out").code == 0


def test_roles_are_fixed_up_front(place: Path, run: Run) -> None:
    (place / "court.csv").write_text(_tables.court(200))
    done = run(
        "policy", "init", "court.csv", "--sensitive", "religion", "--quasi", "sex,race", "--other", "age", "--identifier", "id",
        "--reviewed",
    )  # fmt: skip
    found = tomllib.loads(done.out)
    assert found["reviewed"] is True
    assert (found["columns"]["sensitive"], found["columns"]["quasi"]) == (["religion"], ["sex", "race"])
    assert "age" in found["columns"]["other"]
    wrong = run("policy", "init", "court.csv", "--sensitive", "religon")
    assert (wrong.code, "did you mean 'religion'?" in wrong.err) == (2, True)


def test_names_are_given_to_a_file_without_a_header(place: Path, run: Run) -> None:
    (place / "census.csv").write_text(_tables.census(200))
    done = run("policy", "init", "census.csv", "--names", "number,surname,sex,age,marital,country,illness,income")
    found = tomllib.loads(done.out)
    assert (found["input"]["header"], found["input"]["names"][:2]) == (False, ["number", "surname"])
    assert found["columns"]["identifier"] == ["number", "surname"]
    assert found["columns"]["quasi"] == ["sex", "marital", "country", "age"]


def test_what_no_method_can_promise_is_not_reviewed_and_explain_promises_nothing(place: Path, run: Run) -> None:
    assert run("policy", "init", "people.csv", "--out", "draft.toml").code == 0
    text = (place / "draft.toml").read_text().replace('against = "engineer"', 'against = "insider"')
    (place / "draft.toml").write_text(text)
    checked = run("policy", "check", "draft.toml", "people.csv", "--reviewed")
    assert (checked.code, "not against 'insider'" in checked.err) == (2, True)
    assert (place / "draft.toml").read_text() == text
    explained = run("explain", "people.csv", "--policy", "draft.toml")
    assert "nothing can be with this policy" in explained.out
    assert "In words:" not in explained.out
    assert "(this policy)" not in explained.out


def test_check_points_at_dates_that_many_have_alone_and_at_roles_that_a_draft_would_not_give(place: Path, run: Run) -> None:
    lines = (f"{i},2020-{1 + i % 12:02}-{1 + i // 12 % 28:02},{'abc'[i % 3]}" for i in range(330))
    (place / "staff.csv").write_text("number,joined,illness\n" + "\n".join(lines) + "\n")
    policy = ["[columns]", 'identifier = ["number"]', 'quasi = ["joined"]', 'sensitive = ["illness"]', "[requirement]"]
    (place / "staff.toml").write_text("\n".join([*policy, 'model = "l-diversity"', "l = 2", ""]))
    done = run("policy", "check", "staff.toml", "staff.csv")
    assert done.code == 0
    assert "'joined': 330 of 330 people (100 %) are the only one with their value, and it is published" in " ".join(
        done.err.split()
    )
    (place / "staff.toml").write_text(
        "\n".join([*policy, 'model = "l-diversity"', "l = 2", "[recode]", 'joined = { to = "year" }', ""])
    )
    assert "only one with their value" not in run("policy", "check", "staff.toml", "staff.csv").err
    swapped = ["[columns]", 'other = ["number"]', 'quasi = ["illness"]', 'sensitive = ["joined"]', "[requirement]"]
    (place / "staff.toml").write_text("\n".join([*swapped, 'model = "l-diversity"', "l = 2", ""]))
    assert "roles have a ?: look there" in run("policy", "check", "staff.toml", "staff.csv").out


def test_check_tells_everything_that_is_wrong_at_once(place: Path, run: Run) -> None:
    text = (place / "p.toml").read_text().replace("theta", "thetta").replace('["illness"]', '["ilness"]')
    (place / "bad.toml").write_text(text + '[types]\nillness = "categorical"\n')
    done = run("policy", "check", "bad.toml", "people.csv")
    assert done.code == 2
    assert "bad.toml: 2 problems" in done.err
    assert "[columns] sensitive: the table has no column 'ilness'\n     hint: did you mean 'illness'?" in done.err
    assert "[requirement] thetta: unknown key\n     hint: did you mean 'theta'?" in done.err
    fine = run("policy", "check", "p.toml", "people.csv", "--json")
    assert fine.code == 0
    assert {one["column"]: one["role"] for one in json.loads(fine.out)["columns"]}["illness"] == "sensitive"


def test_a_rule_for_a_dropped_column_is_a_warning(place: Path, run: Run) -> None:
    columns = tomllib.loads((place / "p.toml").read_text())["columns"]
    dropped = columns.get("identifier", columns.get("other"))[0]
    text = (place / "p.toml").read_text()
    (place / "idle.toml").write_text(text + f'[missing]\n"{dropped}" = "drop"\n')
    done = run("policy", "check", "idle.toml")
    assert (done.code, "without effect" in " ".join(done.err.split())) == (0, True)


def test_a_difference_is_told_in_sentences(place: Path, run: Run) -> None:
    (place / "new.toml").write_text((place / "p.toml").read_text().replace("theta  = 2", "theta = 3"))
    done = run("policy", "diff", "p.toml", "new.toml")
    assert done.out == "theta goes from 2 to 3: a reader may become surer.\n"
    assert run("policy", "diff", "p.toml", "p.toml").out == "Both policies mean the same.\n"
    assert json.loads(run("policy", "diff", "p.toml", "new.toml", "--json").out) == [done.out.strip()]


def test_one_directory_is_made_around_a_release_and_none_at_the_root(place: Path, run: Run) -> None:
    for out, missing in (("no/where/release", place / "no"), ("/sfumato-nowhere/release", Path("/sfumato-nowhere"))):
        done = run("publish", "people.csv", "--policy", "p.toml", "--out", out)
        assert (done.code, missing.exists()) == (2, False)
        assert "there is no directory" in done.err
    assert run("publish", "people.csv", "--policy", "p.toml", "--out", "one/release").code == 0


def test_the_schemas_of_policies_and_of_manifests_are_printed(run: Run) -> None:
    policies = json.loads(run("policy", "schema").out)
    assert policies["definitions"]["PeopleSection"]["properties"]["rows"] == {"const": "people"}
    manifests = json.loads(run("audit", "--schema").out)
    assert set(manifests["definitions"]) >= {"BucketsManifest", "BoxesEntry"}
