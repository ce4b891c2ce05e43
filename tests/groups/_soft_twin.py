"""Soft cuts in plain Python with exact fractions, written from docs/guarantees.md: a twin of the kernels, and of their mistakes.

`outcomes` gives every transcript of one world with its probability; `made` follows given coins instead. A `mistake` leaves out
one condition of the proof.
"""

from collections import defaultdict
from dataclasses import dataclass
from fractions import Fraction
from math import floor

ONE = Fraction(1)
LEAST = Fraction(7, 10)


@dataclass(frozen=True)
class Case:
    """People by their quasi rows, a bound for every value and then for every set, and the parameters of the cuts.

    *Events* are the values and then the sets, which may overlap. Without tests cuts are safe.
    """

    quasi: tuple[tuple[int, ...], ...]
    limits: tuple[Fraction, ...]
    floor: int
    tests: int
    patience: int
    mistake: str = ""
    sets: tuple[frozenset[int], ...] = ()
    levels: bool = False
    """Whether codes are levels of categories, whose line is that of the codes: one column, or two levels each."""

    @property
    def columns(self):
        """The quasi columns by name; levels are text, in the order of their codes."""
        columns = enumerate(zip(*self.quasi, strict=True))
        return {f"q{j}": [f"c{code}" for code in column] if self.levels else list(column) for j, column in columns}

    @property
    def looked_at(self):
        """The events that are kept; one mistake forgets sets."""
        return range(len(self.limits) - (len(self.sets) if self.mistake == "single values only" else 0))

    def has(self, event, value):
        single = len(self.limits) - len(self.sets)
        return event == value if event < single else value in self.sets[event - single]

    def chance(self, size):
        return max(1 - Fraction(self.patience, size), LEAST)

    def shown(self, told):
        """What a release shows of an account."""
        if self.mistake == "rounded up":
            return Fraction(-floor(-told * 1000), 1000)
        return Fraction(floor(told * 1000), 1000)

    def cap(self, value, size, told):
        return floor(self.limits[value] * (1 + (size - 1) * self.shown(told)))

    def keeps(self, counts, size, told):
        return all(self.limits[v] == 1 or counts[v] <= self.cap(v, size, told) for v in self.looked_at)

    def candidates(self, box):
        """The cut of every column, columns by falling width: quasi values only. No column has missing values."""
        columns = range(len(self.quasi[0]))

        def place(j, code):
            ends = [row[j] for row in self.quasi]
            return (code - min(ends)) / max(max(ends) - min(ends), 1)

        def width(j):
            codes = [self.quasi[person][j] for person in box]
            return place(j, max(codes)) - place(j, min(codes))

        for j in sorted(columns, key=lambda j: (-width(j), j)):
            if width(j) <= 0:
                return
            codes = sorted({self.quasi[person][j] for person in box})
            best = self._most_even(box, j, [codes[: k + 1] for k in range(len(codes) - 1)])
            level = self._most_even(box, j, [[code] for code in codes])
            even, alone = (min(map(len, sides)) for sides in (best, level))
            if self.levels and alone >= self.floor and even <= 2 * alone:
                yield level
            elif even >= self.floor:
                yield best

    def _most_even(self, box, j, lefts):
        """Return the two sides of the first most even of these cuts, by the codes on the left."""
        sides = [
            tuple(tuple(person for person in box if (self.quasi[person][j] in left) is here) for here in (True, False))
            for left in lefts
        ]
        return max(sides, key=lambda both: min(map(len, both)))

    def histogram(self, box, world):
        return [sum(self.has(event, world[person]) for person in box) for event in range(len(self.limits))]

    def slack(self, counts, sides, world, told):
        """Return whether the cut is possible by the box's counts, and the least room that its two sides leave."""
        least = len(world)
        for v in self.looked_at:
            if self.limits[v] == 1:
                continue
            caps = [self.cap(v, len(side), told) for side in sides]
            if sum(caps) < counts[v]:
                return False, None
            for side, most in list(zip(sides, caps, strict=True))[: 1 if self.mistake == "one side" else 2]:
                have = sum(self.has(v, world[person]) for person in side)
                if counts[v] > most and (have or self.mistake != "only values that a side has"):
                    least = min(least, most - have)
        return True, least

    def after(self, told, free, chance):
        """Return the account after a refusal."""
        spared = {"not charged": True, "hopeless refusals not charged": free < -1, "only coins charged": free < 0}
        return told if spared.get(self.mistake) else told * chance

    def coins(self, free):
        """Return how many coins have to refuse a cut."""
        return free + (2 if self.mistake == "a coin more" else 1)


def outcomes(case, world, box, told=ONE, known=None):
    """Return {((box, told shown), …): probability} over all coins, for the people of a box in one world."""
    known = {} if known is None else known
    key = box, tuple(world[person] for person in box), told
    if key not in known:
        known[key] = _box_outcomes(case, world, box, told, known)
    return known[key]


def _box_outcomes(case, world, box, told, known):
    counts, chance = case.histogram(box, world), case.chance(len(box))
    found = defaultdict(Fraction)
    candidates = list(case.candidates(box))
    if case.mistake == "ordered by values":
        candidates.sort(key=lambda sides: -(case.slack(counts, sides, world, told)[1] or -1))

    def final(account, weight):
        found[((box, case.shown(account)),)] += weight

    def cut(sides, account, weight):
        account = told if case.mistake == "not charged to descendants" else account
        one, two = (outcomes(case, world, side, account, known) for side in sides)
        for left, p in one.items():
            for right, q in two.items():
                found[tuple(sorted((*left, *right)))] += weight * p * q

    def walk(account, made, weight, number, coin):
        """`coin`: with one number a box, how many coins refuse before the first that does not; else None."""
        for place in range(number, len(candidates)):
            sides = candidates[place]
            smaller = min(map(len, sides))
            if case.keeps(counts, smaller, ONE if case.mistake == "safe without account" else account):
                return cut(sides, account, weight)
            if made == case.tests:
                continue
            late = case.mistake == "affordable afterwards"
            if not late and not case.keeps(counts, len(box), account * chance):
                continue
            possible, free = case.slack(counts, sides, world, account)
            if not possible:
                continue
            tossed = case.coins(free)
            refused = ONE if free < 0 else chance**tossed
            if coin is not None:
                refused = ONE if free < 0 or coin >= tossed else Fraction(0)
            if refused < 1:
                cut(sides, account, weight * (1 - refused))
            if refused == 0:
                return None
            weight *= refused
            made += 1
            if late and not case.keeps(counts, len(box), account * chance):
                return final(account, weight)
            account = case.after(account, free, chance)
        return final(account, weight)

    if case.mistake == "one number a box":
        most = len(box) + 1
        for coin in range(most + 1):
            walk(told, 0, chance**coin * (1 if coin == most else 1 - chance), 0, coin)
    else:
        walk(told, 0, ONE, 0, None)
    return dict(found)


def made(case, world, leading):
    """Return the final boxes with their accounts in thousandths, rounded down to billionths on the way, for given coins.

    `leading(low, high)` gives for each test of the box that lies there along the cuts how many coins refuse in a row.
    """
    fine = 10**9
    done = []
    waiting = [(0, tuple(range(len(world))), fine)]
    while waiting:
        low, box, told = waiting.pop()
        counts, chance, tests = case.histogram(box, world), case.chance(len(box)), 0
        coins = leading(low, low + len(box)) if len(box) >= 2 * case.floor else ()
        for sides in case.candidates(box):
            account = Fraction(told, fine)
            if case.keeps(counts, min(map(len, sides)), account):
                break
            after = floor(told * chance)
            possible, free = case.slack(counts, sides, world, account)
            if tests == case.tests or not possible or not case.keeps(counts, len(box), Fraction(after, fine)):
                continue
            tests += 1
            if free >= 0 and coins[tests - 1] < free + 1:
                break
            told = after
        else:
            done.append((box, told // (fine // 1000)))
            continue
        waiting += [(low, sides[0], told), (low + len(sides[0]), sides[1], told)]
    return sorted(done)
