"""The manifest: what a release says about itself, in JSON that a recipient without sfumato can read (docs/formats.md)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from sfumato.basis import Basis
from sfumato.errors import FormatError, SfumatoError
from sfumato.release.consistent import require_shape
from sfumato.table.schema import Schema

FORMAT = "sfumato-release"
VERSION = 2

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


_EQUALLY_LIKELY = {
    "columns": "all tables that fit the release",
    "views": "all matchings of a group's rows of at with its rows of st, in every group by itself,",
}


@dataclass(frozen=True)
class Claim:
    """One promise of a release: against whom, and what is bounded."""

    kind: Literal["association", "presence"]
    adversary: Adversary
    statement: str

    @classmethod
    def association(
        cls, adversary: Adversary, *, one_row_per_person: bool = True, sets: bool = False, apart: bool = False
    ) -> Claim:
        """Return the claim that belief in each sensitive value stays within its bound, in the words it is always made in.

        With `sets` it speaks of the requirement's sets of values too; `apart`, of every sensitive column by itself.
        """
        article = "An" if adversary[0] in "aeiou" else "A"
        whom = "published person" if one_row_per_person else "published row (one person may have several)"
        return cls(
            "association",
            adversary,
            f"{article} {adversary}, {KNOWS[adversary]}, and who sees no link between quasi and sensitive values"
            + (", nor between one sensitive column and another" if apart else "")
            + f", believes that a given {whom} has a given {'value of a given sensitive column' if apart else 'sensitive value'} "
            "with probability at most that value's bound"
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
            f"{article} {adversary}, {knows}, and to whom {_EQUALLY_LIKELY[form]} are equally likely, "
            f"believes that a given {whom} is in the table with probability at most the requirement's alpha. Whoever has quasi "
            "values that the release does not cover is certainly absent: that side is not bounded.",
        )


_KEPT = (
    "form", "basis", "software", "rows", "schema", "requirement", "method", "parameters", "seeded", "reproducible", "tables",
)  # fmt: skip
"""What manifest.json has as it is here."""


@dataclass(frozen=True)
class Manifest:
    """Public facts about a release; everything in it is meant to be read by everybody.

    `basis` says on what the grouping rests, None where there are no groups.
    `values` lists bound and count per sensitive value only where the tables show the counts anyway, `sets` the same per set of
    values that the requirement bounds; where each of several columns is protected by itself, both say of which `column`.
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
    basis: Basis | None = None
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
    def apart(self) -> bool:
        """Whether several sensitive columns are protected each by itself."""
        return bool(self.schema.get("declared", {}).get("protect") == "each")

    @property
    def in_parts(self) -> bool:
        """Whether the rows of a table lie in several files."""
        return any(len(facts.get("files", ())) > 1 for facts in self.tables.values())

    @property
    def secrets(self) -> tuple[str, ...]:
        """The sensitive columns."""
        return tuple(str(column["name"]) for column in self.schema["sensitive"])

    def of(self, column: str) -> Manifest:
        """Return what the manifest says of one of several columns that are protected each by itself, as of the only one."""
        try:
            declared = Schema.from_dict(self.schema["declared"]).only(column).to_dict()
        except (SfumatoError, ArithmeticError, ValueError, KeyError, TypeError):
            raise FormatError("manifest.json: what it declares about columns is not what a policy can declare") from None
        schema = {
            "quasi": self.schema["quasi"],
            "sensitive": [one for one in self.schema["sensitive"] if one["name"] == column],
            "declared": declared,
        }
        from sfumato.release.accounts import fixed_claim

        values = None if self.values is None else _of_column(self.values, column)
        requirement = column_requirement(self.requirement, column)
        part = replace(self, schema=schema, requirement=requirement, values=values, sets=_of_column(self.sets, column))
        if self.basis == "noisy":
            parameters = {**self.parameters, "secrets": len(self.secrets)}
            part = replace(part, method={**self.method, **self._declared_of(column)}, parameters=parameters)
        claims = (claim if claim.kind == "presence" else fixed_claim(part, claim) for claim in self.claims)
        return replace(part, claims=tuple(claims))

    def _declared_of(self, column: str) -> dict[str, Any]:
        """Return what was declared of one of several columns that each have noise."""
        try:
            return {key: self.method[key] and self.method[key][column] for key in ("shares", "values", "otherwise")}
        except (KeyError, TypeError):
            raise FormatError("manifest.json: the method does not declare the values of every sensitive column") from None

    def _listed(self) -> list[dict[str, Any]] | None:
        """Return the values and sets, for all sensitive columns together or for each by itself."""
        if self.values is None:
            return None
        if not self.apart:
            return [{"columns": [*self.secrets], "values": [*self.values], **({"sets": [*self.sets]} if self.sets else {})}]
        return [
            {
                "columns": [name],
                "values": [*_of_column(self.values, name)],
                **({"sets": [*_of_column(self.sets, name)]} if any(one["column"] == name for one in self.sets) else {}),
            }
            for name in self.secrets
        ]

    @classmethod
    def from_json(cls, text: str) -> Manifest:
        """Return the manifest in `text`, or say why it is not one that this version can read."""
        try:
            document = json.loads(text, parse_constant=_no_number, parse_float=_number, object_pairs_hook=_no_key_twice)
        except (ValueError, RecursionError):
            raise FormatError(
                "manifest.json is not complete JSON in which every key stands once and whole numbers are written as such",
                hint="the release was cut short or edited; get it again",
            ) from None
        _require_version(document)
        require_shape(document)
        if spelled(document) != text:
            raise FormatError(
                "manifest.json is not spelled as manifests are (sorted keys, two blanks, nothing else)",
                hint="the release was edited or made by something else; get it again",
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


def _of_column(entries: tuple[Mapping[str, Any], ...], column: str) -> tuple[Mapping[str, Any], ...]:
    """Return the entries of one column, as they are where it is the only one."""
    return tuple({key: value for key, value in one.items() if key != "column"} for one in entries if one.get("column") == column)


def _read_values(document: Mapping[str, Any]) -> tuple[tuple[Mapping[str, Any], ...] | None, tuple[Mapping[str, Any], ...]]:
    """Return the values and the sets that a manifest lists, with their column where each is protected by itself."""
    listed = document["values"]
    if listed is None:
        return None, ()
    names = [column["name"] for column in document["schema"]["sensitive"]]
    apart = document["schema"]["declared"].get("protect") == "each"
    if [one["columns"] for one in listed] != ([[name] for name in names] if apart else [names]):
        raise FormatError("manifest.json: the values are not those of the sensitive columns")
    found: dict[str, list[Mapping[str, Any]]] = {"values": [], "sets": []}
    for key, kept in found.items():
        for one in listed:
            kept += [({"column": one["columns"][0]} if apart else {}) | entry for entry in one.get(key, ())]
    return tuple(found["values"]), tuple(found["sets"])


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
    found = float(text)
    if found.is_integer():
        raise ValueError("a whole number is written as one")
    return found


def plain_number(value: Any) -> Any:
    """Return a value as JSON has it, whole numbers without a fraction."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return {key: plain_number(one) for key, one in value.items()} if isinstance(value, Mapping) else value


def _no_number(text: str) -> None:
    raise ValueError(f"{text} is no number")


def _no_key_twice(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key stands twice")
    return found


def _require_version(document: Any) -> None:
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise FormatError(f'manifest.json does not describe a release (no "format": "{FORMAT}")')
    version = document.get("version")
    if not isinstance(version, int) or isinstance(version, bool) or version < 1:
        raise FormatError("manifest.json has no usable format version")
    if version < VERSION:
        raise FormatError(
            f"this release has format version {version}, in which files could carry more than they show; it is no longer read",
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
        raise FormatError("manifest.json: what it declares about columns is not what a policy can declare")
    if len({*names["quasi"], *names["sensitive"]}) < len(names["quasi"]) + len(names["sensitive"]):
        raise FormatError("manifest.json: the schema lists a column twice")
    for column in (*schema["quasi"], *schema["sensitive"]):
        if schema["declared"]["types"].get(column["name"], column["kind"]) != column["kind"] and not (
            column["name"] in schema["declared"]["recode"] or column["name"] in schema["declared"]["bins"]
        ):
            raise FormatError("manifest.json: a column is of another kind than the one declared")
