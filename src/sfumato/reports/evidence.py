"""The same measured facts for a board: under the headings that readers of such documents look for, with blanks for people.

A document says what was measured and what the manifest states, and nothing else: whether a law or a contract is satisfied is for
whoever signs. What only people can say (purpose, recipients, judgement) is a blank.
"""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, get_args

from sfumato import __version__
from sfumato.errors import PolicyError, did_you_mean
from sfumato.exact import percent
from sfumato.explanation.risk import risk_of
from sfumato.release.weights import uncovered
from sfumato.reports.case import ReportCase
from sfumato.reports.parts import Blanks, Grid, Heading, Note, PageBlock, Prose, Section, Signatures
from sfumato.reports.promise import ADVERSARIES

Audience = Literal["hipaa", "gdpr", "iso27559", "internal"]

ABOUT = (
    "sfumato has filled in what it measured and what the manifest states. Boxes are for what only people can say. Whether a law, "
    "a board or a contract is satisfied is the judgement of whoever signs: this document does not make it."
)


@dataclass(frozen=True)
class Chapter:
    """A heading with the measured sections under it, each with a heading of its own, and what is left to people."""

    title: str
    facts: Mapping[str, str]
    blanks: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class DocumentKind:
    """What a document is called, its chapters in order, and who signs it."""

    title: str
    chapters: tuple[Chapter, ...]
    signs: tuple[str, ...]


_RECIPIENTS = (
    ("Who receives the release", "everybody, or named people and organisations"),
    ("What binds them", "agreement, licence, prohibition to look for people or to pass it on"),
    ("Where and how it is used", "rooms, accounts, logging, export of results"),
    ("What else they may know", "registers, earlier releases, other tables about these people"),
)
_PURPOSE = ("Purpose", "what the release is to be used for")
_SOURCE = ("Where the table comes from", "system, period, who is in it and how they were chosen")
_METHOD = {"method": "How it was made"}
_MEASURED = {
    "audit": "What was promised, checked",
    "beliefs": "How sure a reader becomes",
    "unique": "Who can be found",
    "attacks": "What attacks reach",
}
_THREATS = {"promise": "Who may try, with what knowledge, and what is promised"}
_RESIDUAL = {"residual": "What is left"}
_USEFUL = {"useful": "What it is good for"}
_REVIEW = Chapter(
    "Review date",
    {"review": "What would change these figures"},
    (("To be looked at again by", "date, and who does it"), ("Earlier, if", "events that the people named here watch for")),
)
_ANNEX = Chapter("Annex: how to repeat it, and what the words mean", {"repeat": "How to repeat it", "glossary": "Words"})

KINDS: Mapping[Audience, DocumentKind] = {
    "hipaa": DocumentKind(
        "For an expert determination (HIPAA)",
        (
            Chapter(
                "Data and purpose",
                {"published": "What is published"},
                (
                    ("The expert", "name; training and experience with statistical and scientific methods for this"),
                    ("Covered entity or business associate", "name, contact"),
                    _PURPOSE,
                    _SOURCE,
                    ("Identifiers", "which columns were left out, and how it was checked that none is left"),
                ),
            ),
            Chapter("Anticipated recipients and controls", {}, _RECIPIENTS),
            Chapter("Threats and adversaries", _THREATS),
            Chapter("Method", _METHOD),
            Chapter("Measured risk", _MEASURED),
            Chapter(
                "Residual risk and determination",
                _RESIDUAL,
                (
                    ("Judgement", "what the figures mean for these recipients and controls"),
                    ("Determination", "whether the risk is very small that a recipient identifies somebody, and why"),
                ),
            ),
            Chapter("Usefulness", _USEFUL),
            _REVIEW,
        ),
        ("The expert", "For the covered entity"),
    ),
    "gdpr": DocumentKind(
        "For a data protection impact assessment (GDPR)",
        (
            Chapter(
                "Data and purpose",
                {"published": "What is published"},
                (
                    ("Controller, joint controllers, processors", "names, contacts"),
                    _PURPOSE,
                    ("Legal basis", "of making the release, and of handing it out"),
                    _SOURCE,
                ),
            ),
            Chapter(
                "Necessity and proportionality",
                _USEFUL,
                (("Why this much and not less", "what was left out or made coarser, what the purpose needs"),),
            ),
            Chapter("Recipients and controls", {}, _RECIPIENTS),
            Chapter("Threats and adversaries", _THREATS),
            Chapter("Measures: the method", _METHOD),
            Chapter(
                "Measured risk",
                {
                    "unique": "Singling out and linking: who can be found",
                    "audit": "Inference: what was promised, checked",
                    "beliefs": "Inference: how sure a reader becomes",
                    "attacks": "Inference: what attacks reach",
                },
            ),
            Chapter(
                "Residual risk",
                _RESIDUAL,
                (
                    ("Means that are likely to be used", "by recipients and others, with cost, time and technology"),
                    ("Harm to people", "how severe, how likely, for whom"),
                    ("What is done about it", "further measures; whether the authority has to be consulted before"),
                ),
            ),
            Chapter(
                "Advice and views",
                {},
                (
                    ("Data protection officer", "advice, and what became of it"),
                    ("People concerned", "their views, or why not asked"),
                ),
            ),
            _REVIEW,
        ),
        ("The controller", "The data protection officer"),
    ),
    "iso27559": DocumentKind(
        "For a de-identification framework (ISO/IEC 27559)",
        (
            Chapter("Context: purpose", {}, (_PURPOSE, _SOURCE, ("Custodian", "name, contact"))),
            Chapter("Context: recipients and controls", {}, _RECIPIENTS),
            Chapter("Context: threats and adversaries", _THREATS),
            Chapter("Data: what is published", {"published": "What is published"}),
            Chapter("Mitigation: the method", _METHOD),
            Chapter("Identifiability: measured risk", _MEASURED),
            Chapter(
                "Identifiability: residual risk",
                _RESIDUAL,
                (("Threshold", "what is tolerated in this context, and who decided it"), ("Judgement", "figures beside it")),
            ),
            Chapter("Usefulness", _USEFUL),
            Chapter(
                "Governance",
                {},
                (
                    ("Roles", "who decides, who makes releases, who may see the table"),
                    ("Afterwards", "how recipients are watched, what is done when something went wrong"),
                    ("Transparency", "what people in the table and the public are told"),
                ),
            ),
            _REVIEW,
        ),
        ("The custodian", "Responsible for de-identification"),
    ),
    "internal": DocumentKind(
        "Internal record",
        (
            Chapter("Data and purpose", {"published": "What is published"}, (_PURPOSE, _SOURCE)),
            Chapter("Recipients and controls", {}, _RECIPIENTS),
            Chapter("Threats and adversaries", _THREATS),
            Chapter("Method", _METHOD),
            Chapter("Measured risk", {**_MEASURED, **_USEFUL}),
            Chapter("Residual risk", _RESIDUAL, (("Judgement", "why it is acceptable, or what is done about it"),)),
            _REVIEW,
        ),
        ("Owner of the table", "Privacy officer"),
    ),
}


def require_audience(given: str | None) -> Audience | None:
    """Return for whom a report is; one that is not known is an error."""
    known = get_args(Audience)
    if given is not None and given not in known:
        raise PolicyError(f"audience: unknown {given!r}", hint=did_you_mean(given, known))
    return given  # type: ignore[return-value]


def arranged(case: ReportCase, audience: Audience, sections: Sequence[Section]) -> list[Section]:
    """Return the sections of a report under the headings of a kind of reader, numbered, with blanks and signatures."""
    kind = KINDS[audience]
    measured = _by_name(case, sections)
    chapters = [*kind.chapters, Chapter("Who signs", {}), _ANNEX]
    found = []
    for number, chapter in enumerate(chapters, 1):
        blocks: list[PageBlock] = [] if number > 1 else [Note(ABOUT, "careful")]
        under = {name: title for name, title in chapter.facts.items() if measured.get(name)}
        for name, title in under.items():
            blocks += [*([Heading(title)] if len(under) > 1 else []), *measured[name]]
        blocks += [Blanks(chapter.blanks)] if chapter.blanks else []
        blocks += [Signatures(kind.signs)] if chapter.title == "Who signs" else []
        found.append(Section(f"chapter-{number}", f"{number}. {chapter.title}", blocks))
    return found


def _by_name(case: ReportCase, sections: Sequence[Section]) -> dict[str, Sequence[PageBlock]]:
    """Return what stands in a report by what it is about: settings are the method and how to repeat it."""
    named: dict[str, Sequence[PageBlock]] = {section.name: section.blocks for section in sections}
    stated = list(named.pop("settings"))
    manifest = case.release.manifest
    grouped = manifest.rests_on.grouped.format(manifest.shown_as.group)
    named["method"] = [*([Prose([f"{grouped}."])] if grouped else []), *stated[:1], *named.pop("boxes", ())]
    named["repeat"] = stated[1:]
    named["residual"] = _residual(case, named.get("attacks", ()))
    named["review"] = _review()
    return named


def _residual(case: ReportCase, attacks: Sequence[PageBlock]) -> list[PageBlock]:
    """Return what is left, in figures: the closest bound, values without one, who is found, who is not covered."""
    rows: list[tuple[str, str]] = []
    for one in case.audit.claims:
        if one.worst is not None and one.bound is not None:
            about = "presence" if one.claim.kind == "presence" else one.value or ""
            figure = f"{percent(one.worst)} where {percent(one.bound)} are allowed"
            rows.append((f"Belief closest to its bound, against {one.adversary} ({about})", figure))
    for part in case.each:
        open_ = [value for value, bound in part.bounds.items() if bound == 1]
        if open_ and part.shares:
            have = sum((part.shares.get(value, Fraction(0)) for value in open_), Fraction(0))
            of = f" of {part.secret}" if part.secret else ""
            many = "people have one" if not case.several else "is the sum of their shares"
            rows.append((f"Values{of} without a bound, shown openly: {len(open_)}", f"{percent(have, 1)} {many}"))
    if case.alike is not None and case.release.shown_as.exact_quasi:
        rows.append(("People whose row is found by whoever knows their quasi values", percent(_alone(case), 1)))
        population = None if case.table is None or case.table.bundles is not None else risk_of(case.table).population
        if population is not None:
            told = f"{percent(population.unique.estimate, 1)}, at most {percent(population.unique.upper, 1)} (95 %)"
            rows.append((f"People of the table alone among {population.people:,} people of the population, estimated", told))
            told = f"{percent(population.found.estimate, 1)}, at most {percent(population.found.upper, 1)} (95 %)"
            rows.append(("Rows linked right to a list of that population, estimated", told))
    if told := uncovered(case.release.manifest.schema.get("declared", {})):
        rows.append(("The weight", told))
    open_to = [name for name in ADVERSARIES if name not in case.covered]
    rows.append(
        ("Adversaries against whom nothing is promised about sensitive values", ", ".join(open_to) or "none of the above")
    )
    beyond = [block for block in attacks if isinstance(block, Note) and block.mood == "careful"]
    return [Grid("Figures and gaps, as measured and as promised", ("what", "figure"), rows), *beyond]


def _alone(case: ReportCase) -> float:
    sizes = case.alike
    return 0.0 if sizes is None else float((sizes == 1).sum() / sizes.sum())


def _review() -> list[PageBlock]:
    today = datetime.datetime.now(datetime.UTC).date().isoformat()
    return [
        Prose(
            [
                f"Measured by sfumato {__version__} on {today}. The figures are about this release alone. They no longer say "
                "everything when there is another release about the same people, when quasi values of these people, or of the "
                "whole population, become known with names, when the table or the policy changes, or when a fault is found in "
                "the program: its changelog tells."
            ]
        )
    ]
