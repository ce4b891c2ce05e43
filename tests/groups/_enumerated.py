"""Every world and every coin of cuts on small tables, decided by the shipped kernels: what somebody believes given each release.

Many boxes are cut in one call, each in a world and with coins of its own, so that hundreds of tables take seconds. Everything is
counted in whole numbers: a coin refuses with chance 7/10, so that every probability is a whole number of 10⁻⁶⁰.
"""

from collections import defaultdict
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import product
from math import prod

import numpy as np

from sfumato.groups._cut_kernels import Incidence, cut_level
from sfumato.groups._soft_kernels import ACCOUNT, COINS, FINE, SHOWN
from sfumato.groups.cuts import Space, accepting, in_strata
from sfumato.groups.soft import SoftTests
from sfumato.privacy.bounds import Bounds
from sfumato.randomness import SeededRandomness
from tests.makers import people as table_of

UNIT = 10**60
PATIENCE = 2  # with up to six people a coin then refuses with the least chance, 7/10


@dataclass(frozen=True, eq=False)
class Case:
    """People by their quasi rows and strata; `worlds` gives each world (what everybody has) its weight before a release is seen.

    `has(event, what)` says whether somebody who has that has an event; `steers(event, what)` how often it is counted by cuts.
    """

    quasi: tuple[tuple[int, ...], ...]
    limits: tuple[Fraction, ...]
    worlds: dict[tuple, int]
    has: object
    steers: object
    strata: tuple[int, ...] | None = None
    tests: int = 1
    joins: bool = False
    """A mistake: strata are joined where one of them cannot keep the bounds."""

    @cached_property
    def space(self):
        columns = {f"q{j}": list(column) for j, column in enumerate(zip(*self.quasi, strict=True))}
        return Space.of(table_of(["v"] * len(self.quasi), **columns).quasi)

    @cached_property
    def roots(self):
        """The boxes that are cut first, as the shipped code makes them of strata."""
        rows, begins = in_strata(len(self.quasi), None if self.strata is None else np.array(self.strata))
        return [tuple(sorted(some.tolist())) for some in np.split(rows, begins[1:])]

    def first(self, world):
        """The boxes that are cut first in this world."""
        joined = self.joins and not all(self.keeps(box, world) for box in self.roots)
        return [tuple(range(len(self.quasi)))] if joined else self.roots

    @cached_property
    def bounds(self):
        most = max(self.steers(event, what) for world in self.worlds for what in world for event in range(len(self.limits)))
        many = len(self.quasi) * max(most, 1)
        names = tuple(f"e{event}" for event in range(len(self.limits)))
        return Bounds(names, (many,) * len(names), self.limits, len(self.quasi), (0,) * len(names))

    def keeps(self, box, world):
        """Whether a box keeps the bounds as a whole, by the counts that steer cuts."""
        counts = [sum(self.steers(event, world[one]) for one in box) for event in range(len(self.limits))]
        return all(limit == 1 or count <= limit * len(box) for count, limit in zip(counts, self.limits, strict=True))


def chances(tests, size):
    """Return every outcome of the coins of so many tests of a box, with its probability; from `size` on all refuse alike."""
    each = [(k, UNIT * 7**k * 3 // 10 ** (k + 1)) for k in range(size)] + [(size, UNIT * 7**size // 10**size)]
    for drawn in product(each, repeat=tests):
        yield tuple(k for k, _ in drawn), prod(p for _, p in drawn) // UNIT ** (tests - 1)


def decided(case, states):
    """Return for every state (box, what its people have, account) what the kernels make of it, by coins: {outcome: chance}.

    An outcome is the account of a final box, or the account and the two sides of a cut.
    """
    asked = [(state, drawn, p) for state in states for drawn, p in chances(case.tests, len(state[0]))]
    people = [one for (box, _, _), _, _ in asked for one in box]
    sizes = np.array([len(state[0]) for state, _, _ in asked])
    high = np.cumsum(sizes)
    low, rows = high - sizes, np.arange(len(people), dtype=np.int32)
    counted = [
        [event for event in range(len(case.limits)) for _ in range(case.steers(event, what))]
        for (_, own, _), _, _ in asked
        for what in own
    ]
    begin = np.concatenate(([0], np.cumsum([len(one) for one in counted]))).astype(np.int64)
    secret = Incidence(begin, np.array([event for one in counted for event in one], dtype=np.int32), len(case.limits))
    accounts = accepting(case.bounds, "soft", 1, SoftTests(PATIENCE, case.tests), SeededRandomness(1))
    ledger = accounts._accounts(np.array([state[2] for state, _, _ in asked]), sizes, case.tests)
    ledger[:, COINS:] = [drawn for _, drawn, _ in asked]
    codes = np.ascontiguousarray(case.space.codes[:, people])
    where = cut_level(codes, case.space.axes(np.ones(len(codes))), secret, rows, low, high, accounts._acceptance(ledger))
    found = defaultdict(lambda: defaultdict(int))
    for (state, _, p), at, start, end, told in zip(
        asked, where.tolist(), low.tolist(), high.tolist(), ledger[:, ACCOUNT].tolist(), strict=True
    ):
        sides = (
            () if at < 0 else tuple(tuple(sorted(people[row] for row in rows[a:b].tolist())) for a, b in ((start, at), (at, end)))
        )
        found[state][told, sides] += p
    return found


def transcripts(case):
    """Return {world: {release: chance}}: a release is its boxes with the accounts that are shown."""
    known, fresh = {}, set()
    feasible = [world for world in case.worlds if all(case.keeps(box, world) for box in case.first(world))]  # others are refused
    for world in feasible:
        for box in case.first(world):
            fresh.add((box, tuple(world[one] for one in box), SHOWN * FINE))
    while fresh:
        made = decided(case, sorted(fresh))
        known |= made
        fresh = set()
        for (box, own, _), outcomes in made.items():
            at = dict(zip(box, own, strict=True))
            for told, sides in outcomes:
                fresh |= {(side, tuple(at[one] for one in side), told) for side in sides}
        fresh -= set(known)
    memory = {}

    def leads(state):
        if state not in memory:
            box, own, _ = state
            at, found = dict(zip(box, own, strict=True)), defaultdict(int)
            for (told, sides), p in known[state].items():
                if not sides:
                    found[((box, told // FINE),)] += p
                    continue
                one, two = (leads((side, tuple(at[person] for person in side), told)) for side in sides)
                for (left, a), (right, b) in product(one.items(), two.items()):
                    found[(*left, *right)] += p * a // UNIT * b // UNIT
            memory[state] = found
        return memory[state]

    found = {}
    for world in feasible:
        whole = {(): UNIT}
        for box in case.first(world):
            part = leads((box, tuple(world[one] for one in box), SHOWN * FINE))
            whole = {(*one, *two): p * q // UNIT for one, p in whole.items() for two, q in part.items()}
        found[world] = whole
    return found


def faults(case):
    """Return what is wrong with the releases of a table, the largest belief relative to its figure, and how many beliefs there
    are of people in boxes that told something.

    A release shows its boxes, their accounts, and how many people of each have each event.
    """
    events = range(len(case.limits))
    releases = defaultdict(dict)
    for world, made in transcripts(case).items():
        for boxes, p in made.items():
            counts = tuple(tuple(sum(case.has(e, world[one]) for one in box) for e in events) for box, _ in boxes)
            releases[boxes, counts][world] = p * case.worlds[world]
    wrong, worst, many = set(), Fraction(0), 0
    for (boxes, counts), likelihood in releases.items():
        total = sum(likelihood.values())
        for (box, told), shown in zip(boxes, counts, strict=True):
            room = Fraction(SHOWN + (len(box) - 1) * told, SHOWN)
            for event in events:
                figure = shown[event] / room
                if case.limits[event] < 1 and shown[event] > case.limits[event] * room:
                    wrong.add("cap")
                for person in box if shown[event] else ():
                    many += told < SHOWN
                    believed = sum(p for world, p in likelihood.items() if case.has(event, world[person]))
                    if believed * figure.denominator > figure.numerator * total:
                        wrong.add("figure")
                    if believed * case.limits[event].denominator > case.limits[event].numerator * total:
                        wrong.add("bound")
                    worst = max(worst, Fraction(believed, total) / figure)
    return wrong, worst, many
