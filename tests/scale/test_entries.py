"""What buckets show, looked at some buckets at a time: the audit says what it says in memory, of sound releases and of others."""

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.release import files
from sfumato.scale.verb import audit_directory
from tests.scale._large import ASKED, SCHEMA, alike

MADE = {
    "boxes": (ASKED, sf.Boxes(floor=40)),
    "multi-size": (ASKED, sf.MultiSize()),
    "anatomy": (sf.LDiversity(5), sf.Anatomy()),
    "decoys": (sf.LDiversity(5), sf.Decoys(decoys=1)),
}


@pytest.fixture(autouse=True)
def _some_at_a_time(monkeypatch):
    monkeypatch.setattr(files, "PART_ROWS", 1700)
    monkeypatch.setattr("sfumato.scale.audit.AT_ONCE", 900)
    monkeypatch.setattr("sfumato.scale.entries.AT_ONCE", 300)


def exchanged(release, fits):
    """Return the release with a value x less and y more in one bucket, and the other way round in another: sizes, totals stay."""
    shown = np.zeros((len(release.sizes), len(release.domain)), np.int64)
    shown[release.st_group, release.st_value] = release.st_count
    for x in range(shown.shape[1]):
        for y in range(shown.shape[1]):
            here, there = np.flatnonzero(fits(shown[:, x], shown[:, y])), np.flatnonzero(fits(shown[:, y], shown[:, x]))
            if x != y and len(here) and len(there) and here[0] != there[0]:
                shown[[here[0], there[0], here[0], there[0]], [x, x, y, y]] += [-1, 1, 1, -1]
                bucket, value = (one.astype(np.int32) for one in np.nonzero(shown))
                return replace(release, st_group=bucket, st_value=value, st_count=shown[bucket, value]).canonical()
    raise AssertionError


def only(x, y):
    return (x > 0) & (y == 0)


def several(x, y):
    return (x > 1) & (y > 0)


@pytest.mark.parametrize("kind", MADE)
def test_buckets_are_judged_as_in_memory(people, tmp_path, kind):
    asked, method = MADE[kind]
    table = sf.Table.from_frame(people, SCHEMA)
    release = sf.publish(table, asked, method=method, random=1)
    release.save(tmp_path / "sound")
    sound, _ = audit_directory(tmp_path / "sound", people, SCHEMA)
    assert sound.holds
    assert sound.to_dict() == sf.audit(tmp_path / "sound", table, engine="memory").to_dict()
    assert audit_directory(tmp_path / "sound")[0].to_dict() == sf.audit(tmp_path / "sound", engine="memory").to_dict()
    other = people.set_column(0, "age", pa.array(np.roll(people["age"].to_numpy(), 1)))
    strangers, _ = audit_directory(tmp_path / "sound", other, SCHEMA)
    assert strangers.problems == sf.audit(tmp_path / "sound", sf.Table.from_frame(other, SCHEMA), engine="memory").problems
    assert strangers.problems
    exchanged(release, only).save(tmp_path / "false")
    false, _ = audit_directory(tmp_path / "false", people, SCHEMA)
    alike(false, sf.audit(tmp_path / "false", table, engine="memory"))
    assert kind != "boxes" or "their quasi values shows" in " ".join(false.problems)


def test_a_count_that_is_too_small_is_found_where_its_bucket_is_looked_at(people, tmp_path):
    table = sf.Table.from_frame(people, SCHEMA)
    release = sf.publish(table, ASKED, method=sf.Boxes(floor=40), random=1)
    exchanged(release, several).save(tmp_path / "false")
    found, _ = audit_directory(tmp_path / "false", people, SCHEMA)
    assert found.problems == sf.audit(tmp_path / "false", table, engine="memory").problems
    assert any("counts of st are smaller" in problem for problem in found.problems)


@pytest.mark.parametrize("fault", ["twice", "order", "gap", "size", "many"])
def test_tables_that_cannot_be_what_buckets_show_are_findings(people, tmp_path, fault, monkeypatch):
    monkeypatch.setattr(sf.Release, "require_canonical", lambda self: None)  # as somebody else would write it
    table = sf.Table.from_frame(people, SCHEMA)
    release = sf.publish(table, ASKED, method=sf.MultiSize(), random=1)
    bucket, value, count = release.st_group.copy(), release.st_value.copy(), release.st_count.copy()
    if fault == "twice":
        first = np.flatnonzero(bucket == bucket[-1])[0]
        value[first + 1] = value[first]
    elif fault == "order":
        value[[0, 1]] = value[[1, 0]]
    elif fault == "gap":
        bucket[bucket == bucket[-1]] -= 1
    elif fault == "size":
        count[-1] += 1
        count[0] += 1
    else:
        count[0] = 1 << 40
    replace(release, st_group=bucket, st_value=value, st_count=count).save(tmp_path / "false")
    found, _ = audit_directory(tmp_path / "false", people, SCHEMA)
    said = {
        "twice": "occur twice",
        "order": "not in the canonical order",
        "gap": "without gaps",
        "size": "do not add up",
        "many": "do not add up",
    }
    assert found.holds is not True
    assert said[fault] in " ".join(found.problems)
