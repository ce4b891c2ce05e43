"""What was published, what is promised, to whom it holds, and what the audit found."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sfumato.auditor import Finding
from sfumato.exact import percent
from sfumato.policy.words import bounds_in_words, recoding_in_words
from sfumato.release.manifest import KNOWS
from sfumato.reports.case import ReportCase
from sfumato.reports.parts import Definitions, Grid, Mood, Note, PageBlock, Prose, Section
from sfumato.table import Table
from sfumato.table.people_rule import BAND, SIZE

SEEN: Mapping[str, str] = {
    "buckets": "Every person's row is shown, with the quasi values listed below and the number of a group. A second table says "
    "how often each sensitive value occurs in each group.",
    "noisy": "Every person's row is shown, with the quasi values listed below and the number of a group. A second table says "
    "how often each sensitive value occurs in each group, with noise added to every count.",
    "ranges": "Quasi values are shown as ranges and sets that several people share, beside the sensitive values of these people.",
    "columns": "Quasi columns are shown apart: which values occur in which group, not which belong to one person.",
    "views": "One table has quasi values by group, another one column with the sensitive values: what goes together is hidden.",
    "randomized": "Every person's row is shown, with the quasi values listed below; the sensitive value was kept or replaced "
    "by a coin.",
    "synthetic": "No row is about anybody: records were drawn from counts to which noise was added.",
}

SEVERAL = (
    "A person may have several values of a secret, or none: counts of a group are of people who have a value among theirs, and "
    "add up to more than the group. Which values are one person's is shown nowhere."
)

NOT_PROMISED = (
    "by any release of groups: that a link which holds for many people is hidden. If most smokers of a table have a disease, the "
    "release may say so, as research wants it to; that touches a smoker who is not in the table just as much. Nor what follows "
    "from two releases about the same people."
)

ADVERSARIES = ("reader", "engineer", "insider", "statistician")

STATISTICIAN = "who has the release and learns from it, or knows otherwise, how quasi and sensitive values go together"

QUASI: Mapping[str, str] = {"ranges": "in ranges and sets", "columns": "by itself", "synthetic": "in synthetic records"}
"""How a quasi column is shown that is not recoded, where not as it is."""
SECRET: Mapping[str, str] = {
    "noisy": "as noisy counts of groups",
    "ranges": "beside the ranges of its group, in any order",
    "randomized": "kept or replaced by a coin, in every row",
    "synthetic": "in synthetic records",
}
"""How the sensitive value is shown, where not as counts of groups."""


SEVERAL = (
    "A person may have several values of a secret, or none: counts say how many people of a group have a value among theirs, so "
    "that they add up to more than its people. How many people have 0, 1, 2, … values is shown too; which values belong to one "
    "person is not."
)
_BANDS = {
    BAND: "how many rows a person has: shown, and not protected",
    SIZE: "how many members a household has: shown, and not protected",
}


def published(case: ReportCase) -> Section:
    """Return what recipients see."""
    manifest = case.release.manifest
    recoded, form = manifest.schema["declared"]["recode"], "noisy" if manifest.rests_on.noisy else manifest.form
    names = [str(one["name"]) for one in manifest.schema["quasi"]]
    plain = QUASI.get(form, "as it is")
    rows = [(name, "published", recoding_in_words(recoded[name]) if name in recoded else plain) for name in names]
    weight = manifest.schema["declared"].get("weight")
    if weight is not None:
        shown = weight_in_words(weight)
        rows = [(name, "weight", shown) if name == weight["column"] else (name, role, how) for name, role, how in rows]
    secret = SECRET.get(form, "as counts of groups")
    rows += [(str(one["name"]), "sensitive", secret) for one in manifest.schema["sensitive"]]
    left = [] if case.table is None else _left_out(case.table, case.release.rows)
    if case.several:
        rows = [(name, role, _BANDS[name] if name in manifest.bands and manifest.alike else how) for name, role, how in rows]
        left = _several(case) + left
    tables = ", ".join(f"{name} ({table.num_rows:,} rows)" for name, table in case.release.tables().items())
    return Section(
        "published",
        "What was published",
        [
            Prose([f"{manifest.rows:,} people, {len(rows)} columns. {SEEN.get(form, '')}", f"Tables: {tables}.", *left]),
            Grid("The columns", ("column", "role", "how it is shown"), rows),
        ],
    )


def weight_in_words(weight: Mapping[str, Any]) -> str:
    """Return how the weight is shown."""
    people = f" of at least {weight['floor']} people" if "floor" in weight else ""
    return f"one number for each of {len(weight['values'])} bins{people}"


def _several(case: ReportCase) -> list[str]:
    """Return what there is to say where people may have several values: with the table, also rows, people and facts."""
    if case.table is not None:
        return [SEVERAL, *case.table.about_people()]
    shown = case.release.manifest.schema["declared"].get("people", {}).get("alike")
    band = "How often somebody was there is shown, as the band of her number of rows, and not protected."
    return [SEVERAL, *([band] if shown else [])]


def _left_out(table: Table, published: int) -> list[str]:
    away = table.rows - published
    said = [] if away <= 0 else [f"{away:,} people of the table are not published, so that the bounds hold for the others."]
    if table.dropped:
        said.append(f"{table.dropped:,} people were left out beforehand because a value is missing; no claim covers them.")
    return said


def promised(case: ReportCase) -> Section:
    """Return every claim in its fixed words, who is covered, and what is not promised."""
    manifest = case.release.manifest
    blocks: list[PageBlock] = []
    rules = [] if case.by_prior or not case.covered else [_rule(one, case.covered[-1]) for one in case.each]
    blocks += [Prose([rule]) for rule in rules if rule]
    if not manifest.claims:
        paper_claim = str(manifest.parameters.get("weaker_claim", ""))
        blocks.append(Note("This release promises no bound on what anybody believes about a person.", "careful"))
        blocks += [Prose([paper_claim])] if paper_claim else []
    names = {"association": "about sensitive values", "presence": "about being in the table"}
    blocks += (
        [Definitions([(f"The promise {names[one.kind]}", one.statement) for one in manifest.claims])] if manifest.claims else []
    )
    yes = "yes, from the belief before that it names" if case.by_prior else "yes"
    rows = [(name, KNOWS.get(name, STATISTICIAN), yes if name in case.covered else "no") for name in ADVERSARIES]
    blocks.append(Grid("To whom the promise about sensitive values holds", ("somebody called", "knows", "covered"), rows))
    blocks.append(Prose([f"Not promised, {NOT_PROMISED}"]))
    return Section("promise", "What is promised, and to whom it holds", blocks)


def _rule(case: ReportCase, against: str) -> str:
    """Return what the bounds of one attribute mean, in plain words; "" where they or the shares are not known."""
    if not case.shares or not case.bounds.keys() >= case.shares.keys():
        return ""
    manifest = case.release.manifest
    people = manifest.parameters.get("one_row_per_person", True) is not False
    compound = len(manifest.schema["sensitive"]) > 1 and not case.secret
    asked = manifest.requirement
    own = asked.get("columns", {}).get(case.secret) if case.secret else None
    rule = own or {**asked, "columns": {}}
    words = bounds_in_words(rule, case.shares, case.bounds, against=against, compound=compound, people=people)
    return f"In plain words{f', of {case.secret}' if case.secret else ''}: {' '.join(words)}"


def audited(case: ReportCase) -> Section:
    """Return what the audit found."""
    audit = case.audit
    with_table = "against the original table" if audit.with_table or case.table is not None else "from the published files alone"
    words = {True: "Every claim holds", False: "A claim does not hold", None: "Not every claim can be judged without the table"}
    moods: dict[bool | None, Mood] = {True: "good", False: "bad", None: "careful"}
    if not audit.claims:
        words[True], moods[True] = "Nothing wrong was found, and nothing is claimed", "careful"
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
    checked = f"{words[audit.holds]}. It was checked {with_table}, by code that no method uses."
    blocks: list[PageBlock] = [Note(checked, moods[audit.holds])]
    if rows:
        headings = ("against", "about", "verdict", "closest to its bound", "belief", "bound", "used")
        blocks.append(Grid("Every claim", headings, rows, right=(4, 5, 6)))
        blocks += [Prose([f"Of the claim against {one.adversary}: {one.note}."]) for one in audit.claims if one.note]
    blocks += [Note(f"Problem: {one}", "bad") for one in audit.problems]
    blocks += [Note(f"Warning: {one}", "careful") for one in audit.warnings]
    if audit.stronger and not case.public:
        found = [(name, f"{one.text}: {_figure(one)}") for name, one in audit.stronger.items()]
        blocks += [Prose(["Measured beyond the claims, and promised to nobody:"]), Definitions(found)]
    blocks += (
        [Prose([audit.notice[:1].upper() + audit.notice[1:] + "."])]
        if audit.notice and not any(audit.notice in result.note for result in audit.claims)
        else []
    )
    return Section("audit", "The audit", blocks)


def _figure(one: Finding) -> str:
    """Return a belief or a share in percent, and anything else, such as odds, as it is."""
    return f"{one.figure:.3g}" if one.figure > 1 or "odds" in one.text else percent(one.figure, 1)
