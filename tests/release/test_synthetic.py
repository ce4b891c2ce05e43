"""Synthetic records have one spelling: another order, column, value or word in the manifest is refused."""

import json
from dataclasses import replace

import pyarrow as pa
import pytest

from sfumato import Release
from sfumato.errors import FormatError
from sfumato.release import SyntheticRelease
from sfumato.release.consistent import inconsistencies
from sfumato.release.manifest import spelled
from tests.makers import skewed
from tests.release._synthetic import release_of

RELEASE = release_of(skewed(rows=200))


@pytest.mark.parametrize("kind", ["parquet", "csv"])
def test_what_is_loaded_and_saved_again_has_the_same_bytes(tmp_path, kind):
    RELEASE.save(tmp_path / "one", format=kind)
    Release.load(tmp_path / "one").save(tmp_path / "two", format=kind)
    for file in (tmp_path / "one").iterdir():
        assert file.read_bytes() == (tmp_path / "two" / file.name).read_bytes()


def test_records_in_another_order_are_refused_or_put_in_order():
    records = RELEASE.tables()["records"]
    turned = {"records": records.take(pa.array(range(199, -1, -1)))}
    with pytest.raises(FormatError, match="canonical order"):
        SyntheticRelease.from_tables(RELEASE.manifest, turned).require_canonical()
    ordered = SyntheticRelease.from_tables(RELEASE.manifest, turned, in_any_order=True).tables()["records"]
    assert ordered.to_pylist() == records.to_pylist()


def test_a_column_more_is_refused():
    records = RELEASE.tables()["records"]
    with pytest.raises(FormatError, match="should have the columns"):
        SyntheticRelease.from_tables(RELEASE.manifest, {"records": records.append_column("note", records["sex"])})


@pytest.mark.parametrize(
    "change",
    [
        lambda found: found["parameters"].update(note="hers is flu"),
        lambda found: found["parameters"].update(epsilon="2/2"),
        lambda found: found["parameters"].pop("measured"),
        lambda found: found["parameters"].update(weaker_claim="Nobody is told anything."),
        lambda found: found.update(basis="blind"),
        lambda found: found["method"].update(form="synthetic"),
        lambda found: found["parameters"].update(ratio="1/2"),
    ],
)
def test_a_word_more_or_less_in_the_manifest_is_refused(tmp_path, change):
    RELEASE.save(tmp_path / "release")
    place = tmp_path / "release" / "manifest.json"
    document = json.loads(place.read_text())
    change(document)
    place.write_text(spelled(document))
    with pytest.raises(FormatError):
        Release.load(tmp_path / "release")


def test_it_says_that_its_records_are_nobodys():
    assert repr(RELEASE) == "SyntheticRelease(200 synthetic records; age, sex → value)"
    with pytest.raises(FormatError, match="show no person"):
        RELEASE.presence([{"age": 30, "sex": "f"}])


def test_who_drew_the_noise_is_said_where_it_may_differ_and_nowhere_else():
    manifest = release_of(skewed(200)).manifest
    assert inconsistencies(manifest) == []
    assert inconsistencies(replace(manifest, parameters={**manifest.parameters, "noise": "sfumato"}))

    def faults(asked, said, seeded):
        parameters = {**manifest.parameters, **({} if said is None else {"noise": said})}
        method = {**manifest.method, "name": "noisy-tables", "noise": asked}
        return inconsistencies(replace(manifest, method=method, parameters=parameters, seeded=seeded, reproducible=seeded))

    fine = [(None, "sfumato", True), (None, "opendp", False), ("opendp", "opendp", False), ("sfumato", "sfumato", False)]
    assert [faults(*one) for one in fine] == [[]] * 4
    for wrong in [(None, None, True), ("sfumato", "opendp", False), ("opendp", "sfumato", False), (None, "opendp", True)]:
        assert faults(*wrong), wrong
