"""A first policy for a table: every role with its reason, and nothing published that is not clear."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from sfumato.errors import InputError
from sfumato.policy.guess import Looked, look
from sfumato.policy.profile import Profile, place_name, profiles
from sfumato.policy.proposal import bins_of, kind_of, recode_of
from sfumato.policy.roles import ROLES, Decision, decide, is_name
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
    quasi, sensitive = ([looked.by_name[one.column] for one in decisions if one.role == role] for role in ("quasi", "sensitive"))
    recode = {column.name: spec for column in quasi if (spec := recode_of(column))}
    bins = {column.name: edges for column in sensitive if (edges := bins_of(column, looked.columns[column.name]))}
    arguments: dict[str, Any] = {role: [one.column for one in decisions if one.role == role] for role in ROLES}
    arguments |= {
        "types": {column.name: kind_of(column) for column in (*quasi, *sensitive)},
        "recode": recode,
        "bins": bins,
        "missing": {column.name: "value" for column in (*quasi, *sensitive) if column.missing},
        "people": people or None,
        "protect": "each",
    }
    table = _read(path, looked.options, arguments, unordered=bool(keys) and not people)
    rules = {one.schema.sensitive[0]: choose_rule(one.sensitive.histogram()) for one in table.apart()}
    repeated = not table.schema.one_row_per_person
    name = place_name(path)
    return write_draft(Draft(name, looked, tuple(decisions), table, rules, recode, bins, reviewed, people, repeated))


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
    keys = {one.column for one in decisions if one.role in ("identifier", "other") and not is_name(looked.by_name[one.column])}
    return [key for key in person_keys({name: columns[name] for name in free}) if key.column in keys]


def _keyed(one: Decision, keys: Sequence[PersonKey]) -> Decision:
    key = next((key for key in keys if key.column == one.column), None)
    if key is None:
        return one
    return replace(one, role="identifier", why=f"{key.rows:,} rows, {key.people:,} different values: {key.why}", sure=False)


def _people(looked: Looked, decisions: Sequence[Decision], keys: Sequence[PersonKey]) -> dict[str, str]:
    """Return what `[people]` should say: the likeliest key, and a date or a number of visits by which the first row is kept."""
    key = next((one.column for one in keys if not looked.by_name[one.column].missing), None)
    if key is None:
        return {}
    free = [looked.by_name[one.column] for one in decisions if one.role != "sensitive" and one.column != key]
    dates = [column.name for column in free if column.kind == "date" and not column.missing and not BIRTH.meets(column.words)]
    numbers = [column.name for column in free if column.kind == "numeric" and column.whole and column.distinct == column.rows]
    return {"key": key, "keep": f"first by {(dates or numbers)[0]}"} if dates or numbers else {}


def _read(path: Place, options: ReadOptions, arguments: dict[str, Any], *, unordered: bool) -> Table:
    """Return the table as a draft proposes to read it; of rows, where somebody has several and nothing says which to keep."""
    try:
        table = Table.read(path, Schema(**arguments), options=options)
        if not unordered:
            return table
    except InputError:
        if not arguments["identifier"] or arguments["people"]:
            raise
    return Table.read(path, Schema(**arguments, one_row_per_person=False), options=options)
