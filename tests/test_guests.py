"""Papers, synthetic and studio are guests: without their folders the rest works, and says what is left out where it is asked."""

import json
import os
import subprocess
import sys

import pytest

import sfumato
from tests.guests import GUESTS, copy_without, missing

pytestmark = pytest.mark.skipif(bool(missing()), reason="a guest is left out already")

EVERYTHING = """
import importlib, pkgutil, sfumato
from sfumato.plugins import LeftOutError, parts_left_out
said = {}
for module in pkgutil.walk_packages(sfumato.__path__, "sfumato."):
    if not module.name.endswith("__main__"):
        try:
            importlib.import_module(module.name)
        except ImportError as error:
            if not module.name.startswith("sfumato.studies."):
                raise
            assert isinstance(error, LeftOutError) or error.name in parts_left_out(), error
for name in sfumato.__all__:
    getattr(sfumato, name)
from sfumato.methods import METHODS
import json
print(json.dumps([list(METHODS), len(list(METHODS.values())), list(parts_left_out()), sfumato.__all__]))
"""

SAID = """
import sfumato
for ask in (
    lambda: sfumato.Heterogeneous, lambda: sfumato.PrivBayes, lambda: sfumato.Ambiguity(grouping="paper"),
    lambda: sfumato.PriView(grouping="paper"), lambda: sfumato.Policy.load("policy.toml"),
):
    try:
        ask()
    except sfumato.SfumatoError as error:
        print(error.message)
"""

JOB = """
import sys, warnings
import numpy as np, pyarrow as pa
import sfumato as sf
warnings.simplefilter("ignore")
coins = np.random.default_rng(5)
illness = np.array(list("abcdefghij"))[np.arange(400) % 10]
frame = pa.table({"age": coins.integers(18, 90, 400), "sex": coins.choice(["f", "m"], 400), "illness": illness})
table, need = sf.Table.from_frame(frame, sf.Schema(quasi=["age", "sex"], sensitive=["illness"])), sf.LDiversity(3)
sf.publish(table, need, seed=1).save("release")
release = sf.Release.load("release")
assert sf.audit("release", table=table).holds
assert 0 < release.count("age < 40 AND illness = 'a'").value < 40
assert "boxes" in str(sf.explain(table, need))
assert [one.attack for one in sf.attack(release, table, "random-worlds")]
print(sorted({run.method for run in sf.compare(table, need, sample=200).runs}))
"""


def run(place, *arguments, home):
    environment = {**os.environ, "PYTHONPATH": str(place / "src"), "SFUMATO_CACHE": "", "XDG_DATA_HOME": str(home)}
    return subprocess.run([sys.executable, *arguments], cwd=home, env=environment, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module", params=sorted(GUESTS))
def guest(request):
    return request.param


@pytest.fixture(scope="module")
def without(guest, tmp_path_factory):
    """A copy of the package without the folder of one guest."""
    return copy_without([guest], tmp_path_factory.mktemp(guest), tests=False)


def test_everything_else_is_imported_and_only_what_the_guest_gives_is_gone(guest, without, tmp_path):
    done = run(without, "-c", EVERYTHING, home=tmp_path)
    assert done.returncode == 0, done.stderr
    methods, loaded, left_out, names = json.loads(done.stdout)
    gone = {"papers": {"decoys", "heterogeneous", "ring"}, "synthetic": {"privbayes", "noisy-tables"}, "studio": set()}[guest]
    from sfumato.methods import METHODS

    assert set(methods) == set(METHODS) - gone
    assert loaded == len(methods)
    assert left_out == [f"sfumato.{guest}"]
    assert len(set(sfumato.__all__) - set(names)) == len(gone)


def test_the_command_line_lists_what_is_there_and_says_what_is_left_out(guest, without, tmp_path):
    listed = run(without, "-m", "sfumato", "--help", home=tmp_path)
    assert listed.returncode == 0
    assert ("studio" in listed.stdout) == (guest != "studio")
    told = run(without, "-m", "sfumato", "doctor", home=tmp_path)
    assert f"left out of this installation: sfumato.{guest}" in told.stdout
    asked = run(without, "-m", "sfumato", "studio", "--help", home=tmp_path)
    assert (asked.returncode == 2) == (guest == "studio")
    if guest == "studio":
        assert "sfumato.studio, which this" in " ".join(asked.stderr.replace("│", " ").split())


def test_what_is_asked_of_a_guest_is_refused_with_a_sentence(guest, without, tmp_path):
    method = {"papers": "ring", "synthetic": "privbayes", "studio": "boxes"}[guest]
    policy = (
        f'[columns]\nquasi = ["a"]\nsensitive = ["b"]\n[requirement]\nmodel = "l-diversity"\nl = 2\n[method]\nname = "{method}"\n'
    )
    (tmp_path / "policy.toml").write_text(policy)
    done = run(without, "-c", SAID, home=tmp_path)
    assert done.returncode == 0, done.stderr
    ends = f" is in the part sfumato.{guest}, which this installation leaves out"
    said = {
        "papers": [
            "sfumato.Heterogeneous",
            "grouping = \"paper\" of 'ambiguity'",
            "grouping = \"paper\" of 'priview'",
            "policy.toml: [method] name: 'ring'",
        ],
        "synthetic": ["sfumato.PrivBayes", "policy.toml: [method] name: 'privbayes'"],
    }
    assert done.stdout.splitlines() == [f"{what}{ends}" for what in said.get(guest, [])]


def test_the_whole_job_is_done_without_any_guest(tmp_path):
    place = copy_without(sorted(GUESTS), tmp_path / "copy", tests=False)
    done = run(place, "-c", JOB, home=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "'boxes'" in done.stdout
    assert "'privbayes'" not in done.stdout
