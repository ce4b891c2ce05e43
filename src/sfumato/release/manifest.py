"""The manifest: what a release says about itself, in JSON that a recipient without sfumato can read (docs/formats.md)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from sfumato.errors import FormatError

FORMAT = "sfumato-release"
VERSION = 1

KEYS = {
    "format",
    "version",
    "form",
    "software",
    "rows",
    "schema",
    "requirement",
    "method",
    "parameters",
    "seeded",
    "reproducible",
    "claims",
    "values",
    "tables",
}

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
    def association(cls, adversary: Adversary, *, one_row_per_person: bool = True) -> Claim:
        """Return the claim that belief in each sensitive value stays within its bound, in the words it is always made in."""
        article = "An" if adversary[0] in "aeiou" else "A"
        whom = "published person" if one_row_per_person else "published row (one person may have several)"
        return cls(
            "association",
            adversary,
            f"{article} {adversary}, {KNOWS[adversary]}, and who sees no link between quasi and sensitive values, believes that "
            f"a given {whom} has a given sensitive value with probability at most that value's bound.",
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


@dataclass(frozen=True)
class Manifest:
    """Public facts about a release; everything in it is meant to be read by everybody.

    `values` lists bound and count per sensitive value only where the tables show the counts anyway. `seeded` says that the coins
    follow from a seed, `reproducible` that the same seed gives the same release (no clock stopped the search). `tables` is
    filled in when the release is saved: file name, row count, columns and sha-256 of each published table.
    """

    form: str
    schema: Mapping[str, Any]
    rows: int
    requirement: Mapping[str, Any]
    method: Mapping[str, Any]
    claims: tuple[Claim, ...]
    values: tuple[Mapping[str, Any], ...] | None = None
    parameters: Mapping[str, Any] = field(default_factory=dict)
    seeded: bool = False
    reproducible: bool = False
    tables: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    software: str = ""

    def with_tables(self, tables: Mapping[str, Mapping[str, Any]]) -> Manifest:
        """Return the same manifest with these facts about the files."""
        return replace(self, tables=tables)

    def to_json(self) -> str:
        """Return the text of manifest.json."""
        document = {
            "format": FORMAT,
            "version": VERSION,
            "form": self.form,
            "software": self.software,
            "rows": self.rows,
            "schema": self.schema,
            "requirement": self.requirement,
            "method": self.method,
            "parameters": self.parameters,
            "seeded": self.seeded,
            "reproducible": self.reproducible,
            "claims": [vars(claim) for claim in self.claims],
            "values": None if self.values is None else list(self.values),
            "tables": self.tables,
        }
        return json.dumps(document, indent=2, ensure_ascii=False) + "\n"

    @classmethod
    def from_json(cls, text: str) -> Manifest:
        """Return the manifest in `text`, or say why it is not one that this version can read."""
        try:
            document = json.loads(text, parse_constant=_no_number)
        except (ValueError, RecursionError) as error:
            raise FormatError(
                f"manifest.json is not complete JSON ({error})", hint="the release was cut short or edited; get it again"
            ) from None
        if not isinstance(document, dict) or document.get("format") != FORMAT:
            raise FormatError(f'manifest.json does not describe a release (no "format": "{FORMAT}")')
        version = document.get("version")
        if not isinstance(version, int) or isinstance(version, bool) or version < 1:
            raise FormatError(f"manifest.json has no usable format version (found {version!r})")
        if version > VERSION:
            raise FormatError(
                f"this release has format version {version}; this sfumato reads up to {VERSION}", hint="update sfumato"
            )
        unknown = sorted(set(document) - KEYS)
        if unknown:
            raise FormatError(f"manifest.json says more than a manifest does: {', '.join(unknown[:5])}")
        return cls(
            form=_typed(document, "form", str),
            schema=_typed(document, "schema", dict),
            rows=_typed(document, "rows", int),
            requirement=_typed(document, "requirement", dict),
            method=_typed(document, "method", dict),
            claims=tuple(_claim(claim) for claim in _typed(document, "claims", list)),
            values=None if document.get("values") is None else tuple(_typed(document, "values", list)),
            parameters=_typed(document, "parameters", dict),
            seeded=_typed(document, "seeded", bool),
            reproducible=_typed(document, "reproducible", bool),
            tables=_typed(document, "tables", dict),
            software=_typed(document, "software", str),
        )


def _no_number(text: str) -> None:
    raise ValueError(f"{text} is no number")


def _claim(document: Any) -> Claim:
    if not isinstance(document, dict) or set(document) != {"kind", "adversary", "statement"}:
        raise FormatError("manifest.json: a claim has the wrong fields")
    if document["adversary"] not in KNOWS or document["kind"] not in ("association", "presence"):
        raise FormatError("manifest.json: a claim names no known adversary, or bounds nothing known")
    return Claim(**document)


def _typed(document: Mapping[str, Any], key: str, kind: type) -> Any:
    if key not in document:
        raise FormatError(f"manifest.json lacks {key!r}", hint="the manifest was edited; get the release again")
    if not isinstance(document[key], kind):
        raise FormatError(f"manifest.json: {key!r} should be {kind.__name__}, found {type(document[key]).__name__}")
    return document[key]
