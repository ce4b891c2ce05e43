"""Every rule of a manifest has a name and a sentence, is kept by honest releases, and is found when it alone is broken."""

from dataclasses import replace

import pytest

from sfumato.release.consistent import RULES, inconsistencies
from tests.release._one_way import honest


def changed(form, /, **facts):
    """Return the manifest of an honest release with other facts; parameters, method and requirement beside their own."""
    manifest = honest(form).manifest
    inside = ("parameters", "method", "requirement")
    return replace(manifest, **{key: {**getattr(manifest, key), **one} if key in inside else one for key, one in facts.items()})


def without(form, key):
    manifest = honest(form).manifest
    return replace(manifest, parameters={name: one for name, one in manifest.parameters.items() if name != key})


def bundled(form):
    manifest = honest(form).manifest
    names = [column["name"] for column in manifest.schema["sensitive"]]
    declared = {**manifest.schema["declared"], "secrets": {name: [name] for name in names}}
    return replace(manifest, schema={**manifest.schema, "declared": declared})


def weighed(form):
    manifest = honest(form).manifest
    column = next(column["name"] for column in manifest.schema["quasi"] if column["kind"] == "numeric")
    weight = {"column": column, "made_without_secrets": False, "bins": [0, 9], "values": [3], "floor": 2}
    return replace(manifest, schema={**manifest.schema, "declared": {**manifest.schema["declared"], "weight": weight}})


SETS = {"ill": {"values": ["flu"], "bound": "1/2"}}
BROKEN = {
    "method": (lambda: changed("buckets", method={"package": "magic 1.0"}), "has the name of a method of sfumato"),
    "form": (lambda: changed("weaker", form="buckets"), "'ring' does not make the form 'buckets'"),
    "form-asked": (lambda: changed("ranges", method={"form": "buckets"}), "asked for 'buckets', and the form is 'ranges'"),
    "basis": (lambda: changed("buckets", basis="tight"), "the basis is 'tight', and 'multi-size'"),
    "decoys": (lambda: changed("buckets", parameters={"decoys": 1}, values=None), "parameters.decoys is 1, and the method has 0"),
    "suppression": (lambda: changed("buckets", parameters={"suppression": True}, values=None), "does not suppress"),
    "weaker-claim": (lambda: without("weaker", "matches"), "parameters.matches is missing"),
    "growth": (lambda: changed("buckets", parameters={"gamma": "2"}), "parameters.gamma must not be stated"),
    "noise": (lambda: changed("synthetic", parameters={"noise": "sfumato"}), "does not say who draws noise"),
    "note": (
        lambda: changed("note", parameters={"note": "k-anonymity makes no claim about sensitive values"}),
        "parameters.note",
    ),
    "values": (lambda: changed("columns", values=None), "values are not listed"),
    "seed": (lambda: changed("buckets", seeded=False, reproducible=True), "reproducible but not seeded"),
    "sets": (lambda: changed("buckets", requirement={"sets": SETS}), "'multi-size' keeps no bounds on sets"),
    "columns": (lambda: changed("buckets", requirement={"columns": {"value": {}}}), "not each protected by itself"),
    "weight": (lambda: weighed("weaker"), "secrets may have gone into making the weight"),
    "bundles": (lambda: bundled("buckets"), "'multi-size' gives everybody one value in the form 'buckets'"),
}


def test_every_rule_is_broken_here_and_has_a_name_of_its_own():
    assert [rule.name for rule in RULES] == list(BROKEN)
    assert len({rule.sentence for rule in RULES}) == len(RULES)


@pytest.mark.parametrize("form", ["buckets", "ranges", "columns", "views", "randomized", "synthetic", "weaker", "note"])
def test_honest_manifests_keep_every_rule(form):
    assert inconsistencies(honest(form).manifest) == []


@pytest.mark.parametrize("name", BROKEN)
def test_a_manifest_that_breaks_one_rule_is_told_which_and_by_what(name):
    change, what = BROKEN[name]
    (rule,) = [one for one in RULES if one.name == name]
    (found,) = inconsistencies(change())
    assert what in found
    assert found.endswith(f"; {rule.sentence} (rule {name})")
    assert rule.broken(change())


@pytest.mark.parametrize(
    ("change", "name"),
    [
        (lambda: changed("buckets", method={"package": "magic 1.0", "name": "magic"}, basis="noisy"), "basis"),
        (lambda: changed("randomized", values=({"value": "flu", "count": 1, "bound": "1"},)), "values"),
        (lambda: changed("buckets", sets=({"set": "ill", "count": 1, "bound": "1"},)), "sets"),
        (lambda: without("synthetic", "gamma"), "growth"),
        (lambda: changed("views", parameters={"weaker_claim": "no."}), "weaker-claim"),
    ],
)
def test_rules_are_broken_in_more_than_one_way(change, name):
    assert any(found.endswith(f"(rule {name})") for found in inconsistencies(change()))
