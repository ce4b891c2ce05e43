"""The manifest: what a release says about itself, in JSON that a recipient without sfumato can read (docs/formats.md)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from sfumato.basis import BASES, NO_GROUPS, Basis, BasisName
from sfumato.errors import FormatError, SfumatoError
from sfumato.form import FORMS, Form
from sfumato.release.consistent import require_numbers
from sfumato.release.shape import require_shape
from sfumato.table.column import SEPARATOR
from sfumato.table.people_rule import People
from sfumato.table.schema import Schema

FORMAT = "sfumato-release"
VERSION = 3

Adversary = Literal["reader", "engineer", "insider", "stranger"]

KNOWS: dict[str, str] = {
    "reader": "who has the release, knows that the person is in the table and knows everybody's quasi values",
    "engineer": (
        "who has the release, knows that the person is in the table, knows everybody's quasi values, the program and its "
        "parameters, but not its coins"
    ),
    "insider": "who has all that an engineer has, and knows the sensitive values of other people, however many",
    "stranger": (
        "who has the release and the person's own quasi values, but knows neither who else is in the table nor how the program "
        "forms groups"
    ),
}
"""What each adversary knows, in the words of docs/guarantees.md."""

STRANGER_WITH_PROGRAM = (
    "who has the release, the person's own quasi values, the program and its parameters, but does not know who else is in the "
    "table"
)
"""What a stranger knows against whom boxes made by halves hold."""


@dataclass(frozen=True)
class Claim:
    """One promise of a release: against whom, and what is bounded."""

    kind: Literal["association", "presence"]
    adversary: Adversary
    statement: str

    @classmethod
    def association(
        cls,
        adversary: Adversary,
        *,
        one_row_per_person: bool = True,
        sets: bool = False,
        several: bool = False,
        bundled: bool = False,
        alike: str | None = None,
        household: str | None = None,
        by_band: bool = False,
    ) -> Claim:
        """Return the claim that belief in each sensitive value stays within its bound, in the words it is always made in.

        With `sets` it speaks of the requirement's sets of values too; of `several` secrets, of every sensitive column by itself.
        Where secrets are `bundled` a person may have several values; `alike` says who shares a group, as `Manifest.alike` does.
        With `household` whole households are published, and it says by which numbers they are told apart. `by_band` says that
        bounds follow from the shares among those who may share a group.
        """
        own = {"sets": sets, "several": several, "by_band": by_band}
        if household:
            return cls("association", adversary, _about_households(adversary, household, alike, **own))
        article = "An" if adversary[0] in "aeiou" else "A"
        whom = "published person" if one_row_per_person else "published row (one person may have several)"
        if bundled:
            return cls("association", adversary, _about_bundles(adversary, whom, alike, **own))
        return cls(
            "association",
            adversary,
            f"{article} {adversary}, {KNOWS[adversary]}, and who sees no link between quasi and sensitive values"
            + (", nor between one sensitive column and another" if several else "")
            + f", believes that a given {whom} has a given "
            + ("value of a given sensitive column " if several else "sensitive value ")
            + "with probability at most that value's bound"
            + (
                ", and one of the values of a given set of the requirement with probability at most that set's bound."
                if sets
                else "."
            ),
        )

    @classmethod
    def presence(
        cls, adversary: Adversary, *, form: str = "columns", program: bool = False, one_row_per_person: bool = True
    ) -> Claim:
        """Return the claim that belief in a person's presence stays within alpha, in the words it is always made in.

        They differ by form: fragments that are columns are read as tables that fit them, views as matchings of their rows. And by
        whether the stranger may know the `program`.
        """
        knows = STRANGER_WITH_PROGRAM if program else KNOWS[adversary]
        article = "An" if adversary[0] in "aeiou" else "A"
        whom = "person" if one_row_per_person else "row (one person may have several)"
        return cls(
            "presence",
            adversary,
            f"{article} {adversary}, {knows}, and to whom {FORMS[form].equally_likely} are equally likely, "
            f"believes that a given {whom} is in the table with probability at most the requirement's alpha. Whoever has quasi "
            "values that the release does not cover is certainly absent: that side is not bounded.",
        )


def shared_by(alike: Any) -> str:
    """Return who may share a group by the rule of a policy: people of one band or number of rows, or anybody."""
    return "number" if alike == "exact" else "band" if alike else "anybody"


_THROUGH: dict[str | None, str] = {
    None: "",
    "band": ", other than through the band of how many rows they have",
    "number": ", other than through how many rows they have",
    "anybody": ", and knows of nobody how many rows she has",
}
"""Through what an adversary may see a link between quasi values and what people have."""


def _about_bundles(adversary: Adversary, whom: str, alike: str | None, *, sets: bool, several: bool, by_band: bool) -> str:
    """Return the claim about people who may have several values of a secret."""
    article = "An" if adversary[0] in "aeiou" else "A"
    return (
        f"{article} {adversary}, {KNOWS[adversary]}, and who sees no link between quasi values and what people have"
        + _THROUGH[alike]
        + (", nor between one secret and another" if several else "")
        + f", believes that a given {whom} has a given value "
        + ("of a given secret among hers " if several else "among hers ")
        + "with probability at most that value's bound"
        + (f" for people {'of her band' if alike == 'band' else 'with as many rows'}" if by_band else "")
        + (
            ", and one of the values of a given set of the requirement with probability at most that set's bound."
            if sets
            else "."
        )
        + (
            " How many rows somebody has tells something about what she has, and that is not covered."
            if alike == "anybody"
            else ""
        )
    )


def _about_households(adversary: Adversary, many: str, alike: str | None, *, sets: bool, several: bool, by_band: bool) -> str:
    """Return the claim about somebody of a household, and with it about every member."""
    article = "An" if adversary[0] in "aeiou" else "A"
    through = {
        "band": f", other than through the band of how many {many} they have",
        "number": f", other than through how many {many} they have",
        "anybody": f", and knows of none how many {many} it has",
    }
    secret = "of a given secret " if several else ""
    return (
        f"{article} {adversary}, {KNOWS[adversary]}, and who sees no link between quasi values and what households have"
        f"{through[alike or 'band']}{', nor between one secret and another' if several else ''}, believes that somebody of a "
        f"given published household has a given value {secret}with probability at most that value's bound"
        + (f" for households {'of its band' if alike == 'band' else f'with as many {many}'}" if by_band else "")
        + (", and one of the values of a given set of the requirement with probability at most that set's bound" if sets else "")
        + f". So she does of every member, {BY_RELATIVES}."
        + (f" How many {many} a household has tells something about it, and that is not covered." if alike == "anybody" else "")
    )


BY_RELATIVES = "however she believes that what members of a household have goes together"


_KEPT = (
    "form", "basis", "software", "rows", "schema", "requirement", "method", "parameters", "seeded", "reproducible", "tables",
)  # fmt: skip
"""What manifest.json has as it is here."""


@dataclass(frozen=True)
class Manifest:
    """Public facts about a release; everything in it is meant to be read by everybody.

    `basis` says on what the grouping rests, None where there are no groups.
    `values` lists bound and count per sensitive value only where the tables show the counts anyway, `sets` the same per set of
    values that the requirement bounds; of several secrets both say of which `secret`.
    `seeded` says that the coins follow from a seed, `reproducible` that the same seed gives the same release (no clock stopped
    the search). `tables` is filled in when the release is saved: file name, row count, columns and sha-256 of each table.
    """

    form: str
    schema: Mapping[str, Any]
    rows: int
    requirement: Mapping[str, Any]
    method: Mapping[str, Any]
    claims: tuple[Claim, ...]
    values: tuple[Mapping[str, Any], ...] | None = None
    sets: tuple[Mapping[str, Any], ...] = ()
    basis: BasisName | None = None
    parameters: Mapping[str, Any] = field(default_factory=dict)
    seeded: bool = False
    reproducible: bool = False
    tables: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    software: str = ""

    def to_json(self) -> str:
        """Return the text of manifest.json, in the one way that it is spelled."""
        return spelled(self.document())

    def document(self) -> dict[str, Any]:
        """Return the content of manifest.json in JSON types."""
        own = {key: getattr(self, key) for key in _KEPT}
        claims = [vars(claim) for claim in self.claims]
        spelled_out = {"method": plain_number(self.method), "claims": claims, "values": self._listed()}
        return {"format": FORMAT, "version": VERSION, **own, **spelled_out}

    @property
    def rests_on(self) -> Basis:
        """What follows from the basis that the manifest names."""
        return NO_GROUPS if self.basis is None else BASES[self.basis]

    @property
    def shown_as(self) -> Form:
        """What follows from the form that the manifest names."""
        return FORMS[self.form]

    @property
    def own_ranges(self) -> bool:
        """Whether every record has ranges of its own, as published: then there are no groups that records share."""
        return self.shown_as.as_ranges and "weaker_claim" in self.parameters

    @property
    def in_parts(self) -> bool:
        """Whether the rows of a table lie in several files."""
        return any(len(facts.get("files", ())) > 1 for facts in self.tables.values())

    @property
    def secrets(self) -> tuple[str, ...]:
        """The names of the secrets: the sensitive columns where each is protected by itself; else one, of all of them."""
        names = [str(column["name"]) for column in self.schema["sensitive"]]
        return tuple(names) if _protects_each(self.schema) else (SEPARATOR.join(names),)

    @property
    def bundled(self) -> bool:
        """Whether a person may have several values of a secret, or none."""
        return "secrets" in self.schema.get("declared", {})

    @property
    def alike(self) -> str | None:
        """Who may share a group where people have all their rows: those of a "band" of numbers of rows, of one "number", or
        "anybody"; None where everybody has one row."""
        people = self.schema.get("declared", {}).get("people")
        return None if people is None or "alike" not in people else shared_by(people["alike"])

    @property
    def by_band(self) -> bool:
        """Whether bounds follow from the shares in each band of numbers of rows, or members, in place of the table's."""
        return bool(self.schema.get("declared", {}).get("people", {}).get("shares") == "band")

    @property
    def counted(self) -> int:
        """Of how many values, of all secrets together, a person is counted at most where counts have noise."""
        if not self.bundled:
            return len(self.secrets)
        return sum((Schema.from_dict(self.schema["declared"]).most or {}).values())

    @property
    def leaves_out(self) -> int | None:
        """Of how many values of a secret a person is counted where that may be fewer than she has; None where it may not."""
        people, declared = self.schema.get("declared", {}).get("people", {}), self.schema.get("declared", {})
        if not (self.bundled and self.rests_on.noisy):
            return None
        most = Schema.from_dict(declared).most or {}
        fewer = [k for name, k in most.items() if "keep" in people or k < len(declared["secrets"][name])]
        return min(fewer, default=None)

    @property
    def household(self) -> str | None:
        """What households are told apart by, where these are published in place of people."""
        people = self.schema.get("declared", {}).get("people", {})
        return People(**people).household if "unit" in people else None

    @property
    def bands(self) -> tuple[str, ...]:
        """The quasi columns that say how many rows people have, or members households, where only like ones share a group."""
        people = self.schema.get("declared", {}).get("people", {})
        return People(**people).bands

    @property
    def each(self) -> tuple[Manifest, ...]:
        """What the manifest says of each secret, as of the only one."""
        return tuple(self.of(name) for name in self.secrets)

    def of(self, column: str) -> Manifest:
        """Return what the manifest says of one of several secrets, as of the only one."""
        if len(self.secrets) == 1:
            return self
        try:
            declared = Schema.from_dict(self.schema["declared"]).only(column).to_dict()
        except (SfumatoError, ArithmeticError, ValueError, KeyError, TypeError):
            raise FormatError("manifest.json: the declaration of columns is not valid in a policy") from None
        schema = {
            "quasi": self.schema["quasi"],
            "sensitive": [entry for entry in self.schema["sensitive"] if entry["name"] == column],
            "declared": declared,
        }
        from sfumato.release.accounts import fixed_claim

        values = None if self.values is None else _of_secret(self.values, column)
        requirement = column_requirement(self.requirement, column)
        part = replace(self, schema=schema, requirement=requirement, values=values, sets=_of_secret(self.sets, column))
        if self.rests_on.noisy:
            parameters = {**self.parameters, "counted": self.counted}
            part = replace(part, method={**self.method, **self._declared_of(column)}, parameters=parameters)
        claims = (claim if claim.kind == "presence" else fixed_claim(part, claim) for claim in self.claims)
        return replace(part, claims=tuple(claims))

    def _declared_of(self, column: str) -> dict[str, Any]:
        """Return what was declared of one of several columns that each have noise."""
        try:
            has = {"has": self.method["has"][column]} if "has" in self.method else {}
            return {key: self.method[key] and self.method[key][column] for key in ("shares", "values", "otherwise")} | has
        except (KeyError, TypeError):
            raise FormatError("manifest.json: the method does not declare the values of every sensitive column") from None

    def _listed(self) -> list[dict[str, Any]] | None:
        """Return the values and sets of each secret."""
        if self.values is None:
            return None
        listed = zip(_columns(self.schema), self.secrets, strict=True)
        return [
            {
                "columns": columns,
                "values": [*_of_secret(self.values, name)],
                **({"sets": sets} if (sets := [*_of_secret(self.sets, name)]) else {}),
            }
            for columns, name in listed
        ]

    @classmethod
    def from_json(cls, text: str) -> Manifest:
        """Return the manifest in `text`, or say why it is not one that this version can read."""
        try:
            document = json.loads(text, parse_constant=_no_number, parse_float=_number, object_pairs_hook=_no_key_twice)
        except (ValueError, RecursionError):
            raise FormatError(
                "manifest.json is not valid JSON with unique keys and plain whole numbers",
                hint="the release was cut short or edited; get it again",
            ) from None
        _require_version(document)
        require_shape(document)
        require_numbers(document["requirement"])
        if spelled(document) != text:
            raise FormatError(
                "manifest.json is not in canonical form (sorted keys, indented by two spaces)",
                hint="the release was changed, or made by other software; get it again",
            )
        _require_declared(document["schema"])
        values, sets = _read_values(document)
        claims = tuple(Claim(**claim) for claim in document["claims"])
        return cls(**{key: document[key] for key in _KEPT}, claims=claims, values=values, sets=sets)


def column_requirement(requirement: Mapping[str, Any], column: str) -> Mapping[str, Any]:
    """Return what is required of one of several columns, each protected by itself, as if it were the only one."""
    rest = {key: value for key, value in requirement.items() if key != "columns"}
    own = requirement.get("columns", {}).get(column)
    if own is None or rest.get("model") != "presence-association":
        return rest if own is None else dict(own)
    beta = {key: value for key, value in own.items() if key not in ("against", "sets")}
    sets = {"sets": own["sets"]} if "sets" in own else {}
    return {key: value for key, value in rest.items() if key != "sets"} | {"beta": beta} | sets


def _protects_each(schema: Mapping[str, Any]) -> bool:
    return bool(schema.get("declared", {}).get("protect") == "each")


def _columns(schema: Mapping[str, Any]) -> list[list[str]]:
    """Return the columns of each secret."""
    names = [column["name"] for column in schema["sensitive"]]
    return [[name] for name in names] if _protects_each(schema) else [names]


def _of_secret(entries: tuple[Mapping[str, Any], ...], secret: str) -> tuple[Mapping[str, Any], ...]:
    """Return the entries of one secret, as they are where it is the only one."""
    mine = (entry for entry in entries if entry.get("secret", secret) == secret)
    return tuple({key: value for key, value in entry.items() if key != "secret"} for entry in mine)


def _read_values(document: Mapping[str, Any]) -> tuple[tuple[Mapping[str, Any], ...] | None, tuple[Mapping[str, Any], ...]]:
    """Return the values and the sets that a manifest lists, with their secret where there are several."""
    listed = document["values"]
    if listed is None:
        return None, ()
    columns = _columns(document["schema"])
    if [entry["columns"] for entry in listed] != columns:
        raise FormatError("manifest.json: the values are not those of the sensitive columns")
    entries: dict[str, list[Mapping[str, Any]]] = {"values": [], "sets": []}
    for key, kept in entries.items():
        for secret in listed:
            kept += [({"secret": secret["columns"][0]} if len(columns) > 1 else {}) | entry for entry in secret.get(key, ())]
    return tuple(entries["values"]), tuple(entries["sets"])


def own_bounds(requirement: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the sensitive values that a requirement, or the one given for present people, bounds by name, alone or in a set."""
    inside = requirement.get("beta")
    sets = [value for rule in requirement.get("sets", {}).values() for value in rule.get("values", rule.get("map", ()))]
    return (*requirement.get("bounds", ()), *sets, *(own_bounds(inside) if isinstance(inside, Mapping) else ()))


def spelled(document: Mapping[str, Any]) -> str:
    """Return a manifest's text: keys sorted by code point, two blanks a level, everything but quotes and controls as it is."""
    return json.dumps(document, indent=2, ensure_ascii=False, sort_keys=True, allow_nan=False) + "\n"


def _number(text: str) -> float:
    """Return a number with a fraction; a whole one is written without, and read as such."""
    number = float(text)
    if number.is_integer():
        raise ValueError("a whole number is written as one")
    return number


def plain_number(value: Any) -> Any:
    """Return a value as JSON has it, whole numbers without a fraction."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return {key: plain_number(number) for key, number in value.items()} if isinstance(value, Mapping) else value


def _no_number(text: str) -> None:
    raise ValueError(f"{text} is not a number")


def _no_key_twice(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    document = dict(pairs)
    if len(document) < len(pairs):
        raise ValueError("a key occurs twice")
    return document


_NO_LONGER = {
    1: "in which files could carry more than they show",
    2: "whose tables have other columns than those of the present one",
}
"""Why earlier versions are not read."""


def _require_version(document: Any) -> None:
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise FormatError(f'manifest.json does not describe a release (no "format": "{FORMAT}")')
    version = document.get("version")
    if not isinstance(version, int) or isinstance(version, bool) or version < 1:
        raise FormatError("manifest.json has no usable format version")
    if version < VERSION:
        raise FormatError(
            f"this release has format version {version}, {_NO_LONGER[version]}; it is no longer read",
            hint="ask its publisher for the release in the present format",
        )
    if version > VERSION:
        raise FormatError(
            f"this release has a format version above {VERSION}, the one that this sfumato reads", hint="update sfumato"
        )


def _require_declared(schema: Mapping[str, Any]) -> None:
    """Raise `FormatError` unless what the policy declared about columns is just what such a declaration becomes."""
    try:
        known = Schema.from_dict(schema["declared"]).to_dict()
    except (SfumatoError, ArithmeticError, ValueError):
        known = {}
    names = {role: [column["name"] for column in schema[role]] for role in ("quasi", "sensitive")}
    if not known or spelled(known) != spelled(schema["declared"]) or any(known[role] != listed for role, listed in names.items()):
        raise FormatError("manifest.json: the declaration of columns is not valid in a policy")
    if len({*names["quasi"], *names["sensitive"]}) < len(names["quasi"]) + len(names["sensitive"]):
        raise FormatError("manifest.json: the schema lists a column twice")
    for column in (*schema["quasi"], *schema["sensitive"]):
        if schema["declared"]["types"].get(column["name"], column["kind"]) != column["kind"] and not (
            column["name"] in schema["declared"]["recode"] or column["name"] in schema["declared"]["bins"]
        ):
            raise FormatError("manifest.json: a column is of another kind than the one declared")
