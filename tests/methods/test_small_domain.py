import dataclasses
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest

from sfumato import (
    BetaLikeness,
    FPrivacy,
    LDiversity,
    Policy,
    RhoPrivacy,
    Schema,
    SmallDomain,
    Table,
    UniformPerturbation,
    audit,
    publication,
)
from sfumato.errors import Infeasible, NotProvable, PolicyError
from sfumato.explanation import explain
from sfumato.table.generators import census
from sfumato.testing import CHECKS, check_method, example_tables
from tests.makers import closed_for, people

COUNTS = {"a": 120, "b": 80, "c": 60, "d": 50, "e": 40, "f": 30, "g": 10, "h": 10, "i": 10, "j": 10}
VALUES = [value for value, count in COUNTS.items() for _ in range(count)]
RHO = RhoPrivacy("1/3", "2/3")


def parts_of(release):
    return release.manifest.parameters["parts"]


def test_example_1_of_the_paper_as_a_release():
    release = SmallDomain().run(people(VALUES), RHO, random=1).release
    small, large = sorted(parts_of(release), key=lambda part: -Fraction(part["gamma"]))
    assert (large["values"], large["gamma"], large["retention"]) == (list("abcdef"), "4", "1/3")
    assert (small["values"], small["gamma"], small["retention"]) == (list("dfghij"), "10", "3/5")
    assert (large["largest_share"], small["largest_share"]) == ("1/3", "1/6")
    records = release.tables()["records"]
    sizes = np.bincount(np.asarray(records["part"]))
    assert (sizes[large["part"]], sizes[small["part"]]) == (360, 60)


def test_the_manifest_tells_no_counts_and_no_shares_beyond_the_matrix():
    text = SmallDomain().run(people(VALUES), RHO, random=1).release.manifest.to_json()
    assert '"counts"' not in text
    assert '"shares": null' in text  # the method's option, not given
    assert '"weight"' not in text


def test_parts_are_numbered_by_their_values_whatever_the_coins_say():
    for seed in range(6):
        parts = SmallDomain().run(people(VALUES), RHO, random=seed).release.manifest.parameters["parts"]
        assert [part["part"] for part in parts] == [1, 2]
        assert [part["values"] for part in parts] == sorted(part["values"] for part in parts)
        assert {part["gamma"] for part in parts} == {"4", "10"}


def test_retention_per_value_is_the_default_for_models_other_than_rho_privacy():
    for requirement in (FPrivacy(theta=2, offset="0.1"), LDiversity(3), BetaLikeness(2)):
        release = SmallDomain().run(people(VALUES), requirement, random=1).release
        assert all(isinstance(part["retention"], list) and "gamma" not in part for part in parts_of(release))
        uniform = SmallDomain(retention="uniform").run(people(VALUES), requirement, random=1).release
        assert all(isinstance(part["retention"], str) and "gamma" in part for part in parts_of(uniform))
    assert all("gamma" in part for part in parts_of(SmallDomain().run(people(VALUES), RHO, random=1).release))
    own = SmallDomain(retention="per-value").run(people(VALUES), RHO, random=1).release
    assert all(isinstance(part["retention"], list) for part in parts_of(own))


@pytest.mark.parametrize("retention", ["uniform", "per-value"])
def test_a_bound_at_a_values_share_is_refused_with_the_reason(retention):
    with pytest.raises(Infeasible, match="equals a value's share") as caught:
        SmallDomain(retention=retention).run(people(["a"] * 5 + ["b"] * 3 + ["c"] * 2), LDiversity(2))
    assert caught.value.values == ("a",)
    assert caught.value.hint


def test_retention_per_value_keeps_more_records_than_uniform_retention():
    table = people(VALUES)
    requirement = FPrivacy(theta=3, offset="0.02")
    own = SmallDomain().run(table, requirement, random=1).private["retention"]
    assert own > 1.1 * UniformPerturbation().run(table, requirement, random=1).private["retention"]


def test_the_figures_say_when_one_part_is_best():
    outcome = SmallDomain().run(people(["a"] * 40 + ["b"] * 30 + ["c"] * 30), RhoPrivacy("0.42", "0.45"), random=1)
    assert len(parts_of(outcome.release)) == 1
    assert "a smaller error bound" in outcome.private["note"]
    assert outcome.private["error_bound"] == outcome.private["error_bound_without_parts"]
    several = SmallDomain().run(people(VALUES), RHO, random=1)
    assert "note" not in several.private
    assert several.private["error_bound"] <= several.private["error_bound_of_the_paper"]
    assert several.private["error_bound_of_the_paper"] < several.private["error_bound_without_parts"]
    assert several.private["initial_groups"] == 5


def test_a_smaller_delta_means_larger_bounds_and_the_same_parts():
    usual, strict = (SmallDomain(delta=delta).run(people(VALUES), RHO, random=1) for delta in ("0.05", "0.001"))
    assert strict.private["error_bound"] > usual.private["error_bound"]
    assert parts_of(strict.release) == parts_of(usual.release)


@pytest.mark.parametrize("ell", [10, 8, 6, 4])
def test_education_protects_the_rare_values_only(ell):
    quasi = ["age", "gender"]
    frame = census(20_000, 3).select([*quasi, "education"])
    table = Table.from_frame(frame, Schema(quasi=quasi, sensitive=["education"]))
    release = SmallDomain().run(table, RhoPrivacy("1/30", Fraction(1, ell)), random=1).release
    counts = table.sensitive.counts
    rare = max(int(count) for count in counts if Fraction(int(count), 20_000) <= Fraction(1, 30))
    assert [part["largest_share"] for part in parts_of(release)] == [str(Fraction(rare, 20_000))]


def test_an_infeasible_rho2_says_what_is_expected():
    with pytest.raises(PolicyError, match="rho1 = 1/30 and rho2 = 1/40"):
        SmallDomain().run(people(VALUES), RhoPrivacy("1/30", "1/40"))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"retention": "some"}, "'uniform', 'per-value'"),
        ({"delta": 0}, "between 0 and 1"),
        ({"delta": "1"}, "between 0 and 1"),
        ({"amplification": "1/2"}, "above 1"),
        ({"parameters": "declared"}, "needs shares"),
        ({"parameters": "declared", "shares": {"a": 1}}, "at least two"),
        ({"parameters": "declared", "shares": {"a": 1, "b": -1}}, "must lie above 0"),
        ({"parameters": "declared", "shares": {"a": 1, "b": 1}}, "needs otherwise"),
        ({"parameters": "declared", "shares": {"a": 1, "b": 1}, "otherwise": "c"}, "'c' has no"),
        ({"otherwise": "c"}, "'computed'.*got 'c'"),
    ],
)
def test_bad_parameters_are_refused_when_the_method_is_made(arguments, message):
    with pytest.raises(PolicyError, match=message):
        SmallDomain(**arguments)


def declared(shares=COUNTS, **options):
    return SmallDomain(parameters="declared", shares=shares, **{"otherwise": next(iter(shares)), **options})


def published(method, table, requirement):
    return method.run(closed_for(method, table), requirement, random=1).release


INSIDER = RhoPrivacy("1/3", "2/3", against="insider")


def test_declared_parameters_prove_the_claim_against_insiders_and_computed_ones_do_not():
    release = published(declared(), people(VALUES), INSIDER)
    assert [claim.adversary for claim in release.claims] == ["insider"]
    assert "γp/(1+(γ−1)p)" in release.claims[0].statement
    with pytest.raises(NotProvable):
        SmallDomain().run(people(VALUES), INSIDER)


def test_what_is_declared_is_published_and_does_not_depend_on_the_table():
    one = published(declared(), people(VALUES), INSIDER)
    other = published(declared(), people(["a", "b", "j"] * 50), INSIDER)
    assert parts_of(one) == parts_of(other)
    for part in parts_of(one):
        assert sum(Fraction(share) for share in part["shares"]) == 1
        assert "largest_share" not in part
    assert one.manifest.method["shares"]["a"] == "2/7"


def test_values_that_nobody_has_can_be_published_and_values_without_a_share_fall_into_the_declared_one():
    shares = {**COUNTS, "rare": 200}
    release = published(declared(shares), people(VALUES), RhoPrivacy("0.4", "0.7", against="insider"))
    assert "rare" in release.domain.labels
    shown = release.tables()["records"]["value"].to_pylist()
    assert "rare" in shown
    fewer = declared({value: count for value, count in COUNTS.items() if value != "j"}, otherwise="i")
    table = closed_for(fewer, people(VALUES))
    assert table.sensitive.histogram()["i"] == COUNTS["i"] + COUNTS["j"]
    assert "j" not in published(fewer, people(VALUES), INSIDER).domain.labels


def test_a_table_that_was_not_read_for_the_declared_values_is_refused_whatever_is_in_it():
    for values in (VALUES, ["a", "b"]):
        with pytest.raises(PolicyError, match="declared values") as caught:
            declared().run(people(values), INSIDER)
        assert "method.close(schema)" in caught.value.hint


def test_numbers_and_compound_values_can_be_declared():
    frame = pa.table({"n": [1, 2, 3, 4], "x": [1.5, 2.0, 2.0, 7.0], "y": ["u", "u", "v", "v"]})
    table = Table.from_frame(frame, Schema(quasi=["n"], sensitive=["x", "y"], protect="combination"))
    shares = {"1.5 / u": 1, "2 / u": 1, "2 / v": 1, "7 / v": 1, "9 / v": 1}
    release = published(declared(shares, retention="uniform"), table, LDiversity(3, against="insider"))
    assert release.domain.labels == tuple(shares)
    assert release.domain.table["x"].to_pylist() == [1.5, 2.0, 2.0, 7.0, 9.0]
    for label, message in (
        ("9", "should have 2 parts"),
        ("9.0 / v", "published spelling"),
    ):
        wrong = {**shares, label: 1}
        with pytest.raises(PolicyError, match=message):
            published(declared(wrong), table, LDiversity(3, against="insider"))


def test_people_left_out_for_a_missing_value_lose_the_claim_against_insiders():
    frame = pa.table({"n": [1, 2, None, 4], "v": ["a", "b", "a", "b"]})
    shares = {"a": 1, "b": 1, "c": 1}
    table = Table.from_frame(frame, declared(shares).close(Schema(quasi=["n"], sensitive=["v"], missing={"n": "drop"})))
    with pytest.raises(NotProvable, match="insider does not cover"):
        declared(shares).run(table, RhoPrivacy("0.4", "0.6", against="insider"))
    assert declared(shares).run(table, RhoPrivacy("0.4", "0.6", against="reader"), random=1).release.rows == 3


def test_compound_attributes_are_randomized_as_one():
    coins = np.random.default_rng(2)
    frame = pa.table(
        {"n": np.arange(600), "x": coins.integers(0, 4, 600), "y": np.array(["u", "v", "w"])[coins.integers(0, 3, 600)]}
    )
    table = Table.from_frame(frame, Schema(quasi=["n"], sensitive=["x", "y"], protect="combination"))
    release = SmallDomain().run(table, RhoPrivacy("0.2", "0.4"), random=1).release
    observed = {tuple(row.values()) for row in frame.select(["x", "y"]).to_pylist()}
    records = release.tables()["records"]
    assert {(row["x"], row["y"]) for row in records.select(["x", "y"]).to_pylist()} <= observed
    assert all(len(value) == 2 for part in parts_of(release) for value in part["values"])


def test_a_policy_file_can_ask_for_either_method():
    text = """
        [columns]
        quasi = ["age"]
        sensitive = ["value"]
        [requirement]
        model = "rho-privacy"
        rho1 = "1/3"
        rho2 = "2/3"
        against = "insider"
        [method]
        name = "small-domain"
        parameters = "declared"
        otherwise = "flu"
        amplification = 7.5
        delta = 0.01
        [method.shares]
        flu = 0.29
        asthma = 0.71
    """
    method = Policy.parse(text).method
    assert method == SmallDomain(
        parameters="declared", otherwise="flu", amplification="7.5", delta="0.01", shares={"flu": "29/100", "asthma": "71/100"}
    )
    plain = text.replace("small-domain", "uniform").replace("delta = 0.01", "")
    assert isinstance(Policy.parse(plain).method, UniformPerturbation)
    with pytest.raises(PolicyError, match="delta: unknown key"):
        Policy.parse(text.replace("small-domain", "uniform"))


def test_methods_with_equal_parameters_are_equal_and_describe_themselves_in_json_types():
    method = declared(amplification="5/2")
    assert method == dataclasses.replace(method)
    told = method.to_dict()
    assert told["amplification"] == "5/2"
    assert told["delta"] == "1/20"
    assert told["shares"]["a"] == "2/7"


@pytest.mark.parametrize(
    ("method", "requirement"),
    [
        (SmallDomain(), None),
        (SmallDomain(retention="uniform"), None),
        (SmallDomain(retention="per-value", amplification=6), RhoPrivacy("0.3", "0.6")),
        (SmallDomain(delta="0.2"), RhoPrivacy("0.3", "0.6")),
        (SmallDomain(), FPrivacy(theta=2, offset="0.1")),
        (UniformPerturbation(), None),
        (UniformPerturbation(amplification=3), BetaLikeness(2)),
    ],
    ids=str,
)
def test_computed_parameters_pass_the_conformance_suite(method, requirement):
    assert len(check_method(method, requirement)) == len(CHECKS) * len(example_tables())


@pytest.mark.parametrize("kind", [SmallDomain, UniformPerturbation])
@pytest.mark.parametrize("requirement", [LDiversity(2, against="insider"), RhoPrivacy("0.3", "0.6", against="insider")], ids=str)
@pytest.mark.parametrize("name", example_tables())
def test_declared_parameters_pass_the_conformance_suite(kind, requirement, name):
    table = example_tables()[name]
    shares = table.sensitive.histogram()
    method = kind(parameters="declared", shares=shares, otherwise=min(shares))
    assert len(check_method(method, requirement, {name: closed_for(method, table)})) == len(CHECKS)


def test_with_declared_shares_the_table_decides_no_bound():
    declared = SmallDomain(parameters="declared", shares={"a": "0.4", "b": "0.3", "c": "0.3"}, otherwise="c")
    lopsided = closed_for(declared, people(["a"] * 70 + ["b"] * 20 + ["c"] * 10))
    made = publication(lopsided, LDiversity(2, against="insider"), method=declared, random=1)
    assert made.audit.holds
    assert declared.bounds(lopsided, LDiversity(2)).limits == (Fraction(1, 2),) * 3
    told = explain(lopsided, LDiversity(2, against="insider"), method=declared, quick=True)
    assert told.obstacle is None
    assert {row.value: row.bound for row in told.rule.values} == {"a": Fraction(1, 2), "b": Fraction(1, 2), "c": Fraction(1, 2)}
    with pytest.raises(Infeasible):
        publication(lopsided, LDiversity(2), method=SmallDomain(), random=1)


def test_the_publisher_knows_who_is_in_which_part_so_the_first_audit_is_exact():
    alike = people(VALUES, sex=["f", "m"] * (len(VALUES) // 2))
    made = publication(alike, RHO, method=SmallDomain(), random=1)
    assert made.audit.claims[0].note == ""
    later = audit(made.release, alike)
    assert later.holds
    assert "declared largest share" in later.claims[0].note
