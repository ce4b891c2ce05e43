"""Publishing people who may have several values of a secret: boxes by events, bands that never mix, and who refuses."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.auditor.audit import audit_tables
from sfumato.errors import Infeasible, NotProvable, PolicyError
from sfumato.methods import METHODS, Boxes, NoisyBoxes
from sfumato.methods.bands import BY_RESULTS
from sfumato.release.base import Release
from sfumato.table.people_rule import BAND
from tests.makers import encounters, visits

RULE = {"theta": 2, "offset": "0.1"}
SETS = {"low": {"values": ["i0", "i1", "i2"], **RULE}}


def asked(**more):
    own = sf.FPrivacy(**RULE, sets=SETS)
    return sf.FPrivacy(**RULE, columns={"diagnosis": own}, **more)


@pytest.fixture(scope="module")
def made():
    return sf.publication(visits(), asked(), seed=1)


def true_people(table):
    """Return everybody as the table has her: her quasi values, and what she has."""
    return table.to_arrow().to_pylist()


def test_every_count_is_of_people_and_no_group_mixes_bands(made):
    release, table = made.release, visits()
    frame = release.tables()
    home = {}
    for row in frame["qit"].to_pylist():
        home.setdefault((row["age"], row["sex"], row[BAND]), row["group"])
    bands = {}
    for row in frame["qit"].to_pylist():
        bands.setdefault(row["group"], set()).add(row[BAND])
    assert all(len(one) == 1 for one in bands.values())
    assert len(bands) > 10
    counts, numbers, low = {}, {}, {}
    for one in true_people(table):
        group = home[one["age"], one["sex"], one[BAND]]
        for secret in ("diagnosis", "ward"):
            for value in set(one[secret]):
                counts[group, secret, value] = counts.get((group, secret, value), 0) + 1
            key = group, secret, len(set(one[secret]))
            numbers[key] = numbers.get(key, 0) + 1
        low[group] = low.get(group, 0) + bool({"i0", "i1", "i2"} & set(one["diagnosis"]))
    assert {(r["group"], r["secret"], r["value"]): r["count"] for r in frame["st"].to_pylist()} == counts
    assert {(r["group"], r["secret"], r["values"]): r["count"] for r in frame["numbers"].to_pylist()} == numbers
    assert {r["group"]: r["count"] for r in frame["sets"].to_pylist()} == {g: c for g, c in low.items() if c}
    assert sum(counts.values()) > release.rows * 2


@pytest.mark.parametrize(
    ("against", "patience", "basis"), [("engineer", None, "soft"), ("engineer", 0, "safe"), ("reader", None, "tight")]
)
def test_soft_safe_and_tight_cuts_keep_every_bound(against, patience, basis):
    table = visits()
    found = sf.publication(table, asked(against=against), method=Boxes(patience=patience), seed=2)
    assert found.release.manifest.basis == basis
    assert found.release.manifest.parameters["groups"] > 5
    assert found.audit.holds
    assert sf.audit(found.release).holds
    assert not sf.audit(found.release, table).problems


def test_the_order_of_rows_changes_no_byte(made):
    again = sf.publication(visits(encounters(shuffled=4)), asked(), seed=1).release
    assert {name: one.to_pydict() for name, one in again.tables().items()} == {
        name: one.to_pydict() for name, one in made.release.tables().items()
    }
    assert again.manifest == made.release.manifest


def test_the_claim_says_who_is_meant(made):
    (claim,) = made.release.claims
    assert "other than through the band of how many rows they have" in claim.statement
    assert "has a given value of a given secret among hers" in claim.statement
    exact = sf.publish(visits(people={"alike": "exact"}), sf.FPrivacy(offset="0.95"), seed=1).claims[0].statement
    assert "other than through how many rows they have" in exact
    anybody = sf.publish(visits(people={"alike": []}), asked(), seed=1)
    assert "knows of nobody how many rows she has" in anybody.claims[0].statement
    assert anybody.claims[0].statement.endswith("and that is not covered.")
    frame = encounters()
    rows = {"quasi": ["age"], "other": [name for name in frame.column_names if name not in ("age", "diag_1", "diag_2")]}
    schema = sf.Schema(**rows, secrets={"illness": ["diag_1", "diag_2"]}, one_row_per_person=False)
    of_rows = sf.publish(sf.Table.from_frame(frame, schema), sf.FPrivacy(theta=2, offset="0.2"), seed=1)
    assert "a given published row (one person may have several) has a given value among hers" in of_rows.claims[0].statement
    assert BAND not in anybody.tables()["qit"].column_names


def test_a_band_that_cannot_keep_the_bounds_is_refused_and_nothing_is_joined():
    frame = pa.table(
        {
            "patient": [*range(200), *np.repeat(np.arange(200, 260), 2)],
            "age": [20 + k % 50 for k in range(200)] + np.repeat(20 + np.arange(60) % 50, 2).tolist(),
            "illness": [f"i{k % 10}" for k in range(200)] + ["rare", "i1"] * 60,
        }
    )
    schema = sf.Schema(identifier=["patient"], quasi=["age"], sensitive=["illness"], people={"key": "patient", "keep": "all"})
    table = sf.Table.from_frame(frame, schema)
    with pytest.raises(Infeasible, match=r"with 2 or more.*rare") as error:
        sf.publish(table, sf.FPrivacy(theta=2, offset="0.2"))
    assert BY_RESULTS in error.value.hint
    assert error.value.values == ("rare",)
    joined = sf.Table.from_frame(
        frame,
        sf.Schema(
            identifier=["patient"], quasi=["age"], sensitive=["illness"], people={"key": "patient", "keep": "all", "alike": []}
        ),
    )
    assert sf.publish(joined, sf.FPrivacy(theta=2, offset="0.2"), seed=1).rows == 260


def test_a_set_has_the_bound_of_the_people_who_have_one_of_it():
    """Its share is that of people: added up, that of its values is above 1 here, and so would be its bound."""
    table = visits()
    bounds = Boxes().bounds(table, asked())
    have = sum(bool({"i0", "i1", "i2"} & set(one["diagnosis"])) for one in true_people(table))
    assert bounds.counts[-1] == have
    assert bounds.people == table.rows
    assert sum(bounds.counts[:3]) > have
    assert bounds.limits[-1] == min(1, 2 * sf.exact.exact(f"{have}/{table.rows}", "") + sf.exact.exact("0.1", ""))


OTHERS = (
    "near-groups",
    "multi-size",
    "anatomy",
    "mondrian",
    "burel",
    "decoys",
    "small-domain",
    "uniform",
    "burel-perturbation",
    "heterogeneous",
    "ring",
)


@pytest.mark.parametrize("name", OTHERS)
def test_other_methods_refuse_with_the_reason(name):
    kind = METHODS[name]
    weaker = {"accept_weaker_claim": True} if "accept_weaker_claim" in kind.__dataclass_fields__ else {}
    table = visits(secrets={"diagnosis": ["diag_1", "diag_2", "diag_3"]}, other=["day", "ward"])
    with pytest.raises(NotProvable, match="may have several"):
        kind(**weaker).run(table, sf.FPrivacy(**RULE, against="reader"), seed=1)


def test_methods_with_declared_values_refuse_when_the_table_is_read():
    method = NoisyBoxes(
        shares={"diagnosis": {"i0": "1/2", "i1": "1/2"}, "ward": {"ward 1": "1/2", "ward 2": "1/2"}},
        otherwise={"diagnosis": "i0", "ward": "ward 1"},
    )
    with pytest.raises(PolicyError, match="several values"):
        method.close(visits().schema)


def test_weights_by_association_are_for_one_value_a_person():
    with pytest.raises(NotProvable, match="one value a"):
        Boxes(weights="association").run(visits(), sf.FPrivacy(**RULE, against="reader"), seed=1)


@pytest.mark.parametrize("against", ["engineer", "reader"])
def test_ranges_show_boxes_and_what_their_people_have(against, tmp_path):
    table = visits()
    shown = [
        sf.publication(table, asked(against=against), method=Boxes(form=form), seed=3).release for form in ("buckets", "ranges")
    ]
    one, other = ({name: part.tables()[name].to_pydict() for name in ("st", "sets", "numbers")} for part in shown)
    assert sorted(one["st"]["count"]) == sorted(other["st"]["count"])
    assert sorted(one["numbers"]["count"]) == sorted(other["numbers"]["count"])
    ranges = shown[1]
    assert ranges.tables()["records"].column_names == ["age_min", "age_max", "sex", BAND, "group"]
    ranges.save(tmp_path / "out")
    assert Release.load(tmp_path / "out").tables() == ranges.tables()
    assert sf.audit(tmp_path / "out").holds
    assert not sf.audit(ranges, table).problems
    changed = visits(encounters(seed=6))
    assert sf.audit(ranges, changed).problems


def test_the_default_is_boxes_and_a_saved_release_loads_again(made, tmp_path):
    assert made.method.name == "boxes"
    for kind in ("parquet", "csv"):
        made.release.save(tmp_path / kind, format=kind)
        again = Release.load(tmp_path / kind)
        assert {name: one.to_pydict() for name, one in again.tables().items()} == {
            name: one.to_pydict() for name, one in made.release.tables().items()
        }
        assert sf.audit(tmp_path / kind, visits()).holds


def test_bounds_follow_from_the_shares_of_each_band_where_that_is_asked():
    """By hand: how many of a band have each value gives its bound there; one that holds for everybody would refuse this table."""
    table, asked_for = visits(people={"shares": "band"}), sf.FPrivacy(theta="1.5", offset="0.05")
    with pytest.raises(Infeasible, match="with nobody else"):
        sf.publish(visits(), asked_for)
    found = sf.publication(table, asked_for, seed=3)
    assert found.audit.holds
    assert sf.audit(found.release).holds
    frame, limits = found.release.tables(), {}
    band, size = {row["group"]: row[BAND] for row in frame["qit"].to_pylist()}, {}
    for row in frame["qit"].to_pylist():
        size[row["group"]] = size.get(row["group"], 0) + 1
    people = true_people(table)
    for name in set(band.values()):
        own = [one for one in people if one[BAND] == name]
        for secret in ("diagnosis", "ward"):
            for value in {value for one in own for value in one[secret]}:
                share = Fraction(sum(value in one[secret] for one in own), len(own))
                limits[name, secret, value] = min(Fraction(3, 2) * share + Fraction(1, 20), Fraction(1))
    shown = [(row, limits[band[row["group"]], row["secret"], row["value"]]) for row in frame["st"].to_pylist()]
    assert all(row["count"] <= limit * size[row["group"]] for row, limit in shown)
    assert len(size) > len(set(band.values()))
    listed = {(one["secret"], one["value"]): Fraction(one["bound"]) for one in found.release.manifest.values}
    assert listed == {key: max(limits[name, *key] for name in set(band.values()) if (name, *key) in limits) for key in listed}
    assert "that value's bound for people of her band" in found.release.claims[0].statement


def test_an_audit_finds_what_keeps_the_bounds_of_everybody_and_not_those_of_its_band():
    """Among people with one row i0 is rare, and its bound is lower than that of those with five."""
    found = sf.publication(visits(), sf.FPrivacy(theta="2.2", offset="0.03"), method=Boxes(floor=5), seed=1)
    assert found.audit.holds
    manifest = found.release.manifest
    declared = manifest.schema["declared"]
    lying = replace(
        manifest,
        schema={**manifest.schema, "declared": {**declared, "people": {**declared["people"], "shares": "band"}}},
        claims=(replace(manifest.claims[0], statement=manifest.claims[0].statement[:-1] + " for people of her band."),),
    )
    (claim,) = audit_tables(lying, found.release.tables()).claims
    assert claim.holds is False
    assert claim.worst > claim.bound


@pytest.mark.parametrize(
    ("people", "message"),
    [
        ({"shares": "band", "alike": []}, "only like people"),
        ({"shares": "box"}, "expected table, or band"),
    ],
)
def test_shares_of_bands_need_bands(people, message):
    with pytest.raises(PolicyError, match=message):
        visits(people=people)


def test_noise_has_declared_shares_and_none_of_bands():
    with pytest.raises(PolicyError, match="declared shares here"):
        sf.publish(
            encounters(),
            sf.Differential(odds=20),
            method=NoisyBoxes(values=[f"i{k}" for k in range(9)], otherwise="i8"),
            secrets={"diagnosis": ["diag_1"]},
            quasi=["age"],
            identifier=["patient"],
            people={"key": "patient", "keep": "all", "quasi": "first by day", "shares": "band", "most": 2},
            other=["day", "sex", "diag_2", "diag_3", "ward"],
        )
