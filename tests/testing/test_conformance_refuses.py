import dataclasses

import numpy as np
import pytest

from sfumato import (
    FPrivacy,
    MultiSize,
    audit,
)
from sfumato.methods import METHODS, Publication, Task
from sfumato.progress import silent
from sfumato.randomness import SeededRandomness, randomness
from sfumato.testing import ConformanceError, balanced_designs, check_method


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
