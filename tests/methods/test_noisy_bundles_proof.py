"""The law of noisy counts of people who may have several values, exactly: the chance of every output under neighbouring tables.

Two people share a box. What one of them has is anything; of which values people are counted is decided by the shipped code for
every order that coins can give. Beyond the counts of a box an output becomes likelier or less likely alike under all tables, so
that one step outside shows all that there is.
"""

import itertools
from collections import Counter
from fractions import Fraction
from math import factorial

import numpy as np
import pyarrow as pa
import pytest

from sfumato import Differential, NoisyBoxes, Schema, Table
from sfumato.randomize.noise import noise_ratio
from sfumato.table.bundles import bundles_of
from sfumato.table.column import Domain, Events
from tests.makers import encounters

GAMMA = Fraction(7, 2)
LISTED = (("a", "b", "c"), ("x", "y"))
OWN = [tuple(one) for size in range(4) for one in itertools.combinations(range(5), size)]
OTHERS = (0, 1, 3)


def domain():
    kinds = ("categorical",)
    return Events(tuple(Domain(pa.table({f"s{k}": list(one)}), kinds) for k, one in enumerate(LISTED)))


def shipped(most):
    """Count as the method does: of each secret those that come first in the order of coins."""
    return lambda bundles, order: bundles.counted(most, order)


def everything(bundles, order):
    """A mistake: all values are counted."""
    return bundles.counted((9, 9), order)


def rarest(most):
    """A mistake: of everybody those values are counted that the fewest have, so that what one has decides for others."""

    def counted(bundles, order):
        _, value = bundles.incidence()
        return bundles.counted(most, np.lexsort((value, bundles.counts[value])).argsort())

    return counted


def laws(counted):
    """Return for everything that the first person may have how likely each vector of counts is."""
    found = {}
    for own in OWN:
        person, value = [0] * len(own) + [1] * len(OTHERS), [*own, *OTHERS]
        bundles = bundles_of(domain(), np.array(person), np.array(value), 2)
        every = Counter()
        for order in itertools.permutations(range(len(value))):
            _, kept = counted(bundles, np.array(order))
            every[tuple(np.bincount(kept, minlength=5).tolist())] += 1
        found[own] = {counts: Fraction(many, factorial(len(value))) for counts, many in every.items()}
    return found


def growth(found, ratio):
    """Return how many times as likely an output is under one table as under another, at most."""
    power = [ratio**k for k in range(21)]
    worst = Fraction(0)
    for output in itertools.product(range(-1, 4), repeat=5):
        chance = [
            sum(p * power[sum(abs(a - b) for a, b in zip(output, counts, strict=True))] for counts, p in law.items())
            for law in found.values()
        ]
        worst = max(worst, max(chance) / min(chance))
    return worst


@pytest.mark.parametrize(("most", "moved"), [((1, 1), 4), ((2, 1), 5)])
def test_no_output_tells_more_than_the_odds_allow_and_one_tells_as_much_as_counts_move(most, moved):
    """A secret of three values cannot move four counts; otherwise the odds are attained."""
    ratio = noise_ratio(GAMMA, sum(most))
    worst = growth(laws(shipped(most)), ratio)
    assert worst == ratio**-moved
    assert worst <= ratio ** (-2 * sum(most)) <= GAMMA


@pytest.mark.parametrize("mistake", [everything, rarest((1, 1))])
def test_the_law_catches_counts_beyond_the_cap_and_caps_that_look_at_others(mistake):
    assert growth(laws(mistake), noise_ratio(GAMMA, 2)) > GAMMA


def test_the_law_catches_noise_for_one_value_where_a_person_is_counted_of_two():
    assert growth(laws(shipped((2, 1))), noise_ratio(GAMMA, 1)) > GAMMA


def test_of_whom_a_person_is_counted_does_not_depend_on_others():
    """Whatever the first has, the second is counted of each of hers as often."""
    for own in OWN:
        bundles = bundles_of(domain(), np.array([0] * len(own) + [1] * 3), np.array([*own, *OTHERS]), 2)
        every = Counter()
        for order in itertools.permutations(range(len(own) + 3)):
            person, kept = bundles.counted((1, 1), np.array(order))
            every[tuple(kept[person == 1].tolist())] += 1
        assert set(every) == {(0, 3), (1, 3)}
        assert len(set(every.values())) == 1


def test_a_release_follows_from_noisy_counts_and_quasi_values_whatever_people_have(monkeypatch):
    """Other values, none at all, numbers in place of texts: with the same noisy counts everything is the same."""
    method = NoisyBoxes(values=["i0", "i1", "i2", "i3"], otherwise="i0", floor=100)
    schema = {"identifier": ["patient"], "quasi": ["age", "sex"], "other": ["day", "ward"]}
    own = Schema(
        **schema,
        secrets={"diagnosis": ["diag_1", "diag_2", "diag_3"]},
        people={"key": "patient", "keep": "all", "quasi": "first by day", "most": 2},
    )
    frame = encounters(people=400)
    rows = frame.num_rows
    place = frame.column_names.index("diag_2")
    worlds = [frame, *(frame.set_column(place, "diag_2", one) for one in (pa.nulls(rows), pa.array(range(rows))))]
    empty = {name: pa.nulls(rows, pa.string()) for name in ("diag_1", "diag_2", "diag_3")}
    worlds.append(pa.table({name: empty.get(name, frame.column(name)) for name in frame.column_names}))
    monkeypatch.setattr("sfumato.methods.people._counted", lambda task, group, groups, *_: np.full((groups, 4), 3, np.int64))
    made = []
    for world in worlds:
        found = method.run(Table.from_frame(world, method.close(own), seed=1), Differential(odds=3), seed=1)
        made.append(
            (found.release.manifest.to_json(), [one.to_pydict() for one in found.release.tables().values()], found.private)
        )
    assert all(one == made[0] for one in made)
