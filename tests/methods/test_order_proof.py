"""Ties in files that are sorted by the secret: of the worlds that fit a release, do all produce it?

The engineer knows everybody's quasi values, the program, that the file is sorted by the sensitive value, and here even the seed.
On designs full of ties every sum of floats, taken in the order of the rows, would be a little different in every world.
"""

from collections import defaultdict
from fractions import Fraction
from itertools import permutations, product

import numpy as np
import pytest

from sfumato import Ambiguity, Anatomy, Boxes, LDiversity, MultiSize, NearGroups, publication
from sfumato.methods.base import PEOPLE
from sfumato.privacy import PresenceAssociation
from sfumato.randomness import SeededRandomness
from tests.makers import people

pytestmark = pytest.mark.usefixtures("one_thread")

PERMUTED = {"a": [39, 44, 47, 59, 69, 75], "b": [75, 47, 44, 69, 59, 39]}
EQUAL_MEANS = {"zip": list("GCAKBEHDLFIJ"), "age": [20] * 5 + [50] * 2 + [80] * 5}
THREE = LDiversity(3)


def sorted_by_secret(world, quasi):
    order = sorted(range(len(world)), key=lambda k: world[k])
    return people([world[k] for k in order], **{name: [values[k] for k in order] for name, values in quasi.items()})


def shown(release):
    """What a release tells, whatever the numbers of its groups: the rows of every table by group."""
    groups = defaultdict(list)
    for name, table in release.tables().items():
        columns = table.column_names
        at = columns.index("group")
        for row in zip(*(column.to_pylist() for column in table.columns), strict=True):
            groups[row[at]].append((name, *map(str, row[:at]), *map(str, row[at + 1 :])))
    return frozenset(tuple(sorted(rows)) for rows in groups.values())


def beliefs(worlds):
    """Return the largest share of the worlds in which one person has one value."""
    return max(
        Fraction(sum(world[person] == value for world in worlds), len(worlds))
        for person in range(len(worlds[0]))
        for value in set(worlds[0])
    )


def every_world(values, quasi, requirement, method, seed=1):
    """Return the worlds that give each release."""
    found = defaultdict(list)
    for world in sorted(set(permutations(values))):
        found[shown(method.run(sorted_by_secret(world, quasi), requirement, random=seed).release)].append(world)
    return found


@pytest.mark.parametrize(
    "method", [NearGroups(form="buckets", floor=1), NearGroups(form="buckets")], ids=["buckets", "near-groups"]
)
def test_columns_that_permute_each_other_tell_nothing_about_who_is_matched(method):
    """Person (69, 59) would have z for certain in one of the releases, were columns told apart by rounding."""
    for worlds in every_world("uvwxyz", PERMUTED, THREE, method).values():
        assert beliefs(worlds) <= Fraction(1, 3)


def groups_of(release):
    """Return the people of every group, by their zip, and its values: groups of these releases share no zip."""
    for rows in shown(release):
        zips = {row[1] for row in rows if row[0] in ("qit", "at_zip")}
        values = [row[1] for row in rows if row[0] == "st" for _ in range(int(row[2]))]
        yield [k for k, one in enumerate(EQUAL_MEANS["zip"]) if one in zips], values


def fitting(release):
    """Give every world that fits a release: every placement of each group's values on its people."""
    parts = [
        [dict(zip(members, order, strict=True)) for order in sorted(set(permutations(values)))]
        for members, values in groups_of(release)
    ]
    for chosen in product(*parts):
        world = {person: value for part in chosen for person, value in part.items()}
        yield [world[person] for person in sorted(world)]


@pytest.mark.parametrize(
    ("method", "requirement"),
    [(Boxes(floor=2), THREE), (Ambiguity(floor=2), PresenceAssociation(1, THREE))],
    ids=["buckets", "ambiguity"],
)
def test_every_world_that_fits_boxes_of_categories_with_equal_means_produces_them(method, requirement):
    """Many places have equal means, E and H at the middle: which of them comes first must not rest on the order of a sum."""
    first = publication(sorted_by_secret("uvwxyzuvwxyz", EQUAL_MEANS), requirement, method=method, random=1).release
    many = 0
    for world in fitting(first):
        assert shown(method.run(sorted_by_secret(world, EQUAL_MEANS), requirement, random=1).release) == shown(first)
        many += 1
    assert many == 6**4


class OneOrder(SeededRandomness):
    """The coins of a seed, but for the order into which people are brought."""

    def __init__(self, order):
        super().__init__(1)
        self.order = np.array(order)

    def spawn(self, *path):
        return self if path == (PEOPLE,) else super().spawn(*path)

    def permutation(self, count):
        return self.order


TWO = LDiversity(2)
ENGINEER = {
    "blind": (MultiSize(), TWO),
    "anatomy": (Anatomy(), TWO),
    "boxes": (Boxes(floor=1), TWO),
    "near": (NearGroups(form="buckets", floor=1), TWO),
    "near-groups": (NearGroups(), TWO),
    "ambiguity": (Ambiguity(floor=1), PresenceAssociation(1, TWO)),
}


@pytest.mark.parametrize(("method", "requirement"), ENGINEER.values(), ids=ENGINEER)
@pytest.mark.parametrize(
    ("values", "quasi"),
    [("aabb", {"x": [1, 1, 2, 3], "y": list("pqqp")}), ("abcd", {"x": [1, 2, 2, 1], "y": list("pqpq")})],
    ids=["twins", "square"],
)
def test_the_shuffle_alone_keeps_every_belief_within_its_bound_in_a_file_that_is_sorted_by_the_secret(
    method, requirement, values, quasi
):
    """Over all orders of four people, for one outcome of all other coins."""
    likelihood = defaultdict(list)
    for world in sorted(set(permutations(values))):
        table = sorted_by_secret(world, quasi)
        for order in permutations(range(4)):
            likelihood[shown(method.run(table, requirement, random=OneOrder(order)).release)].append(world)
    assert max(map(beliefs, likelihood.values())) <= Fraction(1, 2)
