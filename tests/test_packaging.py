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
def standing_alone(monkeypatch):
    """The function of hatch_build.py, which needs nothing of hatchling but a name."""
    interface = ModuleType("hatchling.metadata.plugin.interface")
    interface.MetadataHookInterface = object
    for name in ("hatchling", "hatchling.metadata", "hatchling.metadata.plugin"):
        monkeypatch.setitem(sys.modules, name, ModuleType(name))
    monkeypatch.setitem(sys.modules, interface.__name__, interface)
    found = importlib.util.spec_from_file_location("hatch_build", ROOT / "hatch_build.py")
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    return module.standing_alone


def test_the_version_stands_once():
    assert "version" not in PROJECT["project"]
    assert "version" in PROJECT["project"]["dynamic"]
    home = ROOT / PROJECT["tool"]["hatch"]["version"]["path"]
    assert re.findall(r'^__version__ = "(.+)"$', home.read_text(encoding="utf-8"), flags=re.MULTILINE) == [sfumato.__version__]


def test_a_description_without_a_public_repository_keeps_the_words_of_links(standing_alone):
    text = "![a curve](docs/pictures/x.svg) and [the page](docs/guarantees.md#decoys), [elsewhere](https://example.org/)"
    assert standing_alone(text, "", "1.2") == "*a curve* and the page, [elsewhere](https://example.org/)"


def test_links_and_pictures_of_a_description_lead_to_the_version_in_the_public_repository(standing_alone):
    text = "![a curve](docs/x.svg) [the page](docs/y.md#z)"
    made = standing_alone(text, "https://example.org/sfumato", "1.2")
    assert made == (
        "![a curve](https://example.org/sfumato/raw/v1.2/docs/x.svg) [the page](https://example.org/sfumato/blob/v1.2/docs/y.md#z)"
    )


@pytest.mark.skipif(shutil.which("make") is None, reason="needs make")
def test_what_the_fast_tests_leave_out_is_there_and_every_room_is_left():
    shown = subprocess.run(["make", "-n", "fast-tests"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    left_out = [ROOT / path for path in re.findall(r"--ignore=(\S+)", shown)]
    assert [path for path in left_out if not path.exists()] == []
    rooms = {path.name for path in Path(sfumato.__file__).parent.iterdir()} & {path.name for path in (ROOT / "tests").iterdir()}
    for room in {name for name in rooms if not name.startswith("_")}:
        assert set((ROOT / "tests" / room).rglob("test_*.py")) - set(left_out), room
