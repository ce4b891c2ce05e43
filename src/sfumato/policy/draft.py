"""A first policy for a table: every role with its reason, and nothing published that is not clear."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Unpack

from sfumato.errors import Infeasible, InputError, PolicyError
from sfumato.policy.doubled import doubles, with_doubles
from sfumato.policy.guess import Looked, StatedReading, look
from sfumato.policy.lists import lists_of, stacked
from sfumato.policy.profile import Profile, place_name, profiles
from sfumato.policy.proposal import SecretBins, bins_of, chapters_of, determined, kind_of, recode_of
from sfumato.policy.roles import ROLES, Decision, decide, is_weight
from sfumato.policy.rule import STRICT, USUAL, ProposedRule, RuleParameters, rule_for
from sfumato.policy.whose import keyed, keys_of, people_of
from sfumato.policy.written import write_draft
from sfumato.table import ReadOptions, Schema, Table
from sfumato.table.people import PersonKey
from sfumato.table.read import TablePath
from sfumato.table.schema import Role


@dataclass(frozen=True)
class Draft:
    """A drafted policy before it is written down: the decisions, and what they were made of.

    Several secrets are protected each by itself, all by the same `numbers`; `rules` say which value of each is left open.
    `secrets` are the columns of each, several of a list such as diag_1 and diag_2, and `made` what it looks like. `people` is
    what `[people]` says. `repeated` says that somebody has several rows and it is not clear which to keep: then
    claims speak of rows. A `declared` draft takes nothing from the table but names, roles and types.
    """

    name: str
    looked: Looked
    decisions: tuple[Decision, ...]
    table: Table
    numbers: RuleParameters
    rules: Mapping[str, ProposedRule]
    recode: Mapping[str, Mapping[str, Any]]
    bins: Mapping[str, SecretBins]
    reviewed: bool
    secrets: Mapping[str, tuple[str, ...]]
    made: Mapping[str, Profile]
    people: Mapping[str, Any] = field(default_factory=dict)
    repeated: bool = False
    declared: bool = False
    refused: str | None = None
    """Why people with some number of rows cannot keep the bounds, None where all can."""

    def names(self, role: Role) -> tuple[str, ...]:
        """Return the columns of a role, in the order of the table; quasi columns with the fewest published values first.

        Boxes are cut across the first of equally wide columns, and one of few values can be cut across early or hardly at all.
        """
        names = [decision.column for decision in self.decisions if decision.role == role]
        sizes = {column.name: column.size for column in self.table.quasi} if role == "quasi" and not self.declared else {}
        return tuple(sorted(names, key=lambda name: sizes.get(name, 0)))

    def profile(self, name: str) -> Profile:
        """Return what a column, or a secret of several, looks like."""
        return self.made[name] if name in self.made else self.looked.by_name[name]

    @property
    def listed(self) -> bool:
        """Whether a secret has several columns, so that secrets have a section of their own."""
        return any(len(columns) > 1 for columns in self.secrets.values())


def draft_policy(
    path: TablePath,
    *,
    roles: Mapping[Role, Sequence[str]] | None = None,
    reviewed: bool = False,
    strict: bool = False,
    declared: bool = False,
    **stated: Unpack[StatedReading],
) -> str:
    """Return the text of a policy for the table in a file: valid, runnable, commented, and only a guess.

    `roles` are fixed up front, such as `{"sensitive": ["diagnosis"]}`; the others are recognised by names and values, and what
    is not clear is dropped as `other`. How a file is read may be `stated`; what is not is guessed.
    The draft says `reviewed = false`, with which nothing is published, unless `reviewed`. Its bounds are the same for every
    table; `strict` ones halve theta and odds. With `declared`, for declared parameters and synthetic records, no edge and no
    bound follows from the table. A draft tells shares of the sensitive values, so it is as private as the table.
    """
    return draft_of(path, look(path, **stated), roles=roles, reviewed=reviewed, strict=strict, declared=declared)


def draft_of(
    path: TablePath,
    looked: Looked,
    *,
    roles: Mapping[Role, Sequence[str]] | None = None,
    reviewed: bool = False,
    strict: bool = False,
    declared: bool = False,
) -> str:
    """Return the same for a table that was looked at before."""
    decisions, keys, _ = _decided(looked, roles or {})
    given = {name for chosen in (roles or {}).values() for name in chosen}
    people, decisions = people_of(looked, decisions, keys, given, whole=not declared)
    of: dict[str, list[str]] = {role: [decision.column for decision in decisions if decision.role == role] for role in ROLES}
    secrets = {name: (name,) for name in of["sensitive"]} if declared else lists_of(looked, of["sensitive"])
    entries = stacked(looked, secrets)
    made = {name: column for name, (column, _) in entries.items()}
    quasi = [looked.by_name[name] for name in of["quasi"]]
    recode = {column.name: spec for column in quasi if (spec := recode_of(column, looked.columns[column.name]))}
    recode |= {name: spec for name, column in made.items() if (spec := chapters_of(column))}
    bins = {name: made_bins for name, entry in entries.items() if (made_bins := bins_of(*entry))}
    arguments: dict[str, Any] = {
        **of,
        "sensitive": (),
        "secrets": secrets,
        "types": {column.name: kind_of(column) for column in quasi} | {name: kind_of(column) for name, column in made.items()},
        "recode": recode,
        "bins": {name: own.spec for name, own in bins.items()},
        "missing": {name: "value" for name, column in ({own.name: own for own in quasi} | made).items() if column.missing},
        "people": people or None,
        "protect": "each",
    }
    table = _read(path, looked.options, arguments, unordered=bool(keys) and not people)
    numbers = STRICT if strict else USUAL
    rules = {part.schema.sensitive[0]: _rule(part, made, numbers, opens=not declared) for part in table.each()}
    repeated = not table.schema.one_row_per_person
    about = (place_name(path), looked, tuple(decisions), table, numbers, rules, recode, bins, reviewed, secrets, made)
    draft = Draft(*about, people, repeated, declared)
    text = write_draft(draft)
    refused = _refused_band(table, text)
    return text if refused is None else write_draft(replace(draft, refused=refused))


def _decided(looked: Looked, roles: Mapping[Role, Sequence[str]]) -> tuple[list[Decision], list[PersonKey], dict[str, str]]:
    """Return the decisions, the keys of people among them, and the guessed secrets that follow from a published column.

    A column that stands twice is used once.
    """
    given = {name for chosen in roles.values() for name in chosen}
    same = {name: first for name, first in doubles(looked.columns).items() if name not in given}
    decisions, follows = _without_followers(looked, {**roles, "other": [*roles.get("other", ()), *same]}, given | {*same})
    decisions = with_doubles(decisions, same, given)
    keys = keys_of(looked, decisions)
    return [keyed(decision, keys) if decision.column not in given else decision for decision in decisions], keys, follows


def _without_followers(
    looked: Looked, roles: Mapping[Role, Sequence[str]], given: set[str]
) -> tuple[list[Decision], dict[str, str]]:
    """Return the decisions, in which no guessed secret follows from what is published: educ² tells nothing beside educ."""
    follows: dict[str, str] = {}
    decisions = decide(looked.profiles, roles)
    while True:
        new = _following(looked, decisions, given)
        if not new.keys() - follows.keys():
            break
        follows |= new
        unsure = [name for name in follows if not _sure(decisions, name)]
        try:
            decisions = decide(looked.profiles, {**roles, "other": [*roles.get("other", ()), *unsure]})
        except PolicyError:
            break  # nothing else could be the secret
    quasi = {decision.column for decision in decisions if decision.role == "quasi"}
    made = [
        _followed(decision, by, published=by in quasi) if (by := follows.get(decision.column)) is not None else decision
        for decision in decisions
    ]
    return made, follows


def _following(looked: Looked, decisions: Sequence[Decision], given: set[str]) -> dict[str, str]:
    """Return the secrets, and columns of which it is not clear what they are, that a quasi column determines, with that one."""
    quasi = [decision.column for decision in decisions if decision.role == "quasi"]
    unclear = [
        decision for decision in decisions if decision.role == "sensitive" or (decision.role == "other" and not decision.sure)
    ]
    asked = [decision.column for decision in unclear if decision.column not in given]
    secrets = [name for name in asked if not is_weight(looked.by_name[name])]
    columns, determines = looked.columns, {}
    for name in secrets:
        if looked.by_name[name].distinct > 1:
            place = determined(columns[name], [columns[column] for column in quasi])
            if place is not None:
                determines[name] = quasi[place]
    return determines


def _sure(decisions: Sequence[Decision], name: str) -> bool:
    return any(decision.column == name and decision.sure and decision.role == "sensitive" for decision in decisions)


def _followed(decision: Decision, by: str, *, published: bool) -> Decision:
    if decision.role == "sensitive":
        return replace(decision, why=f"{decision.why}; but {by!r} determines it, and whoever knows that knows this", sure=False)
    return replace(
        decision, why=f"it follows from {by!r}{', which is published' if published else ''}: no secret", sure=published
    )


def _rule(table: Table, made: Mapping[str, Profile], numbers: RuleParameters, *, opens: bool) -> ProposedRule:
    """Return the rule for the one secret of a table."""
    name, own = table.schema.sensitive[0], table.bundles
    once = None if own is None else (lambda values: int(own.any_of([own.labels.index(value) for value in values]).sum()))
    counts = table.sensitive.histogram()
    return rule_for(counts, numbers, words=made[name].words, opens=opens, people=table.rows, once=once)


def _refused_band(table: Table, text: str) -> str | None:
    """Return why people of some band cannot keep the bounds of a draft; nothing is joined for them, which would tell of them."""
    from sfumato.methods.bands import require_bands
    from sfumato.methods.base import table_bounds
    from sfumato.policy.policy import Policy

    try:
        if table.bundles is not None:
            require_bands(table, table_bounds(table, Policy.parse(text).requirement))
    except Infeasible as error:
        return error.message
    return None


def review(path: TablePath, schema: Schema, options: ReadOptions) -> list[Decision]:
    """Return the decisions of a policy as it stands, each with what the column looks like; doubtful ones first.

    A column whose role is not the one that a draft would give it is doubtful, and the reason says which one that is.
    """
    seen, columns = profiles(path, options)
    return review_of(Guessed.of(Looked(seen, columns, options, {})), schema)


@dataclass(frozen=True)
class Guessed:
    """What a draft would decide about the columns of a table if nobody had said anything.

    `follows` names the published column from which a guessed secret follows, and `alone` has the decision without it.
    """

    decisions: Sequence[Decision]
    follows: Mapping[str, str]
    alone: Mapping[str, Decision]

    @classmethod
    def of(cls, looked: Looked) -> Guessed:
        """Return it for a table that was looked at."""
        decisions, _, follows = _decided(looked, {})
        return cls(decisions, follows, {decision.column: decision for decision in decide(looked.profiles, {})})


def review_of(guessed: Guessed, schema: Schema) -> list[Decision]:
    """Return the same for a table of which it is known what a draft would decide."""
    order = ("quasi", "sensitive", "identifier", "other")
    reviewed = []
    for guess in guessed.decisions:
        role, by = schema.role(guess.column), guessed.follows.get(guess.column)
        if role is not None:
            settled = by is None or (role != "sensitive" and schema.role(by) == "quasi")
            made = guess if settled else guessed.alone[guess.column]
            why = made.why if role == made.role else f"a draft would say {made.role}: {made.why}"
            reviewed.append(replace(made, role=role, why=why, sure=made.sure and role == made.role))
    return sorted(reviewed, key=lambda decision: (decision.sure, order.index(decision.role)))


def _read(path: TablePath, options: ReadOptions, arguments: dict[str, Any], *, unordered: bool) -> Table:
    """Return the table as a draft proposes to read it; of rows, where somebody has several and nothing says which to keep."""
    try:
        table = Table.read(path, Schema(**arguments), options=options)
        if not unordered:
            return table
    except InputError:
        if not arguments["identifier"] or arguments["people"]:
            raise
    return Table.read(path, Schema(**arguments, one_row_per_person=False), options=options)
