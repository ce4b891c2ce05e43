"""`sfumato query`: many questions, the prompt with its completion, and what is kept between runs."""

from __future__ import annotations

import hashlib
import json
import os
import stat
from pathlib import Path

import pytest
from typer.testing import CliRunner

from sfumato.cli import _prompt as prompt
from sfumato.cli.app import app
from sfumato.query.count import engine_of
from sfumato.release import Release
from tests.cli.conftest import POLICY, Run, people

QUESTIONS = "sex = 'f'\n# a comment\nSELECT sex, COUNT(*) GROUP BY sex\n\n-- another\nage > 30 AND illness = 'Flu'\n"


@pytest.fixture
def release(place: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(place / "cache"))
    monkeypatch.setenv("XDG_DATA_HOME", str(place / "data"))
    monkeypatch.delenv("SFUMATO_CACHE", raising=False)
    (place / "people.csv").write_text(people(2000))
    (place / "blind.toml").write_text(POLICY + '[method]\nname = "multi-size"\n')
    assert run("publish", "people.csv", "-p", "blind.toml", "-o", "release", "--seed", "1").code == 0
    return place / "release"


def test_many_questions_from_a_file_and_from_standard_input(place: Path, release: Path, run: Run) -> None:
    (place / "q.sql").write_text(QUESTIONS)
    shown = run("query", "release", "--file", "q.sql")
    assert shown.code == 0
    assert shown.out.count("95 % interval") == 3
    told = json.loads(run("query", "release", "-f", "q.sql", "--json").out)
    assert [one["question"] for one in told] == [1, 2, 3]
    assert told[0]["answer"]["value"] == 1000
    assert [cell["group"]["sex"] for cell in told[1]["answer"]] == ["f", "m"]
    for arguments in (["query", "release", "-", "--json"], ["query", "release", "--json"]):
        piped = CliRunner().invoke(app, arguments, input=QUESTIONS.replace("\n", ";\n"))
        assert json.loads(piped.stdout) == told


def test_one_wrong_question_among_many_is_told_and_the_others_are_answered(place: Path, release: Path, run: Run) -> None:
    (place / "q.sql").write_text("sex = 'f'\nheight > 3\nsex = 'm'\n")
    done = run("query", "release", "--file", "q.sql")
    assert done.code == 2
    assert done.out.count("95 % interval") == 2
    assert "question 2: there is no column 'height'" in done.err
    told = json.loads(run("query", "release", "--file", "q.sql", "--json").out)
    assert "there is no column" in told[1]["error"]


@pytest.mark.parametrize(("content", "told"), [(b"", "no question"), (b"\xff\xfe", "not UTF-8"), (None, "no such file")])
def test_files_without_questions_are_refused(place: Path, release: Path, run: Run, content: bytes | None, told: str) -> None:
    if content is not None:
        (place / "q.sql").write_bytes(content)
    done = run("query", "release", "--file", "q.sql")
    assert (done.code, told in done.err) == (2, True)
    assert run("query", "release", "sex = 'f'", "--file", "q.sql").code == 2


def test_what_was_learned_is_kept_for_the_next_question(place: Path, release: Path, run: Run) -> None:
    question = "age > 30 AND sex = 'f' AND illness = 'Gout'"
    first = run("query", "release", question, "--estimator", "likelihood", "--json")
    assert first.code == 0, first.err
    kept = list((place / "cache").rglob("*.model"))
    assert len(kept) == 1
    kept[0].write_bytes(b"broken")
    assert run("query", "release", question, "--estimator", "likelihood", "--json").out == first.out
    assert kept[0].read_bytes() != b"broken"


def test_questions_are_split_at_semicolons_outside_of_quotes_or_at_line_ends() -> None:
    assert prompt.questions_of("a = 1\nb = 2") == ["a = 1", "b = 2"]
    assert prompt.questions_of("SELECT COUNT(*)\nWHERE a = 'x;y';\nb = 2") == ["SELECT COUNT(*) WHERE a = 'x;y'", "b = 2"]
    assert prompt.questions_of("a = 'it''s; so'") == ["a = 'it''s; so'"]
    assert prompt.questions_of("-- no\n# nor this\n;;\n") == []


def test_tab_completes_columns_values_and_words(release: Path) -> None:
    completer = prompt.Completer.of(engine_of(Release.load(release)).vocabulary)
    assert completer.complete("a") == ["age", "AVG(", "AND"]
    assert completer.complete("sex = ") == ["sex = 'f'", "sex = 'm'"]
    assert completer.complete("age > 30 AND illness = 'G") == ["age > 30 AND illness = 'Gout'"]
    assert completer.complete("illness IN ('Flu', 'H") == ["illness IN ('Flu', 'HIV'"]
    assert completer.complete("SELECT COUNT(*) WH") == ["SELECT COUNT(*) WHERE"]
    assert completer.complete(".val") == [".values"]
    assert completer.complete(".values s") == [".values sex"]
    assert completer.complete("height = ") == [f"height = {name}" for name in completer.complete("")]


def talk(monkeypatch: pytest.MonkeyPatch, release: Path, lines: list[str | BaseException]) -> list[str]:
    """Answer these lines at a prompt, and return the questions that reached the release."""
    waiting, asked = iter([*lines, EOFError()]), []

    def typed(shown: str) -> str:
        line = next(waiting)
        if isinstance(line, BaseException):
            raise line
        return line

    monkeypatch.setattr("builtins.input", typed)
    loaded = Release.load(release)
    prompt.talk(
        prompt.Completer.of(engine_of(loaded).vocabulary), lambda line: asked.append(f"{line}: {loaded.count(line).value:.0f}")
    )
    return asked


def test_the_prompt_answers_goes_on_after_errors_and_ctrl_c_and_keeps_its_history_private(
    place: Path, release: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = [".help", ".columns", ".values sex", ".values nothing", "height = 3", KeyboardInterrupt(), "", "sex = 'f';"]
    assert talk(monkeypatch, release, lines) == ["sex = 'f': 1000"]
    out = capsys.readouterr().out
    for words in (".values COLUMN", "illness", "no such command or column", "there is no column 'height'"):
        assert words in out
    history = place / "data" / "sfumato" / "query_history"
    assert stat.S_IMODE(history.stat().st_mode) == 0o600
    assert talk(monkeypatch, release, [".quit", "sex = 'm'"]) == []


def test_without_a_question_on_a_terminal_a_prompt_opens(release: Path, monkeypatch: pytest.MonkeyPatch, run: Run) -> None:
    opened = []
    monkeypatch.setattr("sfumato.cli._prompt.talk", lambda completer, answer: opened.append(completer) or answer("sex = 'f'"))
    monkeypatch.setattr("sfumato.cli.query.on_terminal", lambda: True)
    done = run("query", "release")
    assert done.code == 0, done.err
    assert len(opened) == 1
    assert "1,000.0" in done.out


def test_a_home_that_cannot_be_written_costs_nothing_but_time(
    place: Path, release: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("XDG_CACHE_HOME", "XDG_DATA_HOME"):
        monkeypatch.setenv(name, os.fspath(place / "people.csv"))
    assert run("query", "release", "sex = 'f'").code == 0
    assert talk(monkeypatch, release, ["sex = 'f'"]) == ["sex = 'f': 1000"]


def test_figures_comparisons_crosstabs_and_quality_from_the_command_line(place: Path, release: Path, run: Run) -> None:
    average = json.loads(run("query", "release", "SELECT sex, AVG(age), COUNT(*) GROUP BY sex", "--json").out)
    assert list(average) == ["avg_age", "count"]
    assert [cell["group"]["sex"] for cell in average["avg_age"]] == ["f", "m"]
    assert average["avg_age"][0]["measure"] == "avg_age"
    shown = run("query", "release", "SELECT sex, AVG(age), COUNT(*) GROUP BY sex")
    assert shown.code == 0
    assert "avg_age" in shown.out
    compared = json.loads(run("query", "release", "AVG(age) WHERE sex = 'f'", "--against", "sex = 'm'", "--json").out)
    gap = average["avg_age"][0]["value"] - average["avg_age"][1]["value"]
    assert compared["difference"]["value"] == pytest.approx(gap)
    assert "a ÷ b" in run("query", "release", "sex = 'f'", "--against", "sex = 'm'").out
    table = json.loads(run("query", "release", "--crosstab", "illness,sex", "--json").out)
    assert table["columns"] == ["illness", "sex"]
    assert sum(cell["count"] for cell in table["cells"]) == pytest.approx(2000)
    assert "×" in run("query", "release", "age > 30", "--crosstab", "illness, sex").out
    told = json.loads(run("query", "release", "--quality", "--json").out)
    assert {one["name"] for one in told["columns"]} == {"age", "sex"}
    assert "typical questions" in run("query", "release", "--quality").out


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (("--against", "sex = 'm'"), ["--against"]),
        (("--crosstab", "illness"), ["two columns"]),
        (("--crosstab", "illness,sx"), ["'sx'", "sex"]),
        (("--quality", "--crosstab", "illness,sex"), ["--quality", "--crosstab"]),
        (("sex = 'm'", "--quality"), ["--quality"]),
        (("AVG(illness)",), ["AVG", "illness"]),
        (("--crosstab", ""), ["two columns"]),
    ],
)
def test_options_that_make_no_sense_are_named(release: Path, run: Run, arguments: tuple[str, ...], named: list[str]) -> None:
    done = run("query", "release", *arguments)
    assert done.code == 2
    assert [word for word in named if word not in done.err] == []


def test_the_prompt_answers_its_commands_from_the_release(monkeypatch: pytest.MonkeyPatch, release: Path) -> None:
    asked: list[str] = []
    lines = iter([".quality", ".crosstab illness, sex", ".nothing", ".quit"])
    monkeypatch.setattr("builtins.input", lambda _: next(lines))
    prompt.talk(prompt.Completer.of(engine_of(Release.load(release)).vocabulary), asked.append)
    assert asked == [".quality", ".crosstab illness, sex"]


def test_a_model_file_is_of_this_release_and_a_page_answers_it(place: Path, release: Path, run: Run) -> None:
    assert run("query", "release", "--export-model", "model.json").code == 0
    told = json.loads((place / "model.json").read_text())
    assert told["release"] == hashlib.sha256((release / "manifest.json").read_bytes()).hexdigest()
    assert (told["people"], told["secrets"][0]["columns"]) == (2000, ["illness"])
    for more in (["sex = 'f'"], ["--duckdb", "r.duckdb"]):
        refused = run("query", "release", *more, "--export-model", "other.json")
        assert refused.code == 2
        assert "--export-model" in refused.err
    assert run("page", "release", "--out", "explore.html").code == 0
    assert stat.S_IMODE((place / "explore.html").stat().st_mode) == 0o644
    assert run("page", "release", "--out", "explore.html").code == 2
