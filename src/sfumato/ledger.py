"""Who was in each draw of a register: sorted hashes under the register's own key, and the draws that each person is in.

A file a draw: hashes of whom its rows are about, then of their quasi values, 64 bits each, ascending. Key and files are readable
for their owner only. Whoever has both can test whether somebody's identifier, or a whole row of quasi values, is among them;
without the key the hashes tell nothing.
"""

from __future__ import annotations

import hashlib
import math
import os
import secrets
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from sfumato.arrays import Integers, Unsigned
from sfumato.errors import OutputError
from sfumato.release.atomic import write_private
from sfumato.table.fingerprint import Fingerprint, nobody
from sfumato.table.marks import KEY, Marks, keyed

KEY_FILE = "people.key"
SUFFIX = ".people"

_IN_MEMORY = 1 << 24
"""More hashes than this are sorted in a file, of which the system keeps in memory what it has room for."""
_RANGES = 64
_DEVIATIONS = 2.4
"""Four deviations of a sum of |X − Y| over Poisson counts X and Y are this many times the root of all people."""

Patterns = Counter[tuple[Fraction, int]]
"""How many people have this product of odds, from so many draws."""


@dataclass(frozen=True, eq=False)
class Draw:
    """A draw that was booked: by how much odds may have grown, and who was in it, as sorted hashes under the register's key."""

    gamma: Fraction
    fingerprint: Fingerprint
    identified_by: tuple[str, ...]
    one_row_per_person: bool
    people: Unsigned
    quasi: Unsigned
    everybody: bool = False
    """Whether it counts for everybody, and for whom it names several times as often."""

    @property
    def repeats(self) -> bool:
        """Whether somebody is in it several times."""
        return bool((self.people[1:] == self.people[:-1]).any())


@dataclass(frozen=True, eq=False)
class KeyedDraws:
    """The draws of one register that count for the people they name, and the key under which they do."""

    key: bytes
    draws: Sequence[Draw]


def register_key(directory: Path, *, make: bool = False) -> bytes | None:
    """Return a register's own key, drawn where it is missing if asked to; None where there is none.

    Where there are hashes already, another key would explain none of them: none is drawn.
    """
    place = directory / KEY_FILE
    if make and not place.exists():
        if any(directory.glob(f"*{SUFFIX}")) and not place.exists():  # a key is older than any hash under it
            raise OutputError(
                f"{place} is gone, and without it nobody knows who was in the draws that are booked there",
                hint="bring it back from a copy; --receipts DIR names another register, which does not see these draws",
            )
        try:
            write_private(place, lambda stream: stream.write(secrets.token_bytes(KEY)))
        except (FileExistsError, OutputError):  # another process was faster
            if not place.exists():
                raise
    try:
        key = place.read_bytes() if place.is_file() else b""
    except OSError:
        return None
    return key if len(key) == KEY else None


def key_check(key: bytes) -> str:
    """Return what tells that hashes were made under this key, and nothing else of it."""
    return hashlib.blake2b(b"the key of a register", key=key, digest_size=16).hexdigest()


def write_hashes(place: Path, marks: Marks, key: bytes) -> dict[str, Any]:
    """Write who is in a draw to a new private file, and return what a booking says of it."""
    said: dict[str, Any] = {
        "key": key_check(key),
        "identified_by": list(marks.identified_by),
        "one_row_per_person": marks.one_row_per_person,
    }

    def write(stream: BinaryIO) -> None:
        digest = hashlib.blake2b(digest_size=16)
        for name, chunks in (("people", marks.people()), ("quasi", marks.quasi())):
            hashes = in_order(chunks, marks.fingerprint.rows, key)
            if name == "people" and marks.one_row_per_person:
                hashes = _once(hashes, keyed(nobody(len(marks.identified_by)), key))
            said[name] = len(hashes)
            stream.write(hashes.data)
            digest.update(hashes.data)
        said["digest"] = digest.hexdigest()

    write_private(place, write)
    return said


def _once(ordered: Unsigned, one: Unsigned) -> Unsigned:
    """Return ascending hashes with a single one of these: rows that name nobody are different people."""
    first, last = (int(np.searchsorted(ordered, one[0], side=side)) for side in ("left", "right"))
    return np.delete(ordered, slice(first + 1, last)) if last - first > 1 else ordered


def read_hashes(place: Path, said: Mapping[str, Any], gamma: Fraction, fingerprint: Fingerprint, key: bytes | None) -> Draw:
    """Return the draw whose hashes lie in a file; raises where that is not what the booking says, or the key is another.

    Bookings that do not say under which key they were made are taken to be under this one.
    """
    if key is None or said.get("key", key_check(key)) != key_check(key):
        raise ValueError("nothing explains its hashes")
    people, quasi = int(said["people"]), int(said["quasi"])
    if min(people, quasi) < 0 or not place.is_file() or os.path.getsize(place) != 8 * (people + quasi) or people + quasi == 0:
        raise ValueError("not the file that was written")
    hashes = np.memmap(place, np.dtype("<u8"), "r")
    if hashlib.blake2b(hashes.data, digest_size=16).hexdigest() != said["digest"]:
        raise ValueError("not the file that was written")
    identified_by = tuple(map(str, said["identified_by"]))
    whole = np.asarray(hashes)
    return Draw(gamma, fingerprint, identified_by, bool(said["one_row_per_person"]), whole[:people], whole[people:])


def in_order(chunks: Iterable[Unsigned], most: int, key: bytes) -> Unsigned:
    """Return the hashes under a key of at most so many words, ascending."""
    hashes, end = _room(most), 0
    for words in chunks:
        hashes[end : end + len(words)] = keyed(words, key)
        end += len(words)
    hashes = hashes[:end]
    hashes.sort()
    return hashes


def _room(most: int) -> Unsigned:
    if most <= _IN_MEMORY:
        return np.empty(most, "<u8")
    with tempfile.TemporaryFile() as stream:  # without a name: it is gone with the array
        return np.memmap(stream, "<u8", "w+", shape=(most,))


def patterns(marks: Marks, registers: Sequence[KeyedDraws], everybody: Iterable[Fraction]) -> Patterns:
    """Return how many people are in which draws, as the exact product of their odds; `everybody` is in some of them.

    People are grouped by the draws that they are in, draw by draw, and one product is computed a group.
    """
    start = (Fraction(1), 0)
    for gamma in everybody:
        start = (start[0] * gamma, start[1] + 1)
    seen: Patterns = Counter()
    for some in marks.people() if marks.identified_by else ():
        who = np.unique(some)
        group, products = np.zeros(len(who), np.int64), [start]
        for register in registers:
            own = keyed(who, register.key)
            order = np.argsort(own)
            ordered = own[order]
            for draw in register.draws:
                times = np.empty(len(who), np.int64)
                times[order] = _times(draw, ordered)
                group, products = _divided(group, products, times, draw.gamma)
        for product, people in zip(products, np.bincount(group, minlength=len(products)).tolist(), strict=True):
            seen[product] += people
    return seen if marks.identified_by else Counter({start: marks.fingerprint.rows})


def _times(draw: Draw, ordered: Unsigned) -> Integers:
    """Return how often each of some people, by their ascending hashes, is in a draw."""
    first, last = (np.searchsorted(draw.people, ordered, side=side) for side in ("left", "right"))
    times: Integers = np.maximum(last - first, int(draw.everybody)).astype(np.int64)
    return times


def _divided(
    group: Integers, products: list[tuple[Fraction, int]], times: Integers, gamma: Fraction
) -> tuple[Integers, list[tuple[Fraction, int]]]:
    """Return groups divided by how often somebody is in one more draw, and their products."""
    base = int(times.max(initial=0)) + 1
    if base == 1:
        return group, products
    group = group * base + times
    if len(products) * base <= max(1 << 10, len(group)):  # few groups: to count them is faster than to sort people
        occurs = np.bincount(group, minlength=len(products) * base) > 0
        parts, group = np.flatnonzero(occurs), (np.cumsum(occurs) - 1)[group]
    else:
        parts, group = np.unique(group, return_inverse=True)
    more = []
    for part in parts.tolist():
        product, draws = products[part // base]
        more.append((product * gamma ** (part % base), draws + (part % base > 0)))
    return group.astype(np.int64), more


@dataclass(frozen=True)
class Likeness:
    """Two multisets of quasi rows: their sizes, how many rows they share, and how far apart chance alone would hold them."""

    mine: int
    theirs: int
    common: int
    chance: float

    @property
    def contained(self) -> float:
        """The share of the smaller one that is in the other."""
        return self.common / max(1, min(self.mine, self.theirs))

    @property
    def closer_than_chance(self) -> bool:
        """Whether they are much closer than two samples of one population: the same rows, but for a few.

        Of Poisson counts X and Y with a mean of λ each, |X − Y| is √(4λ/π) on average. Half of that over all rows, and four
        deviations below it, is no accident; two rows apart is one person changed.
        """
        everybody = self.mine + self.theirs
        apart = everybody - 2 * self.common
        return apart <= max(2.0, min(self.chance / 2, self.chance - _DEVIATIONS * math.sqrt(everybody)))


def likeness(mine: Unsigned, theirs: Unsigned) -> Likeness:
    """Return how alike two sorted arrays of hashes are as multisets, a range of hashes at a time."""
    common, chance = 0, 0.0
    for one, other in zip(_ranges(mine), _ranges(theirs), strict=True):
        (values, times), (others, often) = (np.unique(some, return_counts=True) for some in (one, other))
        place = np.searchsorted(others, values)
        shared = place < len(others)
        shared[shared] = others[place[shared]] == values[shared]
        both, also = times[shared], often[place[shared]]
        common += int(np.minimum(both, also).sum())
        alone = np.delete(often, place[shared])
        chance += float(np.sqrt(both + also).sum() + np.sqrt(times[~shared]).sum() + np.sqrt(alone).sum())
    return Likeness(len(mine), len(theirs), common, math.sqrt(2 / math.pi) * chance)


def _ranges(hashes: Unsigned) -> Iterator[Unsigned]:
    ends = np.searchsorted(hashes, np.arange(1, _RANGES, dtype=np.uint64) << np.uint64(58))
    yield from np.split(hashes, ends)
