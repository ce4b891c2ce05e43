"""The schema: what each column of a table is for, and how it is read, recoded and checked."""

from __future__ import annotations

import difflib
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property, partial
from typing import Any, Literal, Self, cast, get_args

from sfumato import notebook
from sfumato.errors import InputError, PolicyError, Problems, did_you_mean
from sfumato.exact import Number
from sfumato.table.bins import Bins, EqualPeople, bins
from sfumato.table.by_cell import check_by_cell
from sfumato.table.closed import Closed, ClosedAttribute, ClosedColumns, check_closed, closed
from sfumato.table.column import Kind
from sfumato.table.declared import DeclaredDomain, declared_domain
from sfumato.table.people_rule import People, household, people
from sfumato.table.recode import Recode, recoding
from sfumato.table.secrets import (
    check_budget_key,
    check_bundled,
    check_people,
    check_population,
    check_protect,
    check_secret_recodes,
    named_secrets,
    public_secrets,
    taken_names,
    values_counted,
)
from sfumato.table.weight import Weight, check_weight, domain_of_weights, weighed

MissingRule = Literal["value", "drop", "error"]
Role = Literal["identifier", "quasi", "sensitive", "other"]
Protect = Literal["each", "combination"]

_SHOWN = 10
_ROLES: tuple[Role, ...] = get_args(Role)


@dataclass(frozen=True, kw_only=True, repr=False)
class Schema:
    """The role of every column, and what the policy says about single columns. Checked at construction.

    >>> from sfumato import Schema
    >>> Schema(quasi=["age", "sex"], sensitive=["illness"], recode={"age": {"width": 5}})
    Schema(quasi=['age', 'sex'], sensitive=['illness'], recode={'age': {'width': 5}})

    `identifier` columns are compared (is there one row per person?) and then dropped, `other` columns are dropped unread.
    `quasi` columns are published, recoded as `recode` says. Of several `sensitive` columns `protect` says whether "each" is
    protected by itself, or they form one compound attribute, whose values are a "combination" of theirs. `domains`
    speak of the columns as published. A missing quasi value is a value of its own and a missing sensitive one an error, unless
    `missing` says otherwise. Recodings, bins and domains may be given as the plain lists and mappings of a policy file. With
    `closed`, the sensitive attribute has the declared values only: each person's is read from her own cells, and whoever has
    another one, or none, has `otherwise`; nothing about it is refused. A quasi column whose values nearly name people is not
    published unless it is among `allow_unique`. `people` says which rows are one person's, and which of them is kept.
    With `by_cell`, which synthetic records need, kinds and types follow from declared domains and bins, and a person's values
    from her own cells: nothing about the table is refused that lies in its domains. `budget_key` names columns that tell people
    apart over several draws of noise, in place of the key of `people` or of identifiers. `secrets` names what is secret where
    columns mean the same: diagnosis = ["diag_1", "diag_2"]; a person then has any number of values of it, as she has where
    `people` keeps all her rows. With `unit` whole households are published (`{"household": "hh_id"}`), as people with all rows.
    `population` is how many people the table is a random sample of, for estimates of who is found among them; never published.
    `weight` is the weight of a survey (`{"column": "perwt", "made_without_secrets": True}`), a quasi column in bins.
    """

    identifier: Sequence[str] = ()
    quasi: Sequence[str] = ()
    sensitive: Sequence[str] = ()
    other: Sequence[str] = ()
    types: Mapping[str, Kind] = field(default_factory=dict)
    recode: Mapping[str, Recode | Mapping[str, Any]] = field(default_factory=dict)
    bins: Mapping[str, Bins | EqualPeople | Mapping[str, Any] | Sequence[Number]] = field(default_factory=dict)
    domains: Mapping[str, DeclaredDomain | Sequence[Any] | Mapping[str, Any]] = field(default_factory=dict)
    missing: Mapping[str, MissingRule] = field(default_factory=dict)
    one_row_per_person: bool = True
    allow_unique: Sequence[str] = ()
    closed: Closed | ClosedColumns | Mapping[str, Any] | None = None
    people: People | Mapping[str, Any] | None = None
    protect: Protect | None = None
    by_cell: bool = False
    budget_key: Sequence[str] = ()
    secrets: Mapping[str, Sequence[str] | str] = field(default_factory=dict)
    unit: Mapping[str, Any] | None = None
    population: int | None = None
    weight: Weight | Mapping[str, Any] | str | None = None

    def __new__(cls, *roles: Any, **given: Any) -> Self:
        """Return an empty schema, after refusing parameters that it does not have."""
        names = [own.name for own in fields(cls)]
        for name in given:
            if name not in names:
                raise PolicyError(f"Schema({name}=…): unknown parameter", hint=did_you_mean(name, names))
        return super().__new__(cls)

    def __post_init__(self) -> None:
        problems = Problems()
        for role in _ROLES:
            with problems.noted():
                self._store(role, _names(role, getattr(self, role)))
        problems.stop()
        with problems.noted():
            stated = None if self.people is None else people(self.people)
            self._store("people", stated if self.unit is None else household(self.unit, stated))
            self._store("unit", None)
            for name, value in named_secrets(self).items():
                self._store(name, value)
            for name, value in ({} if self.weight is None else weighed(self)).items():
                self._store(name, value)
        problems.stop()
        with problems.noted():
            self._check_roles()
        for option, (allowed, _) in _OPTIONS.items():
            with problems.noted():
                self._check_option(option, allowed)
        problems.listed += self._strangers()
        for option, (_, read) in _OPTIONS.items():
            with problems.noted():
                self._store(option, self._read_option(option, read))
        problems.stop()
        self._store("protect", check_protect(self))
        if self.weight is not None:
            check_weight(self)
        self._check_bins()
        check_secret_recodes(self)
        self._store("allow_unique", _names("allow_unique", self.allow_unique))
        for name in self.allow_unique:
            if name not in self.quasi:
                raise PolicyError(f"allow_unique: {name!r} is no quasi column", hint=did_you_mean(name, self.quasi))
        if self.closed is not None:
            self._store("closed", closed(self.closed))
            check_closed(self)
        if not isinstance(self.one_row_per_person, bool):
            raise PolicyError(f"one_row_per_person: expected true or false, got {self.one_row_per_person!r}")
        if self.people is not None:
            check_people(self)
        check_bundled(self)
        if self.by_cell:
            self._store("domains", self.domains if self.weight is None else domain_of_weights(self))
            check_by_cell(self)
        self._store("budget_key", _names("budget_key", self.budget_key))
        check_budget_key(self)
        check_population(self.population)

    def __repr__(self) -> str:
        return f"Schema({', '.join(f'{name}={value!r}' for name, value in self._stated().items())})"

    def _repr_html_(self) -> str:
        rules = {name: value for name, value in self._stated().items() if name not in _ROLES}
        named = {name: value for name, value in rules.items() if isinstance(value, dict) and set(value) <= set(self._role_of)}
        rows = [
            (name, role, "; ".join(f"{rule}: {value[name]}" for rule, value in named.items() if name in value))
            for name, role in self._role_of.items()
        ]
        rest = [f"{name}: {value}" for name, value in rules.items() if name not in named]
        return notebook.card("Schema", notebook.table(("column", "role", "rules"), rows), notebook.paragraphs(rest))

    def _stated(self) -> dict[str, Any]:
        """Return what is stated, as it would be written; what has its default is left out."""
        roles: dict[str, Any] = {role: list(getattr(self, role)) for role in _ROLES}
        rest = {"missing": dict(self.missing), "allow_unique": list(self.allow_unique), "people": self.people}
        stated: dict[str, Any] = {**roles, **self.to_dict(), **rest}
        if not self.one_row_per_person:
            stated["one_row_per_person"] = False
        return {name: value for name, value in stated.items() if value not in ({}, [], None)}

    def role(self, name: str) -> Role | None:
        """Return the role of a column, or of what it is published as; None when the schema does not know it."""
        published: Role | None = "sensitive" if name in self.sensitive else "quasi" if name in self.quasi else None
        return self._role_of.get(name, published)

    def recoding(self, name: str) -> Recode | None:
        """Return the recoding of a quasi column, None when it is published as it is."""
        own = cast("Weight | None", self.weight)
        return own.recode if own is not None and name == own.column else cast("Recode | None", self.recode.get(name))

    def bins_of(self, name: str) -> Bins | None:
        """Return the bins of a sensitive column, None when it has none, or when only a table tells them."""
        rule = self.bins.get(name)
        return rule if isinstance(rule, Bins) else None

    def bins_in_order(self) -> tuple[str, ...]:
        """Return the labels of the bins of the one sensitive column, ascending; none without bins, or with several columns."""
        bins = self.bins_of(self.sensitive[0]) if len(self.sensitive) == 1 else None
        return () if bins is None else bins.labels

    @property
    def protects_each(self) -> bool:
        """Whether several sensitive columns are protected each by itself."""
        return self.protect == "each"

    def only(self, name: str) -> Schema:
        """Return the schema in which this is the one sensitive column; the others are not read."""
        rest = [column for column in self.sensitive if column != name]
        rules: dict[str, Any] = {
            option: {column: rule for column, rule in getattr(self, option).items() if column not in rest} for option in _OPTIONS
        }
        own = self.closed.of(name) if isinstance(self.closed, ClosedColumns) else self.closed
        if self.bundled:
            rules["secrets"] = {name: self.secrets[name]}
            rest = [column for secret in rest for column in self.secrets[secret]]
            rules["people"] = None if self.people is None else self.people_rule.of(name)
        return replace(self, sensitive=[name], other=[*self.other, *rest], protect=None, closed=own, **rules)

    @property
    def bundled(self) -> bool:
        """Whether a person may have several values of a secret, or none."""
        return bool(self.secrets)

    @property
    def most(self) -> dict[str, int] | None:
        """Of how many values of each secret a person is counted where counts have noise; None where nothing says so."""
        return values_counted(self)

    @property
    def beside_secrets(self) -> list[str]:
        """The columns of the table that something is kept of, but for secrets."""
        named = [name for name in (*self.identifier, *self.quasi) if name not in self.people_rule.bands]
        return [*named, *(name for name in self.identified_by if name not in named)]

    @property
    def people_rule(self) -> People:
        """What is said of people; a rule that says nothing where nothing is."""
        return cast("People", self.people) if self.people is not None else People()

    @property
    def identified_by(self) -> tuple[str, ...]:
        """The columns that tell people apart over several draws: of the budget, of `people`, or else identifiers; or none."""
        return tuple(self.budget_key or self.people_rule.key or self.identifier)

    @property
    def used(self) -> list[str]:
        """The columns that a table keeps something of: identifiers, quasi and sensitive ones, and what tells people apart."""
        if self.bundled:
            return [*self.beside_secrets, *(column for columns in self.secrets.values() for column in columns)]
        named = [*self.identifier, *self.quasi, *self.sensitive]
        return [*named, *(name for name in self.identified_by if name not in named)]

    def domain(self, name: str) -> DeclaredDomain | None:
        """Return the declared domain of a column, None when the policy declares none."""
        return cast("DeclaredDomain | None", self.domains.get(name))

    def missing_rule(self, name: str) -> MissingRule:
        """Return what happens to a missing value of this quasi or sensitive column."""
        if self.closed is not None and name in self.sensitive:
            return "value"
        needed = name in self.sensitive or (self.weight is not None and name == cast(Weight, self.weight).column)
        return self.missing.get(name, "error" if needed else "value")

    @property
    def read_by_cell(self) -> tuple[str, ...]:
        """The columns in which a person's value follows from her own cell, whatever others have."""
        alone = (*self.sensitive, *self._columns_of("sensitive")) if self.by_cell or self.closed is not None else ()
        return (*(self.quasi if self.by_cell else ()), *dict.fromkeys(alone))

    def closed_attribute(self) -> ClosedAttribute | None:
        """Return the declared values of the sensitive attribute with their types, None when it is not closed.

        Where each of several columns is protected by itself, each has its own: `only(name).closed_attribute()`.
        """
        if self.closed is None or self.protects_each:
            return None
        return ClosedAttribute(
            cast("Closed", closed(self.closed)), tuple(self.sensitive), self.types, cast("Mapping[str, Bins]", self.bins)
        )

    def check_columns(self, names: Sequence[str], where: str) -> None:
        """Raise an `InputError` unless every column of the table has a role and every role column is there."""
        self.check_unique(names, where)
        present, roles = set(names), self._role_of
        absent = [name for name in roles if name not in present]
        if absent and not self.accepts(names):
            raise InputError(
                f"{where}: its first line does not name the columns of the schema, {_listed(self._looked_at)}",
                hint="is it another table? Its first line is not shown, since it may be about a person",
            )
        unlabelled = [name for name in names if name not in roles]
        if taken := taken_names(self.people_rule, unlabelled):
            raise InputError(f"{where}: {taken[0].sentence}", hint=taken[0].hint)
        if absent:
            rest = f"; without a role: {_listed(unlabelled)} of the table" if unlabelled else ""
            raise InputError(
                f"{where}: the schema names {_listed(absent)}, which the table does not have{rest}",
                hint=did_you_mean(absent[0], unlabelled or list(names)),
            )
        if unlabelled:
            quoted = ", ".join(f'"{name}"' for name in unlabelled[:_SHOWN]) + (", …" if len(unlabelled) > _SHOWN else "")
            raise InputError(
                f"{where}: {_listed(unlabelled)} {'has' if len(unlabelled) == 1 else 'have'} no role; every column needs one",
                hint=f"add to identifier, quasi or sensitive, or drop with other=[{quoted}]",
            )

    def check_unique(self, names: Sequence[str], where: str) -> None:
        """Raise an `InputError` if a table has two columns of one name, which is shown only where `accepts` these names."""
        check_unique(names, where, named=self.accepts(names))

    def accepts(self, names: Sequence[str]) -> bool:
        """Return whether these are names of columns: at least half of the schema's are among them, in any case of letters.

        The first line of a file without a header is a person, and must not be shown by an error that speaks of columns.
        """
        given = {name.strip().casefold() for name in names}
        wanted = {name.casefold() for name in self._looked_at}
        return 2 * len(wanted & given) >= len(wanted)

    def to_dict(self) -> dict[str, Any]:
        """Return what is public, in JSON types: quasi and sensitive columns and how they were coded, nothing of the others."""
        return {
            "quasi": list(self.quasi),
            "sensitive": list(self.sensitive),
            "types": dict(self.types),
            "recode": {name: recoding(spec, name).to_dict() for name, spec in self.recode.items()},
            "bins": {name: bins(edges, name).to_plain() for name, edges in self.bins.items()},
            "domains": {name: declared_domain(spec, name).to_plain() for name, spec in self.domains.items()},
            **({} if self.protect is None else {"protect": self.protect}),
            **public_secrets(self),
            **({} if self.weight is None else {"weight": cast(Weight, self.weight).to_dict()}),
        } | ({} if self.closed is None else {"closed": closed(self.closed).to_dict()})

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Schema:
        """Return the public schema that `to_dict` wrote."""
        known = ("quasi", "sensitive", "types", "recode", "bins", "domains", "closed", "protect", "secrets", "people", "weight")
        for key in data:
            if key not in known:
                raise PolicyError(f"schema: unknown key {key!r}", hint=did_you_mean(str(key), known))
        return cls(**data)

    @cached_property
    def _role_of(self) -> dict[str, Role]:
        return {name: role for role in _ROLES for name in self._columns_of(role)}

    def _columns_of(self, role: Role) -> list[str]:
        """Return the columns of the table that have this role: of a secret all of its columns, but no band of numbers of rows."""
        if role == "sensitive" and self.secrets:
            return [column for columns in self.secrets.values() for column in columns]
        return [name for name in getattr(self, role) if role != "quasi" or name not in self.people_rule.bands]

    @property
    def _looked_at(self) -> list[str]:
        """Not the `other` columns: an audit without a policy takes these from the file itself."""
        roles: tuple[Role, ...] = ("identifier", "quasi", "sensitive")
        return [name for role in roles for name in self._columns_of(role)]

    def _store(self, name: str, value: object) -> None:
        object.__setattr__(self, name, value)

    def _check_roles(self) -> None:
        problems = Problems()
        uses = Counter(name for role in _ROLES for name in self._columns_of(role))
        problems.listed += taken_names(self.people_rule, uses)
        for name, count in uses.items():
            if count > 1:
                roles = [role for role in _ROLES if name in self._columns_of(role)]
                place = "as " + " and as ".join(roles) if len(roles) > 1 else f"twice as {roles[0]}"
                repeated = f"column {name!r} is listed {place}"
                problems.listed.append(PolicyError(repeated, hint="every column has exactly one role"))
        for role in ("quasi", "sensitive"):
            if not getattr(self, role):
                problems.listed.append(PolicyError(f"the schema names no {role} column", hint=f'name one: {role}=["…"]'))
        problems.stop()

    def _check_option(self, option: str, allowed: tuple[Role, ...]) -> None:
        given = getattr(self, option)
        if not isinstance(given, Mapping):
            raise PolicyError(f"{option}: expected column = …, got {given!r}")
        problems = Problems()
        for name in given:
            role = self.role(name)
            if role is not None and role not in allowed:
                problems.listed.append(
                    PolicyError(
                        f"{option}: {name!r} is a column of role {role}, and {option} is for {' or '.join(allowed)} columns",
                        hint=_ROLE_HINTS.get((option, role), f"remove {name!r} from {option}"),
                    )
                )
        problems.stop()

    def _strangers(self) -> list[PolicyError]:
        """Return a problem for every column that something is said of though it has no role; which name is wrong is not known."""
        said: dict[str, list[str]] = {}
        for option in _OPTIONS:
            given = getattr(self, option)
            for name in given if isinstance(given, Mapping) else ():
                if self.role(name) is None:
                    said.setdefault(str(name), []).append(option)
        problems = []
        for name, options in said.items():
            alike = {column.casefold(): column for column in self._role_of}
            near = difflib.get_close_matches(name.casefold(), alike, n=1)
            hint = (
                f"one of {name!r} and {alike[near[0]]!r} is misspelt: write it as the table does"
                if near
                else (f"give it a role, or remove it; the columns are {_listed(list(self._role_of))}")
            )
            problems.append(PolicyError(f"{', '.join(options)}: no column {name!r} in the schema", hint=hint, column=name))
        return problems

    def _read_option(self, option: str, read: Callable[[Any, str], Any]) -> dict[str, Any]:
        problems, made = Problems(), {}
        for name, spec in getattr(self, option).items():
            with problems.noted():
                made[name] = read(spec, name)
        problems.stop()
        return made

    def _check_bins(self) -> None:
        for name in self.bins:
            if self.types.get(name, "numeric") != "numeric":
                raise PolicyError(
                    f"bins: {name!r} is declared {self.types[name]}, and only numbers have bins", hint="remove one of the two"
                )
            if name in self.domains:
                raise PolicyError(f"domains: the bins of {name!r} are its domain already", hint="remove one of the two")


_ROLE_HINTS: dict[tuple[str, Role], str] = {
    ("bins", "quasi"): "a quasi column is made coarser with recode",
}


def check_unique(names: Sequence[str], where: str, *, named: bool = False) -> None:
    """Raise an `InputError` if two columns have one name; shown are their places, or the name where it may be `named`."""
    twice = [name for name, count in Counter(names).items() if count > 1]
    if not twice:
        return
    if named:
        problem = f"more than one column is called {_listed(twice)}"
    else:
        problem = "; ".join(_places(names, name) for name in twice[:_SHOWN]) + (" …" if len(twice) > _SHOWN else "")
    hint = "rename the columns; or [input] rename = true (`policy init --rename`) numbers them"
    raise InputError(f"{where}: {problem}", hint=hint)


def _places(names: Sequence[str], name: str) -> str:
    """Return which columns have one name; the name too where it is one that no cell has, like decile_score."""
    places = [str(place) for place, column in enumerate(names, 1) if column == name]
    listed = ", ".join(places[:10]) + (", …" if len(places) > 10 else "")
    return f"the columns {listed} have the same name" + (f", {name!r}" if re.fullmatch(r"[A-Za-z]\w*_\w+", name) else "")


def _names(role: str, given: Sequence[str]) -> tuple[str, ...]:
    if isinstance(given, (str, bytes)) or not isinstance(given, Sequence):
        raise PolicyError(f"{role}: expected a list of column names, got {given!r}", hint=f'{role} = ["age", "sex"]')
    if not all(isinstance(name, str) and name for name in given):
        raise PolicyError(f"{role}: column names are non-empty texts, got {list(given)!r}", hint=f'{role} = ["age", "sex"]')
    return tuple(given)


def _choice(option: str, choices: tuple[str, ...], choice: str, name: str) -> str:
    if choice in choices:
        return choice
    raise PolicyError(
        f"{option}: {name!r} is {choice!r}, expected one of {', '.join(choices)}", hint=did_you_mean(str(choice), choices)
    )


_OPTIONS: dict[str, tuple[tuple[Role, ...], Callable[[Any, str], Any]]] = {
    "types": (("quasi", "sensitive"), partial(_choice, "types", get_args(Kind))),
    "missing": (("quasi", "sensitive"), partial(_choice, "missing", get_args(MissingRule))),
    "recode": (("quasi", "sensitive"), recoding),
    "bins": (("sensitive",), bins),
    "domains": (("quasi", "sensitive"), declared_domain),
}
"""What a policy says of single columns: for columns of which roles, and how it is read."""


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(repr(name) for name in names[:_SHOWN])
    return shown + (f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else "")
