"""Bounds on sets of values: every method that keeps them, the attacks they are for, the audit, and what is refused."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

import sfumato as sf
from sfumato.auditor import Audit, audit_release
from sfumato.errors import ClaimBroken, Infeasible, NotProvable, PolicyError
from sfumato.explanation import explain
from sfumato.methods import default_method
from sfumato.policy import Policy
from sfumato.randomize.noise import largest_odds
from tests.makers import closed_for, people, skewed

HALF = Fraction(1, 2)
SETS = {"rare": {"values": ["v6", "v7", "v8"], "bound": "0.4"}, "late": {"values": ["v5", "v6"], "theta": 2, "offset": "0.02"}}
LOOSE = {"theta": 6, "offset": "0.05"}


def worst_share(release, values):
    """The largest share of a group that has one of these values."""
    tables = release.tables()
    st = (tables.get("st") if "st" in tables else tables["records"]).to_pydict()
    group = st["group"]
    count = st.get("count") or [1] * len(group)
    inside, whole = {}, {}
    for one, value, number in zip(group, st["value"], count, strict=True):
        whole[one] = whole.get(one, 0) + number
        inside[one] = inside.get(one, 0) + number * (value in values)
    return max(Fraction(inside[one], whole[one]) for one in whole)


@pytest.mark.parametrize(
    ("method", "against", "basis"),
    [
        (sf.Boxes(floor=10), "engineer", "soft"),
        (sf.Boxes(floor=10, patience=0), "engineer", "safe"),
        (sf.Boxes(floor=10), "reader", "tight"),
        (sf.Boxes(floor=10, form="ranges"), "engineer", "soft"),
    ],
)
def test_boxes_of_every_basis_keep_the_bounds_of_sets(method, against, basis, tmp_path):
    table = skewed(2000)
    made = method.run(table, sf.FPrivacy(**LOOSE, sets=SETS, against=against), random=1)
    release = made.release
    assert release.manifest.basis == basis
    assert release.manifest.parameters["groups"] > (1 if basis == "safe" else 3)
    counts = table.sensitive.histogram()
    late = Fraction(2 * (counts["v5"] + counts["v6"]), 2000) + Fraction(1, 50)
    assert worst_share(release, ("v6", "v7", "v8")) <= Fraction(2, 5)
    assert worst_share(release, ("v5", "v6")) <= late
    listed = [{"set": "late", "count": counts["v5"] + counts["v6"], "bound": str(late)}]
    rare = counts["v6"] + counts["v7"] + counts["v8"]
    assert [*release.manifest.sets] == [*listed, {"set": "rare", "count": rare, "bound": "2/5"}]
    assert release.claims[0].statement.endswith(
        "one of the values of a given set of the requirement with probability at most that set's bound."
    )
    release.save(tmp_path / "release")
    assert sf.audit(tmp_path / "release").holds


@pytest.mark.parametrize("grouping", ["boxes", "halves"])
@pytest.mark.parametrize("against", ["reader", "engineer"])
def test_ambiguity_keeps_the_bounds_of_sets(grouping, against):
    coins = np.random.default_rng(5)
    table = people(
        [f"v{k}" for k in coins.integers(0, 6, 400)], x=coins.integers(0, 40, 400).tolist(), y=coins.integers(0, 40, 400).tolist()
    )
    asked = sf.PresenceAssociation("0.9", "0.6", sets={"low": {"values": ["v0", "v1"], "bound": "0.75"}}, against=against)
    made = sf.Ambiguity(grouping=grouping).run(table, asked, random=1)
    assert made.release.manifest.parameters["groups"] > 1
    assert worst_share(made.release, ("v0", "v1")) <= Fraction(3, 4)


def test_similarity_attack_the_table_of_li_and_others():
    """Three low salaries are different values, so a group of them is 3-diverse, and that a salary is low is all but certain."""
    salary = ["3K", "4K", "5K", "7K", "10K", "9K", "6K", "8K", "11K"]
    table = people(salary, age=[22, 27, 29, 30, 32, 36, 43, 47, 52])
    low = ("3K", "4K", "5K")
    alone = sf.Boxes(floor=3).run(table, sf.LDiversity(3, against="reader"), random=1).release
    assert worst_share(alone, low) == Fraction(3, 4)
    held = sf.LDiversity(3, sets={"low": {"values": list(low), "bound": HALF}}, against="reader")
    bounded = sf.Boxes(floor=3).run(table, held, random=1).release
    assert worst_share(bounded, low) == HALF
    assert bounded.manifest.parameters["groups"] == 2


def test_skewness_attack():
    """1 % are positive, of one strain or the other; a group that is half positive keeps 1/4 for each: 50 times the risk."""
    values = ["A"] * 5 + ["B"] * 5 + ["negative"] * 990
    table = people(values, age=[k // 20 for k in range(1000)])
    rule = {"offset": "1/4", "bounds": {"negative": 1}, "against": "reader"}
    alone = sf.Boxes(floor=20).run(table, sf.FPrivacy(**rule), random=1).release
    assert worst_share(alone, ("A", "B")) == HALF
    held = sf.FPrivacy(**rule, sets={"positive": {"values": ["A", "B"], "bound": "0.05"}})
    bounded = sf.Boxes(floor=20).run(table, held, random=1).release
    assert 0 < worst_share(bounded, ("A", "B")) <= Fraction(1, 20)


def test_the_audit_reads_sets_by_itself():
    table = skewed(2000)
    made = sf.Boxes(floor=10).run(table, sf.FPrivacy(**LOOSE, sets={"rare": SETS["rare"]}), random=1)
    release = made.release

    def judged(**changes):
        return audit_release(replace(release, manifest=replace(release.manifest, **changes)), table)

    asked = dict(release.manifest.requirement)
    lower = judged(
        requirement={**asked, "sets": {"rare": {**asked["sets"]["rare"], "bound": "1/4"}}},
        sets=({**release.manifest.sets[0], "bound": "1/4"},),
    )
    assert not lower.problems
    assert lower.holds is False
    assert lower.claims[0].value == "any of rare"
    assert judged(sets=({**release.manifest.sets[0], "count": 1},)).problems
    assert judged(sets=()).problems
    silent = judged(requirement={key: value for key, value in asked.items() if key != "sets"}, sets=())
    assert silent.holds is False  # the words of the claim speak of sets that there are not
    assert judged(method={**release.manifest.method, "name": "multi-size"}, basis="blind").problems


def test_the_last_look_before_publishing_sees_sets(monkeypatch):
    from sfumato.groups.grouping import Grouping

    table = people("aabbcc", q=[0, 0, 0, 1, 1, 1])
    halves = Grouping(np.array([0, 0, 0, 1, 1, 1], np.int32), 2, "tight")
    monkeypatch.setattr(sf.Boxes, "group", lambda self, task: halves)
    monkeypatch.setattr("sfumato.table.table.Table.shuffled", lambda self, coins: (self, np.arange(self.rows)))
    loose = {"offset": "2/3", "against": "reader"}
    assert sf.Boxes().run(table, sf.FPrivacy(**loose), random=1)
    with pytest.raises(ClaimBroken, match="1 group counts"):
        sf.Boxes().run(table, sf.FPrivacy(**loose, sets={"ab": {"values": ["a", "b"], "bound": "0.9"}}), random=1)


def test_the_last_look_before_publishing_sees_accounts(monkeypatch):
    """Four of twelve keep a bound of 2/5, but not where a refused test may have told: 1 + 11 · 0.8 is less than ten."""
    from types import SimpleNamespace

    from sfumato.groups.grouping import Grouping
    from sfumato.scale.counted import Counted, Stored

    table = people("aaaabbbbcccc", q=list(range(12)))
    asked = sf.FPrivacy(theta=1, offset="1/15")
    monkeypatch.setattr("sfumato.methods.people.audit_release", lambda *given, **named: Audit(claims=()))
    for told, kept in ((1000, True), (800, False)):
        whole = Grouping(np.zeros(12, np.int32), 1, "soft", account=np.array([told]))
        monkeypatch.setattr(sf.Boxes, "group", lambda self, task, whole=whole: whole)
        held = SimpleNamespace(
            group=np.zeros(3, np.int32), sizes=np.array([12]), value=np.arange(3), count=np.full(3, 4), account=np.array([told])
        )
        stored = Stored(np.zeros(0, np.int32), 1, "soft", account=np.array([told]), held=held)
        task = SimpleNamespace(bounds=asked.bounds(table.sensitive.histogram()))
        if kept:
            assert sf.Boxes().run(table, asked, random=1)
            Counted.checked(None, task, stored)
            continue
        with pytest.raises(ClaimBroken, match="3 group counts"):
            sf.Boxes().run(table, asked, random=1)
        with pytest.raises(ClaimBroken, match="3 group counts"):
            Counted.checked(None, task, stored)


def test_noisy_boxes_bound_the_odds_of_sets_and_what_is_shown():
    shares = {f"v{k}": Fraction(1, 8) for k in range(8)}
    method = sf.NoisyBoxes(shares=shares, otherwise="v7", floor=60, merge=True)
    table = closed_for(method, skewed(3000, values=8))
    rule = {"theta": 4, "offset": 0, "against": "insider"}
    plain = largest_odds(method.bounds(table, sf.FPrivacy(**rule)))
    asked = sf.FPrivacy(**rule, sets={"low": {"values": ["v0", "v1"], "bound": "0.55"}})
    bounds = method.bounds(table, asked)
    gamma = largest_odds(bounds)
    assert plain == 7  # 1/2 : 1/2 from 1/8 : 7/8
    assert gamma == Fraction(11, 3)  # 0.55 : 0.45 from 1/4 : 3/4
    made = method.run(table, asked, random=3)
    release = made.release
    assert made.audit.holds
    assert made.audit.claims[0].value == "any of low"
    assert made.audit.claims[0].worst <= Fraction("0.55")
    assert len(release.sizes) > 1
    shown = release.st_count.reshape(len(release.sizes), -1)[:, :2].sum(axis=1)
    assert (shown <= 0.55 * release.sizes).all()
    assert "one of any set with at most γp/(1+(γ−1)p)" in release.claims[0].statement
    forged = replace(release, manifest=replace(release.manifest, parameters={**release.manifest.parameters, "gamma": "7"}))
    assert audit_release(forged, table, draw=False).holds is False


def test_a_set_of_values_has_odds_that_grow_at_most_gamma_fold():
    """Exactly, for all noisy counts of one box near the truth and every set of three values."""
    from itertools import product

    ratio, gamma = Fraction(1, 2), Fraction(4)
    prior = (Fraction(1, 6), Fraction(1, 3), Fraction(1, 2))

    def chance(noise):
        return (1 - ratio) / (1 + ratio) * ratio ** abs(noise)

    worst = Fraction(0)
    for outcome in product(range(-2, 4), repeat=3):  # the others of the box have one of each value
        likely = []
        for mine in range(3):
            truth = [1 + (value == mine) for value in range(3)]
            likely.append(np.prod([chance(seen - true) for seen, true in zip(outcome, truth, strict=True)]))
        joint = [p * chance_of for p, chance_of in zip(prior, likely, strict=True)]
        for one in ((0,), (1,), (2,), (0, 1), (0, 2), (1, 2)):
            before = sum(prior[value] for value in one)
            after = sum(joint[value] for value in one) / sum(joint)
            assert after <= gamma * before / (1 + (gamma - 1) * before)
            worst = max(worst, after / (1 - after) / (before / (1 - before)))
    assert worst == gamma


def test_methods_that_cannot_keep_sets_say_why():
    table = skewed(600)
    asked = sf.FPrivacy(**LOOSE, sets=SETS)
    for method in (sf.MultiSize(), sf.NearGroups(), sf.Anatomy(), sf.Mondrian(), sf.UniformPerturbation()):
        against = "reader" if isinstance(method, sf.NearGroups) else "engineer"
        with pytest.raises(NotProvable, match="sets of values") as refused:
            method.run(table, sf.FPrivacy(**LOOSE, sets=SETS, against=against))
        assert "boxes" in refused.value.hint
    assert isinstance(default_method(asked, table), sf.Boxes)
    assert isinstance(
        default_method(sf.FPrivacy(offset="0.99", sets={"a": {"values": ["v0", "v1"], "bound": "0.6"}}), table), sf.Boxes
    )
    with pytest.raises(PolicyError, match="any set of values"):
        sf.Differential(1, sets=SETS)
    with pytest.raises(PolicyError, match="beside alpha"):
        sf.PresenceAssociation("0.9", sf.FPrivacy(**LOOSE, sets=SETS))


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        ({"values": ["v1"]}, "give a bound"),
        ({"bound": "0.5"}, "or a map"),
        ({"values": [], "bound": "0.5"}, "list of texts"),
        ({"values": ["v1", "v1"], "bound": "0.5"}, "named twice"),
        ({"values": ["v1"], "bound": 1}, "below 1"),
        ({"values": ["v1"], "theta": 0}, "not both 0"),
        ({"values": ["v1"], "limit": "0.5"}, "unknown key 'limit'"),
        ({"map": {"v1": ""}, "bound": "0.5"}, "pairs of texts"),
        ("v1", "and a bound"),
    ],
)
def test_a_rule_that_is_none_says_what_is_wrong(rule, words):
    with pytest.raises(PolicyError, match=words):
        sf.FPrivacy(**LOOSE, sets={"low": rule})


def test_a_set_names_values_that_somebody_has_and_a_map_all_of_them():
    counts = {"flu": 50, "HIV": 10, "asthma": 40}
    with pytest.raises(PolicyError, match="'HIF'") as unknown:
        sf.LDiversity(1, sets={"bad": {"values": ["HIF", "flu"], "bound": "0.7"}}).bounds(counts)
    assert "HIV" in unknown.value.hint
    with pytest.raises(PolicyError, match="no category for 'asthma'"):
        sf.LDiversity(1, sets={"kind": {"map": {"flu": "a", "HIV": "a"}, "bound": "0.7"}}).bounds(counts)
    mapped = {"flu": "lung", "asthma": "lung", "HIV": "blood", "gout": "joints"}
    found = sf.LDiversity(1, sets={"kind": {"map": mapped, "theta": 1, "offset": "0.05"}}).bounds(counts)
    assert found.set_limits == {"kind: blood": Fraction("0.15"), "kind: lung": Fraction("0.95")}
    assert found.value_limits == {value: found.limit(value) for value in found.values}  # and no set, though limits has them
    assert found.counts == (50, 10, 40, 10, 90)
    assert found.open_share == 0
    with pytest.raises(Infeasible, match=r"any of bad: 60 %.*20 %") as broken:
        sf.LDiversity(1, sets={"bad": {"values": ["HIV", "flu"], "bound": "0.2"}}).bounds(counts)
    assert broken.value.nearest == {"sets": {"bad": {"bound": Fraction("0.6")}}}
    with pytest.raises(PolicyError, match="same name"):
        sf.LDiversity(1, sets={"x": {"values": ["HIV"], "bound": "0.2"}}).bounds({**counts, "any of x": 3})


POLICY = """
[columns]
quasi = ["age", "sex"]
sensitive = ["value"]
[requirement]
model = "f-privacy"
theta = 6
offset = "0.05"
[requirement.sets]
rare = { values = ["v6", "v7", "v8"], bound = 0.3 }
kinds = { hierarchy = "kinds.csv", level = 1, theta = 2, offset = "0.05" }
"""


def test_a_policy_names_sets_and_a_level_of_a_hierarchy(tmp_path):
    (tmp_path / "kinds.csv").write_text("".join(f"v{k};{'odd' if k % 2 else 'even'};all\n" for k in range(12)))
    (tmp_path / "policy.toml").write_text(POLICY)
    policy = Policy.load(tmp_path / "policy.toml")
    table = skewed(1000)
    made = sf.Boxes(floor=10).run(table, policy.requirement, random=1)
    assert [one["set"] for one in made.release.manifest.sets] == ["kinds: even", "kinds: odd", "rare"]
    assert set(made.release.manifest.requirement["sets"]["kinds"]["map"]) == {f"v{k}" for k in range(9)}
    again = Policy.parse(policy.kept_text(table))  # the receipt keeps the file
    assert again.requirement == policy.requirement
    with pytest.raises(PolicyError, match="hierarchy and level"):
        Policy.parse(POLICY.replace(", level = 1", ""), base=tmp_path)


def test_explain_names_sets_beside_values():
    table = skewed(1000)
    about = explain(table, sf.FPrivacy(**LOOSE, sets=SETS), method=sf.Boxes(floor=10), quick=True)
    text = " ".join(about.sentences())
    assert about.feasible
    assert "Any of 'rare' (3 values)" in text
    assert "sets of values" in text
    assert [one["set"] for one in about.to_dict()["sets"]] == ["late", "rare"]
    blocked = explain(table, sf.FPrivacy(**LOOSE, sets=SETS), method=sf.MultiSize(), quick=True)
    assert not blocked.feasible
    assert "sets of values" in blocked.verdict()[0]
    low = explain(table, sf.FPrivacy(**LOOSE, sets={"low": {"values": ["v0", "v1"], "bound": "0.1"}}), quick=True)
    assert not low.feasible


def test_parts_of_several_secrets_are_bounded_by_sets_of_their_combinations(tmp_path):
    """HIV with smoking and HIV without at 0.2 each leave HIV at 0.4; as a set it has a bound of its own."""
    import pyarrow as pa

    coins = np.random.default_rng(2)
    age = coins.integers(20, 60, 3000)
    illness = np.where(coins.random(3000) < np.where(age < 25, 0.4, 0.05), "HIV", np.array(["flu", "gout", "asthma"])[age % 3])
    frame = pa.table({"age": age, "illness": illness, "smokes": np.array(["yes", "no"])[coins.integers(0, 2, 3000)]})
    table = sf.Table.from_frame(frame, sf.Schema(quasi=["age"], sensitive=["illness", "smokes"], protect="combination"))

    def worst(release):
        st = release.tables()["st"].to_pylist()
        sizes = dict(enumerate(release.sizes.tolist(), 1))
        held = {bucket: sum(row["count"] for row in st if row["group"] == bucket and row["illness"] == "HIV") for bucket in sizes}
        return max(Fraction(held[bucket], sizes[bucket]) for bucket in sizes)

    rule = {"theta": 3, "offset": "0.02", "bounds": {"HIV / no": "0.25", "HIV / yes": "0.25"}, "against": "reader"}
    alone = sf.Boxes(floor=40).run(table, sf.FPrivacy(**rule), random=1)
    assert worst(alone.release) > Fraction(3, 10)
    asked = sf.FPrivacy(**rule, sets={"illness": {"column": "illness", "theta": 2, "offset": "0.05"}})
    made = sf.Boxes(floor=40).run(table, asked, random=1)
    names = [one["set"] for one in made.release.manifest.sets]
    assert names == ["illness: HIV", "illness: asthma", "illness: flu", "illness: gout"]
    assert worst(made.release) <= Fraction(made.release.manifest.sets[0]["bound"]) < Fraction(3, 10)
    made.release.save(tmp_path / "release")
    assert sf.audit(tmp_path / "release").holds
    with pytest.raises(PolicyError, match="not one of several"):
        sf.Boxes().run(skewed(600), sf.FPrivacy(**LOOSE, sets={"x": {"column": "value", "bound": "0.5"}}))
