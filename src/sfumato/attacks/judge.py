"""The other side of an attack: who really has what, what is claimed, and how well somebody guessed."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from sfumato.arrays import Flags, Floats, Integers
from sfumato.attacks.informant import Informant, truth_of
from sfumato.attacks.result import AttackResult, Knows, Verdict, interval

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sfumato.release.base import Release
    from sfumato.table.table import Table

NO_BETTER = "no better than guessing the most frequent value for everybody"
_ROUNDING = 1e-9  # beliefs are floats here; the exact decision is the audit's
_TIE = 1e-9


@dataclass(frozen=True, eq=False)
class Posteriors:
    """What an adversary believes: [victims × values], a row of NaN where she has nothing to say.

    `error` is how far beliefs that were sampled may be off, so that only what exceeds a bound by more counts; `control` are her
    beliefs about the outsiders.
    """

    beliefs: Floats
    variant: str = ""
    note: str = ""
    error: Floats | float = 0.0
    control: Floats | None = None
    figures: Mapping[str, float] = field(default_factory=dict)
    asked: int | None = None
    """Where an informant chose the victims: by which number the judge knows them."""
    event: Integers | None = None
    """Where beliefs are about one set of values: 1 for each value of it, else 0. Beliefs are [victims × 2], outside and in it."""
    largest: Floats | None = None
    """Where several groups or rows may be a victim's: the largest belief over them, which is what bounds are compared with."""
    limits: Floats | None = None
    """Where beliefs are about other things than single values: their bounds, if the release has any."""
    knows: Knows | None = None


@dataclass(frozen=True, eq=False)
class Judge:
    """Everybody's true value as the release numbers them (−1: it has no such value), bounds, and who is claimed against."""

    truth: Integers
    control_truth: Integers | None
    limits: Floats | None
    claims: tuple[str, ...]
    best: int
    """The most frequent value in the table."""
    informant: Informant

    @classmethod
    def of(cls, release: Release, table: Table, victims: Integers, outsiders: Table | None, informant: Informant) -> Judge:
        """Return the judge of attacks on these rows of the table."""
        from sfumato.auditor.original import true_values

        limits = limits_of(release, table)
        away = None if outsiders is None else true_values(release.labels, outsiders)
        truth = true_values(release.labels, table)
        seen = np.bincount(truth[truth >= 0], minlength=len(release.labels))
        known = away is not None and (away >= 0).any()
        return cls(truth[victims], away if known else None, limits, covered(release), int(np.argmax(seen)), informant)

    def score(self, guess: Posteriors, *, attack: str, knows: Knows, seconds: float) -> AttackResult:
        """Return how often the best guess names the truth, and how beliefs stand to bounds."""
        truth = self.truth if guess.asked is None else truth_of(self.informant, guess.asked)
        limits, best, knows = self.limits, self.best, guess.knows or knows
        if guess.event is not None:
            truth = np.where(truth >= 0, guess.event[np.maximum(truth, 0)], -1)
            limits, best = guess.limits, int(2 * (truth == 1).sum() > len(truth))
        right, answered = _right(guess.beliefs, truth)
        people = int(answered.sum())
        success = float(right[answered].sum())
        in_truth = guess.beliefs[np.arange(len(truth)), np.maximum(truth, 0)] * (truth >= 0)
        low, high = interval(success, people)
        baseline = float((truth[answered] == best).mean()) if people else 0.0
        worst, bound, over, broken = _bounds(guess, answered, limits)
        claims = self.claims if guess.event is None or limits is not None else ()
        return AttackResult(
            attack=attack,
            variant=guess.variant,
            knows=knows,
            people=people,
            success=success / people if people else 0.0,
            interval=(low, high),
            mean_belief=float(in_truth[answered].mean()) if people else 0.0,
            largest_belief=float(in_truth[answered].max()) if people else 0.0,
            worst=worst,
            bound=bound,
            over=over,
            verdict=verdict(knows, claims, broken),
            baseline=baseline,
            control=self._control(guess),
            figures=dict(guess.figures),
            note=guess.note,
            warnings=(NO_BETTER,) if people and low <= baseline else (),
            seconds=seconds,
        )

    def score_presence(self, guess: Posteriors, *, attack: str, release: Release, seconds: float) -> AttackResult:
        """Return how often somebody tells members of the table from outsiders, and how sure she is of members."""
        from sfumato.auditor.bounds import presence_bound

        members, away = guess.beliefs[:, 1], np.zeros(0) if guess.control is None else guess.control[:, 1]
        alpha = presence_bound(release.manifest.requirement)
        limit = None if alpha is None else float(alpha)
        success, people = float((members >= 0.5).sum() + (away < 0.5).sum()), len(members) + len(away)
        broken = limit is not None and bool((members > limit + _ROUNDING).any())
        claims = tuple(claim.adversary for claim in release.claims if claim.kind == "presence")
        knows: Knows = guess.knows or "stranger"
        baseline = max(len(members), len(away)) / people if len(away) else None
        low, high = interval(success, people)
        return AttackResult(
            attack=attack,
            variant=guess.variant,
            knows=knows,
            people=people,
            success=success / people,
            interval=(low, high),
            mean_belief=float(members.mean()),
            largest_belief=float(members.max()),
            worst=float(members.max()),
            bound=limit,
            over=None if limit is None else float((members > limit + _ROUNDING).mean()),
            verdict=verdict(knows, claims, broken),
            baseline=baseline,
            control=float((away < 0.5).mean()) if len(away) else None,
            figures=dict(guess.figures),
            note=guess.note,
            warnings=(NO_BETTER,) if baseline is not None and low <= baseline else (),
            seconds=seconds,
        )

    def _control(self, guess: Posteriors) -> float | None:
        if guess.control is None or self.control_truth is None:
            return None
        right, answered = _right(guess.control, self.control_truth)
        return float(right[answered].mean()) if answered.any() else None


@dataclass(frozen=True, eq=False)
class HeldJudge:
    """Who of the victims has which event (values of one secret, then named sets), the bounds, and who is claimed against.

    Bounds are [victims × events], as the truth.
    """

    truth: Flags
    limits: Floats
    claims: tuple[str, ...]
    values: int
    """How many of the events are values."""

    def score(self, beliefs: Floats, *, attack: str, variant: str, knows: Knows, seconds: float) -> AttackResult:
        """Return how often the likeliest value is among those of a victim, and how beliefs stand to bounds."""
        people, own = len(beliefs), beliefs[:, : self.values]
        tied = own >= own.max(axis=1, keepdims=True) * (1 - _TIE)
        right = (tied & self.truth[:, : self.values]).sum(axis=1) / tied.sum(axis=1)
        low, high = interval(float(right.sum()), people)
        in_truth = beliefs[self.truth]
        baseline = float(self.truth[:, : self.values].mean(axis=0).max())
        worst, bound, over, broken = _bounds(Posteriors(beliefs), np.ones(people, bool), self.limits)
        return AttackResult(
            attack=attack,
            variant=variant,
            knows=knows,
            people=people,
            success=float(right.mean()),
            interval=(low, high),
            mean_belief=float(in_truth.mean()) if len(in_truth) else 0.0,
            largest_belief=float(in_truth.max()) if len(in_truth) else 0.0,
            worst=worst,
            bound=bound,
            over=over,
            verdict=verdict(knows, self.claims, broken),
            baseline=baseline,
            warnings=(NO_BETTER,) if low <= baseline else (),
            seconds=seconds,
        )


def _bounds(guess: Posteriors, answered: Flags, limits: Floats | None) -> tuple[float | None, float | None, float | None, bool]:
    """Return the belief nearest to or furthest above its bound, that bound, who is above one, and whether somebody is."""
    if limits is None or not answered.any():
        return None, None, None, False
    beliefs = (guess.beliefs if guess.largest is None else guess.largest)[answered]
    error = np.broadcast_to(np.asarray(guess.error, dtype=np.float64), guess.beliefs.shape)[answered]
    bounded = limits < 1
    if not bounded.any():
        return float(beliefs.max()), 1.0, 0.0, False
    used = np.where(bounded, (beliefs - error) / np.maximum(limits, 1e-300), -1.0)
    at = np.unravel_index(int(np.argmax(used)), used.shape)
    above = (beliefs - error > limits + _ROUNDING) & bounded
    return float(beliefs[at]), float(np.broadcast_to(limits, used.shape)[at]), float(above.any(axis=1).mean()), bool(above.any())


def _right(beliefs: Floats, truth: Integers) -> tuple[Floats, Flags]:
    """Return how far each best guess is right, ties shared evenly, and for whom there is one at all."""
    answered: Flags = np.logical_not(np.isnan(beliefs).any(axis=1))
    best = np.full(len(beliefs), np.nan)
    best[answered] = beliefs[answered].max(axis=1) if answered.any() else 0.0
    with np.errstate(invalid="ignore"):
        tied = beliefs >= best[:, None] * (1 - _TIE)
    named = tied[np.arange(len(truth)), np.maximum(truth, 0)] & (truth >= 0)
    return named / np.maximum(tied.sum(axis=1), 1), answered


def verdict(knows: str, claims: tuple[str, ...], broken: bool) -> Verdict:
    """Return whether the release claims anything against her, and whether she refuted it."""
    if knows not in claims:
        return "not claimed"
    return "refuted" if broken else "claimed"


def covered(release: Release) -> tuple[str, ...]:
    """Return the adversaries against whom the release claims its bounds on values: a claim covers whoever knows less.

    Not where it starts from a belief before: a reader who does not know the others learns from them about people like her, by
    the counts of a noisy box or by the shares that randomized records show.
    """
    chain = ("reader", "engineer", "insider")
    adversaries: list[str] = []
    for claim in release.claims:
        if claim.kind != "association":
            continue
        place = chain.index(claim.adversary)
        adversaries += chain[place : place + 1] if by_prior(release) else chain[: place + 1]
    return tuple(dict.fromkeys(adversaries))


def by_prior(release: Release) -> bool:
    """Return whether claims start from what was believed before: of noisy counts, and of records by declared shares."""
    return release.manifest.rests_on.noisy or release.manifest.parameters.get("parameters") == "declared"


def limits_of(release: Release, table: Table) -> Floats | None:
    """Return the bound of every value of the release, as the auditor reads the requirement; None where it cannot."""
    from sfumato.auditor.claims import AuditedBounds
    from sfumato.auditor.declaration import declared_shares
    from sfumato.errors import FormatError

    counts: Mapping[str, int | Fraction] = table.sensitive.histogram()
    manifest = release.manifest
    try:
        if isinstance(manifest.method.get("shares"), dict):
            counts = declared_shares(manifest)
        elif isinstance(manifest.method.get("values"), list):
            counts = {str(value): Fraction(1, len(manifest.method["values"])) for value in manifest.method["values"]}
        known = AuditedBounds.read(manifest, counts, release.labels).known
    except (FormatError, KeyError):
        return None
    return None if known is None else np.array([float(known[label]) for label in release.labels])
