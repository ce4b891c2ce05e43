"""The figures behind an explanation: bounds per value, feasibility, and what each strategy would cost."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from fractions import Fraction
from typing import Any, cast

from sfumato import notebook
from sfumato.basis import Basis
from sfumato.errors import Infeasible, NotProvable, PolicyError
from sfumato.exact import ceil_inverse, decimal_text, percent
from sfumato.explain.cost import Obstacle, StrategyLoss, compare_strategies, people_text, protects_nobody
from sfumato.explain.forecast import Forecast
from sfumato.explain.odds import Odds
from sfumato.explain.presence import Presence
from sfumato.explain.risk import Risk, risk_of
from sfumato.explain.room import NoRoom, boxes_of, no_room
from sfumato.explain.study import Study, study
from sfumato.groups.soft import soft_rule
from sfumato.methods import Boxes, Method, NoisyBoxes, default_method
from sfumato.methods.base import about_values
from sfumato.privacy import Bounds, Requirement
from sfumato.privacy.sets import About
from sfumato.progress import Progress, silent
from sfumato.query import Workload
from sfumato.release.paper_claims import PAPER_CLAIMS
from sfumato.table import Table


@dataclass(frozen=True)
class ValueBound:
    """One sensitive value: how many people have it, how sure a reader may become, and the smallest group that may hold it.

    Or a set of values, whose name is `value` and whose values are `members`.
    """

    value: str
    count: int
    share: Fraction
    bound: Fraction
    members: tuple[str, ...] = ()

    @property
    def factor(self) -> float:
        """How many times as sure as before a reader may become."""
        return float(self.bound / self.share) if self.share else float("inf")

    @property
    def needs(self) -> int:
        """⌈1/bound⌉: the smallest group in which one person may have the value."""
        return ceil_inverse(self.bound)

    @property
    def feasible(self) -> bool:
        """False when more people have the value than its bound allows in any group."""
        return self.bound >= self.share


@dataclass(frozen=True)
class Cut:
    """The boxes into which near people are put: by which cuts, how many, and how large; for soft cuts also their patience κ."""

    basis: Basis
    number: int
    sizes: tuple[int, int]
    patience: int | None = None


@dataclass(frozen=True, repr=False)
class Explanation:
    """What a policy means for a table. Private: it tells shares of the original table, and is never written into a release.

    >>> import pyarrow as pa
    >>> import sfumato as sf
    >>> people = pa.table({"age": [31, 44, 58, 62], "illness": ["Flu", "Gout", "Flu", "Asthma"]})
    >>> sf.explain(people, sf.LDiversity(2), quasi=["age"], sensitive="illness", quick=True)
    Explanation(feasible: 4 people, 3 sensitive values, method near-groups; 100 % unique)

    `either_form` says that the method shows its groups as ranges or as buckets. `paper_claim` is what the method claims in
    place of a bound on belief, in the words of the release; None where it claims the bounds. `people` are sentences about who
    a row is, and about values that may mean "missing".
    """

    rows: int
    dropped: int
    roles: Mapping[str, tuple[str, ...]]
    one_row_per_person: bool
    unique_share: Fraction
    requirement: Mapping[str, Any]
    against: str
    method: str
    max_size: int | None
    decoys: int
    values: tuple[ValueBound, ...]
    obstacle: Obstacle | None
    strategies: tuple[StrategyLoss, ...]
    sets: tuple[ValueBound, ...] = ()
    form: str = "buckets"
    either_form: bool = False
    paper_claim: str | None = None
    near: bool = False
    boxes: Cut | None = None
    room: NoRoom | None = None
    study: Study | None = None
    risk: Risk | None = None
    randomization: Forecast | None = None
    presence: Presence | None = None
    odds: Odds | None = None
    people: tuple[str, ...] = ()
    declared: tuple[str, ...] | None = None
    """Where records are randomized by declared shares: the values whose true share lies above their bound."""
    apart: bool = False
    """Whether several sensitive columns are protected each by itself: then values have the names of their columns before them."""

    def __repr__(self) -> str:
        can = "feasible" if self.feasible else "cannot be kept"
        unique = f"{percent(self.unique_share, 1)} unique"
        return (
            f"Explanation({can}: {people_text(self.rows)}, {len(self.values)} sensitive values, method {self.method}; {unique})"
        )

    def _repr_html_(self) -> str:
        """Return verdict, the figures to decide on, and the five sentences; private, as all of it is."""
        parts = [notebook.paragraphs(self.verdict()[1:])]
        if self.study is not None:
            headings = ("people together", "holds against", "groups", *self.study.workloads, "exposure")
            rows = [
                ("independence", "", "", *(percent(e, 1) for e in self.study.independence), percent(self.study.prior_exposure, 1))
            ]
            rows += [
                (
                    row.name + (" (this policy)" if row.chosen else ""),
                    row.against,
                    f"{row.groups:,}",
                    *(percent(error, 1) for error in row.errors),
                    percent(row.exposure or 0.0, 1),
                )
                for row in self.study.rows
                if row.groups is not None
            ]
            parts.append(notebook.table(headings, rows, right=tuple(range(2, len(headings)))))
        parts.append(notebook.paragraphs(self.highlights()))
        return notebook.card(self.verdict()[0], *parts, under="private: figures of the original table")

    @property
    def feasible(self) -> bool:
        """True when the method of the policy can keep the bounds."""
        return self.obstacle is None

    @property
    def compound(self) -> bool:
        """True when several sensitive columns form one attribute."""
        return len(self.roles["sensitive"]) > 1 and not self.apart

    @property
    def unbounded(self) -> tuple[ValueBound, ...]:
        """The values without a bound, the most frequent first: a release may show openly who has them."""
        held = {value for one in self.sets if one.bound < 1 for value in one.members}
        return tuple(value for value in reversed(self.values) if value.bound == 1 and value.value not in held)

    def tightest(self, number: int) -> tuple[ValueBound, ...]:
        """Return so many values with the lowest bounds, the lowest first and of equal ones the rarest."""
        return tuple(sorted(self.values, key=lambda value: (value.bound, value.count, value.value))[:number])

    def verdict(self) -> list[str]:
        """Return the answers to the first questions: can the policy be kept, who is unprotected, who is unique?"""
        from sfumato.explain.sentences import verdict

        return [*verdict(self), *self.people]

    def highlights(self) -> list[str]:
        """Return the five sentences that follow the decision table: who is found, why, what would help, bounds, the promise."""
        from sfumato.explain.highlights import highlights

        return highlights(self)

    def details(self) -> list[str]:
        """Return what else there is to know, as paragraphs for the person who answers for the table's privacy."""
        from sfumato.explain.sentences import details

        return details(self)

    def measured(self) -> list[str]:
        """Return what the measured figures are, and what they are not."""
        from sfumato.explain.measured import about

        return [] if self.study is None else about(self.study)

    def sentences(self) -> list[str]:
        """Return the whole explanation, the verdict first."""
        from sfumato.explain.highlights import finding
        from sfumato.explain.measured import figures

        measured = [] if self.study is None else figures(self.study)
        return [*self.verdict(), *measured, *finding(self.risk), *self.measured(), *self.details()]

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain JSON values, every bound exact."""
        return {
            "private": "figures about the original table; do not publish",
            "rows": self.rows,
            "dropped": self.dropped,
            "roles": {role: list(names) for role, names in self.roles.items()},
            "one_row_per_person": self.one_row_per_person,
            "protect": "each" if self.apart else "combination" if self.compound else None,
            "people": list(self.people),
            "unique_share": float(self.unique_share),
            "requirement": dict(self.requirement),
            "against": self.against,
            "method": self.method,
            "max_size": self.max_size,
            "decoys": self.decoys,
            "form": self.form,
            "weaker_claim": self.paper_claim,
            "feasible": self.feasible,
            "unbounded_share": float(sum((value.share for value in self.unbounded), start=Fraction(0))),
            "obstacle": None if self.obstacle is None else _plain(vars(self.obstacle)),
            "values": [
                {
                    "value": value.value,
                    "count": value.count,
                    "share": float(value.share),
                    "bound": decimal_text(value.bound),
                    "factor": value.factor,
                    "smallest_group": value.needs,
                    "feasible": value.feasible,
                }
                for value in self.values
            ],
            "sets": [
                {
                    "set": one.value,
                    "values": list(one.members),
                    "count": one.count,
                    "share": float(one.share),
                    "bound": decimal_text(one.bound),
                    "feasible": one.feasible,
                }
                for one in self.sets
            ],
            "strategies": [vars(strategy) for strategy in self.strategies],
            "near": self.near,
            "boxes": None if self.boxes is None else vars(self.boxes),
            "randomization": None if self.randomization is None else self.randomization.to_dict(),
            "presence": None if self.presence is None else self.presence.to_dict(),
            "odds": None if self.odds is None else self.odds.to_dict(),
            "risk": None if self.risk is None else self.risk.to_dict(),
            "no_room": None if self.room is None else vars(self.room),
            "measured": None if self.study is None else {**vars(self.study), "rows": [vars(row) for row in self.study.rows]},
        }


def explain(
    table: Table,
    requirement: Requirement,
    *,
    method: Method | None = None,
    workload: Workload | None = None,
    quick: bool = False,
    workers: int | None = None,
    progress: Progress | None = None,
) -> Explanation:
    """Return what the requirement means for this table. Nothing is published.

    The loss per strategy is Σ(size − 1)² over blind buckets, from counts alone. Anatomy stands beside them at ℓ = ⌈1/smallest
    bound⌉, the only way it can keep bounds that differ. Query error and exposure are measured on releases made in memory, with
    the owner's `workload` or random questions; `quick` leaves that out.
    """
    if quick and workload is not None:
        raise PolicyError("explain: a workload is measured, and quick leaves measuring out", hint="give one of the two")
    tell = progress or silent
    try:
        method = method or default_method(requirement, table)
    except Infeasible:
        method = Boxes()  # no method keeps these bounds
    values, sets = _valued(table, requirement, method)
    cost = _cost(table, requirement, method, tell)
    measured = None
    if (cost.strategies or cost.boxes or cost.presence or cost.odds) and not quick:
        measured = study(table, requirement, method, workload=workload, workers=workers, progress=tell)
        cost = replace(cost, obstacle=cost.obstacle or _found_out(measured))
        if cost.obstacle is not None:
            measured = replace(
                measured, rows=tuple(replace(row, chosen=row.chosen and row.groups is None) for row in measured.rows)
            )
    by_declared = method.form == "randomized" and getattr(method, "declared", None)
    return Explanation(
        rows=table.rows,
        dropped=table.dropped,
        roles={role: tuple(getattr(table.schema, role)) for role in ("identifier", "quasi", "sensitive", "other")},
        one_row_per_person=table.schema.one_row_per_person,
        apart=table.schema.apart,
        unique_share=table.unique_share(),
        requirement=requirement.to_dict(),
        against=requirement.against,
        method=method.name,
        max_size=getattr(method, "max_size", None),
        decoys=getattr(method, "decoys", 0),
        values=values,
        sets=sets,
        form=method.form,
        either_form=any(parameter.name == "form" for parameter in fields(method)),
        paper_claim=None if method.proves() else PAPER_CLAIMS[method.name],
        study=measured,
        risk=risk_of(table),
        people=table.about_people(),
        declared=tuple(one.value for one in values if not one.feasible) if by_declared else None,
        **vars(cost),
    )


def _valued(table: Table, requirement: Requirement, method: Method) -> tuple[tuple[ValueBound, ...], tuple[ValueBound, ...]]:
    """Return every value with its bound, the rarest first, and every set of values; of each column protected by itself."""
    values: list[ValueBound] = []
    sets: list[ValueBound] = []
    for one in table.apart():
        name = one.schema.sensitive[0]
        asked = requirement.of(name) if table.schema.apart else requirement
        counts = {value: count for value, count in one.sensitive.histogram().items() if count}
        shares = {value: Fraction(count, one.rows) for value, count in counts.items()}
        declared = getattr(method, "declared", {})
        declared = (declared.get(name, {}) if table.schema.apart else declared) or shares
        if asked.bounds_odds:
            declared = shares  # any belief grows by the same odds, also that of what people have
        limits = asked.limits(shares) | asked.limits(declared)
        mark = f"{name}: " if table.schema.apart else ""
        values += [ValueBound(mark + value, counts[value], shares[value], limits[value]) for value in counts]
        found = _sets(asked, counts, declared, _about(one, method))
        sets += [replace(a, value=mark + a.value, members=tuple(mark + v for v in a.members)) for a in found]
    return tuple(sorted(values, key=lambda one: (one.count, one.value))), tuple(sets)


def _about(table: Table, method: Method) -> About:
    """Return what is known of the values: of the declared ones, where there are any."""
    attribute = table.schema.closed_attribute() if getattr(method, "declared", None) else None
    return about_values(table, None if attribute is None else attribute.domain)


def _sets(
    requirement: Requirement, counts: Mapping[str, int], shares: Mapping[str, Fraction], about: About
) -> tuple[ValueBound, ...]:
    """Return every set of values with its bound, which follows from these shares; counts are the table's."""
    total, names = sum(counts.values()), tuple(shares)
    found = []
    for one in requirement.set_bounds(shares, about):
        members = tuple(names[place] for place in one.places)
        count = sum(counts.get(value, 0) for value in members)
        found.append(ValueBound(one.name, count, Fraction(count, total), one.limit, members))
    return tuple(found)


@dataclass(frozen=True)
class _Cost:
    """Whether a release can be made, and of what."""

    obstacle: Obstacle | None
    strategies: tuple[StrategyLoss, ...] = ()
    near: bool = False
    boxes: Cut | None = None
    room: NoRoom | None = None
    randomization: Forecast | None = None
    presence: Presence | None = None
    odds: Odds | None = None


def _cost(table: Table, requirement: Requirement, method: Method, tell: Progress) -> _Cost:
    try:
        bounds = method.bounds(table, requirement)
    except Infeasible as error:
        return _Cost(Obstacle.of(error))
    if requirement.presence in (None, 1) and not bounds.protects:
        return _Cost(protects_nobody(requirement.presence))
    try:
        method.require_provable(table, requirement)
    except NotProvable as error:
        if requirement.presence is not None:
            return _Cost(Obstacle.of(error))
        strategies, obstacle = _blind(bounds, method, tell)
        return _Cost(obstacle or Obstacle.of(error), strategies)
    if requirement.presence is not None:
        try:
            return _Cost(None, presence=Presence.of(table, requirement, method))
        except Infeasible as error:
            return _Cost(Obstacle.of(error))
    try:
        if method.keeps_odds:  # bounds are about declared shares: groups of the table's people lose something else
            return _Cost(None, odds=Odds.of(table, requirement, bounds, cast(NoisyBoxes, method)))
    except Infeasible as error:
        return _Cost(Obstacle.of(error))
    if method.form == "synthetic":  # there are no groups, and a draw on the table would count against its people
        return _Cost(None)
    strategies, obstacle = _blind(bounds, method, tell)
    cost = _Cost(obstacle, strategies)
    try:
        return replace(cost, **_outlook(table, requirement, bounds, method))
    except Infeasible as error:
        return replace(cost, obstacle=Obstacle.of(error))


def _blind(bounds: Bounds, method: Method, tell: Progress) -> tuple[tuple[StrategyLoss, ...], Obstacle | None]:
    """Return the loss of blind groups, and why the policy's own ones cannot be made; nothing where sets have bounds."""
    return ((), None) if bounds.sets or bounds.apart else compare_strategies(bounds, method, tell)


def _outlook(table: Table, requirement: Requirement, bounds: Bounds, method: Method) -> dict[str, Any]:
    """Return what more can be said, before anything is published, where groups are not drawn at random."""
    if method.form == "randomized":
        plan = cast(Any, method).planned(requirement, bounds, table.rows)
        return {"randomization": Forecast.of(plan, table.rows)}
    return _boxes(table, requirement, bounds, method) if method.way == "boxes" else {"near": method.way == "near"}


def _boxes(table: Table, requirement: Requirement, bounds: Bounds, method: Any) -> dict[str, Any]:
    """Return the boxes that would be cut, and why there is only one if so."""
    grouping = boxes_of(table, bounds, method, tight=requirement.against == "reader")
    sizes = grouping.sizes
    rule = soft_rule(bounds, method.patience) if grouping.basis == "soft" else None
    made = Cut(grouping.basis, len(sizes), (int(sizes.min()), int(sizes.max())), None if rule is None else rule.patience)
    return {"boxes": made, "room": no_room(table, requirement, method) if len(sizes) == 1 else None}


def _found_out(measured: Study) -> Obstacle | None:
    """Return why the policy's own release could not be made when it was tried; a sample of the table proves nothing."""
    own = next((row for row in measured.rows if row.chosen and row.groups is None), None)
    return None if own is None or measured.sampled else Obstacle(own.note, None)


def _plain(value: Any) -> Any:
    if isinstance(value, Fraction):
        return decimal_text(value)
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (tuple, list)):
        return [_plain(item) for item in value]
    return value
