"""A first policy for a table: every role with its reason, and nothing published that is not clear."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from sfumato.errors import InputError
from sfumato.policy.guess import Looked, look
from sfumato.policy.profile import Profile, profiles
from sfumato.policy.proposal import bins_of, kind_of, recode_of
from sfumato.policy.roles import Decision, decide
from sfumato.policy.rule import Rule, choose_rule, parts_of
from sfumato.policy.written import write_draft
from sfumato.table import ReadOptions, Schema, Table
from sfumato.table.schema import Role


@dataclass(frozen=True)
class Draft:
    """A drafted policy before it is written down: the decisions, what they were made of, and the table as it would be read."""

    name: str
    looked: Looked
    decisions: tuple[Decision, ...]
    table: Table
    rule: Rule
    recode: Mapping[str, Mapping[str, object]]
    bins: Mapping[str, Sequence[float]]
    repeated: bool
    reviewed: bool

    @property
    def profiles(self) -> dict[str, Profile]:
        """The profile of every column."""
        return {column.name: column for column in self.looked.profiles}

    def names(self, role: Role) -> tuple[str, ...]:
        """Return the columns of a role, in the order of the table."""
        return tuple(one.column for one in self.decisions if one.role == role)


def draft_policy(
    path: str | Path,
    *,
    delimiter: str | None = None,
    decimal: str | None = None,
    encoding: str | None = None,
    roles: Mapping[Role, Sequence[str]] | None = None,
    reviewed: bool = False,
) -> str:
    """Return the text of a policy for the table in a file: valid, runnable, commented, and only a guess.

    `roles` are fixed up front, such as `{"sensitive": ["diagnosis"]}`; the others are recognised by names and values, and what
    is not clear is dropped as `other`. `delimiter`, `decimal` and `encoding` say how a text file is read; what is not said is
    guessed. The draft says `reviewed = false`, with which nothing is published, unless `reviewed`. It tells shares of the
    sensitive values, so it is as private as the table.
    """
    looked = look(path, delimiter=delimiter, decimal=decimal, encoding=encoding)
    decisions = decide(looked.profiles, roles or {})
    return write_draft(_draft(path, looked, decisions, reviewed=reviewed, told=bool((roles or {}).get("sensitive"))))


def review(path: str | Path, schema: Schema, options: ReadOptions) -> list[Decision]:
    """Return the decisions of a policy as it stands, each with what the column looks like; doubtful ones first.

    A column whose role is not the one that a draft would give it is doubtful, and the reason says which one that is.
    """
    order = ("quasi", "sensitive", "identifier", "other")
    found = []
    for one in decide(profiles(path, options)[0], {}):
        role = schema.role(one.column)
        if role is not None:
            why = one.why if role == one.role else f"a draft would say {one.role}: {one.why}"
            found.append(replace(one, role=role, why=why, sure=one.sure and role == one.role))
    return sorted(found, key=lambda one: (one.sure, order.index(one.role)))


def _draft(path: str | Path, looked: Looked, decisions: list[Decision], *, reviewed: bool, told: bool) -> Draft:
    table, repeated = _read(path, looked, decisions)
    if not told:
        kept = _secrets_that_fit(table, decisions)
        if kept != decisions:
            decisions = kept
            table, repeated = _read(path, looked, decisions)
    sensitive = tuple(one.column for one in decisions if one.role == "sensitive")
    parts = parts_of(table.sensitive, sensitive)[1] if len(sensitive) > 1 else {}
    rule = choose_rule(table.sensitive.histogram(), parts)
    recode, bins = _proposed(looked, decisions)
    return Draft(Path(path).name, looked, tuple(decisions), table, rule, recode, bins, repeated, reviewed)


def _secrets_that_fit(table: Table, decisions: list[Decision]) -> list[Decision]:
    """Return the decisions with as many secrets as one rule protects, the strongest first; the others are not published.

    Several sensitive columns are protected as one, by bounds on their combinations. A secret is added only if the bounds then
    still bound the single values of each: what many combinations share would be certain otherwise.
    """
    ranked = sorted((one for one in decisions if one.role == "sensitive"), key=lambda one: one.strength or 0)
    chosen: tuple[str, ...] = ()
    dropped: dict[str, str] = {}
    for one in ranked:
        wider = (*chosen, one.column)
        counts, parts = parts_of(table.sensitive, wider)
        if not chosen or choose_rule(counts, parts).keeps_parts:
            chosen = wider
        else:
            dropped[one.column] = (
                f"{one.why}, but with {' and '.join(chosen)} there are {len(counts):,} combinations, "
                "whose bounds would leave its own values unbounded"
            )
    return [
        replace(one, role="other", why=dropped[one.column], sure=False) if one.column in dropped else one for one in decisions
    ]


def _proposed(
    looked: Looked, decisions: Sequence[Decision]
) -> tuple[dict[str, dict[str, object]], dict[str, Sequence[float]]]:
    by_name = {column.name: column for column in looked.profiles}
    recode = {one.column: recode_of(by_name[one.column]) for one in decisions if one.role == "quasi"}
    bins = {
        one.column: bins_of(by_name[one.column], looked.columns[one.column]) for one in decisions if one.role == "sensitive"
    }
    return {name: spec for name, spec in recode.items() if spec}, {name: edges for name, edges in bins.items() if edges}


def _read(path: str | Path, looked: Looked, decisions: Sequence[Decision]) -> tuple[Table, bool]:
    """Return the table as the draft reads it, and whether somebody has several rows."""
    by_name = {column.name: column for column in looked.profiles}
    used = [by_name[one.column] for one in decisions if one.role in ("quasi", "sensitive")]
    recode, bins = _proposed(looked, decisions)
    roles = {role: [one.column for one in decisions if one.role == role] for role in ("identifier", "quasi", "sensitive", "other")}
    for strict in (True, False):
        schema = Schema(
            **roles,
            types={column.name: kind_of(column) for column in used},
            recode=recode,
            bins=bins,  # type: ignore[arg-type]  # floats are numbers
            missing={column.name: "value" for column in used if column.missing},
            one_row_per_person=strict,
        )
        try:
            return Table.read(path, schema, options=looked.options), not strict
        except InputError:
            if not strict or not roles["identifier"]:
                raise
    raise AssertionError("unreachable: the second reading returns or raises")
