"""Minimality: the adversary reruns the program, and strikes out what would have led elsewhere (Wong et al., VLDB 2007).

Tiny tables exactly, with every placement (`rerun`). Larger ones by sampling, box by box: a placement of a box's values counts if
every cut that the program tries of that box would have been refused, or as much as the coins of its tests would have refused
it. What refused cuts of larger boxes on the way tell is left out: she may believe more.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np

from sfumato.arrays import Floats, Integers
from sfumato.attacks import _minimal_kernels as kernels
from sfumato.attacks import _swap_kernels as swaps
from sfumato.attacks.judge import Posteriors
from sfumato.attacks.members import Members, NotApplicable, members
from sfumato.attacks.rerun import TINY, rerun
from sfumato.attacks.rerun_links import rerun_links
from sfumato.attacks.sight import Sight
from sfumato.groups._rule_kernels import LEAST_SHARE, LEVELS, cut_of
from sfumato.groups.cuts import Space
from sfumato.groups.soft import SoftTests, refusing, usual_patience
from sfumato.release.programs import program_of, refuses_by_bounds

BURN, SWEEPS = 100, 1_500
_ERRORS = 5.0

NOTHING = "no decision depended on who in a group has which value: all assignments stay equally likely"


def minimality(sight: Sight) -> Iterator[Posteriors]:
    """Yield what an engineer believes who knows the program and its parameters, all but its coins."""
    release: Any = sight.release
    manifest, basis = release.manifest, release.manifest.rests_on
    if not basis.by_histograms:
        raise NotApplicable("groups do not depend on sensitive values, so rerunning the program reveals nothing")
    if sight.everybody.num_rows <= TINY:
        yield rerun_links(sight) if manifest.own_ranges else rerun(sight)
        return
    if basis.placements_alike:
        yield Posteriors(sight.reader, note=NOTHING, largest=sight.largest)
        return
    program = program_of(manifest.method)
    if release.decoys or program is None or not program.cuts:
        name = manifest.method.get("name")
        raise NotApplicable(f"no sampler is implemented for the program of {name!r}; only tiny tables are rerun exactly")
    people = members(sight)
    yield _sampled(sight, people, soft=basis.keeps_accounts)


def _sampled(sight: Sight, people: Members, *, soft: bool) -> Posteriors:
    release: Any = sight.release
    limits = public_limits(release)
    space = Space.of(people.columns)
    if not program_of(release.manifest.method).one_level:  # type: ignore[union-attr]
        space = space.lines
    if space.missing.any():
        raise NotApplicable("the sampler does not support missing numbers, which may go to either side of a cut")
    held = np.zeros(len(people.codes), np.int64)
    word = sight.random.spawn(2).words(1).copy()
    swaps.deal(people.start, people.entry, people.count, word, held)
    flat = people.flat(people.shares)
    walked, stuck = 0, 0
    for g in range(people.groups):
        mine = slice(int(people.start[g]), int(people.start[g + 1]))
        entries = slice(int(people.entry[g]), int(people.entry[g + 1]))
        codes = np.ascontiguousarray(space.codes[:, mine].T)
        total, own = people.count[entries].astype(np.int64), limits[people.value[entries]]
        box = _FinalBox(release, codes, total, own, space, g)
        tests = box.tests() if soft else box.boundaries()
        if tests is None:
            continue
        cuts, chance = tests
        cuts, walk = kernels.Boundaries(*map(np.ascontiguousarray, cuts)), kernels.BoundaryWalk(BURN, SWEEPS, word)
        tally, value = np.zeros((len(codes), len(total))), held[mine].copy()
        if soft:
            kernels.walk_tested(codes, cuts, chance, value, total, walk, tally)
        elif not kernels.walk_refused(codes, cuts, value, total, walk, tally):
            stuck += len(codes)
            continue
        walked += len(codes)
        flat[people.offset[mine.start] : people.offset[mine.stop]] = (tally / SWEEPS).ravel()
    beliefs = people.to_victims(flat)
    figures = {"share of people whose box has a refused cut": walked / len(people.codes)}
    noise = 3 * np.sqrt(limits * (1 - limits) / SWEEPS)
    over = (beliefs > limits + 0.01 + noise) & (limits < 1)
    figures["share of people with a belief more than 0.01 over its bound"] = float(over.any(axis=1).mean())
    if stuck:
        figures["share of people in boxes where no placement was found"] = stuck / len(people.codes)
    if soft:
        figures["largest belief that is proved possible"] = _most_proved(people, release.account)
    error = _ERRORS * np.sqrt(np.maximum(beliefs * (1 - beliefs), 0.0) / SWEEPS)
    return Posteriors(beliefs, "by sampling", error=error, figures=figures, note="refused cuts of the final boxes alone")


def _most_proved(people: Members, account: Integers) -> float:
    """Return the largest of c / (1 + (n − 1)·account): what an engineer may believe of soft boxes by the theorem."""
    room = 1 + (people.sizes - 1) * (account / 1000)
    return float((people.count / room[people.entry_group]).max())


def public_limits(release: Any) -> Floats:
    """Return the bound of each value as the manifest lists it: known to everybody."""
    listed = release.manifest.values
    if listed is None:
        raise NotApplicable("the manifest does not list the bounds")
    return np.array([float(Fraction(str(entry["bound"]))) for entry in listed])


class _FinalBox:
    """One final box: its boundaries, and which of them the program tried."""

    def __init__(self, release: Any, codes: Any, total: Integers, limits: Floats, space: Any, number: int) -> None:
        self._release, self._codes, self._total, self._limits = release, codes, total, limits
        self._space, self._number, self._size = space, number, len(codes)
        method = release.manifest.method
        self._floor = int(method.get("floor") or method.get("k") or 1)

    def _caps(self, size: Any) -> Any:
        """Return how many people of each value so many people may have; no cap where a bound is 1."""
        room = np.floor(self._limits[None, :] * np.atleast_1d(size)[:, None] * (1 + 1e-12)).astype(np.int64)
        return np.where(self._limits[None, :] < 1, room, 1 << 40)

    def boundaries(self) -> tuple[kernels.Boundaries, float] | None:
        """Return every boundary that a tight cut may have, refused without coins; None where nothing was refused."""
        method = self._release.manifest.method
        if not refuses_by_bounds(method):
            raise NotApplicable("of Mondrian's rules the sampler supports only strict cuts under bounds")
        program = program_of(method)
        share = -(-self._size // LEAST_SHARE) if program is not None and program.least_share else 0
        least = max(self._floor, share)
        cuts = []
        for j in range(self._codes.shape[1]):
            people = np.bincount(self._codes[:, j])
            below = np.cumsum(people)
            cuts += [(j, step, -1, left) for step, left in enumerate(below.tolist()) if people[step] > 0]
            if self._space.kind[j] == LEVELS:
                cuts += [(j, -1, level, many) for level, many in enumerate(people.tolist())]
        cuts = [cut for cut in cuts if least <= cut[3] <= self._size - least]
        if not cuts:
            return None
        column, last, also, left = np.array(cuts).T
        return kernels.Boundaries(column, last, also, self._caps(left), self._caps(self._size - left)), 0.0

    def tests(self) -> tuple[kernels.Boundaries, float] | None:
        """Return the boundaries that soft cuts tested, and the chance of a coin that refuses; None where there was no test.

        What the box had told before follows from what it told in the end, by one refusal less for every test.
        """
        chance = float(refusing(self._patience(), self._size))
        account = int(self._release.account[self._number]) / 1000
        for many in range(SoftTests.tests, 0, -1):
            tests = self._tried(min(1.0, account / chance**many), chance)
            if len(tests) == many:
                return kernels.Boundaries(*(np.array(part) for part in zip(*tests, strict=True))), chance
        return None

    def _patience(self) -> int:
        stated = self._release.manifest.method.get("patience")
        if stated is not None:
            return int(stated)
        listed = [(int(entry["count"]), Fraction(str(entry["bound"]))) for entry in self._release.manifest.values]
        return usual_patience([(count, bound) for count, bound in listed if bound < 1])

    def _tried(self, account: float, chance: float) -> list[tuple[int, int, int, Integers, Integers]]:
        """Return the tests that a box makes that begins with this account, if all of them are refused."""
        tests: list[tuple[int, int, int, Integers, Integers]] = []
        codes, space, total = self._codes, self._space, self._total
        width = [
            space.position[space.first[j] + codes[:, j].max()] - space.position[space.first[j] + codes[:, j].min()]
            for j in range(codes.shape[1])
        ]
        for j in np.argsort(-np.array(width), kind="stable"):
            if width[j] <= 0 or len(tests) == SoftTests.tests:
                break
            people = np.bincount(codes[:, j], minlength=int(space.first[j + 1] - space.first[j]))
            last, also, left = cut_of(people, int(space.kind[j]), self._size, self._floor)
            right = self._size - left
            if left == 0:
                continue
            low, high = (self._caps(1 + (side - 1) * account)[0] for side in (left, right))
            if (total > self._caps(1 + (self._size - 1) * account * chance)[0]).any() or (total > low + high).any():
                continue
            tests.append((int(j), last, also, low, high))
            account *= chance
        return tests
