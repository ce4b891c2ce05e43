"""A package of somebody else's brings a method and a model: installed, named in a policy file, published, audited, asked."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

POLICY = """
[columns]
quasi = ["age", "sex"]
sensitive = ["illness"]

[requirement]
model = "odds"
times = 4
against = "engineer"

[method]
name = "slices"
column = "age"
"""

CHECKS = """
from sfumato.methods import METHODS
from sfumato.privacy import MODELS
from sfumato.testing import check_estimator, check_method, check_model
print(len(check_method(METHODS["slices"]())), len(check_model(MODELS["odds"]("5/2"))), len(check_estimator("halfway")))
"""


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """Where the package is installed, by pip and without looking anywhere else."""
    target = tmp_path_factory.mktemp("site")
    source = tmp_path_factory.mktemp("source") / "extension"
    subprocess.run(["cp", "-r", str(Path(__file__).parent / "extension"), str(source)], check=True)
    offline = ["--no-deps", "--no-build-isolation", "--no-index", "--disable-pip-version-check", "-q"]
    subprocess.run([sys.executable, "-m", "pip", "install", *offline, "--target", str(target), str(source)], check=True)
    return target


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """An empty directory with a table and a policy."""
    here = tmp_path_factory.mktemp("place")
    coins = np.random.default_rng(5)
    rows = [
        f"{age},{'fm'[sex]},{illness}"
        for age, sex, illness in zip(
            coins.integers(18, 90, 900), coins.integers(0, 2, 900), np.array(list("abcdefghij"))[np.arange(900) % 10], strict=True
        )
    ]
    (here / "people.csv").write_text("age,sex,illness\n" + "\n".join(rows) + "\n")
    (here / "policy.toml").write_text(POLICY)
    return here


def run(site, place, *arguments):
    paths = os.pathsep.join([str(site), *filter(None, [os.environ.get("PYTHONPATH")])])
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=place,
        env={**os.environ, "PYTHONPATH": paths},
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_policy_file_names_them_and_the_release_is_published_audited_and_asked(site, place):
    verb = ("-m", "sfumato")
    made = run(site, place, *verb, "publish", "people.csv", "--policy", "policy.toml", "--out", "release", "--json")
    assert made.returncode == 0, made.stderr
    told = json.loads(made.stdout)
    assert (told["method"], told["basis"]) == ("slices", "safe")
    manifest = json.loads((place / "release" / "manifest.json").read_text())
    assert manifest["method"] == {"name": "slices", "package": "sfumato-slices 1.0", "column": "age", "form": "buckets"}
    assert manifest["requirement"]["package"] == "sfumato-slices 1.0"
    assert [claim["adversary"] for claim in manifest["claims"]] == ["engineer"]
    audited = run(site, place, *verb, "audit", "release", "--table", "people.csv", "--policy", "policy.toml")
    assert audited.returncode == 0, audited.stdout + audited.stderr
    assert "sfumato-slices 1.0" in audited.stdout
    asked = run(site, place, *verb, "query", "release", "age >= 50 AND illness = 'a'")
    assert asked.returncode == 0
    question = ("query", "release", "age >= 50 AND illness = 'a'", "--estimator", "halfway", "--json")
    halfway = json.loads(run(site, place, *verb, *question).stdout)
    assert (halfway["estimator"], halfway["low"]) == ("halfway", None)
    assert 0 < halfway["value"] < 90
    explained = run(site, place, *verb, "explain", "people.csv", "--policy", "policy.toml", "--quick")
    assert explained.returncode == 0
    assert "the method slices can" in explained.stdout


def test_they_pass_the_conformance_suites(site, place):
    done = run(site, place, "-c", CHECKS)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["32", "6", "4"]


def test_without_the_package_the_policy_says_so_and_the_audit_judges_no_claim(place, site):
    if not (place / "release").exists():
        run(site, place, "-m", "sfumato", "publish", "people.csv", "--policy", "policy.toml", "--out", "release")
    nowhere = place / "nowhere"
    done = run(nowhere, place, "-m", "sfumato", "publish", "people.csv", "--policy", "policy.toml", "--out", "other")
    assert done.returncode == 2
    assert "unknown 'odds'" in done.stderr
    audited = run(nowhere, place, "-m", "sfumato", "audit", "release")
    assert "judged from this" in audited.stdout
    assert "'sfumato-slices 1.0'" in " ".join(audited.stdout.split())


def test_a_package_cannot_take_a_name_of_sfumatos_own(monkeypatch):
    from importlib.metadata import EntryPoint

    from sfumato import plugins
    from sfumato.methods import METHODS, Boxes

    fake = {
        "boxes": EntryPoint("boxes", "json:loads", "sfumato.methods"),
        "wrong": EntryPoint("wrong", "json:loads", "sfumato.methods"),
    }
    monkeypatch.setattr(plugins, "installed", lambda group: fake)
    assert METHODS["boxes"] is Boxes
    assert list(METHODS).count("boxes") == 1
    with pytest.raises(plugins.PolicyError, match="is no Method"):
        METHODS["wrong"]


ENGINE = """
import sys
import pyarrow as pa
import pyarrow.parquet as pq
import sfumato as sf
from sfumato.table.generators import sample

people = sample("census", rows=2000, seed=3)
pq.write_table(people.set_column(6, "country", people["country"].cast(pa.string())), "census.parquet")
said = {"quasi": ["age", "gender", "country"], "sensitive": ["salary"], "bins": {"salary": list(range(0, 51, 2))},
        "other": ["education", "marital", "race", "workclass", "occupation"], "people": {"rows": "people"}}
asked = sf.FPrivacy(theta=4, offset="0.02")
for k, method in enumerate([sf.Boxes(floor=40), sf.Boxes(floor=40, form="ranges"), sf.MultiSize(), sf.NearGroups()]):
    for engine in ("memory", "lazily"):
        sf.publish(sf.Table.read("census.parquet", sf.Schema(**said)) if engine == "memory" else "census.parquet",
                   asked, method=method, random=1, out=f"{engine}{k}", engine=engine, **({} if engine == "memory" else said))
print(sf.audit("lazily0", "census.parquet", engine="lazily", schema=sf.Schema(**said)).holds)
"""


def test_an_engine_of_somebody_elses_writes_the_bytes_of_memory(site, place):
    pytest.importorskip("polars")
    done = run(site, place, "-c", ENGINE)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["True"]
    for k in range(4):
        made = {engine: sorted((place / f"{engine}{k}").rglob("*")) for engine in ("memory", "lazily")}
        files = [[path for path in paths if path.is_file()] for paths in made.values()]
        assert [path.name for path in files[0]] == [path.name for path in files[1]]
        assert all(one.read_bytes() == other.read_bytes() for one, other in zip(*files, strict=True))
    words = ("-m", "sfumato", "publish", "people.csv", "--policy", "policy.toml", "--out", "other", "--engine")
    unknown = run(site, place, *words, "lazyly")
    assert unknown.returncode != 0
    assert "lazily" in unknown.stderr
