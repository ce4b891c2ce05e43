"""The settings with which a release can be made again, and what the words of a report mean."""

from __future__ import annotations

import json
import re
from fractions import Fraction

from sfumato.exact import decimal_text
from sfumato.reports.case import ReportCase
from sfumato.reports.parts import Definitions, Grid, Listing, PageBlock, Prose, Section

GLOSSARY: tuple[tuple[str, str], ...] = (
    (
        "quasi columns, quasi values",
        "What others may know of a person, such as age or place; published. In the literature: quasi-identifiers.",
    ),
    ("sensitive value", "What is protected, such as a diagnosis. Its column is the sensitive attribute."),
    ("belief", "How probable somebody holds it that a person has a value, given the release and what she knows."),
    ("bound", "The largest belief allowed in a value. A bound of 100 % says that a value is no secret."),
    ("share", "The part of all people who have a value: what everybody may know beforehand."),
    ("group", "People whose sensitive values are published together."),
    ("exposure", "How sure a reader is, on average, of a person's true value."),
    ("reader", "Somebody who has the release and knows everybody's quasi values."),
    ("engineer", "A reader who also knows the program that made the release, but not its coins."),
    ("insider", "An engineer who also knows other people's sensitive values."),
    ("stranger", "Somebody who has the release and one person's quasi values, and does not know who else is in the table."),
    (
        "statistician",
        "Somebody who learns how columns go together. Nothing can be promised against her by a release that tells of links.",
    ),
    ("independence", "What somebody would answer who knows all quasi values and shares, but no link between them."),
    ("interval", "A range that holds the truth with the probability stated, 95 % where none is."),
    ("claim", "A promise: one adversary, and what she believes at most. An audit judges it."),
)


def settings(case: ReportCase) -> Section:
    """Return method, requirement and files; for the publisher the policy too."""
    manifest = case.release.manifest
    rows = [("form", manifest.form), ("people", f"{manifest.rows:,}"), ("basis of the groups", manifest.basis or "none")]
    rows += [(f"requirement: {name}", _plain(value)) for name, value in manifest.requirement.items() if value not in ({}, None)]
    rows += [(f"method: {name}", _plain(value)) for name, value in manifest.method.items() if value is not None]
    rows += [
        ("made by", manifest.software),
        ("coins", "from a seed: for experiments only" if manifest.seeded else "of the operating system"),
    ]
    blocks: list[PageBlock] = [Grid("What the manifest says", ("setting", "value"), [(name, str(value)) for name, value in rows])]
    written = [file for table in manifest.tables.values() for file in table["files"]]
    files = [(str(file["file"]), f"{file['rows']:,}", str(file["sha256"])) for file in written]
    if files:
        blocks.append(Grid("The files", ("file", "rows", "SHA-256"), files, right=(1,)))
    steps = ["sfumato publish TABLE --policy POLICY --out RELEASE", "sfumato audit RELEASE --table TABLE"]
    blocks.append(Prose(["Coins make every release another one of the same kind. The audit can be repeated by anybody:"]))
    blocks.append(Listing("Commands", "\n".join(steps if not case.public else ["sfumato audit RELEASE"])))
    if case.policy is not None and not case.public:
        blocks.append(Listing("The policy", case.policy))
    return Section("settings", "How to repeat it", blocks)


def glossary() -> Section:
    """Return what the words mean."""
    return Section("glossary", "What the words mean", [Definitions(GLOSSARY)])


def _plain(value: object) -> str:
    if isinstance(value, str):
        return decimal_text(Fraction(value)) if re.fullmatch(r"\d+/\d+", value) else value
    return json.dumps(value, ensure_ascii=False)
