import dataclasses

import numpy as np
import pytest

from sfumato import (
    Ambiguity,
    Anatomy,
    Boxes,
    BuReL,
    Decoys,
    FPrivacy,
    Heterogeneous,
    LDiversity,
    Mondrian,
    MultiSize,
    NearGroups,
    PriView,
    Ring,
)
from sfumato.auditor.replay import OTHERWISE
from sfumato.errors import ClaimBroken
from sfumato.testing import CHECKS, ConformanceError, balanced_designs, check_method, example_tables
from sfumato.testing.method import several_values_are_published_or_refused


@pytest.mark.parametrize(
    "method",
    [
        Boxes(floor=5),
        MultiSize(),
        Anatomy(),
        NearGroups(),
        Mondrian(),
        BuReL(),
    ],
    ids=str,
)
def test_every_method_passes_the_conformance_suite(method):
    assert len(check_method(method)) == len(CHECKS) * len(example_tables())


@pytest.mark.parametrize(
    "method",
    [
        Boxes(),
        Boxes(form="ranges", floor=5),
        MultiSize(strategy="top-down"),
        MultiSize(strategy="two-size"),
        MultiSize(strategy="one-size"),
        MultiSize(form="ranges"),
        Anatomy(l=3),
        NearGroups(form="buckets"),
    ],
    ids=str,
)
def test_so_does_every_variant_of_one_on_a_table_and_a_design(method, monkeypatch):
    """Which order people came in, and who is rerun, is a matter of the program that the variants share."""
    name, design = next(iter(balanced_designs().items()))
    monkeypatch.setattr("sfumato.testing.method.balanced_designs", lambda: {name: design})
    tables = dict([next(iter(example_tables().items()))])
    assert len(check_method(method, tables=tables)) == len(CHECKS)


def test_buckets_keep_uneven_bounds_too():
    requirement = FPrivacy(theta=2, offset="0.1", bounds={"v0": "0.19"})
    tables = {name: table for name, table in example_tables().items() if name != "compound"}
    for method in (Boxes(floor=5), MultiSize()):
        assert len(check_method(method, requirement, tables)) == len(CHECKS) * len(tables)


def test_methods_with_decoys_pass_where_decoys_are_possible():
    tables = {name: table for name, table in example_tables().items() if name != "compound"}
    assert check_method(Decoys(decoys=1), LDiversity(2), tables)
    assert check_method(Decoys(decoys=1, guard=True), LDiversity(2, against="reader"), tables)


def test_boxes_pass_against_a_reader_too_with_any_weights():
    weights = "association"
    assert check_method(Boxes(floor=10, weights=weights), LDiversity(2, against="reader"))


@pytest.mark.parametrize(
    "method",
    [
        Ring(accept_weaker_claim=True),
        Heterogeneous(accept_weaker_claim=True),
        Ambiguity(grouping="paper", accept_weaker_claim=True),
        PriView(grouping="paper", accept_weaker_claim=True),
    ],
    ids=lambda method: method.name,
)
def test_methods_that_claim_nothing_pass_too(method):
    tables = {name: table for name, table in example_tables().items() if len(table.quasi) > 1}
    assert len(check_method(method, tables=tables)) == len(CHECKS) * len(tables)


def test_the_suite_refuses_a_method_that_an_engineer_could_rerun(monkeypatch):
    class Tight(Boxes):
        """Cuts where values happen to have fallen, and claims an engineer."""

        def group(self, task):
            return super().group(dataclasses.replace(task, requirement=LDiversity(2, against="reader")))

    class Lying(Tight):
        def group(self, task):
            return dataclasses.replace(super().group(task), basis="safe")

    class Silent(Tight):
        def group(self, task):
            made = super().group(task)
            return dataclasses.replace(made, basis="soft", account=np.full(made.groups, 1000))

    tables = {"plain": example_tables()["plain"]}
    with pytest.raises(ClaimBroken):
        Tight(floor=1).run(tables["plain"], LDiversity(2), random=1)
    for lie in (Lying(floor=1, patience=0), Silent(floor=1)):  # no coins lead the cuts that are named to such boxes
        with pytest.raises(ConformanceError) as refused:
            check_method(lie, tables=tables)
        assert refused.value.__cause__.audit.problems == (OTHERWISE,)
    monkeypatch.setattr("sfumato.auditor.audit.REPLAYS", {})  # of a method whose cuts no audit knows
    with pytest.raises(ConformanceError, match="engineer who reruns"):
        check_method(Lying(floor=1, patience=0), tables=tables)
    with pytest.raises(ConformanceError, match="engineer"):
        check_method(Silent(floor=1), tables=tables)


def test_suppression_passes_where_nobody_needs_to_go():
    assert check_method(Anatomy(suppress=True))


@pytest.mark.parametrize("method", [Boxes(), Boxes(form="ranges"), Boxes(floor=3, patience=0)], ids=str)
def test_boxes_keep_every_promise_to_people_with_several_values(method):
    several_values_are_published_or_refused(method, LDiversity(2))


def test_the_suite_refuses_a_method_that_counts_rows_or_forgets_bands(monkeypatch):
    class Willing(Anatomy):
        def bundles_refused(self, against):
            return ""

    with pytest.raises((ConformanceError, ClaimBroken, IndexError, ValueError)):
        several_values_are_published_or_refused(Willing(), LDiversity(2))

    monkeypatch.setattr("sfumato.methods.people.strata_of", lambda table: None)
    with pytest.raises((ConformanceError, ClaimBroken)):
        several_values_are_published_or_refused(Boxes(floor=3), LDiversity(2))
