"""Every number of a requirement has its range where a manifest is read, whoever wrote it."""

import json

import pytest

import sfumato as sf
from sfumato.errors import FormatError
from sfumato.release.manifest import Manifest, spelled
from tests.fuzz.bases import BASES, tables

READER = {"against": "reader"}
RHO = {"model": "rho-privacy", "rho1": "1/4", "rho2": "4/5", **READER}
LINEAR = {"model": "f-privacy", "theta": "2", "offset": "1/10", "bounds": {"HIV": "1/5"}, **READER}
SETS = {"ill": {"values": ["HIV", "flu"], "bound": "1/2"}, "kinds": {"values": ["none"], "theta": "1", "offset": "1/3"}}
PRESENCE = {"model": "presence-association", "alpha": "2/3", "beta": "1/2", **READER}
WRONG = [
    (RHO, {"rho2": "2"}, "requirement.rho2"),
    (RHO, {"rho2": "1"}, "requirement.rho2"),
    (RHO, {"rho1": "0"}, "requirement.rho1"),
    (RHO, {"rho1": "9/10"}, "requirement.rho2"),
    (LINEAR, {"offset": "11/10"}, "requirement.offset"),
    (LINEAR, {"theta": "-1"}, "requirement.theta"),
    (LINEAR, {"bounds": {"HIV": "0"}}, "requirement.bounds"),
    (LINEAR, {"bounds": {"HIV": "3/2"}}, "requirement.bounds"),
    (LINEAR, {"sets": SETS | {"ill": {"values": ["HIV"], "bound": "1"}}}, "requirement.sets"),
    (LINEAR, {"sets": SETS | {"kinds": {"values": ["none"], "theta": "1", "offset": "2"}}}, "requirement.sets"),
    (LINEAR, {"sets": SETS | {"kinds": {"values": ["none"], "theta": "0", "offset": "0"}}}, "theta and offset 0"),
    (LINEAR, {"columns": {"value": RHO | {"rho2": "7"}}}, "requirement.columns"),
    (LINEAR, {"columns": {"value": RHO | {"rho1": "9/10"}}}, "requirement.columns.rho2"),
    (PRESENCE, {"alpha": "0"}, "requirement.alpha"),
    (PRESENCE, {"alpha": "5/4"}, "requirement.alpha"),
    (PRESENCE, {"beta": "2"}, "requirement.beta"),
    (PRESENCE, {"beta": {"model": "rho-privacy", "rho1": "1/2", "rho2": "1/3"}}, "requirement.beta.rho2"),
    ({"model": "l-diversity", "l": 2, **READER}, {"l": 0}, "requirement.l"),
    ({"model": "beta-likeness", "beta": "2", "enhanced": False, **READER}, {"beta": "-2"}, "requirement.beta"),
    ({"model": "differential", "against": "insider", "epsilon": "1", "odds": None}, {"epsilon": "21"}, "requirement.epsilon"),
    ({"model": "differential", "against": "insider", "epsilon": "1", "odds": None}, {"epsilon": "0"}, "requirement.epsilon"),
    ({"model": "differential", "against": "insider", "epsilon": None, "odds": "3"}, {"odds": "1"}, "requirement.odds"),
    ({"model": "differential", "against": "insider", "epsilon": None, "odds": "3"}, {"epsilon": "1"}, "epsilon and odds"),
]


@pytest.fixture(scope="module")
def release():
    base = next(one for one in BASES if one.name == "small-domain")
    return sf.publication(tables()[base.name], base.requirement, method=base.method, random=1).release


@pytest.fixture
def document(release, tmp_path):
    release.save(tmp_path / "release")
    return json.loads((tmp_path / "release" / "manifest.json").read_text())


@pytest.mark.parametrize(("asked", "change", "place"), WRONG, ids=lambda one: None if isinstance(one, dict) else one)
def test_a_number_beyond_its_range_is_refused_and_its_place_is_named(document, asked, change, place):
    with pytest.raises(FormatError) as problem:
        Manifest.from_json(spelled(document | {"requirement": asked | change}))
    assert place in problem.value.message


def test_honest_numbers_are_read(document):
    for asked in (RHO, LINEAR | {"sets": SETS}, PRESENCE, LINEAR | {"columns": {"value": RHO}}):
        assert Manifest.from_json(spelled(document | {"requirement": asked})).requirement == asked


@pytest.mark.parametrize("rho2", ["2", "1", "0"])
def test_the_audit_of_a_strangers_release_refuses_them_with_a_sentence(document, tmp_path, rho2):
    """With rho2 = 2 the largest share that a part states was divided by zero."""
    document["requirement"]["rho2"] = rho2
    (tmp_path / "release" / "manifest.json").write_text(spelled(document))
    with pytest.raises(FormatError, match=r"requirement\.rho2"):
        sf.audit(tmp_path / "release")
    with pytest.raises(FormatError, match=r"requirement\.rho2"):
        sf.Release.load(tmp_path / "release")


@pytest.mark.parametrize(("key", "number"), [("retention", "0"), ("retention", "2"), ("gamma", "1/2"), ("largest_share", "3/2")])
def test_numbers_of_parts_have_their_ranges_too(document, key, number):
    assert key in document["parameters"]["parts"][0]
    document["parameters"]["parts"][0][key] = number
    with pytest.raises(FormatError, match="parameters"):
        Manifest.from_json(spelled(document))
