"""Claims judged on histograms: in which words they are made, what they rest on, and whether every group keeps its bounds."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any, Generic, TypeVar

import numpy as np

from sfumato.arrays import Floats, Integers, Small
from sfumato.auditor.bounds import Parts, SetBounds, UnknownModel, bounds_of, sets_of
from sfumato.auditor.result import ClaimResult, Finding, nearest_first
from sfumato.errors import FormatError, SfumatoError
from sfumato.exact import percent
from sfumato.release.base import Release
from sfumato.release.held import Held
from sfumato.release.links import Links
from sfumato.release.manifest import Claim, Manifest
from sfumato.table.column import Domain
from sfumato.table.schema import Schema
from sfumato.table.table import Table

Form_co = TypeVar("Form_co", bound=Release, covariant=True)


@dataclass(frozen=True, eq=False)
class Case(Generic[Form_co]):
    """A release, the original table if it is at hand and has the release's columns, and what only some forms can use.

    `parts` and `links` are what only the publisher knows: in which part of a randomized release each row of the table is,
    from 0 on, and with which people each record with ranges of its own was matched. `outsiders` are quasi rows of people who are
    not in the table. Without `draw` nothing is looked at that depends on how the coins of a randomized release fell.
    """

    release: Form_co
    table: Table | None = None
    parts: Integers | None = None
    links: Links | None = None
    outsiders: Any = None
    draw: bool = True

    @property
    def dropped(self) -> int:
        """How many people were left out of the table before it was published, because a value is missing; 0 if not known."""
        return 0 if self.table is None else self.table.dropped

    @property
    def manifest(self) -> Manifest:
        """What the release says about itself."""
        return self.release.manifest


_ARTICLE = {"reader": "a", "engineer": "an"}

DROPPED = "people were left out because a value is missing, and that such a person is not published tells something of her"

UNKNOWN_SHARES = "the bounds depend on the table's shares, which this release does not show: audit it with the table"


@dataclass(frozen=True)
class AuditedBounds:
    """The bound of each value, None where it is not known, and then `why`; and of each set its values and its bound."""

    known: Mapping[str, Fraction] | None
    why: str = ""
    sets: SetBounds = field(default_factory=dict)

    @classmethod
    def of(cls, case: Case[Release], shown: AnyCounts) -> AuditedBounds:
        """Return the bounds that the requirement gives, from the table's counts, else from the tables where they show them."""
        public, counts = case.manifest.parameters, None
        if case.table is not None:
            counts = case.table.sensitive.histogram()
        elif not shown.decoys and not public.get("suppression"):
            counts = shown.totals
        return cls.read(case.manifest, counts, shown.labels, shown.domain.parts())

    @classmethod
    def read(
        cls,
        manifest: Manifest,
        counts: Mapping[str, int | Fraction] | None,
        labels: tuple[str, ...],
        parts: Parts | None = None,
    ) -> AuditedBounds:
        """Return the bounds that the requirement gives to these values; `parts` are those of values of several columns."""
        try:
            known = bounds_of(manifest.requirement, counts, list(labels))
            sets = sets_of(manifest.requirement, counts, list(labels), _bins(manifest), parts)
            return cls(None, UNKNOWN_SHARES) if known is None or sets is None else cls(known, "", sets)
        except UnknownModel as error:
            return cls(None, error.message)


def _bins(manifest: Manifest) -> tuple[str, ...]:
    """Return the bins of the one sensitive column, ascending, as the manifest declares them; none where no set asks for them."""
    if not any("near" in rule for rule in manifest.requirement.get("sets", {}).values()):
        return ()
    return declared_schema(manifest).bins_in_order()


def declared_schema(manifest: Manifest) -> Schema:
    """Return what the manifest declares about columns."""
    try:
        return Schema.from_dict(manifest.schema["declared"])
    except (SfumatoError, KeyError, TypeError):
        raise FormatError("manifest.json: the declaration of columns is not valid in a policy") from None


@dataclass(frozen=True)
class _Worst:
    belief: Fraction
    value: str
    bound: Fraction
    place: int
    """The number of the value, sets after values: of two that are equally near, the first is told."""

    @property
    def nearness(self) -> tuple[tuple[bool, Fraction], int]:
        return nearest_first(self.belief, self.bound), -self.place


def judge(claim: Claim, case: Case[Release], shown: AnyCounts, bounds: AuditedBounds) -> ClaimResult:
    """Judge one claim: in every group the share of every value, and of every set, is at most its bound, in integers.

    A person's belief is the largest over the groups that fit her, so the worst group decides ([F' §3.1]). With decoys a value
    that may be a decoy belongs to one person of the group at most, which is the belief counted here. After soft cuts an engineer
    believes in a value with count / (1 + (size − 1)·account) at most, where a reader believes count / size.
    """
    fault = unfounded(claim, case)
    if fault:
        return ClaimResult(claim, False, note=fault)
    if not shown.largest:
        return ClaimResult(claim, False, note="the release shows no sensitive value")
    worst, reader, nearest = _worst(shown, bounds), None, None
    if claim.adversary == "engineer" and shown.account is not None:
        reader, nearest, worst = worst.belief, worst.value, _worst(shown, bounds, accounts=True)
    if bounds.known is None:
        return ClaimResult(claim, None, worst.belief, None, worst.value, bounds.why, reader, nearest)
    note = unseen(case.manifest) if claim.adversary == "engineer" else ""
    return ClaimResult(claim, worst.belief <= worst.bound, worst.belief, worst.bound, worst.value, note, reader, nearest)


def unfounded(claim: Claim, case: Case[Release]) -> str:
    """Return why the claim is not one that such a release can make; empty if it is.

    That follows from the basis, the form and what the manifest states, never from which method it names.
    """
    manifest, basis = case.manifest, case.manifest.rests_on
    if claim.kind != "association" or claim.adversary not in ("reader", "engineer"):
        return "this form cannot support such a claim"
    if misworded(claim, case.release):
        return misworded(claim, case.release)
    if basis.keeps_accounts and case.release.account is None:
        return "a release of soft cuts has to show the account of every group"
    if not basis.by_histograms:
        return "the basis on which records were grouped is not one that this audit knows"
    if case.dropped and claim.adversary == "engineer":
        return DROPPED
    left_out = manifest.parameters.get("suppression") or manifest.method.get("suppress") is True
    engineered = not manifest.shown_as.by_matchings and not left_out
    if claim.adversary not in basis.proves or (claim.adversary == "engineer" and not engineered):
        return f"a release of this form and basis is not known to hold against {_ARTICLE[claim.adversary]} {claim.adversary}"
    return ""


def misworded(claim: Claim, release: Release) -> str:
    """Return why the claim is not the one that the release would make for its requirement; empty if it is."""
    if claim != release.in_fixed_words(claim):
        return "the claim is not worded as this version words such claims"
    if claim.kind == "association" and claim.adversary != release.manifest.requirement.get("against"):
        return "the claim names another adversary than the requirement"
    return ""


def unseen(manifest: Manifest) -> str:
    """Return what the tables cannot verify, and what it rests on."""
    return f"that records were grouped as the basis says: {unverified(manifest)}"


def unverified(manifest: Manifest) -> str:
    """Return that the tables cannot verify what was just said, and which program it rests on."""
    return f"the tables cannot verify this; it rests on {program(manifest)}"


def program(manifest: Manifest) -> str:
    """Return the method and the package that made the release, as its manifest names them."""
    return f"the method {manifest.method.get('name')!r} of the package {manifest.method.get('package', 'sfumato')!r}"


def _worst(shown: AnyCounts, bounds: AuditedBounds, *, accounts: bool = False) -> _Worst:
    """Return the belief that uses the largest share of its bound (the largest belief where no bounds are known).

    With `accounts`, in thousandths, belief is 1000·count / (1000 + (size − 1)·account): the size of a group shrinks.
    """
    by_piece = (_worst_of(some, bounds, some.account if accounts else None) for some in shown.pieces())
    return max(by_piece, key=lambda worst: worst.nearness)


def _worst_of(shown: ShownCounts, bounds: AuditedBounds, account: Integers | None) -> _Worst:
    unit, sizes = (1, shown.sizes) if account is None else (1000, 1000 + (shown.sizes - 1) * account)
    labels = [*shown.labels, *(set_label(name) for name in bounds.sets)]
    limits = [Fraction(1) if bounds.known is None else bounds.known[label] for label in shown.labels]
    limits += [bound for _, bound in bounds.sets.values()]
    value, count, group = with_sets(shown, [values for values, _ in bounds.sets.values()])
    size = np.maximum(sizes[group], 1)
    room = int(count.max()) + 1, int(size.max()) + 1
    if len(labels) * room[0] * room[1] < 1 << 62:
        packed = np.sort((value * np.int64(room[0]) + count) * room[1] + size)
        value, rest = np.divmod(packed, room[0] * room[1])
        count, size = np.divmod(rest, room[1])
    else:
        order = np.lexsort((size, count, value))
        value, count, size = value[order], count[order], size[order]
    # Of the groups that show a value equally often, the smallest decides: it is the first of its (value, count).
    fresh = np.flatnonzero(np.concatenate(([True], (value[1:] != value[:-1]) | (count[1:] != count[:-1]))))
    candidates = []
    for k in fresh[_foremost(unit * count[fresh] / size[fresh], limits, value[fresh])]:
        belief = min(Fraction(unit * int(count[k]), int(size[k])), Fraction(1))  # the figure of a value without a cap may be more
        candidates.append(_Worst(belief, labels[value[k]], limits[value[k]], int(value[k])))
    return max(candidates, key=lambda worst: worst.nearness)


def _foremost(belief: Floats, limits: list[Fraction], value: Integers) -> Integers:
    """Return which beliefs may use the largest share of their bound: all that nearly do, as floats see it.

    Which of them does is for exact fractions to say: floats here are wrong by less than a part in 10¹⁴.
    """
    bounded = np.array([limit < 1 for limit in limits])[value]
    bound = np.array([float(limit) for limit in limits])[value]
    if not bounded.any() or bound.min() < 1e-200:
        return np.arange(len(belief))
    used = np.where(bounded, np.minimum(belief, 1.0) / bound, -1.0)
    return np.flatnonzero(used >= used.max() * (1 - 1e-9))


def set_label(name: str) -> str:
    """Return what a set is called beside values."""
    return f"any of {name}"


def with_sets(shown: ShownCounts, sets: list[tuple[str, ...]]) -> tuple[Integers, Integers, Integers]:
    """Return value, count and group of every entry, and after the values, as further ones, how often groups show each set."""
    number = {label: k for k, label in enumerate(shown.labels)}
    entries = [(shown.value.astype(np.int64), shown.count, shown.group.astype(np.int64))]
    if shown.held is not None:
        held, sets = shown.held, []
        entries.append((held.set_place.astype(np.int64) + len(shown.labels), held.set_count, held.set_group.astype(np.int64)))
    for place, values in enumerate(sets, len(shown.labels)):
        member = np.zeros(len(shown.labels), bool)
        member[[number[value] for value in values]] = True
        inside = member[shown.value]
        count = np.bincount(shown.group[inside], weights=shown.count[inside], minlength=len(shown.sizes)).astype(np.int64)
        group = np.flatnonzero(count)
        entries.append((np.full(len(group), place), count[group], group))
    value, count, group = (np.concatenate(parts) for parts in zip(*entries, strict=True))
    return value, count, group


def structure(manifest: Manifest, shown: AnyCounts, bounds: AuditedBounds, source: str) -> list[str]:
    """Return what does not fit together in the manifest and the table `source`: numbers, statements, values, bounds."""
    problems = []
    if manifest.parameters.get("groups") != len(shown.sizes):
        problems.append(f"{len(shown.sizes)} groups, the manifest says {manifest.parameters.get('groups')}")
    if len(set(shown.labels)) < len(shown.labels):
        problems.append(f"{source} shows two different values that are spelled alike")
    if not manifest.claims and "weaker_claim" not in manifest.parameters:
        problems.append("the manifest makes no claim")
    if manifest.values is not None and (shown.decoys or manifest.parameters.get("suppression")):
        problems.append("the manifest lists counts and bounds, but the tables do not show the true counts")
    return problems + _listed_values(manifest, shown, bounds, source)


def _listed_values(manifest: Manifest, shown: AnyCounts, bounds: AuditedBounds, source: str) -> list[str]:
    """Return where the manifest's bounds and counts do not follow from its requirement and from the table `source`."""
    if manifest.values is None:
        return []
    problems = []
    try:
        listed = {entry["value"]: (entry["count"], Fraction(entry["bound"])) for entry in manifest.values}
    except (KeyError, TypeError, ValueError, ZeroDivisionError):
        return ["the manifest's list of values cannot be read"]
    if set(listed) != set(shown.totals):
        problems.append(f"the manifest lists other sensitive values than {source} shows")
    for label in sorted(set(listed) & set(shown.totals)):
        count, bound = listed[label]
        follows = bound if bounds.known is None else bounds.known[label]
        if count != shown.totals[label]:
            problems.append(f"{label}: {source} shows it {shown.totals[label]} times, the manifest says {count}")
        if bound != follows:
            problems.append(f"{label}: its bound follows as {follows} from the requirement, the manifest says {bound}")
    return problems + _listed_sets(manifest, shown, bounds)


def _listed_sets(manifest: Manifest, shown: AnyCounts, bounds: AuditedBounds) -> list[str]:
    """Return that the manifest's list of sets does not follow from its requirement and the counts; nothing where it does."""
    follows = [
        {"set": name, "count": count, "bound": str(bound)}
        for (name, (_, bound)), count in zip(bounds.sets.items(), set_totals(shown, bounds), strict=True)
    ]
    if [dict(entry) for entry in manifest.sets] == follows or bounds.known is None:
        return []
    return ["the manifest's sets, their counts or bounds do not follow from the requirement and the tables"]


def set_totals(shown: AnyCounts, bounds: AuditedBounds) -> list[int]:
    """Return how many people have one of the values of each set."""
    if shown.held is not None:
        return [int(total) for total in shown.held.set_totals(len(bounds.sets))]
    return [sum(shown.totals[value] for value in values) for values, _ in bounds.sets.values()]


def open_values(counts: Mapping[str, Any], bounds: AuditedBounds, *, what: str = "people have") -> list[str]:
    """Return how many people have a value that the requirement leaves open, in a sentence; nothing if nobody has.

    `counts` are those of the people, or the declared ones; of people with several values, of `what` they have.
    """
    held = {value for values, bound in bounds.sets.values() if bound < 1 for value in values}
    free = [label for label in counts if bounds.known is not None and bounds.known.get(label) == 1 and label not in held]
    if not free:
        return []
    share = Fraction(sum(counts[label] for label in free), sum(counts.values()))
    return [f"{percent(share)} of {what} a value without a bound ({len(free)} values), which may be shown openly"]


@dataclass(frozen=True, eq=False)
class ShownCounts:
    """How often each group shows each sensitive value: entries sorted by group, then by value.

    With decoys every group shows so many more values than it has people. `account` is the account of each group where cuts were
    soft, in thousandths, and `held` what else is shown of people who may have several values.
    """

    group: Small
    value: Small
    count: Integers
    sizes: Integers
    domain: Domain
    decoys: int = 0
    account: Integers | None = None
    held: Held | None = None

    @property
    def labels(self) -> tuple[str, ...]:
        """The sensitive values as text."""
        return self.domain.labels

    @cached_property
    def people(self) -> int:
        """Number of people published."""
        return int(self.sizes.sum())

    @cached_property
    def start(self) -> Integers:
        """First entry of each group; one more than there are groups."""
        return np.searchsorted(self.group, np.arange(len(self.sizes) + 1)).astype(np.int64)

    @cached_property
    def shown(self) -> Integers:
        """Number of sensitive values shown in each group, where everybody has one; else of people."""
        if self.held is not None:
            return self.sizes
        return np.bincount(self.group, weights=self.count, minlength=len(self.sizes)).astype(np.int64)

    @cached_property
    def totals(self) -> dict[str, int]:
        """How often each sensitive value is shown; 0 for none."""
        counts = np.bincount(self.value, weights=self.count, minlength=len(self.labels)).astype(np.int64)
        return dict(zip(self.labels, map(int, counts), strict=True))

    @cached_property
    def shares(self) -> Floats:
        """The share of each entry's value in its group, as a float."""
        return self.count / np.maximum(self.shown, 1)[self.group]

    @property
    def largest(self) -> int:
        """How often a group shows a value at most; 0 where none is shown."""
        return int(self.count.max(initial=0))

    def pieces(self) -> tuple[ShownCounts, ...]:
        """Return all groups, some after others."""
        return (self,)

    @property
    def exposure(self) -> float | None:
        """The mean over published people of the share of their true value in their own group; None where nobody is published.

        That is the belief (posterior) of a reader who knows which row is hers; one who sees several rows that fit believes less.
        Of the values shown with decoys, as many as there are people are taken as real, each as likely as the next. Where people
        have several values, it is the mean over these.
        """
        return _exposure(self.squares(), self.people if self.held is None else int(self.count.sum()))

    def squares(self) -> dict[tuple[int, int], int]:
        """Return for groups of so many people, who show so many values, the sum of their squared counts."""
        own = np.bincount(self.group, weights=self.count.astype(np.float64) ** 2, minlength=len(self.sizes))
        room = int(self.shown.max(initial=0)) + 1
        kinds, of = np.unique(self.sizes * room + self.shown, return_inverse=True)
        sums = np.bincount(of, weights=own, minlength=len(kinds))
        return {divmod(kind, room): int(total) for kind, total in zip(kinds.tolist(), sums.tolist(), strict=True)}

    def stronger(self, noun: str) -> dict[str, Finding]:
        """Return what adversaries beyond the claims reach: who knows somebody of the group, who asks for parts of a value."""
        return _stronger(self.worst_beyond(), noun)

    def worst_beyond(self) -> dict[str, float]:
        """Return the worst belief of a reader who knows one other person, under "", and in each single sensitive column."""
        size = self.sizes[self.group] + self.decoys
        if not len(size):
            return {}
        knows_one = np.where(size > 1, self.count / np.maximum(size - 1, 1), 1.0)
        return {"": float(knows_one.max()), **self._worst_parts()}

    def _worst_parts(self) -> dict[str, float]:
        """Return per sensitive column the worst belief in one of its values, when there are several columns."""
        worst: dict[str, float] = {}
        for name, column in zip(self.domain.names, self.domain.table.columns, strict=True) if len(self.domain.names) > 1 else ():
            part = np.asarray(column.combine_chunks().dictionary_encode("encode").indices, dtype=np.int64)
            key, where = np.unique(self.group.astype(np.int64) * (part.max() + 1) + part[self.value], return_inverse=True)
            together = np.bincount(where, weights=self.count)
            worst[name] = float((together / np.maximum(self.sizes[key // (part.max() + 1)], 1)).max())
        return worst


@dataclass(frozen=True, eq=False)
class ChunkedCounts:
    """Histograms of so many groups that they are looked at some at a time: `pieces` gives whole groups, one run after another."""

    sizes: Integers
    domain: Domain
    pieces: Callable[[], Iterable[ShownCounts]]
    decoys: int = 0
    account: Integers | None = None
    held: Held | None = None

    @property
    def labels(self) -> tuple[str, ...]:
        """The sensitive values as text."""
        return self.domain.labels

    @cached_property
    def _sums(self) -> tuple[int, Counter[str], Counter[tuple[int, int]], dict[str, float]]:
        """The largest count, totals, squares and worst beliefs beyond the claims, in one pass."""
        largest, totals, squares = 0, Counter[str](dict.fromkeys(self.labels, 0)), Counter[tuple[int, int]]()
        worst: dict[str, float] = {}
        for some in self.pieces():
            largest = max(largest, some.largest)
            totals.update(some.totals)
            squares.update(some.squares())
            worst = {name: max(belief, worst.get(name, 0.0)) for name, belief in some.worst_beyond().items()}
        return largest, totals, squares, worst

    @property
    def largest(self) -> int:
        """How often a group shows a value at most."""
        return self._sums[0]

    @property
    def totals(self) -> dict[str, int]:
        """How often each sensitive value is shown; 0 for none."""
        return dict(self._sums[1])

    @property
    def exposure(self) -> float | None:
        """See `ShownCounts.exposure`."""
        return _exposure(self._sums[2], int(self.sizes.sum()))

    def stronger(self, noun: str) -> dict[str, Finding]:
        """See `ShownCounts.stronger`."""
        return _stronger(self._sums[3], noun)


AnyCounts = ShownCounts | ChunkedCounts


def _exposure(squares: Mapping[tuple[int, int], int], people: int) -> float | None:
    """Return the mean belief in true values, by whole numbers, so that it does not depend on the order of groups."""
    if not people:
        return None
    return math.fsum(total * (size / max(shown, 1) ** 2) for (size, shown), total in squares.items()) / people


def _stronger(worst: Mapping[str, float], noun: str) -> dict[str, Finding]:
    findings = {}
    for name, belief in worst.items():
        if name:
            findings[f"belief in {name} alone"] = Finding(
                f"worst belief in a single value of {name}, over all combinations", belief
            )
            continue
        findings[f"insider who knows one other person of the {noun}"] = Finding(
            f"worst belief of a reader who knows who is in a {noun} and the value of one other (a different value)", belief
        )
    return findings
