"""What the pages share: the policy as a file that is edited, and work in another process."""

from __future__ import annotations

import shlex
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from sfumato.errors import PolicyError
from sfumato.policy import Policy
from sfumato.policy.draft import draft_policy
from sfumato.policy.verdict import verdict_of
from sfumato.progress import in_a_line, read_from_line

pytest.importorskip("tomlkit")

from sfumato.policy.edited import PolicyText
from sfumato.studio.jobs import Job, shell
from sfumato.studio.session import Session
from sfumato.table.generators import hospital
from sfumato.table.write import write_table


@pytest.fixture
def patients(tmp_path: Path) -> Path:
    place = tmp_path / "patients.csv"
    write_table(hospital(400, seed=3), place)
    return place


def test_a_changed_role_is_in_the_file_with_its_comments_and_makes_it_a_draft_again(patients: Path) -> None:
    policy = PolicyText(draft_policy(patients))
    policy.review(True)
    policy.give("ward", "other")
    assert not policy.reviewed
    assert policy.roles()["ward"] == "other"
    assert "# A DRAFT of a policy" in policy.text
    assert "ward" in Policy.parse(policy.text).schema.other


def test_a_second_secret_is_protected_by_itself_and_a_single_one_again_needs_no_word(patients: Path) -> None:
    policy = PolicyText(draft_policy(patients))
    policy.give("insurance", "sensitive")
    assert Policy.parse(policy.text).schema.protect == "each"
    policy.give("insurance", "quasi")
    assert Policy.parse(policy.text).schema.protect is None


def test_rules_bounds_and_recodings_reach_the_policy(patients: Path) -> None:
    policy = PolicyText(draft_policy(patients))
    policy.require(theta=4, against="reader")
    policy.bound("HIV", "0.03")
    policy.recode("age", {"width": 10})
    parsed = Policy.parse(policy.text)
    assert parsed.requirement.against == "reader"
    assert str(parsed.requirement.own_bounds["HIV"]) == "3/100"
    assert parsed.schema.recode["age"]
    policy.bound("HIV", None)
    policy.recode("age", None)
    parsed = Policy.parse(policy.text)
    assert not parsed.requirement.own_bounds
    assert "age" not in parsed.schema.recode


@pytest.mark.parametrize("secrets", [["diagnosis"], ["insurance"], ["sex"], ["diagnosis", "insurance"]])
def test_no_comment_of_a_draft_speaks_of_numbers_that_a_page_has_changed(patients: Path, secrets: list[str]) -> None:
    draft = draft_policy(patients, roles={"sensitive": secrets})
    policy = PolicyText(draft)
    policy.set_rule("odds", 3.0)
    about = ("In words", "largest belief", "may become at most", "of a group may", "Stricter, at most", "8·share")
    assert sum(words in draft for words in about) > 2
    assert not [words for words in about if words in policy.text]
    assert "odds    = 3\n" in policy.text
    assert "% of people have it\n" in policy.text
    assert "TAKEN FROM THIS TABLE" in policy.text
    assert Policy.parse(policy.text).requirement.odds == 3
    policy.set_rule("odds", None)
    assert Policy.parse(policy.text).requirement.odds is None
    policy.require(odds=2, theta=5)
    assert [Policy.parse(policy.text).requirement.to_dict()[name] for name in ("theta", "odds")] == ["5", "2"]


def test_each_of_several_secrets_has_a_rule_of_its_own_and_the_last_one_keeps_it(patients: Path) -> None:
    policy = PolicyText(draft_policy(patients))
    policy.give("insurance", "sensitive")
    assert policy.secrets() == ["diagnosis", "insurance"]
    policy.set_rule("theta", 3.0, "diagnosis")
    policy.bound("HIV", "0.05", "diagnosis")
    rules = dict(Policy.parse(policy.text).requirement.columns)
    assert rules["diagnosis"].theta == 3
    assert str(rules["diagnosis"].own_bounds["HIV"]) == "1/20"
    policy.give("insurance", "quasi")
    only = Policy.parse(policy.text).requirement
    assert (only.theta, str(only.own_bounds["HIV"])) == (3, "1/20")


def test_an_open_value_stays_with_its_secret_and_goes_with_its_bins(tmp_path: Path) -> None:
    debts = [0 if i % 3 else 10 + i for i in range(900)]
    path = tmp_path / "t.csv"
    path.write_text("age,town,debt\n" + "".join(f"{20 + i % 50},t{i % 4},{debt}\n" for i, debt in enumerate(debts)))
    policy = PolicyText(draft_policy(path))
    assert dict(Policy.parse(policy.text).requirement.own_bounds) == {"0": 1}
    policy.give("town", "sensitive")
    requirement = Policy.parse(policy.text).requirement
    assert dict(requirement.of("debt").own_bounds) == {"0": 1}
    assert [one.name for one in requirement.of("debt").sets] == ["not 0"]
    assert not requirement.sets
    policy.bins("debt", [0, 100, 1000])
    assert not Policy.parse(policy.text).requirement.of("debt").own_bounds
    assert not Policy.parse(policy.text).requirement.of("debt").sets


def test_what_is_said_of_a_column_follows_its_role_and_comes_back_with_it(patients: Path) -> None:
    policy = PolicyText(draft_policy(patients))
    before = policy.recoding("age")
    assert before
    policy.give("age", "sensitive")
    assert policy.recoding("age") is None
    policy.bins("age", [0, 40, 200])
    assert Policy.parse(policy.text).schema.bins_of("age")
    policy.give("age", "quasi")
    assert (policy.recoding("age"), policy.binning("age")) == (before, None)
    assert Policy.parse(policy.text).schema.recoding("age")
    policy.give("age", "sensitive")
    assert policy.binning("age") == [0, 40, 200]


def test_a_policy_beside_the_table_is_taken_and_a_broken_one_is_an_error_until_it_is_mended(patients: Path) -> None:
    session = Session(root=patients.parent, data=patients)
    (patients.parent / "policy.toml").write_text("reviewed = tru", encoding="utf-8")
    with pytest.raises(PolicyError, match="not valid TOML"):
        session.open()
    assert not session.opened
    (patients.parent / "policy.toml").write_text(draft_policy(patients, roles={"other": ["ward"]}), encoding="utf-8")
    session.open()
    assert session.policy.roles()["ward"] == "other"
    assert session.saved
    session.close()
    assert not session.opened


def test_a_change_reads_no_file_again(patients: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    session = Session(root=patients.parent, data=patients)
    before = session.table().unique_share()

    def never(*_: object, **__: object) -> None:
        raise AssertionError("the file was read again")

    monkeypatch.setattr("sfumato.table.textfile.TextFile.read", never)
    session.policy.recode("age", {"width": 50})
    session.policy.give("ward", "other")
    assert session.table().unique_share() < before
    assert {one.name for one in session.risk().columns} == {"age", "sex", "postcode", "admitted", "insurance"}
    session.close()


def test_commands_are_quoted_as_a_shell_reads_them() -> None:
    for words in (["sfumato", "query", "r", "a = 'b c'"], ["x", "$HOME 'a'"], ["x", "a \"b\" 'c'"], ["x", "a b!'"], ["x", ""]):
        assert shlex.split(shell(words)) == words


def test_the_verdict_says_what_can_be_kept_and_what_cannot(patients: Path) -> None:
    session = Session(root=patients.parent, data=patients)
    session.policy.require(theta=8)
    verdict = verdict_of(session.parsed(), session.table())
    assert verdict.can
    assert verdict.sentences[0].startswith("It can be kept")
    assert sum(share for _, share, _ in verdict.values) == 1
    session.policy.bound("Flu", "0.0001")
    verdict = verdict_of(session.parsed(), session.table())
    assert not verdict.can
    assert verdict.sentences[0] == "It cannot be kept."
    session.close()


def test_what_was_kept_is_wiped_at_the_end(patients: Path) -> None:
    session = Session(root=patients.parent, data=patients)
    kept = session.workshop / "study"
    kept.mkdir()
    session.close()
    assert not session.workshop.exists()


def test_progress_is_told_in_lines_and_read_back() -> None:
    assert read_from_line(in_a_line("cutting", 0.25)) == ("cutting", 0.25)
    assert read_from_line("error: something") is None
    assert read_from_line("progress x y") is None


def test_work_in_another_process_tells_its_end_and_its_words(tmp_path: Path) -> None:
    job = Job.start(["sample", "hospital", "--rows", "50", "--out", "people.csv"], tmp_path)
    _wait(job)
    assert job.succeeded
    assert (tmp_path / "people.csv").is_file()
    failed = Job.start(["explain", "people.csv", "--policy", "nothing.toml", "--json"], tmp_path)
    _wait(failed)
    assert failed.code == 2
    assert "no such policy file" in failed.message
    assert failed.command == "sfumato explain people.csv --policy nothing.toml"


def test_time_left_follows_the_pace_since_work_began_and_is_not_told_while_nothing_is_heard(monkeypatch) -> None:
    clock = [100.0]
    monkeypatch.setattr("sfumato.studio.jobs.time", SimpleNamespace(monotonic=lambda: clock[0]))
    job = Job(("publish",), Path("."))
    heard = [(5.0, 0.1), (15.0, 0.3)]  # five seconds of loading libraries say nothing of the pace
    for seconds, done in heard:
        clock[0] = 100.0 + seconds
        job.hear("cutting", done)
    assert job.seconds_left == pytest.approx(10 * 0.7 / 0.2)
    clock[0] = 125.0
    assert job.seconds_left is None  # ten seconds without a word


def _wait(job: Job) -> None:
    while job.running:  # it ends, or says why not
        time.sleep(0.05)


def test_visits_are_opened_with_all_rows_of_a_person_and_a_list_is_one_secret(tmp_path: Path) -> None:
    from sfumato.table.generators.encounters import encounters
    from sfumato.table.histogram import histograms

    write_table(encounters(600, seed=3), tmp_path / "visits.csv")
    session = Session(tmp_path, tmp_path / "visits.csv")
    try:
        session.open()
        roles = session.policy.roles()
        assert [name for name, role in roles.items() if role == "sensitive"] == ["diag_1", "diag_2", "diag_3"]
        assert session.table().rows == 600
        assert " of 600 people, " in session.table().about_people()[0]
        assert {"rows", "diag"} <= histograms(session.table()).keys()
        assert {one.name for one in session.risk().columns} >= {"age", "rows"}
        assert next(one for one in session.risk().columns if one.name == "rows").step is None
        assert verdict_of(session.parsed(), session.table()).can
        session.policy.give("ward", "sensitive")
        assert session.parsed().schema.secrets == {"diag": ("diag_1", "diag_2", "diag_3"), "ward": ("ward",)}
        assert session.policy.secrets() == ["diag", "ward"]
        session.policy.give("ward", "quasi")
        session.policy.give("diag_3", "other")
        schema = session.parsed().schema
        assert (schema.secrets, schema.role("diag_3")) == ({"diag": ("diag_1", "diag_2")}, "other")
        assert schema.types["ward"] == "categorical"
        for name in ("diag_1", "diag_2"):
            session.policy.give(name, "other")
        session.policy.give("diag_1", "sensitive")
        assert session.parsed().schema.sensitive == ("diag_1",)
    finally:
        session.close()


def test_a_stated_population_reaches_the_risk_that_the_first_page_tells(patients: Path) -> None:
    session = Session(root=patients.parent, data=patients)
    assert session.risk().population is None
    (patients.parent / "policy.toml").write_text(session.policy.text + "\n[population]\npeople = 90000\n", encoding="utf-8")
    found = Session(root=patients.parent, data=patients).risk().population
    assert found is not None
    assert found.people == 90_000
    assert 0 <= found.unique.estimate <= found.unique.upper <= 1
