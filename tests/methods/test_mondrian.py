import dataclasses
import json
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest

from sfumato import FPrivacy, LDiversity, Release, Schema, Table, audit, publication
from sfumato.errors import Infeasible, InputError, NotProvable, PolicyError
from sfumato.methods.mondrian import Mondrian
from sfumato.testing import CHECKS, check_method, example_tables
from tests.makers import people, skewed, tells

OPEN = FPrivacy(offset=1, against="reader")


def entropy(counts):
    shares = counts / counts.sum()
    return -(shares * np.log(shares)).sum()


def several_looks():
    """The tables on which two runs can differ: people who all look alike are one bucket, which has only one appearance."""
    return {name: table for name, table in example_tables().items() if name != "all alike"}


@pytest.mark.parametrize(
    "method",
    [
        Mondrian(form="buckets", constraint="t-closeness", t="0.4"),
        Mondrian(form="buckets", constraint="recursive", l=3, c="1.5", partition="relaxed", k=3),
    ],
    ids=str,
)
def test_mondrian_in_buckets_passes_the_conformance_suite(method):
    tables = several_looks()
    assert len(check_method(method, tables=tables)) == len(CHECKS) * len(tables)


@pytest.mark.parametrize("method", [Mondrian(k=5), Mondrian(partition="relaxed", constraint="entropy", l=2)], ids=str)
def test_mondrian_in_ranges_passes_the_conformance_suite(method):
    tables = example_tables()
    assert len(check_method(method, tables=tables)) == len(CHECKS) * len(tables)


def test_people_who_look_alike_are_one_group():
    table = example_tables()["all alike"]
    release = Mondrian(form="buckets").run(table, LDiversity(2, against="reader"), random=1).release
    assert release.sizes.tolist() == [table.rows]
    assert audit(release, table).holds is True


def test_the_bounds_of_the_requirement_are_kept_and_claimed_against_a_reader():
    table = skewed(rows=2000)
    requirement = FPrivacy(theta=3, offset="0.05", against="reader")
    bounds = requirement.bounds(table.sensitive.histogram())
    result = publication(table, requirement, method=Mondrian(form="buckets", k=4), random=1)
    release = result.release
    assert all(
        Fraction(int(count), int(release.sizes[bucket])) <= bounds.limits[value]
        for bucket, value, count in zip(release.st_group, release.st_value, release.st_count, strict=True)
    )
    assert result.audit.claims[0].adversary == "reader"
    assert result.private["groups"] == len(release.sizes) > 10
    assert result.private["smallest"] == release.sizes.min() >= 4
    assert result.private["largest"] == release.sizes.max()
    assert result.private["loss"] == sum((size - 1) ** 2 for size in release.sizes.tolist())
    assert "note" not in release.manifest.parameters


def test_both_forms_show_the_same_groups():
    table = skewed(rows=500)
    requirement = FPrivacy(theta=3, offset="0.1", against="reader")
    forms = [Mondrian(form=form, k=3).run(table, requirement, random=1).release for form in ("buckets", "ranges")]
    assert sorted(forms[0].sizes.tolist()) == sorted(forms[1].sizes.tolist())
    assert forms[1].form == "ranges"


def test_an_engineer_is_refused_because_a_refused_cut_tells_something():
    with pytest.raises(NotProvable, match="'reader'"):
        Mondrian(form="buckets").run(skewed(), LDiversity(2))


def test_a_release_that_is_only_k_anonymous_says_that_it_claims_nothing_about_sensitive_values(tmp_path):
    table = skewed()
    for form in ("buckets", "ranges"):
        Mondrian(k=5, form=form).run(table, OPEN, random=1).release.save(tmp_path / form)
        manifest = json.loads((tmp_path / form / "manifest.json").read_text())
        assert tells(manifest["parameters"]["note"], "k-anonymity", "no claim")
        assert Release.load(tmp_path / form).sizes.min() >= 5
    other = Mondrian(constraint="distinct", l=2, form="buckets").run(table, OPEN, random=1).release
    assert "'distinct', kept" in other.manifest.parameters["note"]


def test_with_no_bound_no_k_and_no_constraint_there_is_nothing_to_keep():
    with pytest.raises(PolicyError, match="protects nobody"):
        Mondrian(form="buckets").run(skewed(), OPEN)


@pytest.mark.parametrize(
    ("method", "holds"),
    [
        (Mondrian(form="buckets", constraint="distinct", l=4), lambda counts: len(counts) >= 4),
        (Mondrian(form="buckets", constraint="entropy", l=3), lambda counts: entropy(counts) >= np.log(3)),
        (
            Mondrian(form="buckets", constraint="recursive", l=2, c=2),
            lambda counts: counts.max() < 2 * (sum(counts) - max(counts)),
        ),
    ],
    ids=["distinct", "entropy", "recursive"],
)
def test_every_group_satisfies_its_diversity(method, holds):
    release = method.run(skewed(rows=1500), OPEN, random=1).release
    found = [release.st_count[release.st_group == bucket] for bucket in range(len(release.sizes))]
    assert len(found) > 5
    assert all(holds(counts) for counts in found)


def test_every_group_is_t_close_in_the_order_of_the_numbers():
    coins = np.random.default_rng(1)
    age = coins.integers(20, 70, 1500)
    pay = np.clip(age // 10 + coins.integers(-2, 3, 1500), 1, 9)
    table = Table.from_frame(pa.table({"age": age, "pay": pay}), Schema(quasi=["age"], sensitive=["pay"]))
    release = Mondrian(form="buckets", constraint="t-closeness", t="0.2", distance="ordered").run(table, OPEN, random=1).release
    values = np.unique(pay)
    whole = np.array([(pay == value).mean() for value in values])
    counts = np.zeros((len(release.sizes), len(values)))
    counts[release.st_group, release.st_value] = release.st_count
    runs = np.abs(np.cumsum(counts / counts.sum(axis=1, keepdims=True) - whole, axis=1)).sum(axis=1) / (len(values) - 1)
    assert len(runs) > 1
    assert runs.max() <= 0.2 + 1e-12


def test_ordered_distance_needs_values_with_an_order():
    method = Mondrian(form="buckets", constraint="t-closeness", t="0.2", distance="ordered")
    with pytest.raises(PolicyError, match="numbers, dates or bins"):
        method.run(skewed(), OPEN)
    frame = pa.table({"age": list(range(40)), "pay": [float(k % 20) for k in range(40)]})
    schema = Schema(quasi=["age"], sensitive=["pay"], bins={"pay": [0, 10, 20]})
    assert method.run(Table.from_frame(frame, schema), OPEN, random=1).release.rows == 40


def test_what_the_table_cannot_give_is_infeasible_and_says_what_would_work():
    table = people(["a"] * 4 + ["b"] * 2 + ["c", "d"])
    with pytest.raises(Infeasible, match="the table has 8") as caught:
        Mondrian(form="buckets", k=9).run(table, OPEN)
    assert caught.value.nearest == {"k": 8}
    with pytest.raises(Infeasible, match="only 4 sensitive values"):
        Mondrian(form="buckets", constraint="distinct", l=5).run(table, OPEN)


def test_a_column_with_the_name_of_one_that_the_form_adds_is_refused():
    with pytest.raises(InputError, match="'group'"):
        Mondrian(form="buckets", k=2).run(people(["a", "b"], group=[1, 2]), OPEN)
    with pytest.raises(InputError, match="'group'"):
        Mondrian(k=2).run(people(["a", "b"], age=[1, 2], group=["x", "y"]), OPEN)


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ({"partition": "loose"}, "partition"),
        ({"constraint": "entropic"}, r"(?s)constraint.*did you mean 'entropy'"),
        ({"form": "columns"}, "form"),
        ({"k": 0}, "whole number from 1 on"),
        ({"k": True}, "whole number from 1 on"),
        ({"l": 3}, r"(?s)'bounds'.*'distinct' or 'entropy'"),
        ({"constraint": "distinct"}, "needs l"),
        ({"constraint": "distinct", "l": 0}, "whole number from 1 on"),
        ({"constraint": "recursive", "l": 2}, "needs c"),
        ({"constraint": "recursive", "l": 2, "c": 0}, "above 0"),
        ({"constraint": "entropy", "l": 2, "c": 2}, "does not use it"),
        ({"constraint": "t-closeness"}, "needs t"),
        ({"constraint": "t-closeness", "t": "-0.1"}, "from 0 to 1"),
        ({"constraint": "t-closeness", "t": "2"}, "from 0 to 1"),
        ({"constraint": "t-closeness", "t": "much"}, "expected a number"),
        ({"constraint": "t-closeness", "t": "0.1", "distance": "far"}, "distance"),
        ({"t": "0.1"}, "does not use it"),
        ({"distance": "ordered"}, "does not use it"),
    ],
)
def test_parameters_are_checked_at_construction_and_unused_ones_refused(arguments, told):
    with pytest.raises(PolicyError, match=told):
        Mondrian(**arguments)


def test_parameters_are_exact_and_travel_as_text():
    method = Mondrian(constraint="t-closeness", t=0.29)
    assert method.to_dict() == {
        "name": "mondrian",
        "partition": "strict",
        "constraint": "t-closeness",
        "k": 1,
        "l": None,
        "c": None,
        "t": "29/100",
        "distance": "equal",
        "form": "ranges",
    }
    assert method == Mondrian(constraint="t-closeness", t="29%", distance="equal") == dataclasses.replace(method)
