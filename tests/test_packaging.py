"""What is built from this repository says one version, and describes itself with links that work elsewhere too."""

import importlib.util
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from types import ModuleType

import pytest

import sfumato

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


@pytest.fixture
def build(monkeypatch):
    """hatch_build.py, which needs nothing of hatchling but a name."""
    interface = ModuleType("hatchling.metadata.plugin.interface")
    interface.MetadataHookInterface = object
    for name in ("hatchling", "hatchling.metadata", "hatchling.metadata.plugin"):
        monkeypatch.setitem(sys.modules, name, ModuleType(name))
    monkeypatch.setitem(sys.modules, interface.__name__, interface)
    found = importlib.util.spec_from_file_location("hatch_build", ROOT / "hatch_build.py")
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    return module


@pytest.fixture
def standing_alone(build):
    return build.standing_alone


def test_the_version_stands_once():
    assert "version" not in PROJECT["project"]
    assert "version" in PROJECT["project"]["dynamic"]
    home = ROOT / PROJECT["tool"]["hatch"]["version"]["path"]
    assert re.findall(r'^__version__ = "(.+)"$', home.read_text(encoding="utf-8"), flags=re.MULTILINE) == [sfumato.__version__]


def test_whoever_cites_it_cites_this_version():
    cited = re.findall(r"^version: (.+)$", (ROOT / "CITATION.cff").read_text(encoding="utf-8"), flags=re.MULTILINE)
    assert cited == [sfumato.__version__]


def test_the_public_repository_stands_once_and_all_links_follow_from_it(build):
    assert "urls" in PROJECT["project"]["dynamic"]
    assert re.fullmatch(r"(https://\S+[^/])?", PROJECT["tool"]["hatch"]["metadata"]["hooks"]["custom"]["source"])
    assert build.links("", "1.2") == {}
    made = build.links("https://example.org/sfumato", "1.2")
    assert made["Changelog"] == "https://example.org/sfumato/blob/v1.2/CHANGELOG.md"
    assert {"Source", "Documentation", "Issues"} < set(made)
    files = [address.partition("/blob/v1.2/")[2] for address in made.values() if "/blob/" in address]
    assert files
    assert [name for name in files if not (ROOT / name).is_file()] == []


def test_the_public_workflow_runs_what_a_submission_must_pass():
    run = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    workflow = (ROOT / ".github" / "workflows" / "test.yml").read_text(encoding="utf-8")
    needed = set(re.findall(r"^make (\S+)$", run, flags=re.MULTILINE))
    assert {"test", "packages", "docs"} <= needed
    assert needed <= set(re.findall(r"run: make (\S+)$", workflow, flags=re.MULTILINE))


def test_named_pythons_are_those_of_the_matrix_and_no_untested_system_is_named():
    classified = PROJECT["project"]["classifiers"]
    named = [one.rpartition(" :: ")[2] for one in classified if re.search(r":: 3\.\d+$", one)]
    workflow = (ROOT / ".github" / "workflows" / "test.yml").read_text(encoding="utf-8")
    linux = re.search(r"\n  linux:.*?python: \[(.*?)\]", workflow, flags=re.DOTALL)[1]
    assert named == re.findall(r"3\.\d+", linux)
    assert PROJECT["project"]["requires-python"] == f">={named[0]}"
    assert [one for one in classified if one.startswith("Operating")] == ["Operating System :: POSIX :: Linux"]


def test_the_paper_cites_what_its_bibliography_has():
    cited = set(re.findall(r"@(\w+)", (ROOT / "paper" / "paper.md").read_text(encoding="utf-8").partition("# Summary")[2]))
    listed = re.findall(r"^@\w+\{(\w+),$", (ROOT / "paper" / "paper.bib").read_text(encoding="utf-8"), flags=re.MULTILINE)
    assert len(listed) == len(set(listed))
    assert set(listed) == cited


def test_a_description_without_a_public_repository_keeps_the_words_of_links(standing_alone):
    text = "![a curve](docs/pictures/x.svg) and [the page](docs/guarantees.md#decoys), [elsewhere](https://example.org/)"
    assert standing_alone(text, "", "1.2") == "*a curve* and the page, [elsewhere](https://example.org/)"


def test_links_and_pictures_of_a_description_lead_to_the_version_in_the_public_repository(standing_alone):
    text = "![a curve](docs/x.svg) [the page](docs/y.md#z)"
    made = standing_alone(text, "https://example.org/sfumato", "1.2")
    assert made == (
        "![a curve](https://example.org/sfumato/raw/v1.2/docs/x.svg) [the page](https://example.org/sfumato/blob/v1.2/docs/y.md#z)"
    )


def test_a_picture_that_differs_by_screen_follows_the_same_rule(standing_alone):
    text = '<picture><source media="(max-width: 9px)" srcset="a.svg"><img src="b.svg" alt="a curve"></picture>'
    assert standing_alone(text, "", "1.2") == "*a curve*"
    raw = "https://example.org/sfumato/raw/v1.2"
    assert standing_alone(text, "https://example.org/sfumato", "1.2") == (
        f'<picture><source media="(max-width: 9px)" srcset="{raw}/a.svg"><img src="{raw}/b.svg" alt="a curve"></picture>'
    )


@pytest.mark.skipif(shutil.which("make") is None, reason="needs make")
def test_what_the_fast_tests_leave_out_is_there_and_every_room_is_left():
    shown = subprocess.run(["make", "-n", "fast-tests"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    listed = [name.partition("::") for name in re.findall(r"--deselect=(\S+)", shown)]
    assert listed
    assert [path for path, _, test in listed if f"def {test.partition('[')[0]}" not in (ROOT / path).read_text()] == []
    left_out = {ROOT / path for path, _, test in listed if not test}
    rooms = {path.name for path in Path(sfumato.__file__).parent.iterdir()} & {path.name for path in (ROOT / "tests").iterdir()}
    for room in {name for name in rooms if not name.startswith("_")}:
        assert set((ROOT / "tests" / room).rglob("test_*.py")) - left_out, room
