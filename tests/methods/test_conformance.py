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
    audit,
)
from sfumato.errors import ClaimBroken
from sfumato.methods import METHODS, Publication, Task
from sfumato.progress import silent
from sfumato.randomness import SeededRandomness, randomness
from sfumato.testing import CHECKS, ConformanceError, balanced_designs, check_method, example_tables


@pytest.mark.parametrize(
    "method",
    [
        Boxes(),
        MultiSize(),
        MultiSize(strategy="top-down"),
        MultiSize(strategy="two-size"),
        MultiSize(strategy="one-size"),
        Boxes(floor=5),
        Boxes(form="ranges", floor=5),
        MultiSize(form="ranges"),
        Anatomy(),
        Anatomy(l=3),
        NearGroups(),
        NearGroups(form="buckets"),
        Mondrian(),
        BuReL(),
    ],
    ids=str,
)
def test_every_method_passes_the_conformance_suite(method):
    assert len(check_method(method)) == len(CHECKS) * len(example_tables())


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


def test_the_suite_refuses_a_method_that_an_engineer_could_rerun():
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
            return dataclasses.replace(made, basis="soft", told=np.full(made.groups, 1000))

    tables = {"plain": example_tables()["plain"]}
    with pytest.raises(ClaimBroken):
        Tight(floor=1).run(tables["plain"], LDiversity(2), random=1)
    with pytest.raises(ConformanceError, match="an engineer who reruns the program"):
        check_method(Lying(floor=1, patience=0), tables=tables)
    with pytest.raises(ConformanceError, match="an engineer who reruns the program"):
        check_method(Silent(floor=1), tables=tables)


def test_suppression_passes_where_nobody_needs_to_go():
    assert check_method(Anatomy(suppress=True))


def test_the_suite_refuses_a_method_that_publishes_in_input_order_or_breaks_a_bound():
    @dataclasses.dataclass(frozen=True, kw_only=True)
    class Careless(MultiSize):
        def run(self, table, requirement, *, random=None, progress=None):
            weaker = FPrivacy(offset=1, bounds={"v0": "9/10"}, against=requirement.against)
            return super().run(table, weaker, random=random, progress=progress)

    class Forgetful(MultiSize):
        def run(self, table, requirement, *, random=None, progress=None):
            return super().run(table, requirement, random=5, progress=progress)

    class Orderly(MultiSize):
        """Deals people and publishes rows in the order of the input."""

        def run(self, table, requirement, *, random=None, progress=None):
            return super().run(table, requirement, random=InOrder(7 if random is None else random), progress=progress)

    class InOrder(SeededRandomness):
        def permutation(self, count):
            return np.arange(count)

    with pytest.raises(ConformanceError, match="seeds_decide"):
        check_method(Orderly())
    with pytest.raises(ConformanceError, match=r"beliefs_stay_within_bounds|audit_confirms"):
        check_method(Careless())
    with pytest.raises(ConformanceError, match="seeds_decide_everything"):
        check_method(Forgetful())


def test_the_suite_refuses_a_method_that_lets_the_order_of_the_input_decide():
    class Unshuffled(MultiSize):
        """Takes people as they come, as if nobody sorted files by the secret."""

        def run(self, table, requirement, *, random=None, progress=None):
            bounds = self.bounds(table, requirement)
            made = self.make(Task(table, requirement, bounds, randomness(random), silent))
            return Publication(made.release, audit(made.release, table), made.figures, self, bounds)

    with pytest.raises(ConformanceError, match="input_order_changes_no_byte"):
        check_method(Unshuffled())


def test_balanced_designs_tie_wherever_rows_are_added_up():
    designs = balanced_designs()
    assert len(designs) >= 5
    for table in designs.values():
        assert len(set(np.bincount(table.sensitive.codes).tolist())) <= 2
        assert table.rows <= 36


def test_the_methods_of_a_policy_file_are_all_there_and_each_is_made_by_its_name():
    assert set(METHODS) == {
        "boxes",
        "multi-size",
        "near-groups",
        "decoys",
        "anatomy",
        "mondrian",
        "burel",
        "heterogeneous",
        "ring",
        "small-domain",
        "uniform",
        "burel-perturbation",
        "ambiguity",
        "priview",
        "noisy-boxes",
        "privbayes",
        "noisy-tables",
    }
    for name, kind in METHODS.items():
        needed = {"values": ["a", "b"], "otherwise": "b"} if name == "noisy-boxes" else {}
        assert (kind.name, kind(**needed).to_dict()["name"]) == (name, name)
