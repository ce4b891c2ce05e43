import hashlib
import json
import os
import stat
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sfumato import LDiversity, MultiSize, Release, Schema, Table, audit, publish
from sfumato.cli._workers import limited
from sfumato.errors import FormatError, InputError, OutputError
from sfumato.release.files import read_release
from sfumato.release.manifest import spelled
from tests.makers import people, skewed
from tests.release._forge import forge, read_manifest, refusal, write_manifest


@pytest.fixture
def saved(tmp_path):
    publish(skewed(), LDiversity(2), random=1).save(tmp_path / "release")
    return tmp_path / "release"


def test_files_are_written_by_as_many_threads_as_arrow_may_use_and_by_none_with_one(tmp_path, monkeypatch):
    asked = []

    class Pool(ThreadPoolExecutor):
        def __init__(self, workers):
            asked.append(workers)
            super().__init__(workers)

    monkeypatch.setattr("sfumato.release.files.ThreadPoolExecutor", Pool)
    release = publish(skewed(), LDiversity(2), random=1)
    with limited(1):
        release.save(tmp_path / "one")
    release.save(tmp_path / "all")
    assert asked == ([pa.cpu_count()] if pa.cpu_count() > 1 else [])


def test_a_release_is_its_tables_and_a_manifest_and_nothing_else(saved):
    assert sorted(path.name for path in saved.iterdir()) == ["groups.parquet", "manifest.json", "qit.parquet", "st.parquet"]
    assert list(saved.parent.iterdir()) == [saved]


def test_types_survive_parquet_and_csv(tmp_path):
    table = people(list("aabbcc"), post=["01", "02", "", "04", None, "06"], age=[1, 2, 3, 4, None, 6], w=[0.5, 1.5, 2, 3, 4, 5])
    release = publish(table, LDiversity(3), random=1)
    for kind in ("parquet", "csv"):
        release.save(tmp_path / kind, format=kind)
        loaded = Release.load(tmp_path / kind)
        for name, mine in release.tables().items():
            theirs = loaded.tables()[name]
            for column in mine.column_names:
                assert theirs[column].to_pylist() == mine[column].to_pylist(), (kind, column)
        assert loaded.tables()["qit"]["post"].type.value_type == pa.string()


@pytest.mark.parametrize("file", ["../outside.parquet", "/etc/hostname", "sub/x.parquet", "..", "st.parquet", "qit.csv", "qit"])
def test_a_manifest_that_points_outside_its_directory_or_to_another_file_is_refused(saved, file):
    (saved.parent / "outside.parquet").write_bytes((saved / "qit.parquet").read_bytes())
    forge(saved, lambda document: document["tables"]["qit"]["files"][0].update(file=file))
    with pytest.raises(FormatError, match="named after"):
        Release.load(saved)


@pytest.mark.parametrize("name", ["../outside", "/etc/hostname", "sub/x", ".", ".."])
def test_a_table_whose_name_is_a_path_is_refused(saved, name):
    (saved.parent / "outside.parquet").write_bytes((saved / "qit.parquet").read_bytes())

    def rename(document):
        facts = document["tables"].pop("qit")
        facts["files"][0]["file"] = f"{name}.parquet"
        document["tables"][name] = facts

    forge(saved, rename)
    with pytest.raises(FormatError):
        Release.load(saved)


@pytest.mark.parametrize("file", ["", 7, None, [], {}])
def test_a_file_name_that_is_no_name_is_refused(saved, file):
    forge(saved, lambda document: document["tables"]["qit"]["files"][0].update(file=file))
    with pytest.raises(FormatError, match="tables"):
        Release.load(saved)


def test_a_link_instead_of_a_file_is_refused(saved):
    (saved.parent / "outside.parquet").write_bytes((saved / "qit.parquet").read_bytes())
    (saved / "qit.parquet").unlink()
    (saved / "qit.parquet").symlink_to(saved.parent / "outside.parquet")
    with pytest.raises(FormatError, match="not a file"):
        Release.load(saved)


def test_a_linked_manifest_is_refused(saved):
    (saved / "manifest.json").rename(saved.parent / "elsewhere.json")
    (saved / "manifest.json").symlink_to(saved.parent / "elsewhere.json")
    with pytest.raises(FormatError, match=r"manifest\.json.*a file"):
        Release.load(saved)


def test_text_with_line_breaks_and_of_any_length_survives_csv(tmp_path):
    long = ["x" * 2_000_000 + f"\n{k}" for k in range(2)] + ['quote " and, comma\r\nend'] * 2
    release = publish(people(list("abab"), note=long), LDiversity(2), random=1)
    release.save(tmp_path / "release", format="csv")
    assert sorted(Release.load(tmp_path / "release").tables()["qit"]["note"].to_pylist()) == sorted(long)


def test_many_sensitive_columns_survive(tmp_path):
    coins = np.random.default_rng(1)
    names = [f"s{k}" for k in range(12)]
    frame = {"age": coins.integers(0, 80, 300), **{name: [f"v{k}" for k in coins.integers(0, 60, 300)] for name in names}}
    table = Table.from_frame(pa.table(frame), Schema(quasi=["age"], sensitive=names, protect="combination"))
    release = publish(table, LDiversity(3), random=1)
    release.save(tmp_path / "release")
    assert audit(Release.load(tmp_path / "release"), table).holds is True


@pytest.mark.parametrize(("quasi", "sensitive"), [("group", "value"), ("age", "count"), ("age", "group")])
def test_columns_with_the_names_of_ours_are_refused(quasi, sensitive):
    table = Table.from_frame(pa.table({quasi: [1, 2], sensitive: ["a", "b"]}), Schema(quasi=[quasi], sensitive=[sensitive]))
    with pytest.raises(InputError, match="two columns called"):
        publish(table, LDiversity(2))


def test_a_release_cannot_be_changed():
    release = publish(skewed(), LDiversity(2), random=1)
    with pytest.raises(ValueError, match="read-only"):
        release.group[0] = 1


def test_a_truncated_manifest_is_refused(saved):
    text = (saved / "manifest.json").read_text()
    (saved / "manifest.json").write_text(text[: len(text) // 2])
    with pytest.raises(FormatError, match="not valid JSON"):
        Release.load(saved)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda document: document.update(version=4), "version above 3"),
        (lambda document: document.update(version=1), "format version 1"),
        (lambda document: document.update(version=2), "format version 2"),
        (lambda document: document.update(version="3"), "no usable format version"),
        (lambda document: document.update(format="other"), "describe a release"),
        (lambda document: document.update(form="mosaic"), "form"),
        (lambda document: document.pop("claims"), "claims"),
        (lambda document: document.update(rows="many"), "rows"),
        (lambda document: document.update(claims=[{"x": 1}]), r"claims\[0\]\.adversary"),
        (lambda document: document["tables"].pop("st"), "not listed"),
        (
            lambda document: document.update(claims=[{"kind": "association", "adversary": "", "statement": ""}]),
            r"claims\[0\]\.adversary",
        ),
        (lambda document: document.update(diary="who is who"), "is not valid"),
        (lambda document: document.update(schema={}), r"schema\.declared"),
    ],
)
def test_a_manifest_that_cannot_be_trusted_is_refused(saved, change, message):
    forge(saved, change)
    with pytest.raises(FormatError, match=message):
        Release.load(saved)
    assert refusal(saved, skewed())


@pytest.mark.parametrize("number", ["Infinity", "-Infinity", "NaN"])
def test_numbers_that_json_does_not_have_are_refused(saved, number):
    text = (saved / "manifest.json").read_text()
    (saved / "manifest.json").write_text(text.replace('"rows": 600', f'"rows": {number}'))
    with pytest.raises(FormatError, match="not valid JSON"):
        Release.load(saved)


def test_two_numbers_of_rows_and_a_column_listed_twice_are_refused(saved):
    honest = read_manifest(saved)
    forge(saved, lambda document: document["tables"]["st"].update(rows=7))
    with pytest.raises(FormatError, match="two numbers of rows"):
        Release.load(saved)
    write_manifest(saved, honest)
    forge(saved, lambda document: document["tables"]["st"]["columns"].append(document["tables"]["st"]["columns"][0]))
    with pytest.raises(FormatError, match="a column twice"):
        Release.load(saved)


def test_a_damaged_or_missing_table_is_refused(saved):
    (saved / "st.parquet").write_bytes(b"PAR1 nonsense")
    with pytest.raises(FormatError, match=r"st\.parquet.*sha-256.*; st\.parquet: "):
        Release.load(saved)
    (saved / "st.parquet").unlink()
    with pytest.raises(FormatError, match="not a file"):
        Release.load(saved)


def test_a_changed_file_is_refused_on_loading_and_told_by_the_audit(saved):
    qit = pq.read_table(saved / "qit.parquet")
    pq.write_table(qit.slice(1), saved / "qit.parquet")
    with pytest.raises(FormatError, match="sha-256"):
        Release.load(saved)
    assert audit(saved).holds is False


def test_a_directory_that_is_no_release_is_refused(tmp_path):
    with pytest.raises(FormatError, match=r"has no manifest\.json"):
        Release.load(tmp_path)
    with pytest.raises(FormatError, match="not a release directory"):
        Release.load(tmp_path / "nowhere")


def test_an_existing_directory_is_never_overwritten(saved):
    before = (saved / "manifest.json").read_text()
    with pytest.raises(OutputError, match="exists already"):
        publish(skewed(), LDiversity(2)).save(saved)
    assert (saved / "manifest.json").read_text() == before


def test_a_failed_write_leaves_nothing(tmp_path, monkeypatch):
    release = publish(skewed(), LDiversity(2), random=1)

    def fails(*args, **options):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("pathlib.Path.write_bytes", fails)
    with pytest.raises(OutputError, match="No space left"):
        release.save(tmp_path / "release")
    assert list(tmp_path.iterdir()) == []


def test_an_interrupted_write_leaves_nothing(tmp_path, monkeypatch):
    release = publish(skewed(), LDiversity(2), random=1)

    def interrupted(*args, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr("sfumato.release.atomic.move_new", interrupted)
    with pytest.raises(KeyboardInterrupt):
        release.save(tmp_path / "release")
    assert list(tmp_path.iterdir()) == []


def test_an_unknown_table_format_is_refused(tmp_path):
    with pytest.raises(OutputError, match="expected 'parquet' or 'csv'"):
        publish(skewed(), LDiversity(2), random=1).save(tmp_path / "release", format="xlsx")
    assert list(tmp_path.iterdir()) == []


def test_a_place_that_cannot_be_written_is_an_error(tmp_path):
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(OutputError, match="cannot write the release"):
        publish(skewed(), LDiversity(2), random=1).save(tmp_path / "file" / "release")


def test_a_written_release_is_readable_for_others(saved):
    assert stat.S_IMODE((saved / "manifest.json").stat().st_mode) & stat.S_IRUSR
    assert read_release(saved).problems == ()


def test_a_csv_header_that_is_no_text_is_refused(tmp_path):
    release = publish(people(["x", "y"] * 4), LDiversity(2), method=MultiSize(), random=1)
    release.save(tmp_path / "r", format="csv")
    path = tmp_path / "r" / "qit.csv"
    data = path.read_bytes().replace(b"number", b"num\xb6er")
    path.write_bytes(data)
    manifest = tmp_path / "r" / "manifest.json"
    document = json.loads(manifest.read_text())
    document["tables"]["qit"]["files"][0]["sha256"] = hashlib.sha256(data).hexdigest()
    manifest.write_text(spelled(document))
    with pytest.raises(FormatError, match="cannot be read"):
        Release.load(tmp_path / "r")
    assert audit(tmp_path / "r").holds is False


@pytest.mark.parametrize("name", ["manifest.json", "qit.parquet", "st.parquet"])
def test_a_pipe_or_a_directory_in_the_place_of_a_file_is_refused_at_once(saved, name):
    (saved / name).unlink()
    os.mkfifo(saved / name)  # whoever opens it to read would wait for a writer
    with pytest.raises(FormatError, match="not a file"):
        Release.load(saved)
    (saved / name).unlink()
    (saved / name).mkdir()
    with pytest.raises(FormatError, match="not a file"):
        Release.load(saved)


def test_a_manifest_beyond_any_size_is_refused_before_it_is_read(saved):
    os.truncate(saved / "manifest.json", 1 << 40)  # a hole: it takes no room on disk
    with pytest.raises(FormatError, match="largest size"):
        Release.load(saved)
