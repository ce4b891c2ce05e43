"""What the page about visits shows works as it is shown."""

import re
import shlex
import tomllib
from pathlib import Path

import pytest
from typer.testing import CliRunner

from sfumato.cli.app import app

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/guide/visits.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", PAGE, flags=re.DOTALL | re.MULTILINE)


def run(line: str) -> tuple[int, str]:
    done = CliRunner().invoke(app, shlex.split(line)[1:])
    return done.exit_code, " ".join(done.output.split())


@pytest.fixture(scope="module")
def said(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """What the commands of the page printed, one after the other in a directory; the files lie there."""
    folder = tmp_path_factory.mktemp("visits")
    found = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setenv("SFUMATO_RECEIPTS", str(folder / "receipts"))
        patch.setenv("XDG_DATA_HOME", str(folder / "share"))
        for line in (line for block in blocks("sh") for line in block.splitlines()):
            code, found[line] = run(line)
            assert code == 0, f"{line}\n{found[line]}"
        policy = (folder / "policy.toml").read_text()
        (folder / "no-key.toml").write_text(re.sub(r"^\[people\].*?^alike[^\n]*\n", "", policy, flags=re.DOTALL | re.MULTILINE))
        for block in blocks("console"):
            if block.startswith("$ "):
                line = block.splitlines()[0][2:]
                code, found[line] = run(line)
                assert code != 0, line
    return found | {"policy": policy, "manifest": (folder / "release/manifest.json").read_text()}


def test_every_command_of_the_page_runs_and_says_what_is_shown(said: dict[str, str]) -> None:
    for block in blocks("console"):
        first, *rest = block.splitlines()
        if first.startswith("$ "):
            assert " ".join(" ".join(rest).split()) in said[first[2:]]
        else:
            published = next(text for line, text in said.items() if " publish " in line and "wrong" not in line)
            assert " ".join(block.split()) in published


def test_the_draft_on_the_page_is_the_draft(said: dict[str, str]) -> None:
    shown, drafted = tomllib.loads(blocks("toml")[0]), tomllib.loads(said["policy"])
    assert shown["people"] == drafted["people"]
    assert shown["secrets"] == drafted["secrets"]
    assert drafted["missing"] == {"diag": "value"}


def test_the_promise_on_the_page_is_that_of_the_manifest(said: dict[str, str]) -> None:
    quoted = " ".join(line.removeprefix("> ") for line in PAGE.splitlines() if line.startswith("> "))
    assert quoted in said["manifest"]


def test_answers_are_about_people(said: dict[str, str]) -> None:
    asked = {line: text for line, text in said.items() if " query " in line}
    assert any("2,969.0 ± 0.0" in text for text in asked.values())
    assert any("no interval: how many people have several of these values is not published" in text for text in asked.values())
