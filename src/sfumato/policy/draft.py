"""A first policy for a table: every role with its reason, and nothing published that is not clear."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from sfumato.errors import InputError
from sfumato.policy.guess import Looked, look
from sfumato.policy.profile import Profile, place_name, profiles
from sfumato.policy.proposal import bins_of, kind_of, recode_of
from sfumato.policy.roles import Decision, decide, is_name
from sfumato.policy.rule import Rule, choose_rule
from sfumato.policy.vocabulary import BIRTH
from sfumato.policy.written import write_draft
from sfumato.table import ReadOptions, Schema, Table
from sfumato.table.people import PersonKey, person_keys
from sfumato.table.read import Place
from sfumato.table.schema import Role
from sfumato.table.source import comparable


@dataclass(frozen=True)
class Draft:
    """A drafted policy before it is written down: the decisions, and what they were made of.

    Several secrets are protected each by itself, with a rule for each of them.
    `people` is what `[people]` says. `repeated` says that somebody has several rows and it is not clear which to keep: then
    claims speak of rows.
    """

    name: str
    looked: Looked
    decisions: tuple[Decision, ...]
    table: Table
    rules: Mapping[str, Rule]
    recode: Mapping[str, Mapping[str, object]]
    bins: Mapping[str, Sequence[float]]
    reviewed: bool
    people: Mapping[str, str] = field(default_factory=dict)
    repeated: bool = False

    @property
    def profiles(self) -> dict[str, Profile]:
        """The profile of every column."""
        return {column.name: column for column in self.looked.profiles}

    def names(self, role: Role) -> tuple[str, ...]:
        """Return the columns of a role, in the order of the table."""
        return tuple(one.column for one in self.decisions if one.role == role)


def draft_policy(
    path: Place,
    *,
    delimiter: str | None = None,
    decimal: str | None = None,
    encoding: str | None = None,
    names: Sequence[str] = (),
    roles: Mapping[Role, Sequence[str]] | None = None,
    reviewed: bool = False,
) -> str:
    """Return the text of a policy for the table in a file: valid, runnable, commented, and only a guess.

    `roles` are fixed up front, such as `{"sensitive": ["diagnosis"]}`; the others are recognised by names and values, and what
    is not clear is dropped as `other`. `delimiter`, `decimal` and `encoding` say how a text file is read, `names` what the
    columns of a file without a header are called; what is not said is guessed. The draft says `reviewed = false`, with which
    nothing is published, unless `reviewed`. It tells shares of the sensitive values, so it is as private as the table.
    """
    looked = look(path, delimiter=delimiter, decimal=decimal, encoding=encoding, names=names)
    return draft_of(path, looked, roles=roles, reviewed=reviewed)


def draft_of(path: Place, looked: Looked, *, roles: Mapping[Role, Sequence[str]] | None = None, reviewed: bool = False) -> str:
    """Return the same for a table that was looked at before."""
    decisions = decide(looked.profiles, roles or {})
    given = {name for chosen in (roles or {}).values() for name in chosen}
    keys = _keys(looked, decisions)
    decisions = [_keyed(one, keys) if one.column not in given else one for one in decisions]
    people = _people(looked, decisions, keys)
    reader = _Reader(path, looked, people, unordered=bool(keys) and not people)
    table = reader.read(decisions)
    return write_draft(
        Draft(
            place_name(path),
            looked,
            tuple(decisions),
            table,
            {one.schema.sensitive[0]: choose_rule(one.sensitive.histogram()) for one in table.apart()},
            reader.recode(decisions),
            reader.bins(decisions),
            reviewed,
            reader.people,
            not table.schema.one_row_per_person,
        )
    )


def review(path: Place, schema: Schema, options: ReadOptions) -> list[Decision]:
    """Return the decisions of a policy as it stands, each with what the column looks like; doubtful ones first.

    A column whose role is not the one that a draft would give it is doubtful, and the reason says which one that is.
    """
    return review_of(profiles(path, options)[0], schema)


def review_of(columns: Sequence[Profile], schema: Schema) -> list[Decision]:
    """Return the same for columns that were looked at before."""
    order = ("quasi", "sensitive", "identifier", "other")
    found = []
    for one in decide(columns, {}):
        role = schema.role(one.column)
        if role is not None:
            why = one.why if role == one.role else f"a draft would say {one.role}: {one.why}"
            found.append(replace(one, role=role, why=why, sure=one.sure and role == one.role))
    return sorted(found, key=lambda one: (one.sure, order.index(one.role)))


def _keys(looked: Looked, decisions: Sequence[Decision]) -> list[PersonKey]:
    """Return the columns that look like keys of people with several rows: numbers and codes, and no names, which people share."""
    columns = looked.columns
    free = [one.column for one in decisions if one.role != "sensitive" and comparable(columns.schema.field(one.column).type)]
    profile = {column.name: column for column in looked.profiles}
    keys = {one.column for one in decisions if one.role in ("identifier", "other") and not is_name(profile[one.column])}
    return [key for key in person_keys({name: columns[name] for name in free}) if key.column in keys]


def _keyed(one: Decision, keys: Sequence[PersonKey]) -> Decision:
    key = next((key for key in keys if key.column == one.column), None)
    if key is None:
        return one
    return replace(one, role="identifier", why=f"{key.rows:,} rows, {key.people:,} different values: {key.why}", sure=False)


def _people(looked: Looked, decisions: Sequence[Decision], keys: Sequence[PersonKey]) -> dict[str, str]:
    """Return what `[people]` should say: the likeliest key, and a date or a number of visits by which the first row is kept."""
    profile = {column.name: column for column in looked.profiles}
    key = next((one.column for one in keys if not profile[one.column].missing), None)
    if key is None:
        return {}
    free = [profile[one.column] for one in decisions if one.role != "sensitive" and one.column != key]
    dates = [column.name for column in free if column.kind == "date" and not column.missing and not BIRTH.meets(column.words)]
    numbers = [column.name for column in free if column.kind == "numeric" and column.whole and column.distinct == column.rows]
    return {"key": key, "keep": f"first by {(dates or numbers)[0]}"} if dates or numbers else {}


@dataclass(frozen=True)
class _Reader:
    """The table as a draft proposes to read it."""

    path: Place
    looked: Looked
    people: Mapping[str, str]
    unordered: bool
    """Whether somebody has several rows, and nothing says which comes first."""

    def recode(self, decisions: Sequence[Decision]) -> dict[str, dict[str, object]]:
        """Return the recodings of quasi columns that need one."""
        made = {column.name: recode_of(column) for column in self._of(decisions, "quasi")}
        return {name: spec for name, spec in made.items() if spec}

    def bins(self, decisions: Sequence[Decision]) -> dict[str, Sequence[float]]:
        """Return the edges of sensitive columns that need some."""
        made = {column.name: bins_of(column, self.looked.columns[column.name]) for column in self._of(decisions, "sensitive")}
        return {name: edges for name, edges in made.items() if edges}

    def read(self, decisions: Sequence[Decision]) -> Table:
        """Return the table; of rows, where somebody has several and nothing says which to keep."""
        roles = ("identifier", "quasi", "sensitive", "other")
        used = [*self._of(decisions, "quasi"), *self._of(decisions, "sensitive")]
        arguments: dict[str, Any] = {role: [one.column for one in decisions if one.role == role] for role in roles}
        arguments |= {
            "types": {column.name: kind_of(column) for column in used},
            "recode": self.recode(decisions),
            "bins": self.bins(decisions),
            "missing": {column.name: "value" for column in used if column.missing},
            "people": self.people or None,
            "protect": "each",
        }
        try:
            table = Table.read(self.path, Schema(**arguments), options=self.looked.options)
            if not self.unordered:
                return table
        except InputError:
            if not arguments["identifier"] or self.people:
                raise
        return Table.read(self.path, Schema(**arguments, one_row_per_person=False), options=self.looked.options)

    def _of(self, decisions: Sequence[Decision], role: Role) -> list[Profile]:
        chosen = [one.column for one in decisions if one.role == role]
        by_name = {column.name: column for column in self.looked.profiles}
        return [by_name[name] for name in chosen]
