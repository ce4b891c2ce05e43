"""The figures behind an explanation: bounds per value, feasibility, and what each strategy would cost."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, cast

from sfumato import notebook
from sfumato.basis import BASES
from sfumato.errors import Infeasible, NotProvable, PolicyError
from sfumato.exact import decimal_text, percent
from sfumato.explanation.cost import Obstacle, StrategyLoss, compare_strategies, people_text, protects_nobody
from sfumato.explanation.forecast import Forecast
from sfumato.explanation.odds import Odds
from sfumato.explanation.presence import Presence
from sfumato.explanation.room import boxes_of, no_room
from sfumato.explanation.sections import AboutMethod, AboutRule, AboutTable, BoxSizes, Cost, GroupCost, ValueBound
from sfumato.explanation.study import GroupingStudy, study
from sfumato.explanation.tightness import Tightness
from sfumato.groups.soft import soft_rule
from sfumato.methods import Boxes, Method, NoisyBoxes, default_method
from sfumato.methods.base import about_values, table_bounds
from sfumato.privacy import Bounds, Requirement
from sfumato.privacy.sets import About
from sfumato.progress import Progress, silent
from sfumato.query import Workload
from sfumato.table import Table


@dataclass(frozen=True, repr=False)
class Explanation:
    """What a policy means for a table. Private: it tells shares of the original table, and is never written into a release.

    >>> import pyarrow as pa
    >>> import sfumato as sf
    >>> people = pa.table({"age": [31, 44, 58, 62], "illness": ["Flu", "Gout", "Flu", "Asthma"]})
    >>> found = sf.explain(people, sf.LDiversity(2), quasi=["age"], sensitive="illness", quick=True)
    >>> found
    Explanation(feasible: 4 people, 3 sensitive values, method near-groups; 100 % unique)
    >>> found.table.rows, found.method.form, str(found.rule.values[0].bound)
    (4, 'buckets', '1/2')

    `obstacle` is why no release can be made, None where one can. `study` has what was measured on releases made in memory.
    """

    table: AboutTable
    rule: AboutRule
    method: AboutMethod
    cost: Cost
    obstacle: Obstacle | None = None
    study: GroupingStudy | None = None

    def __repr__(self) -> str:
        can = "feasible" if self.feasible else "cannot be kept"
        people, values = people_text(self.table.rows), len(self.rule.values)
        unique = f"{percent(self.table.unique_share, 1)} unique"
        return f"Explanation({can}: {people}, {values} sensitive values, method {self.method.name}; {unique})"

    def _repr_html_(self) -> str:
        """Return verdict, the figures to decide on, and what follows from them; private, as all of it is."""
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

    def verdict(self) -> list[str]:
        """Return the answers to the first questions: can the policy be kept, who is unprotected, who is unique?"""
        from sfumato.explanation.sentences import verdict

        return [*verdict(self), *self.table.notes]

    def highlights(self) -> list[str]:
        """Return what follows the decision table, an idea each: who is found, why, what would help, bounds, the promise."""
        from sfumato.explanation.highlights import highlights

        return highlights(self)

    def details(self) -> list[str]:
        """Return what else there is to know, as paragraphs for the person who answers for the table's privacy."""
        from sfumato.explanation.sentences import details

        return details(self)

    def measured(self) -> list[str]:
        """Return what the measured figures are, and what they are not."""
        from sfumato.explanation.measured import about

        return [] if self.study is None else about(self.study)

    def sentences(self) -> list[str]:
        """Return the whole explanation, the verdict first."""
        from sfumato.explanation.highlights import finding, in_terms
        from sfumato.explanation.measured import figures

        measured = [] if self.study is None else figures(self.study)
        found = finding(self.table.risk) if self.table.risk is None else [*finding(self.table.risk), in_terms(self.table.risk)]
        return [*self.verdict(), *measured, *found, *self.measured(), *self.details()]

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain JSON values, every bound exact."""
        return {
            "private": "figures about the original table; do not publish",
            "rows": self.table.rows,
            "dropped": self.table.dropped,
            "roles": {role: list(names) for role, names in self.table.roles.items()},
            "one_row_per_person": self.table.one_row_per_person,
            "protect": "each" if self.table.protects_each else "combination" if self.table.compound else None,
            "people": list(self.table.notes),
            "unique_share": float(self.table.unique_share),
            "requirement": dict(self.rule.requirement),
            "against": self.rule.against,
            "method": self.method.name,
            "max_size": self.method.max_size,
            "decoys": self.method.decoys,
            "form": self.method.form,
            "weaker_claim": self.method.paper_claim,
            "feasible": self.feasible,
            "unbounded_share": float(sum((value.share for value in self.rule.unbounded), start=Fraction(0))),
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
                for value in self.rule.values
            ],
            "sets": [
                {
                    "set": bound.value,
                    "values": list(bound.members),
                    "count": bound.count,
                    "share": float(bound.share),
                    "bound": decimal_text(bound.bound),
                    "feasible": bound.feasible,
                }
                for bound in self.rule.sets
            ],
            "strategies": [vars(strategy) for strategy in self.cost.groups.strategies],
            "near": self.cost.groups.near,
            "boxes": None if self.cost.groups.boxes is None else vars(self.cost.groups.boxes),
            "randomization": None if self.cost.randomization is None else self.cost.randomization.to_dict(),
            "presence": None if self.cost.presence is None else self.cost.presence.to_dict(),
            "odds": None if self.cost.odds is None else self.cost.odds.to_dict(),
            "risk": None if self.table.risk is None else self.table.risk.to_dict(),
            "no_room": None if self.cost.groups.room is None else vars(self.cost.groups.room),
            "too_tight": None if self.rule.tightness is None else self.rule.tightness.to_dict(),
            "measured": None if self.study is None else {**vars(self.study), "rows": [vars(row) for row in self.study.rows]},
        }


def explain(
    table: Table,
    requirement: Requirement,
    *,
    method: Method | None = None,
    workload: Workload | None = None,
    quick: bool = False,
    members: Table | None = None,
    workers: int | None = None,
    progress: Progress | None = None,
) -> Explanation:
    """Return what the requirement means for this table. Nothing is published.

    Where whole households are published, `members` are the same people one by one: what boxes of them reach is measured beside.

    The loss per strategy is Σ(size − 1)² over blind buckets, from counts alone. Anatomy stands beside them at ℓ = ⌈1/smallest
    bound⌉, the only way it can keep bounds that differ. Query error and exposure are measured on releases made in memory, with
    the owner's `workload` or random questions; `quick` leaves that out.
    """
    if quick and workload is not None:
        raise PolicyError("explain: a workload is measured, and quick leaves measuring out", hint="give one of the two")
    tell, named = progress or silent, method
    try:
        method = method or default_method(requirement, table)
    except Infeasible:
        method = Boxes()  # no method keeps these bounds
    values, sets = _valued(table, requirement, method)
    cost, obstacle = _cost(table, requirement, method, tell)
    measured = None
    if cost.measurable and not quick:
        measured = study(table, requirement, method, workload=workload, members=members, workers=workers, progress=tell)
        obstacle = obstacle or _found_out(measured)
        if obstacle is not None:
            rows = tuple(replace(row, chosen=row.chosen and row.groups is None) for row in measured.rows)
            measured = replace(measured, rows=rows)
    by_declared = method.shown_as.by_coin and getattr(method, "declared", None)
    rule = AboutRule(
        requirement=requirement.to_dict(),
        against=requirement.against,
        values=values,
        sets=sets,
        tightness=tightness_of(table, requirement, named) if obstacle is None else None,
        declared=tuple(bound.value for bound in values if not bound.feasible) if by_declared else None,
    )
    return Explanation(AboutTable.of(table), rule, AboutMethod.of(method), cost, obstacle, measured)


def _valued(table: Table, requirement: Requirement, method: Method) -> tuple[tuple[ValueBound, ...], tuple[ValueBound, ...]]:
    """Return every value with its bound, the rarest first, and every set of values; of each column protected by itself."""
    values: list[ValueBound] = []
    sets: list[ValueBound] = []
    for part in table.each():
        name = part.schema.sensitive[0]
        asked = requirement.of(name)
        counts = {value: count for value, count in part.sensitive.histogram().items() if count}
        shares = {value: Fraction(count, part.rows) for value, count in counts.items()}
        declared = getattr(method, "declared", {})
        declared = (declared.get(name, {}) if table.schema.protects_each else declared) or shares
        if asked.bounds_odds:
            declared = shares  # any belief grows by the same odds, also that of what people have
        limits = asked.limits(shares) | asked.limits(declared)
        by_band = _largest(part, asked)
        limits |= {value: limit for value, limit in by_band.items() if value in limits}
        mark = f"{name}: " if table.schema.protects_each else ""
        values += [ValueBound(mark + value, counts[value], shares[value], limits[value]) for value in counts]
        bounded = _sets(asked, counts, declared, _about(part, method))
        bounded = tuple(replace(a, bound=by_band.get(f"any of {a.value}", a.bound)) for a in bounded)
        sets += [replace(a, value=mark + a.value, members=tuple(mark + v for v in a.members)) for a in bounded]
    return tuple(sorted(values, key=lambda bound: (bound.count, bound.value))), tuple(sets)


def _largest(table: Table, requirement: Requirement) -> dict[str, Fraction]:
    """Return the largest bound of every value and set of one secret among bands with their own; nothing where there are none."""
    if table.schema.people_rule.shares != "band":
        return {}
    try:
        bounds = table_bounds(table, requirement)
    except Infeasible:
        return {}  # the obstacle is told
    return dict(zip(bounds.labels, bounds.limits, strict=True))


def _about(table: Table, method: Method) -> About:
    """Return what is known of the values: of the declared ones, where there are any."""
    attribute = table.schema.closed_attribute() if getattr(method, "declared", None) else None
    return about_values(table, None if attribute is None else attribute.domain)


def _sets(
    requirement: Requirement, counts: Mapping[str, int], shares: Mapping[str, Fraction], about: About
) -> tuple[ValueBound, ...]:
    """Return every set of values with its bound, which follows from these shares; counts are the table's."""
    total, names = sum(counts.values()) if about.people is None else about.people, tuple(shares)
    bounded = []
    for bound in requirement.set_bounds(shares, about):
        members = tuple(names[place] for place in bound.places)
        count = sum(counts.get(value, 0) for value in members) if about.once is None else about.once(members)
        bounded.append(ValueBound(bound.name, count, Fraction(count, total), bound.limit, members))
    return tuple(bounded)


def _cost(table: Table, requirement: Requirement, method: Method, tell: Progress) -> tuple[Cost, Obstacle | None]:
    """Return what a release would cost, and why none can be made if so."""
    try:
        bounds = method.bounds(table, requirement)
    except Infeasible as error:
        return Cost(), Obstacle.of(error)
    if requirement.presence in (None, 1) and not bounds.protects:
        return Cost(), protects_nobody(requirement.presence)
    try:
        method.require_provable(table, requirement)
    except NotProvable as error:
        if requirement.presence is not None:
            return Cost(), Obstacle.of(error)
        strategies, obstacle = _blind(bounds, method, tell)
        return Cost(GroupCost(strategies)), obstacle or Obstacle.of(error)
    try:
        if requirement.presence is not None:
            return Cost(presence=Presence.of(table, requirement, method)), None
        if method.bounds_declared:  # bounds are about declared shares: groups of the table's people lose something else
            return Cost(odds=Odds.of(table, requirement, bounds, cast(NoisyBoxes, method))), None
    except Infeasible as error:
        return Cost(), Obstacle.of(error)
    if not method.shown_as.of_people:  # there are no groups, and a draw on the table would count against its people
        return Cost(), None
    strategies, obstacle = ((), None) if table.bundles is not None else _blind(bounds, method, tell)
    cost = Cost(GroupCost(strategies))
    try:
        method.require_bands(table, bounds)
        return _outlook(cost, table, requirement, bounds, method), obstacle
    except Infeasible as error:
        return cost, Obstacle.of(error)


def tightness_of(table: Table, requirement: Requirement, method: Method | None) -> Tightness | None:
    """Return which bounds leave boxes too little room, where a policy means boxes: by name, or by naming no method."""
    if requirement.bounds_odds or requirement.presence is not None or (method is not None and method.way != "boxes"):
        return None
    bounds = table_bounds(table, requirement)
    soft = None if requirement.against == "reader" else soft_rule(bounds, getattr(method, "patience", None))
    return Tightness.of(table, requirement, bounds, soft)


def _blind(bounds: Bounds, method: Method, tell: Progress) -> tuple[tuple[StrategyLoss, ...], Obstacle | None]:
    """Return the loss of blind groups, and why the policy's own ones cannot be made; nothing where sets have bounds."""
    return ((), None) if bounds.members or len(bounds.secrets) > 1 else compare_strategies(bounds, method, tell)


def _outlook(cost: Cost, table: Table, requirement: Requirement, bounds: Bounds, method: Method) -> Cost:
    """Return the cost with what more can be said, before anything is published, where groups are not drawn at random."""
    if method.shown_as.by_coin:
        plan = cast(Any, method).planned(requirement, bounds, table.rows)
        return replace(cost, randomization=Forecast.of(plan, table.rows))
    if method.way != "boxes":
        return replace(cost, groups=replace(cost.groups, near=method.way == "near"))
    made = _boxes(table, requirement, bounds, method)
    room = no_room(table, requirement, cast(Boxes, method)) if made.number == 1 else None
    return replace(cost, groups=replace(cost.groups, boxes=made, room=room))


def _boxes(table: Table, requirement: Requirement, bounds: Bounds, method: Any) -> BoxSizes:
    """Return the boxes that would be cut."""
    grouping = boxes_of(table, bounds, method, tight=requirement.against == "reader")
    sizes = grouping.sizes
    rule = soft_rule(bounds, method.patience) if BASES[grouping.basis].keeps_accounts else None
    return BoxSizes(grouping.basis, len(sizes), (int(sizes.min()), int(sizes.max())), None if rule is None else rule.patience)


def _found_out(measured: GroupingStudy) -> Obstacle | None:
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
