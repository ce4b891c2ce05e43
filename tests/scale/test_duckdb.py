"""DuckDB gives the release that memory gives: the same bytes, the same audit, the same figures and fingerprints."""

import json
import os
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sfumato as sf
from sfumato.api import publication
from sfumato.auditor.replay import OTHERWISE, SEEN
from sfumato.errors import FormatError, NotProvable, PolicyError
from sfumato.methods import METHODS
from sfumato.release import Release, files
from sfumato.release.manifest import spelled
from sfumato.scale.audit import audit_parts
from sfumato.scale.engine import ResourceLimits, bytes_of
from sfumato.scale.verb import audit_directory, publish_source
from tests.makers import tells
from tests.scale._large import (
    ASKED,
    CLOSED,
    EACH,
    ODD,
    RANDOMIZED,
    SCHEMA,
    VALUES,
    alike,
    content,
    odd_table,
)


@pytest.fixture(autouse=True)
def _small_parts(monkeypatch):
    monkeypatch.setattr(files, "PART_ROWS", 1700)


def both(frame, schema, requirement, place, *, method=None, source=None, shard=900, random=1):
    """Publish in memory and by DuckDB; return both, after comparing everything that is written and told."""
    table = sf.Table.from_frame(frame, schema, random=random)
    made = publication(table, requirement, method=method, random=random)
    made.release.save(place / "memory")
    large = publish_source(
        frame if source is None else source, schema, requirement, place / "large",
        method=method, random=random, limits=ResourceLimits(1 << 29, 2, shard), fingerprinted=True,
    )  # fmt: skip
    assert content(place / "memory") == content(place / "large")
    alike(large.audit, made.audit)
    assert dict(large.private) == dict(made.private)
    assert large.fingerprints == (table.fingerprint, table.people_fingerprint)
    return made, large


@pytest.mark.parametrize("shard", [150, 900, 10_000])
@pytest.mark.parametrize("form", ["buckets", "ranges"])
@pytest.mark.parametrize(
    ("against", "method"),
    [
        ("engineer", sf.Boxes(floor=40)),
        ("engineer", sf.Boxes(floor=40, patience=0)),
        ("engineer", sf.Boxes(floor=40, patience=900, weights={"country": 3})),
        ("reader", sf.Boxes(floor=40)),
        ("reader", sf.Boxes(floor=40, weights="association")),
    ],
)
def test_boxes_have_the_same_bytes_whatever_the_shards(people, tmp_path, against, method, form, shard):
    asked = sf.FPrivacy(theta=4, offset="0.02", against=against)
    made, large = both(people, SCHEMA, asked, tmp_path, method=replace(method, form=form), shard=shard)
    assert large.private["groups"] > 4
    rows = {"buckets": "qit", "ranges": "records"}[form]
    assert {f"{rows}/part-00003.parquet", "manifest.json"} < set(content(tmp_path / "large"))
    assert large.load().count("salary = '[10, 12)'").value == made.release.count("salary = '[10, 12)'").value


@pytest.mark.parametrize("shard", [300, 10_000])
def test_noisy_boxes_have_the_same_bytes_and_the_same_noise(people, tmp_path, shard):
    method = sf.NoisyBoxes(values=VALUES[:-1], otherwise="0", floor=60)
    schema = method.close(CLOSED)
    made, large = both(people, schema, sf.Differential(epsilon="1.5"), tmp_path, method=method, shard=shard)
    assert large.private["groups"] > 10
    table = sf.Table.from_frame(people, schema)
    found, _ = audit_directory(tmp_path / "large", people, schema)
    assert found.to_dict() == sf.audit(tmp_path / "large", table).to_dict()
    assert found.exposure is not None
    assert audit_directory(tmp_path / "large")[0].to_dict() == sf.audit(tmp_path / "large", engine="memory").to_dict()
    other = people.set_column(0, "age", pa.array(np.roll(people["age"].to_numpy(), 1)))
    wrong, _ = audit_directory(tmp_path / "large", other, schema)
    assert wrong.problems == sf.audit(tmp_path / "large", sf.Table.from_frame(other, schema)).problems
    assert wrong.problems
    assert made.audit.holds


@pytest.mark.parametrize("shard", [150, 900, 10_000])
def test_noisy_boxes_are_joined_as_in_memory(people, tmp_path, shard):
    counts = np.bincount(people["salary"].to_numpy(), minlength=50) + 20
    shares = {value: f"{times}/{counts.sum()}" for value, times in zip(VALUES, counts.tolist(), strict=True)}
    method = sf.NoisyBoxes(shares=shares, otherwise="0", floor=40, merge=True)
    asked = sf.FPrivacy(theta=8, offset="0.02", against="insider")
    _, large = both(people, method.close(CLOSED), asked, tmp_path, method=method, shard=shard)
    assert 1 < large.private["groups"] < large.private["boxes"]
    found, _ = audit_directory(tmp_path / "large", people, method.close(CLOSED))
    assert found.to_dict() == sf.audit(tmp_path / "large", sf.Table.from_frame(people, method.close(CLOSED))).to_dict()


@pytest.mark.parametrize("shard", [300, 10_000])
@pytest.mark.parametrize(
    "method",
    [
        sf.Mondrian(k=20, form="buckets"),
        sf.Mondrian(k=20, form="ranges"),
        sf.Mondrian(k=20, constraint="distinct", l=6, form="buckets"),
        sf.Mondrian(k=30, constraint="entropy", l=5, form="ranges"),
    ],
)
def test_strict_mondrian_has_the_same_bytes(people, tmp_path, method, shard):
    _, large = both(people, SCHEMA, sf.FPrivacy(theta=4, offset="0.05", against="reader"), tmp_path, method=method, shard=shard)
    assert large.private["groups"] > 10


@pytest.mark.parametrize("form", ["buckets", "ranges"])
def test_mondrian_cuts_missing_values_as_in_memory(tmp_path, form):
    schema = sf.Schema(quasi=["when", "weight", "place"], sensitive=["ill"], people={"rows": "people"},
                       other=["smokes", "pay", "patient", "seen", "name"])  # fmt: skip
    method = sf.Mondrian(k=15, form=form)
    both(odd_table(), schema, sf.FPrivacy(theta=4, offset="0.1", against="reader"), tmp_path, method=method, shard=200)


@pytest.mark.parametrize("shard", [100, 400, 10_000])
@pytest.mark.parametrize(("against", "patience"), [("engineer", None), ("engineer", 0), ("reader", None)])
def test_boxes_that_hide_presence_are_cut_as_in_memory(tmp_path, monkeypatch, against, patience, shard):
    """Sides must cover enough combinations of values: which cuts do is found by counting, too."""
    monkeypatch.setattr("sfumato.scale.audit.AT_ONCE", 1000)
    asked = sf.PresenceAssociation("1/4", "1/2", against=against)
    method = sf.Ambiguity(floor=15, patience=patience)
    made, large = both(odd_table(), ODD, asked, tmp_path, method=method, shard=shard)
    assert large.private["groups"] > 3
    assert [one.claim.kind for one in large.audit.claims] == ["presence", "association"]
    found, _ = audit_directory(tmp_path / "large", odd_table(), ODD)
    alike(found, sf.audit(tmp_path / "large", sf.Table.from_frame(odd_table(), ODD)))
    other = odd_table()
    other = other.set_column(1, "weight", pa.array(np.roll(other["weight"].to_numpy(), 1)))
    wrong, _ = audit_directory(tmp_path / "large", other, ODD)
    assert wrong.problems == sf.audit(tmp_path / "large", sf.Table.from_frame(other, ODD)).problems
    assert wrong.problems
    assert large.load().count("ill = 'flu'").value == made.release.count("ill = 'flu'").value


def test_too_few_combinations_for_presence_are_said_as_in_memory(tmp_path):
    with pytest.raises(sf.errors.Infeasible, match="a stranger"):
        publish_source(odd_table(), ODD, sf.PresenceAssociation("1/100000", "1/2"), tmp_path / "out", random=1)


BLIND = {
    "multi-size": (ASKED, sf.MultiSize()),
    "one size": (sf.LDiversity(4), sf.MultiSize(strategy="one-size")),
    "anatomy": (sf.LDiversity(5), sf.Anatomy()),
}


@pytest.mark.parametrize("kind", BLIND)
def test_blind_groups_have_the_same_bytes_and_follow_from_the_people_alone(people, tmp_path, kind):
    asked, method = BLIND[kind]
    made = publication(sf.Table.from_frame(people, SCHEMA), asked, method=method, random=1)
    made.release.save(tmp_path / "memory")
    order = pa.array(np.random.default_rng(1).permutation(people.num_rows))
    for source, shard in ((people, 10_000), (people.take(order), 900), (people, 250)):
        place = tmp_path / str(shard)
        large = publish_source(source, SCHEMA, asked, place, method=method, random=1, limits=ResourceLimits(1 << 29, 2, shard))
        assert content(place) == content(tmp_path / "memory")
    assert dict(large.private) == dict(made.private)
    assert large.audit.holds
    assert large.audit.to_dict() == made.audit.to_dict()
    table = sf.Table.from_frame(people, SCHEMA)
    found, _ = audit_directory(place, people, SCHEMA)
    assert found.to_dict() == sf.audit(place, table).to_dict()
    other = people.set_column(0, "age", pa.array(np.roll(people["age"].to_numpy(), 1)))
    assert audit_directory(place, other, SCHEMA)[0].problems == sf.audit(place, sf.Table.from_frame(other, SCHEMA)).problems


def test_buckets_in_another_order_are_found_part_by_part(people, tmp_path, monkeypatch):
    """Blind buckets often begin with equal rows: two of those are exchanged, in both tables."""
    publish_source(people, SCHEMA, sf.LDiversity(4), tmp_path / "out", method=sf.MultiSize(strategy="one-size"), random=1)
    release = sf.Release.load(tmp_path / "out")
    first = np.searchsorted(release.group, np.arange(len(release.sizes)))
    alike = np.ones(len(first) - 1, bool)
    for column in release.quasi:
        alike &= column.codes[first[1:]] == column.codes[first[:-1]]
    one = int(np.flatnonzero(alike)[len(alike) // 4])
    swap = {one: one + 1, one + 1: one}
    number = np.array([swap.get(k, k) for k in range(len(first))], dtype=np.int32)
    rows, entries = (np.argsort(number[of], kind="stable") for of in (release.group, release.st_group))
    wrong = replace(
        release,
        quasi=tuple(column.take(rows) for column in release.quasi), group=number[release.group[rows]],
        st_group=number[release.st_group[entries]], st_value=release.st_value[entries], st_count=release.st_count[entries],
    )  # fmt: skip
    monkeypatch.setattr(type(wrong), "require_canonical", lambda self: None)
    wrong.save(tmp_path / "wrong")
    found, _ = audit_directory(tmp_path / "wrong")
    assert not found.holds
    assert any("canonical order" in problem for problem in found.problems)
    assert audit_directory(tmp_path / "out")[0].holds


@pytest.mark.parametrize("kind", RANDOMIZED)
def test_randomized_records_have_the_same_bytes_and_follow_from_the_people_alone(people, tmp_path, kind, monkeypatch):
    monkeypatch.setattr("sfumato.scale.audit.AT_ONCE", 1000)
    schema, asked, method = RANDOMIZED[kind]
    schema = method.close(schema)
    table = sf.Table.from_frame(people, schema)
    made = publication(table, asked, method=method, random=1)
    order = pa.array(np.random.default_rng(1).permutation(people.num_rows))
    made.release.save(tmp_path / "memory")
    for source, shard in ((people, 10_000), (people.take(order), 900), (people, 250)):
        place = tmp_path / str(shard)
        large = publish_source(source, schema, asked, place, method=method, random=1, limits=ResourceLimits(1 << 29, 2, shard))
        assert content(place) == content(tmp_path / "memory")
    assert dict(large.private) == dict(made.private)
    alike(large.audit, made.audit)
    assert len(large.load().parts) > ("parts" in kind)
    alike(audit_directory(place, people, schema)[0], sf.audit(place, table))
    alone, expected = audit_directory(place)[0], sf.audit(place, engine="memory")
    assert alone.to_dict() == expected.to_dict()
    wrong = people.set_column(0, "age", pa.array(np.roll(people["age"].to_numpy(), 1)))
    seen = audit_directory(place, wrong, schema)[0].problems
    assert seen == sf.audit(place, sf.Table.from_frame(wrong, schema)).problems
    assert seen


@pytest.mark.parametrize("shard", [100, 400, 10_000])
@pytest.mark.parametrize(
    ("asked", "method"),
    [
        (sf.FPrivacy(theta=3, offset="0.1"), sf.Boxes(floor=30)),
        (sf.FPrivacy(theta=3, offset="0.1"), sf.Boxes(floor=30, patience=0)),
        (sf.FPrivacy(theta=3, offset="0.1"), sf.Boxes(floor=30, form="ranges")),
        (sf.FPrivacy(theta=3, offset="0.05", against="reader"), sf.Boxes(floor=30, form="ranges")),
        (sf.FPrivacy(theta=3, offset="0.05", against="reader"), sf.Boxes(floor=30)),
        (sf.FPrivacy(theta=3, offset="0.05", against="reader"), sf.Boxes(floor=30, weights="association")),
        (sf.PresenceAssociation("1/4", "1/2"), sf.Ambiguity(floor=15)),
        (sf.PresenceAssociation("1/4", "1/2", against="reader"), sf.Ambiguity(floor=15)),
    ],
)
def test_each_of_several_secrets_is_protected_as_in_memory(tmp_path, monkeypatch, asked, method, shard):
    monkeypatch.setattr("sfumato.scale.audit.AT_ONCE", 1000)
    monkeypatch.setattr(files, "PART_ROWS", 400)
    _, large = both(odd_table(), EACH, asked, tmp_path, method=method, shard=shard)
    assert large.private["groups"] > 3
    found, _ = audit_directory(tmp_path / "large", odd_table(), EACH, random=1)
    alike(found, sf.audit(tmp_path / "large", sf.Table.from_frame(odd_table(), EACH, random=1)))
    assert audit_directory(tmp_path / "large")[0].to_dict() == sf.audit(tmp_path / "large", engine="memory").to_dict()
    other = odd_table()
    other = other.set_column(5, "pay", pa.array(np.roll(other["pay"].to_numpy(), 1)))
    wrong, _ = audit_directory(tmp_path / "large", other, EACH)
    assert wrong.problems == sf.audit(tmp_path / "large", sf.Table.from_frame(other, EACH)).problems
    assert wrong.problems


@pytest.mark.parametrize("form", ["buckets", "ranges"])
def test_people_are_matched_as_in_memory_where_one_shard_holds_them(people, tmp_path, form):
    """Beyond that the first cuts are strict ones, and the people of each box are matched by themselves."""
    method, asked = sf.NearGroups(form=form, floor=20), sf.LDiversity(4)
    made, large = both(people, SCHEMA, asked, tmp_path, method=method, shard=10_000)
    assert large.private["boxes"] > 2
    found = []
    order = pa.array(np.random.default_rng(1).permutation(people.num_rows))
    for name, source in (("one", people), ("other", people.take(order))):
        limits = ResourceLimits(1 << 29, 2, 1500)
        large = publish_source(source, SCHEMA, asked, tmp_path / name, method=method, random=1, limits=limits)
        found.append(content(tmp_path / name))
    assert found[0] == found[1]
    assert large.audit.holds
    assert large.private["group_sizes"] == made.private["group_sizes"]
    release = large.load()
    assert abs(len(release.sizes) - len(made.release.sizes)) < len(made.release.sizes) / 50
    alike(audit_directory(tmp_path / "one", people, SCHEMA)[0], sf.audit(tmp_path / "one", sf.Table.from_frame(people, SCHEMA)))
    if form == "ranges":  # about as narrow as those of memory
        spread = [
            np.average([box.combinations() for box in one.boxes], axis=1, weights=one.sizes) for one in (release, made.release)
        ]
        assert (spread[0] < 1.25 * spread[1] + 0.5).all()


READER = sf.FPrivacy(theta=4, offset="0.05", against="reader")
REFUSED = {
    "'near-groups' .*exchanged": (SCHEMA, sf.LDiversity(4, against="reader"), sf.NearGroups()),
    "'mondrian' .*people at a median": (SCHEMA, READER, sf.Mondrian(k=20, partition="relaxed", form="buckets")),
    "'mondrian' .*every size": (SCHEMA, READER, sf.Mondrian(k=20, constraint="t-closeness", t="0.3", form="buckets")),
    "'anatomy' .*left out": (SCHEMA, sf.LDiversity(5, against="reader"), sf.Anatomy(suppress=True)),
    "'multi-size' .*this form": (SCHEMA, ASKED, sf.MultiSize(form="ranges")),
    "'ambiguity' .*first cuts": (ODD, sf.PresenceAssociation("1/4", "1/2"), sf.Ambiguity(grouping="halves")),
    "'burel'": (SCHEMA, ASKED, sf.BuReL()),
}


@pytest.mark.parametrize("said", REFUSED)
def test_what_is_made_in_memory_only_is_refused_with_a_reason_and_a_hint(people, tmp_path, said):
    schema, asked, method = REFUSED[said]
    with pytest.raises(NotProvable, match=said) as refused:
        publish_source(people if schema is SCHEMA else odd_table(), schema, asked, tmp_path / "out", method=method, random=1)
    assert "in memory only: " in str(refused.value)
    assert 'engine = "memory"' in refused.value.hint
    assert not (tmp_path / "out").exists()


def test_soft_cuts_are_refused_in_the_tree_as_in_memory(people, tmp_path):
    """With little patience some of the first cuts, which are decided by counting, are refused: their accounts are handed down."""
    asked = sf.FPrivacy(theta=2, offset="0.01")
    made, _ = both(people, SCHEMA, asked, tmp_path, method=sf.Boxes(floor=40, patience=400), shard=500, random=5)
    assert (made.release.account < 1000).any()


@pytest.mark.parametrize("form", ["buckets", "ranges"])
def test_the_audit_beyond_memory_replays_cuts(people, tmp_path, form):
    """What it keeps is how many people of a bucket have each value; of ranges it needs the table."""
    method = sf.Boxes(floor=40, patience=400, form=form)
    made, large = both(people, SCHEMA, sf.FPrivacy(theta=2, offset="0.01"), tmp_path, method=method, shard=500, random=5)
    assert large.audit.claims[0].note.startswith(SEEN)
    told = made.release.account.copy()
    told[int(np.argmax(told == told.max()))] -= 1
    lied = replace(made.release, account=told).canonical()
    lied = lied if form == "buckets" else lied[0]
    lied.save(tmp_path / "lied")
    manifest = Release.load(tmp_path / "lied").manifest
    (tmp_path / "place").mkdir()
    alone = audit_parts(tmp_path / "lied", manifest, tmp_path / "place")
    assert alone.problems == ((OTHERWISE,) if form == "buckets" else ())
    alike(alone, sf.audit(tmp_path / "lied"))


@pytest.mark.parametrize("form", ["buckets", "ranges"])
def test_one_huge_box_is_made_in_pieces(people, tmp_path, form):
    with pytest.warns(sf.errors.OneBox):
        made, _ = both(people, SCHEMA, ASKED, tmp_path, method=sf.Boxes(floor=4000, form=form), shard=300)
    assert made.private["groups"] == 1


def test_skewed_boxes(tmp_path):
    """Nine of ten people have the same quasi values, so that one box holds most of them."""
    coins = np.random.default_rng(1)
    age = np.where(coins.random(5000) < 0.9, 40, coins.integers(20, 80, 5000))
    frame = pa.table({"age": age, "sex": coins.choice(["f", "m"], 5000), "ill": coins.choice(list("abcdefgh"), 5000)})
    schema = sf.Schema(quasi=["age", "sex"], sensitive=["ill"])
    both(frame, schema, sf.LDiversity(4), tmp_path, method=sf.Boxes(floor=20), shard=200)


def test_every_method_says_whether_engines_make_it():
    for name, kind in METHODS.items():
        if kind.__module__.startswith("sfumato."):
            given = {"shares": {"a": 1, "b": 1}, "otherwise": "a"} if name == "noisy-boxes" else {}
            why = kind.engines_refused(None, "engineer") if name in NEEDING else kind(**given).engines_refused("engineer")
            assert why is None or (len(why[0]) > 20 and " = " in why[1]), name
            assert (why is None) == (name in MADE), name


MADE = {"boxes", "mondrian", "near-groups", "multi-size", "anatomy", "ambiguity", "noisy-boxes", "uniform", "small-domain",
        "burel-perturbation"}  # fmt: skip
NEEDING = {"decoys", "privbayes", "noisy-tables", "priview", "heterogeneous", "ring"}
"""Methods with parameters of their own to give; all look at the whole table."""


@pytest.mark.parametrize("form", ["buckets", "ranges"])
def test_an_audit_of_parts_finds_what_the_audit_in_memory_finds(people, tmp_path, form, monkeypatch):
    monkeypatch.setattr("sfumato.scale.audit.AT_ONCE", 1000)
    made, _ = both(people, SCHEMA, ASKED, tmp_path, method=sf.Boxes(floor=40, form=form))
    table = sf.Table.from_frame(people, SCHEMA)
    found, _ = audit_directory(tmp_path / "large", people, SCHEMA)
    assert found.to_dict() == sf.audit(tmp_path / "large", table).to_dict()
    assert audit_directory(tmp_path / "large")[0].to_dict() == sf.audit(tmp_path / "large").to_dict()
    other = people.set_column(0, "age", pa.array(np.roll(people["age"].to_numpy(), 1)))
    wrong, _ = audit_directory(tmp_path / "large", other, SCHEMA)
    assert wrong.problems == sf.audit(tmp_path / "large", sf.Table.from_frame(other, SCHEMA)).problems
    assert wrong.holds is not True
    assert wrong.problems
    next((tmp_path / "large").glob("*/part-00001.parquet")).write_bytes(b"PAR1")
    assert not audit_directory(tmp_path / "large")[0].holds
    assert made.audit.holds


@pytest.mark.parametrize("lost", ["qit", "st"])
def test_a_table_that_the_manifest_does_not_list_is_missed(people, tmp_path, lost):
    both(people, SCHEMA, ASKED, tmp_path, method=sf.Boxes(floor=40))
    place = tmp_path / "large" / "manifest.json"
    document = json.loads(place.read_text())
    del document["tables"][lost]
    place.write_text(spelled(document))
    found, _ = audit_directory(tmp_path / "large")
    assert found.holds is False
    assert tells(found.problems, repr(lost))


def test_a_part_more_or_a_link_is_no_release(people, tmp_path):
    _, large = both(people, SCHEMA, ASKED, tmp_path, method=sf.Boxes(floor=40))
    (tmp_path / "large" / "qit" / "part-00009.parquet").write_bytes(b"")
    with pytest.raises(FormatError, match="not listed"):
        large.load()


def test_a_killed_job_leaves_nothing_that_loads(people, tmp_path):
    pq.write_table(people, tmp_path / "people.parquet")
    code = (
        "import os, signal, sys\n"
        "from pathlib import Path\n"
        "import sfumato.scale.counted as counted\n"
        "from tests.scale._large import ASKED, SCHEMA\n"
        "from sfumato.scale.verb import publish_source\n"
        "counted.audit_parts = lambda *a, **k: os.kill(os.getpid(), signal.SIGKILL)\n"
        f"publish_source(Path({str(tmp_path / 'people.parquet')!r}), SCHEMA, ASKED, Path({str(tmp_path / 'out')!r}), random=1)\n"
    )
    run = subprocess.run([sys.executable, "-c", code], check=False, env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)})
    assert run.returncode == -9
    assert not (tmp_path / "out").exists()
    assert list(tmp_path.glob(".out.*.partial"))
    publish_source(tmp_path / "people.parquet", SCHEMA, ASKED, tmp_path / "out", random=1)
    assert not list(tmp_path.glob(".out.*.partial"))


def test_amounts_of_memory_are_read_as_people_write_them():
    assert [bytes_of(text) for text in ("4GB", "512 mb", "1.5G", "300000000")] == [4 << 30, 512 << 20, 3 << 29, 300_000_000]
    with pytest.raises(PolicyError, match="no amount of memory"):
        bytes_of("much")
    with pytest.raises(PolicyError, match="too little"):
        ResourceLimits.of("1MB")
