"""Every command that README and docs show runs as it is shown, page by page, on a smaller table; some cannot, and are listed."""

from __future__ import annotations

import glob
import re
import shlex
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from typer.testing import CliRunner

import sfumato as sf
from sfumato.cli.app import app
from sfumato.table.generators import hospital

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
ELSEWHERE = {"README.md": "tests/docs/test_readme.py", "docs/guide/visits.md": "tests/docs/test_visits.py"}
"""Pages whose commands, and what they print, have tests of their own."""

CANNOT = {
    "python3 -m venv": "installs: .ci/packages.py does it",
    "pip install": "installs: .ci/packages.py does it",
    ". .venv/bin/activate": "installs: .ci/packages.py does it",
    "docker": "needs a Docker daemon",
    "apt-get": "installs as root: .ci/run does it",
    "make": "runs this suite, or what .ci/run runs beside it",
    "sfumato studio": "serves until it is stopped: tests/studio",
    "python3 -c": "prepares what openssl reads",
    "openssl": "checks a signature by another program than sfumato: tests/test_signature.py",
    "--engine spark": "needs Java: make test-extras",
    "sfumato query release/  ": "a prompt, which needs a terminal: tests/cli/test_cli_query.py",
}
"""What is not run here, with the reason: the beginning of a command, or an option in it."""

SIZE = "--rows 600 --seed 2"
SMALLER = {
    r"--rows \d+": SIZE,
    r"--vary theta=2,4,8,16": "--vary theta=16 --methods boxes --people 300",
    r"--tables 10": "--tables 2",
}
"""What is run of a command that would take long: the same, less of it."""

SET_UP = (
    f"sfumato sample hospital {SIZE} --out patients.csv",
    "sfumato sample hospital --rows 300 --seed 9 --out others.csv",
    "sfumato policy init patients.csv --out policy.toml",
    "sfumato policy check policy.toml patients.csv --reviewed",
    "sfumato publish patients.csv --policy policy.toml --out release",
    "sfumato publish patients.csv --policy policy.toml --out release-of-last-year",
)
"""What pages take as there already; a page that makes it itself begins in an empty directory."""

BESIDES = {
    "docs/running.md": ("sfumato keygen office", "sfumato sign release --key office"),
}
"""What single pages take as there beside it."""

LARGE = (
    "sfumato sample census --rows 3000 --out big/people.parquet",
    "sfumato policy init big/people.parquet --sensitive occupation --out policy.toml",
    "sfumato policy check policy.toml big/people.parquet --reviewed",
)


SLIPS = {
    "the table has no column 'postcodes'": ('"postcode"', '"postcodes"'),
    "The bounds cannot be kept": (r"(\n\[requirement\.bounds\][^\n]*\n)", r'\1HIV = "0.001"\n'),
}
"""The mistakes in policy.toml that the tutorial speaks of before it shows what is said."""


def commands(page: Path) -> Iterator[tuple[str, str]]:
    """Yield the commands of a page, and the first line of what one is shown to say: "error: …" where it fails."""
    text = page.read_text(encoding="utf-8")
    for kind, block in re.findall(r"^[ ]*```(sh|console)\n(.*?)^[ ]*```", text, flags=re.DOTALL | re.MULTILINE):
        lines = [line.strip() for line in block.replace("\\\n", " ").splitlines() if line.strip()]
        if kind == "sh":
            yield from ((line, "") for line in lines if not line.startswith("#"))
        elif lines[0].startswith("$ "):
            yield lines[0][2:], lines[1]


def reason(command: str) -> str | None:
    """Return why a command is not run here."""
    return next((why for what, why in CANNOT.items() if command.startswith(what) or (what[0] == "-" and what in command)), None)


def run(command: str) -> tuple[int, str]:
    """Run a command of sfumato in this process, as a shell would: patterns of files, and what is read from a file."""
    words = shlex.split(command, comments=True)
    given = Path(words.pop(words.index("<") + 1)).read_text() if "<" in words else ""
    words = [one for word in words if word != "<" for one in (sorted(glob.glob(word)) if "*.parquet" in word else [word])]
    done = CliRunner().invoke(app, words[1:], input=given)
    return done.exit_code, done.output


def named(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


HERE = [page for page in PAGES if named(page) not in ELSEWHERE and any(reason(one) is None for one, _ in commands(page))]


@pytest.fixture(scope="module")
def ready(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with the small table, its policy and two releases of it."""
    folder = tmp_path_factory.mktemp("ready")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setenv("SFUMATO_RECEIPTS", str(folder / "receipts"))
        for command in SET_UP:
            code, said = run(command)
            assert code == 0, f"{command}\n{said}"
    (folder / "questions.sql").write_text("age >= 60 AND diagnosis = 'Flu'\nSELECT sex, COUNT(*) GROUP BY sex\n")
    return folder


@pytest.mark.parametrize("page", HERE, ids=named)
def test_every_command_of_the_page_runs(page: Path, ready: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shown = [(command, says) for command, says in commands(page) if reason(command) is None]
    monkeypatch.chdir(tmp_path)
    for name in ("SFUMATO_RECEIPTS", "XDG_DATA_HOME"):
        monkeypatch.setenv(name, str(tmp_path / "receipts"))
    if any("big" in command for command, _ in shown):
        (tmp_path / "big").mkdir()
        shown = [(command, "") for command in LARGE] + shown
    elif not any(" sample " in command for command, _ in shown):
        shutil.copytree(ready, tmp_path, dirs_exist_ok=True, ignore=shutil.ignore_patterns("receipts"))
        shown = [(command, says) for command, says in shown if "weighted" in command or said_once(command)]
        shown = [(command, "") for command in BESIDES.get(named(page), ())] + shown
    if any("--weighted" in command for command, _ in shown):
        _survey()
    for command, says in shown:
        assert command.startswith("sfumato "), f"{command}: neither a command of sfumato nor listed with a reason"
        with slip(says):
            code, said = run(smaller(command))
        assert (code != 0) == says.startswith("error: "), f"{command}\n{said}"
        assert says in " ".join(said.split())


def _survey() -> None:
    """Put the release of a survey in the place of the other one."""
    shutil.rmtree("release")
    people = hospital(600, 2).select(["age", "sex", "diagnosis"])
    drawn = {"region": ["north", "south"] * 300, "perwt": [50.0, 75.0, 120.0] * 200}
    survey = people.append_column("region", [drawn["region"]]).append_column("perwt", [drawn["perwt"]])
    weight = {"column": "perwt", "made_without_secrets": True}
    quasi = ["age", "sex", "region"]
    sf.publish(survey, sf.FPrivacy(theta=8, offset="0.02"), quasi=quasi, sensitive="diagnosis", weight=weight).save("release")


SAID: set[str] = set()


def said_once(command: str) -> bool:
    """Return whether no other page that begins with the same files has had this command."""
    same = " ".join(shlex.split(command.replace("release/", "release"), comments=True))
    new = same not in SAID
    SAID.add(same)
    return new


def smaller(command: str) -> str:
    for much, less in SMALLER.items():
        command = re.sub(much, less, command)
    return command


@contextmanager
def slip(says: str) -> Iterator[None]:
    """Make the mistake that leads to what is said, and mend it."""
    policy = Path("policy.toml")
    before = policy.read_text() if policy.exists() else ""
    for part, (right, wrong) in SLIPS.items():
        if part in says:
            made = re.sub(right, wrong, before, count=1)
            assert made != before
            policy.write_text(made)
    yield
    if says and before:
        policy.write_text(before)


def test_the_list_of_what_is_not_run_has_no_entry_too_many() -> None:
    found = [command for page in PAGES for command, _ in commands(page)]
    assert [what for what in CANNOT if not any(one.startswith(what) or what in one for one in found)] == []


def test_a_command_that_is_not_there_is_noticed() -> None:
    assert run("sfumato publich patients.csv")[0] == 2


METHODS = [page for page in PAGES if page.parent.name == "methods" and page.name != "README.md"]
SHAPE = ("How to use it", "What it promises", "Parameters", "How it works", "Measured")


@pytest.mark.parametrize("page", METHODS, ids=named)
def test_a_page_of_a_method_has_the_same_parts_as_all_and_a_picture_that_is_there(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    headings = re.findall(r"^## (.+)$", text, flags=re.MULTILINE)
    assert [heading for heading in headings if heading in SHAPE] == list(SHAPE)
    beginning, _, _ = text.partition("\n## ")
    described, picture = re.findall(r"^!\[(.*)\]\((.+)\)$", beginning, flags=re.MULTILINE)[0]
    assert described
    assert (page.parent / picture).is_file()


@pytest.mark.parametrize("page", METHODS, ids=named)
def test_policy_lines_and_python_of_a_method_s_page_are_about_the_same_method(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    (lines,) = re.findall(r"^```toml\n(.*?)^```", text, flags=re.DOTALL | re.MULTILINE)
    columns = "" if "[columns]" in lines else '[columns]\nquasi = ["age"]\nsensitive = ["illness"]\n'
    policy = sf.Policy.parse(columns + lines)
    assert f"sf.{type(policy.method).__name__}(" in text
