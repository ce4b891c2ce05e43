"""What was published, what is promised, to whom it holds, and what the audit found."""

from __future__ import annotations

from collections.abc import Mapping

from sfumato.auditor import Finding
from sfumato.exact import percent
from sfumato.policy.words import recoding_in_words, rule_in_words
from sfumato.release.manifest import KNOWS
from sfumato.report.case import Case
from sfumato.report.parts import Block, Grid, Mood, Note, Section, Terms, Words

FORMS: Mapping[str, str] = {
    "buckets": "Every person's row is shown, with the quasi values listed below and the number of a group. A second table says "
    "how often each sensitive value occurs in each group, not who has it.",
    "ranges": "Quasi values are shown as ranges and sets that several people share, beside the sensitive values of these people.",
    "columns": "Quasi columns are shown apart: which values occur in which group, not which belong to one person.",
    "views": "One table has quasi values by group, another one column with the sensitive values: what goes together is hidden.",
    "randomized": "Every person's row is shown, with the quasi values listed below; the sensitive value was kept or replaced "
    "by a coin.",
    "synthetic": "No row is about anybody: records were drawn from counts to which noise was added.",
}

ADVERSARIES = ("reader", "engineer", "insider", "stranger", "statistician")

STATISTICIAN = "who has the release and learns from it, or knows otherwise, how quasi and sensitive values go together"

COVERS: Mapping[str, tuple[str, ...]] = {
    "reader": ("reader",),
    "engineer": ("reader", "engineer"),
    "insider": ("reader", "engineer", "insider"),
    "stranger": ("stranger",),
}
"""Whom a claim against each adversary covers: everybody who knows no more than she does.

Not where counts have noise: a reader, who does not know the others of a bucket, learns from them about people like her.
"""


def published(case: Case) -> Section:
    """Return what recipients see."""
    manifest = case.release.manifest
    recoded = manifest.schema["declared"]["recode"]
    rows = [
        (str(one["name"]), "published", recoding_in_words(recoded[one["name"]]) if one["name"] in recoded else "as it is")
        for one in manifest.schema["quasi"]
    ]
    rows += [(str(one["name"]), "sensitive", "bound to no single person") for one in manifest.schema["sensitive"]]
    left = [] if case.table is None else _left_out(case)
    tables = ", ".join(f"{name} ({table.num_rows:,} rows)" for name, table in case.release.tables().items())
    return Section(
        "published",
        "What was published",
        [
            Words(
                [f"{manifest.rows:,} people, {len(rows)} columns. {FORMS.get(manifest.form, '')}", f"Tables: {tables}.", *left]
            ),
            Grid("The columns", ("column", "role", "how it is shown"), rows),
        ],
    )


def _left_out(case: Case) -> list[str]:
    assert case.table is not None
    away = case.table.rows - case.release.rows
    said = [] if away <= 0 else [f"{away:,} people of the table are not published, so that the bounds hold for the others."]
    if case.table.dropped:
        said.append(f"{case.table.dropped:,} people were left out beforehand because a value is missing.")
    return said


def promised(case: Case) -> Section:
    """Return every claim in its fixed words, who is covered, and what is not promised."""
    manifest = case.release.manifest
    blocks: list[Block] = []
    if manifest.claims and case.shares and case.bounds.keys() >= case.shares.keys():
        rule = rule_in_words(case.shares, dict(case.bounds), compound=len(manifest.schema["sensitive"]) > 1)
        blocks.append(Words([f"In plain words: {rule}."]))
    if not manifest.claims:
        weaker = str(manifest.parameters.get("weaker_claim", ""))
        blocks.append(Note("This release promises no bound on what anybody believes about a person.", "careful"))
        blocks += [Words([weaker])] if weaker else []
    names = {"association": "about sensitive values", "presence": "about being in the table"}
    blocks += [Terms([(f"The promise {names[one.kind]}", one.statement) for one in manifest.claims])] if manifest.claims else []
    noisy = manifest.basis == "noisy"
    held = {name for one in manifest.claims for name in ((one.adversary,) if noisy else COVERS[one.adversary])}
    rows = [
        (name, KNOWS.get(name, STATISTICIAN), "yes" if name in held else "no")
        for name in ADVERSARIES
        if name != "stranger" or name in held
    ]
    blocks.append(Grid("To whom the promise holds", ("somebody called", "knows", "covered"), rows))
    blocks.append(
        Words(
            [
                "Not promised, by any release of groups: that a link which holds for many people is hidden. If most smokers of a "
                "table have a disease, the release may say so, as research wants it to; that touches a smoker who is not in the "
                "table just as much. Nor what follows from two releases about the same people."
            ]
        )
    )
    return Section("promise", "What is promised, and to whom it holds", blocks)


def audited(case: Case) -> Section:
    """Return what the audit found."""
    audit = case.audit
    with_table = "against the original table" if audit.with_table or case.table is not None else "from the published files alone"
    words = {True: "Every claim holds", False: "A claim does not hold", None: "Not every claim can be judged without the table"}
    moods: dict[bool | None, Mood] = {True: "good", False: "bad", None: "careful"}
    rows = [
        (
            one.adversary,
            {"association": "sensitive values", "presence": "being in the table"}[one.claim.kind],
            {True: "holds", False: "does not hold", None: "needs the table"}[one.holds],
            one.value or "",
            "" if one.worst is None else percent(one.worst),
            "" if one.bound is None else percent(one.bound),
            "" if one.used is None else percent(one.used, 0),
        )
        for one in audit.claims
    ]
    blocks: list[Block] = [
        Note(
            f"{words[audit.holds]}. It was checked {with_table}, by code that shares nothing with what made the release.",
            moods[audit.holds],
        )
    ]
    if rows:
        headings = ("against", "about", "verdict", "closest to its bound", "belief", "bound", "used")
        blocks.append(Grid("Every claim", headings, rows, right=(4, 5, 6)))
    blocks += [Note(f"Problem: {one}", "bad") for one in audit.problems]
    blocks += [Note(f"Warning: {one}", "careful") for one in audit.warnings]
    if audit.stronger and not case.public:
        found = [(name, f"{one.text}: {_figure(one)}") for name, one in audit.stronger.items()]
        blocks += [Words(["Measured beyond the claims, and promised to nobody:"]), Terms(found)]
    blocks += [Words([audit.notice[:1].upper() + audit.notice[1:] + "."])] if audit.notice else []
    return Section("audit", "The audit", blocks)


def _figure(one: Finding) -> str:
    """Return a belief or a share in percent, and anything else, such as odds, as it is."""
    return f"{one.figure:.3g}" if one.figure > 1 or "odds" in one.text else percent(one.figure, 1)
