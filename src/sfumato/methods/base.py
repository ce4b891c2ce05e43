"""What a method is: parameters, a claim, a grouping and a form, and no algorithm of its own."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Literal, Self

from sfumato.arrays import Integers
from sfumato.auditor import Audit
from sfumato.errors import Infeasible, NotProvable, PolicyError, did_you_mean
from sfumato.form import FORMS, Form
from sfumato.groups.grouping import Grouping
from sfumato.methods.bands import about_bundles, band_bounds, require_bands, several_values
from sfumato.methods.people import Memory, People
from sfumato.methods.show import require_free_names
from sfumato.methods.task import MAKING, PEOPLE, Made, Task
from sfumato.methods.weights import require_weight
from sfumato.parameters import check_parameters, plain, require_known, require_short
from sfumato.privacy.bounds import Bounds
from sfumato.privacy.requirement import Against, Requirement, feasible
from sfumato.privacy.sets import About
from sfumato.progress import Progress, silent
from sfumato.randomness import Randomness, coins_of, randomness
from sfumato.release.base import Release
from sfumato.release.links import Links
from sfumato.table.column import Domain
from sfumato.table.schema import Schema
from sfumato.table.table import Table

Way = Literal["boxes", "near", "setting", "distinct"]
"""What a method may state about its groups: boxes that are cut as the adversary allows (parameters `floor`, `weights` and
`patience`); near people matched or exchanged; blind groups in a setting (`strategy`, `max_size`, `gap`, `time_limit`); blind
groups of as many different values (`l`, `suppress`)."""


@dataclass(frozen=True, eq=False)
class Publication:
    """A release that passed its audit, the audit, and what only the publisher may see: figures, bounds, and links if any."""

    release: Release
    audit: Audit
    private: Mapping[str, Any]
    method: Method
    bounds: Bounds
    links: Links | None = None
    spent: Mapping[str, Any] | None = None
    """What was drawn of these people with it, as `sfumato.budget.Spent` says; None where nothing was drawn, or booked."""


@dataclass(frozen=True, kw_only=True)
class Method(ABC):
    """A way to publish. Parameters are declared with their checks (`sfumato.parameters`) and checked when the method is made.

    A method of one's own gives a `name`, a `form`, `proves` and `group`; docs/extending.md shows one.
    """

    name: ClassVar[str]
    hides_presence: ClassVar[bool] = False
    """Whether the method can keep a bound on the belief that a person is in the table at all."""
    by_counts: ClassVar[bool] = False
    """Whether people stay in the order of their values: where counts alone decide who shares a group, so that any order gives the
    same release, and where coins are drawn by place in that order. Else they come in an order of coins."""
    bounds_odds: ClassVar[bool] = False
    """Whether the method bounds how much anybody's odds grow, whatever she believed before; `odds_bound` says by how much."""
    bounds_declared: ClassVar[bool] = False
    """Whether bounds are about declared shares of values, so that the people of the table decide none of them."""
    way: ClassVar[Way | None] = None
    """How records are grouped, where explanations have more to say about that; see `Way`."""
    tosses_when_tight: ClassVar[bool] = True  # groups of the basis `tight` depend on coins, so that a rerun may make others
    links_records: ClassVar[bool] = False  # records are matched with people, which an exact audit wants to know
    slow: ClassVar[bool] = False  # a comparison begins with it, since it takes long
    baseline: ClassVar[bool] = False  # it stands beside every comparison, at the nearest requirement that it can keep
    unproven: ClassVar[str] = ""
    """Where a paper claims less than a bound on belief: why, and what to use instead."""
    instead: ClassVar[str] = ""

    def __new__(cls, **parameters: Any) -> Self:
        """Return an empty method, after refusing parameters that nothing should be done with."""
        require_known(cls, parameters)
        require_short(cls.__name__, parameters)
        return super().__new__(cls)

    def __post_init__(self) -> None:
        check_parameters(self)

    @property
    def form(self) -> str:
        """How groups are shown; a parameter where there is a choice."""
        return "buckets"

    @property
    def shown_as(self) -> Form:
        """What follows from the form."""
        return FORMS[self.form]

    @abstractmethod
    def proves(self) -> tuple[Against, ...]:
        """Return the adversaries against whom these parameters keep the bounds, provably; none for a paper's weaker claim."""

    def sets_refused(self, against: Against) -> str:
        """Return why the method cannot keep bounds on sets of values against an adversary; empty where it can."""
        return "it keeps bounds on single values only"

    def each_refused(self, against: Against) -> str:
        """Return why the method cannot protect each of several sensitive columns by itself; empty where it can."""
        return "it protects several sensitive columns only as one combination"

    def bundles_refused(self, against: Against) -> str:
        """Return why the method cannot publish people who may have several values of a secret; empty where it can."""
        return "it supports one value of a secret per person"

    @abstractmethod
    def group(self, task: Task) -> Grouping:
        """Return who shares a group, and on what that rests. `run` calls it with a requirement that the method can prove."""

    def settled(self, people: int) -> Self:
        """Return the method with what it leaves to public rules of the number of people filled in: what a release states."""
        return self

    def close(self, schema: Schema) -> Schema:
        """Return the schema with which a table must be read for this method."""
        return schema

    def bounds(self, table: Table, requirement: Requirement) -> Bounds:
        """Return the bounds that a release of this table keeps: the requirement's, on the table's own counts."""
        return table_bounds(table, requirement)

    def kept_bounds(self, table: Table, requirement: Requirement, known: Bounds | None = None) -> Bounds:
        """Return the bounds that a release keeps, after making sure that the method keeps them and they protect somebody.

        `known` are its `bounds`, where the choice of the method took them.
        """
        self.require_provable(table, requirement)
        require_free_names(table, self.form)
        bounds = self.bounds(table, requirement) if known is None else known
        self.require_something_to_keep(bounds, requirement)
        self.require_bands(table, bounds)
        return bounds

    def require_bands(self, table: Table, bounds: Bounds) -> None:
        """Raise `Infeasible` where people of one band of numbers of rows cannot keep the bounds, not even all together."""
        if table.bundles is not None and not self.bounds_odds:  # noise hides what a band has, a refusal would tell it
            require_bands(table, bounds)

    def odds_bound(self, requirement: Requirement, bounds: Bounds) -> Fraction | None:
        """Return how much a release that keeps these bounds lets anybody's odds grow; None where nothing bounds that."""
        return None

    def run(
        self,
        people: Table | People,
        requirement: Requirement,
        *,
        bounds: Bounds | None = None,
        seed: int | None = None,
        random: Randomness | int | None = None,
        progress: Progress | None = None,
    ) -> Publication:
        """Return a release that keeps the requirement and passed its audit, with the private figures of its making.

        The people are a table, or held by an engine. `bounds` are the `kept_bounds` of them, where the caller has these already.

        People are brought into the order of their own values, and shuffled by coins unless the method draws by place in that
        order or counts alone decide: the order of the input decides nothing, not even through the rounding of a sum, and the same
        people and seed give the same release.
        """
        held = Memory(people) if isinstance(people, Table) else people
        method = self.settled(held.table.rows)
        bounds = method.kept_bounds(held.table, requirement) if bounds is None else bounds
        coins, tell = randomness(coins_of(seed, random)), progress or silent

        def task(table: Table, held: People | None = None) -> Task:
            return Task(table, requirement, bounds, coins.spawn(MAKING), tell, held)

        made = held.make(method, task, coins.spawn(PEOPLE))
        # No look at how coins fell: whether there is a release, and what is said of it, must not choose among draws.
        audit = held.audit(made, tell)
        audit.require_holds()
        tell("done", 1.0)
        sets = {"sets": {name: str(limit) for name, limit in bounds.set_limits.items()}} if bounds.members else {}
        return Publication(made.release, audit, {**made.figures, **sets}, method, bounds, made.links)

    def make(self, task: Task) -> Made:
        """Return the release of a task: groups, every count checked against its bound in integers, shown in the form."""
        grouping = self.group(task)
        task.progress("checking every group", 0.8)
        checked = task.people.checked(task, grouping)
        return Made(task.people.show(task, checked, self), {**size_figures(grouping.sizes), **grouping.figures})

    def engines_refused(self, against: Against) -> tuple[str, str] | None:
        """Return why engines beyond memory cannot make the method, and what they would make; None where they can.

        They can where it asks all that it needs to know of people from `task.people`, and looks at no row itself.
        """
        return "it looks at all people at once", 'name = "boxes", which every engine makes'

    def to_dict(self) -> dict[str, Any]:
        """Return the method's name and parameters as plain JSON values; of a method that is not sfumato's also its package."""
        from sfumato.plugins import package_of

        package = package_of(type(self))
        return {"name": self.name, **({} if package is None else {"package": package}), **plain(self)}

    def require_something_to_keep(self, bounds: Bounds, requirement: Requirement) -> None:
        """Raise `PolicyError` where every value has a bound of 1 and nothing bounds presence."""
        if bounds.protects or requirement.presence not in (None, 1):
            return
        if requirement.presence is not None:
            raise PolicyError(
                "the requirement protects nobody: alpha is 1, and every sensitive value of this table has a bound of 1",
                hint="lower alpha, which bounds presence, or beta, which bounds the belief in values",
            )
        raise PolicyError(
            "the requirement protects nobody: every sensitive value of this table has a bound of 1",
            hint="lower the bounds (a smaller theta, offset or beta, a larger l), or set bounds for single values",
        )

    def require_provable(self, table: Table, requirement: Requirement) -> None:
        """Raise `NotProvable` unless this method proves its claim against the requirement's adversary on this table."""
        against, proven = requirement.against, self.proves()
        self._require_presence(requirement)
        self._require_columns(table, requirement)
        why = self.bundles_refused(against) if table.bundles is not None else ""
        if why:
            raise several_values(self.name, why, against)
        if requirement.sets and self.sets_refused(against):
            raise NotProvable(
                f"method {self.name!r} cannot keep bounds on sets of values: {self.sets_refused(against)}",
                hint=f'name = "{_sets_kept(requirement)}", or a requirement without sets',
                against=against,
            )
        if requirement.bounds_odds and not self.bounds_odds:
            raise NotProvable(
                f"{requirement.model} bounds how much anybody's odds grow, which method {self.name!r} does not: "
                "that needs noise on the counts of declared values",
                hint=_noise_on_declared(table.schema.sensitive if table.schema.protects_each else ()),
                against=against,
            )
        if not proven and not getattr(self, "accept_weaker_claim", False):
            raise NotProvable(
                f"method {self.name!r} with these parameters proves no bound on what a reader believes: {self.unproven}",
                hint=f"accept_weaker_claim = true to publish with the paper's claim, or {self.instead}",
                against=against,
            )
        if against not in (proven or ("reader",)):
            shown = (
                " or ".join(f"'{adversary}'" for adversary in proven) or "nobody: its weaker claim stands in place of a reader's"
            )
            raise NotProvable(
                f"method {self.name!r} with these parameters proves its claim against {shown}, not against {against!r}",
                hint=_who_can(against, (proven or ("reader",))[-1]),
                against=against,
            )
        if table.dropped and proven and (requirement.presence is not None or against != "reader"):
            claim = "the claim about presence" if requirement.presence is not None else f"the claim against an {against}"
            raise NotProvable(
                f"people were left out because a value is missing ({table.dropped}); their absence tells something "
                f"about them, which {claim} "
                "does not cover it",
                hint='use missing = "value" for those columns'
                + (", or a requirement without alpha" if requirement.presence is not None else ', or against = "reader"'),
                against=against,
            )

    def _require_columns(self, table: Table, requirement: Requirement) -> None:
        """Raise unless columns with requirements of their own are protected each by itself, and the method can do that."""
        require_columns(table, requirement)
        require_weight(table, requirement, self)
        if table.schema.protects_each and self.each_refused(requirement.against):
            raise NotProvable(
                f"method {self.name!r} cannot protect each of several sensitive columns by itself: "
                f"{self.each_refused(requirement.against)}",
                hint=f'name = "{_sets_kept(requirement)}", or protect = "combination"',
                against=requirement.against,
            )

    def _require_presence(self, requirement: Requirement) -> None:
        """Raise unless the requirement speaks of presence if and only if this method can hide it."""
        if requirement.presence is not None and not self.hides_presence:
            raise NotProvable(
                f"method {self.name!r} cannot keep a bound on presence",
                hint='name = "ambiguity" or "priview"; or a requirement without alpha',
                against=requirement.against,
            )
        if requirement.presence is None and self.hides_presence:
            raise PolicyError(
                f"method {self.name!r} hides who is in the table, but {requirement.model} sets no bound on presence",
                hint='model = "presence-association" with alpha, and this model as beta; or name = "boxes"',
            )


class Ungrouped(Method):
    """A method that makes releases whose people share no groups, or share them by draws: it gives `make` instead of `group`."""

    @abstractmethod
    def make(self, task: Task) -> Made:
        """Return the release of a task."""

    def group(self, task: Task) -> Grouping:
        """Not asked for: `make` does without."""
        raise TypeError(f"method {self.name!r} makes no groups")


def size_figures(sizes: Integers) -> dict[str, Any]:
    """Return what the publisher is told of groups of these sizes."""
    loss = int(((sizes - 1) ** 2).sum())
    return {"groups": len(sizes), "smallest": int(sizes.min()), "largest": int(sizes.max()), "loss": loss}


def require_columns(table: Table, requirement: Requirement) -> None:
    """Raise `PolicyError` unless what is required of single columns is about columns that are protected each by itself."""
    names = table.sensitive.domain.names
    for name, _ in requirement.columns:
        if name not in names:
            raise PolicyError(f"[requirement.columns] {name}: no such sensitive column", hint=did_you_mean(name, names))
    if requirement.columns and not table.schema.protects_each:
        raise PolicyError(
            "[requirement.columns]: columns have bounds of their own only where each is protected by itself",
            hint='protect = "each"; with one sensitive column, or with combinations, there is one requirement',
        )
    if requirement.sets and table.schema.protects_each:
        raise PolicyError(
            "[requirement.sets]: each sensitive column is protected by itself, and a set has values of one of them",
            hint=f"[requirement.columns.{names[0]}.sets]; a statement about two secrets together needs a set of combinations",
        )


def table_bounds(table: Table, requirement: Requirement) -> Bounds:
    """Return the bounds of a requirement on a table's own counts, those of all columns where each is protected by itself."""
    require_columns(table, requirement)
    if not table.schema.protects_each:
        return _own_bounds(table, requirement)
    bounds = {}
    for name, part in zip(table.sensitive.domain.names, table.each(), strict=True):
        try:
            bounds[name] = _own_bounds(part, requirement.of(name))
        except Infeasible as error:
            raise Infeasible(
                f"{name}: {error.message}",
                hint=feasible(error.nearest, name) if error.nearest else error.hint,
                values=error.values,
                has=error.has,
                needs=error.needs,
                nearest={"columns": {name: error.nearest}},
            ) from None
        except PolicyError as error:
            raise PolicyError(f"[requirement.columns] {name}: {error.message}", hint=error.hint) from None
    return Bounds.together(bounds)


def _own_bounds(table: Table, requirement: Requirement) -> Bounds:
    """Return the bounds of the one secret of a table, from its shares or from those of each band."""
    if table.schema.people_rule.shares == "band":
        return band_bounds(table, requirement)
    return requirement.bounds(table.sensitive.histogram(), about_values(table))


def about_values(table: Table, domain: Domain | None = None) -> About:
    """Return what bounds of sets need to know of the table's sensitive values, or of the declared ones of a domain."""
    bins, parts = table.schema.bins_in_order(), (domain or table.sensitive.domain).parts()
    return About(bins, parts) if table.bundles is None else about_bundles(table.bundles, bins, table.rows)


def _sets_kept(requirement: Requirement) -> str:
    """Return the method that keeps bounds on sets."""
    if requirement.presence is not None:
        return "ambiguity"
    return "noisy-boxes" if requirement.against == "insider" else "boxes"


def _who_can(against: Against, strongest: Against) -> str:
    if against == "insider":
        return (
            "groups cannot hold against people who know others of the same group; noise and randomization with declared shares "
            'can: method "noisy-boxes", or "small-domain" or "uniform" with parameters = "declared". '
            f'Or choose against = "{strongest}"'
        )
    return f'choose against = "{strongest}"'


def _noise_on_declared(columns: Sequence[str]) -> str:
    """Return what to add where odds are bounded, for a policy and in Python; by column where each is protected by itself."""
    declared = {"values": '["flu", "asthma", "other"]', "otherwise": '"other"'}
    lines, spelled = declared, declared
    if columns:
        names = [json.dumps(name, ensure_ascii=False) for name in columns]
        lines = {key: f"{{ {', '.join(f'{name} = {value}' for name in names)} }}" for key, value in declared.items()}
        spelled = {key: f"{{{', '.join(f'{name}: {value}' for name in names)}}}" for key, value in declared.items()}
    added = ["[method]", 'name = "noisy-boxes"', *(f"{key} = {value}" for key, value in lines.items())]
    python = ", ".join(f"{key}={value}" for key, value in spelled.items())
    return "\n    ".join(
        ["add to the policy, with the values that somebody may have:", *added, f"in Python: method=NoisyBoxes({python})"]
    )


__all__ = [
    "MAKING",
    "PEOPLE",
    "Made",
    "Method",
    "People",
    "Publication",
    "Task",
    "Ungrouped",
    "Way",
    "about_values",
    "table_bounds",
]
