"""What the README shows works as it is shown."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from sfumato.cli.demo import WALK

README = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")


def blocks(language):
    return re.findall(rf"^```{language}\n(.*?)^```", README, flags=re.DOTALL | re.MULTILINE)


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A directory in which the README's shell commands were run one after the other."""
    folder = tmp_path_factory.mktemp("readme")
    lines = [line for block in blocks("sh") for line in block.splitlines() if line.startswith("sfumato")]
    assert [shlex.split(line, comments=True) for line in lines] == [shlex.split(line) for line in WALK]
    for line in lines:
        command = [sys.executable, "-m", "sfumato", *shlex.split(line, comments=True)[1:]]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"{line}\n{done.stderr}"
        (folder / f"{command[3]}.out").write_text(done.stdout)
    return folder


def test_the_commands_end_in_an_answer_for_both_sexes(place):
    answer = (place / "query.out").read_text()
    assert "female" in answer
    assert "male" in answer
    assert "every claim holds" in (place / "audit.out").read_text()


def test_the_policy_can_be_published(place):
    (place / "shown.toml").write_text(blocks("toml")[0])
    command = [sys.executable, "-m", "sfumato", "publish", "patients.csv", "--policy", "shown.toml", "--out", "shown"]
    done = subprocess.run(command, cwd=place, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert (place / "shown" / "manifest.json").is_file()


def test_the_python_example_runs(place):
    done = subprocess.run([sys.executable, "-c", blocks("python")[0]], cwd=place, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    value, low, high = map(float, done.stdout.split())
    assert low <= value <= high


def test_every_file_the_readme_points_to_exists():
    root = Path(__file__).parents[2]
    links = re.findall(r"\]\(([^)#]+)\)", README) + re.findall(r'(?:src|srcset)="([^"]+)"', README)
    assert "docs/pictures/six-people-narrow.svg" in links
    for link in links:
        assert (root / link).exists(), link
