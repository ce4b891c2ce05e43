"""Boxes and near groups publish what is recorded in tests/corpus; the record covers every method, and DuckDB has its bytes."""

import copy
import dataclasses
import typing

import pytest

import sfumato as sf
from sfumato.methods import METHODS
from sfumato.privacy import MODELS
from tests.corpus.cases import CASES, FAMILIES, FORMS, family, own_models
from tests.corpus.check import check
from tests.corpus.compare import differences, golden, without_csv_bytes
from tests.corpus.mapping import MANIFEST, MAPPING, Rule, mapped
from tests.corpus.observe import saved_files
from tests.corpus.tables import columns_for

pytestmark = pytest.mark.usefixtures("one_thread")
OWN = [name for name, kind in METHODS.items() if kind.__module__.startswith("sfumato.")]


@pytest.mark.parametrize("name", family("boxes"))
def test_a_publication_is_as_recorded(name):
    check(name)


def test_every_method_model_and_named_choice_has_a_case():
    assert set(FORMS) == set(OWN) == {method for methods in FAMILIES.values() for method in methods}
    assert own_models() == {name for name, kind in MODELS.items() if kind.__module__.startswith("sfumato.")}
    for name in OWN:
        made = [case.make() for case in CASES.values() if case.method == name]
        hints = typing.get_type_hints(METHODS[name])
        for one in dataclasses.fields(METHODS[name]):
            choices = {value for value in _literals(hints[one.name]) if isinstance(value, str)}
            tried = {str(getattr(method, one.name)) for method in made}
            assert choices <= tried, f"{name}: no case for {one.name} = {sorted(choices - tried)}"


def _literals(hint):
    if typing.get_origin(hint) is typing.Literal:
        return typing.get_args(hint)
    return [value for part in typing.get_args(hint) for value in _literals(part)]


def test_every_method_form_and_basis_that_there_is_has_been_published():
    from sfumato.basis import BASES

    recorded, _ = golden()
    assert set(recorded) == set(CASES)
    seen = {name: one["seed 1"]["files"][MANIFEST]["keys"] for name, one in recorded.items() if "seed 1" in one}
    assert {CASES[name].method for name in seen} == set(OWN)
    assert {keys["form"] for keys in seen.values()} == {"buckets", "ranges", "columns", "views", "randomized", "synthetic"}
    assert {keys["basis"] for keys in seen.values()} == {*BASES, None}
    assert sum(key.startswith("seed ") for one in recorded.values() for key in one) >= 130


@pytest.mark.parametrize(
    "name",
    [
        "boxes engineer one", "boxes[form=ranges] engineer one", "boxes[patience=0] engineer bins", "boxes reader one",
        "boxes engineer each", "boxes engineer sets", "mondrian reader one", "noisy-boxes[shares=…] insider one",
        "ambiguity engineer presence", "near-groups engineer one", "near-groups engineer each", "boxes engineer odd",
        "boxes[weights=association] reader one", "mondrian[constraint=entropy,l=2] reader one", "multi-size engineer one",
        "multi-size engineer odd", "anatomy engineer one", "anatomy engineer combination", "small-domain engineer one",
        "small-domain[parameters=declared,shares=…] insider one", "uniform engineer one", "burel-perturbation engineer one beta",
    ],
)  # fmt: skip
def test_duckdb_has_the_recorded_bytes(name, tmp_path):
    pytest.importorskip("duckdb")
    case = CASES[name]
    frame, said = columns_for(case.kind)
    sf.publish(frame, case.required(), method=case.make(), random=1, out=tmp_path / "release", engine="duckdb", **said)
    expected = mapped(name, golden()[0][name])["seed 1"]["files"]
    assert differences(expected, saved_files(tmp_path / "release")) == []


def test_a_difference_is_told_with_its_place_and_numbers_may_round():
    old = {"answers": {"all": [240.0, 1 / 3, "a note"]}, "files": {"qit.parquet": {"bytes": "00"}}}
    new = copy.deepcopy(old)
    new["answers"]["all"][1] += 1e-10
    assert differences(old, new) == []
    new["answers"]["all"][1] += 1e-5  # more than the looser comparison of another kind of processor lets pass
    new["files"]["st.parquet"] = {}
    assert [line.split(":")[0] for line in differences(old, new)] == ["answers.all[1]", "files.st.parquet"]
    assert differences({"x": True}, {"x": 1}) == ["x: recorded true, found 1"]
    other_pyarrow = {"seed 1": {"csv": {"st.csv": "00"}, "files": {"st.parquet": "00"}}}
    found = {"seed 1": {"csv": {"st.csv": "11"}, "files": {"st.parquet": "11"}}}
    assert len(differences(other_pyarrow, found)) == 2
    assert [line.split(":")[0] for line in differences(without_csv_bytes(other_pyarrow), found)] == ["seed 1.files.st.parquet"]


def test_a_mapping_renames_what_was_recorded_and_nothing_else():
    assert MAPPING == () or all(rule.why for rule in MAPPING)
    recorded = golden()[0]["boxes engineer one"]
    assert mapped("boxes engineer one", recorded, ()) == recorded
    rule = Rule(
        why="one name for groups", files={"qit": "records"}, columns={"qit": {"group": "box"}},
        types={"qit": {"group": "int64"}}, keys={"basis": "grouping", "seeded": None}, values={"version": 4},
        rewritten=["claims"], texts={"engineer": "programmer"}, without=["answers.association"], forms=["buckets"],
    )  # fmt: skip
    now = copy.deepcopy(mapped("boxes engineer one", recorded, [rule]))
    one, old = now["seed 1"], recorded["seed 1"]
    assert set(one["files"]) == {"records.parquet", "st.parquet", "groups.parquet", MANIFEST}
    held, was = (side["files"][name]["columns"] for side, name in ((one, "records.parquet"), (old, "qit.parquet")))
    assert held["box"] == was["group"].replace("int32", "int64")
    assert held["age"] == was["age"]
    assert one["files"]["st.parquet"] == old["files"]["st.parquet"]
    keys = one["files"][MANIFEST]["keys"]
    assert (keys["grouping"], keys["version"], "seeded" in keys) == ("soft", 4, False)
    assert "programmer" in one["audit"]["claims"][0]["adversary"]
    one["answers"]["association"] = one["files"]["records.parquet"]["bytes"] = one["csv"]["records.csv"] = "another"
    assert differences(mapped("boxes engineer one", recorded, [rule]), now) == []
    held["age"] = "int64 0"
    assert len(differences(mapped("boxes engineer one", recorded, [rule]), now)) == 1
    ranges = golden()[0]["boxes[form=ranges] engineer one"]
    assert mapped("boxes[form=ranges] engineer one", ranges, [dataclasses.replace(rule, texts={})]) == ranges
    other = Rule(why="another case", rewritten=["claims"], cases="near-groups*")
    assert mapped("boxes engineer one", recorded, [other]) == recorded
