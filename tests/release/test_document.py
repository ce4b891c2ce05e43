"""What manifests may state of methods and models, listed for readers, is what the programs declare about themselves."""

import json
from typing import get_args, get_type_hints

import pytest

from sfumato.methods import METHODS
from sfumato.parameters import taken
from sfumato.privacy import MODELS
from sfumato.release import document
from sfumato.release import stated as stated_types
from sfumato.release.shape import fault_in, manifest_schema
from tests.release._one_way import honest

OWN = {name: kind for name, kind in METHODS.items() if kind.__module__.startswith("sfumato.")}


def stated(kind):
    """Return the schema of every key of a structure but null, which a release may state where nothing was given."""
    found = {}
    for key, one in manifest_schema()["definitions"][kind.__name__]["properties"].items():
        choices = [choice for choice in one.get("anyOf", [one]) if choice != {"type": "null"}]
        found[key] = choices[0]
    return found


def test_every_method_and_every_form_is_listed():
    from sfumato.form import FORMS
    from sfumato.release.programs import PROGRAMS

    assert set(stated_types.METHODS) == set(OWN) == set(PROGRAMS)
    forms = {get_args(get_type_hints(one)["form"])[0] for one in get_args(document.ManifestDocument)}
    assert forms == set(FORMS)


@pytest.mark.parametrize("name", sorted(OWN))
def test_a_method_states_its_parameters_within_their_ranges(name):
    declared, listed = taken(OWN[name]), stated(stated_types.METHODS[name])
    assert set(listed) - {"name"} == set(declared)
    for key, one in declared.items():
        words = [one["const"]] if "const" in one else one.get("enum")
        if words is not None:
            shown = listed[key]
            assert {shown["const"]} if "const" in shown else set(shown["enum"]) == set(words), key
        if "minimum" in one:
            assert listed[key]["minimum"] == one["minimum"], key


@pytest.mark.parametrize(
    "kind",
    ["FPrivacyEntry", "LDiversityEntry", "BetaLikenessEntry", "RhoPrivacyEntry", "DifferentialEntry", "PresenceAssociationEntry"],
)
def test_a_model_states_its_parameters(kind):
    listed = stated(getattr(stated_types, kind))
    # A model that bounds the odds of any set takes the word, and refuses every set.
    declared = set(taken(MODELS[listed["model"]["const"]]))
    assert set(listed) - {"model"} == declared - ({"sets"} if kind == "DifferentialEntry" else set())


@pytest.mark.parametrize("form", ["buckets", "ranges", "columns", "views", "randomized", "synthetic", "weaker", "note"])
def test_honest_manifests_have_the_shape(tmp_path, form):
    honest(form).save(tmp_path / "release")
    found = json.loads((tmp_path / "release" / "manifest.json").read_text())
    assert fault_in(found, manifest_schema()) is None
    assert fault_in(found | {"diary": "x"}, manifest_schema()) == ""
    assert fault_in(found | {"form": "other"}, manifest_schema()) == "form"
    assert fault_in(found | {"parameters": {}}, manifest_schema()).startswith("parameters.")
