"""An audit names for every claim the next stronger attack, and it is one that can be made on such a release."""

import pytest

import sfumato as sf
from tests.makers import people, skewed
from tests.release._fragments import columns_of, views_of

READER, ENGINEER = (sf.FPrivacy(theta=2, offset="0.1", against=against) for against in ("reader", "engineer"))
MADE = [
    (sf.MultiSize(), ENGINEER, "statistician"),
    (sf.MultiSize(), READER, "minimality"),
    (sf.Boxes(floor=20), ENGINEER, "statistician"),
    (sf.Boxes(floor=20, form="ranges"), ENGINEER, "statistician"),
    (sf.Boxes(floor=20), READER, "minimality"),
    (sf.Mondrian(), READER, "minimality"),
    (sf.NearGroups(form="buckets", effort=0.1), READER, "statistician"),
    (sf.NearGroups(form="ranges", effort=0.1), READER, "nb"),
    (sf.NearGroups(), sf.LDiversity(3), "nb"),
    (sf.BuReL(), READER, "nb"),
    (sf.UniformPerturbation(), READER, "statistician"),
    (sf.UniformPerturbation(), ENGINEER, "statistician"),
    (sf.Decoys(decoys=1, guard=True), sf.LDiversity(2, against="reader"), "statistician"),
]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("method", "requirement", "attack"), MADE, ids=[f"{m.name} {m.form} {r.against}" for m, r, _ in MADE])
def test_the_next_stronger_attack_is_one_that_can_be_made(method, requirement, attack):
    table = skewed(rows=300)
    release = sf.publish(table, requirement, method=method, random=1)
    [claim] = sf.audit(release).claims
    assert claim.stronger[0] == claim.to_dict()["next_stronger_attack"] == attack
    assert not any(found.refused for found in sf.attack(release, table, attack, random=1))


@pytest.mark.parametrize("form", ["columns", "views"])
def test_presence_is_tried_with_a_list_and_values_by_what_kinds_of_people_have(form):
    quasi = {"a": [1, 2, 3, 4, 11, 12, 13, 14] * 3, "b": [1, 2, 3, 4, 11, 12, 13, 14] * 3}
    table = people([f"v{k % 5}" for k in range(24)], **quasi)
    groups = [0 if age < 10 else 1 for age in quasi["a"]]
    release = columns_of(table, groups) if form == "columns" else views_of(table, groups, ["a"])
    named = {claim.claim.kind: claim.stronger[0] for claim in sf.audit(release).claims}
    assert named == {"presence": "presence --outsiders FILE", "association": "minimality" if form == "columns" else "nb"}
    away = people(["v0"] * 3, a=[2, 12, 30], b=[3, 11, 30])
    for attack in ("presence", named["association"]):
        assert not any(found.refused for found in sf.attack(release, table, attack, outsiders=away, random=1)), attack


def test_tiny_tables_are_rerun_whatever_the_method():
    table = people(["x", "y", "x", "z", "y", "z"], age=[1, 2, 3, 4, 5, 6])
    release = sf.publish(table, sf.LDiversity(2, against="reader"), method=sf.BuReL(form="buckets"), random=1)
    assert sf.audit(release).claims[0].stronger[0] == "minimality"
    assert not sf.attack(release, table, "minimality", random=1)[0].refused
