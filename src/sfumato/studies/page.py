"""A page of studies: every one's question, picture, verdict and figures, written from results."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from sfumato.charts import save_picture
from sfumato.studies.catalogue import names, study_of
from sfumato.studies.cells import Cell, text
from sfumato.studies.figures import BY_NUMBER
from sfumato.studies.results import load
from sfumato.studies.study import Paper, Result, Size, Study, Verdict, told

PAPERS: Mapping[Paper, str] = {
    "001": "F'-privacy and buckets of many sizes ([000], [001])",
    "002": "Small-domain randomization ([002])",
    "003": "Heterogeneous generalization ([003])",
    "004": "Ambiguity and PriView ([004])",
}
DIFFERS = "Differs from the paper"
HEAD = """# Studies

What the papers found, asked again: their figures and tables with sfumato's methods, on generated tables (the papers used extracts
of real ones), and whether their findings hold. `sfumato study 003-fig8` asks one again, on a table of one's own with
`--table FILE --policy P`; `sfumato study --out DIR` all of them. The papers are listed under [methods](methods/README.md).
Seconds are the processor's, measured on whatever machine ran them: compare them with each other only.

**The verdict** is computed from the rows, by one rule for all studies, stated before they are run. Under each study stands what
the paper claims with that figure, sentence by sentence. What is claimed of every case is one claim: ✓ it is found again in all of
them, ≈ in nine of ten or more, ✗ in fewer; how many agree stands behind it. Where a method draws, a case is the mean over seeds,
and behind a claim stands in how many of the seeds it holds by itself. *Holds*: all claims; *does not hold*: none; *holds in
part*: some. What differs from the paper's settings stands beside the verdict.

"""
OLDER = """Where a section does not say what differs from the paper, it was measured before settings were the paper's: one seed,
our estimators as well as the papers', and HG, SG and GR in blocks of 2,000 people.

"""
_SECTION = re.compile(r"<!-- study ([\w-]+) (quick|full) -->\n(.*?)<!-- end -->\n", re.DOTALL)
_VERDICT = re.compile(r"\*\*(Holds[^*]*|Does not hold|Not judged)\.\*\*")


def write_page(page: Path, results: Path) -> Path:
    """Write the page and its pictures; a study that was not run here keeps the section it has, a full one before a quick one."""
    old: dict[str, tuple[Size, str]] = {}
    if page.exists():
        for name, size, body in _SECTION.findall(page.read_text(encoding="utf-8")):
            old[name] = (size, body)
    known = [(name, *study_of(name)) for name in names()]
    sections, summary = list[str](), ["| study | question | verdict | settings |\n|---|---|---|---|\n"]
    for paper, title in PAPERS.items():
        mine = [(name, study, question) for name, study, question in known if study.paper == paper]
        written = list[str]()
        for name, study, question in mine:
            result = load(name, "full", results)
            if result is None and old.get(name, ("quick", ""))[0] == "quick":
                result = load(name, "quick", results)
            if result is not None:
                size, body = result.size, section(study, question, result, page.parent / "pictures" / "studies")
            elif name in old:
                size, body = old[name]
            else:
                continue
            written.append(f"<!-- study {name} {size} -->\n{body}<!-- end -->\n\n")
            verdict = _VERDICT.search(body)
            word = verdict.group(1).lower() if verdict else "–"
            made = size if DIFFERS in body else "earlier ones"
            summary.append(f"| `{name}` {study.figure} | {question} | {word} | {made} |\n")
        if written:
            sections += [f"## {title}\n\n", *written]
    page.parent.mkdir(parents=True, exist_ok=True)
    older = OLDER if any(DIFFERS not in written for written in sections if written.startswith("<!--")) else ""
    page.write_text("".join([HEAD, older, *summary, "\n", *_by_number(), *sections]).rstrip("\n") + "\n", encoding="utf-8")
    return page


def _by_number() -> list[str]:
    """Return the list of the papers' figures and tables, with their studies where they are asked again."""
    lines = ["## Every figure and table, by its number\n\n| paper | number | here |\n|---|---|---|\n"]
    for paper, entries in BY_NUMBER.items():
        for number, here in entries:
            lines.append(f"| [{paper}] | {number} | {f'`{here}`' if here in names() else here} |\n")
    return [*lines, "\n"]


def section(study: Study, question: str, result: Result, pictures: Path) -> str:
    """Return the section of a study, and write its picture."""
    verdict = study.judge(result.rows)
    picture = pictures / f"{result.name}.svg"
    save_picture(study.draw(result.rows), picture, title=f"{study.figure}: {question}", description=verdict.why)
    body = f"### {study.figure}: {question}\n\nThe paper: {study.says}\n\n"
    body += (
        f"![{question}](pictures/studies/{picture.name})\n\n**{word_of(study, result, verdict).capitalize()}.** {verdict.why}\n\n"
    )
    body += "".join(f"- {line}\n" for line in claims_of(study, result, verdict)) + "\n"
    if study.table is not None:
        body += _table(study.table(result.rows))
    settings = ", ".join(f"{name} {told(value)}" for name, value in result.settings.items())
    departures = "; ".join(study.departures(result.settings, result.source)) or "nothing"
    about = f"`{result.name}`, {result.size} settings: {settings}; {result.seconds:.0f} s. {DIFFERS}: {departures}."
    return f"{body}<small>{about}</small>\n\n"


def word_of(study: Study, result: Result, verdict: Verdict) -> str:
    """Return the verdict's word; none is given of a table that is no stand-in for the paper's."""
    return "not judged" if study.judged and result.source == study.source().name else verdict.word


def claims_of(study: Study, result: Result, verdict: Verdict) -> list[str]:
    """Return the claims with their marks, and in how many seeds each holds by itself; or why nothing is judged."""
    if word_of(study, result, verdict) == "not judged":
        return [f"{study.judged}."]
    spread = result.spread(study)
    return [
        f"{mark} {line}{f' ({spread[claim][0]} of {spread[claim][1]} seeds)' if claim in spread else ''}"
        for claim, (line, mark) in zip(verdict.claims, verdict.marked().items(), strict=True)
    ]


def _table(lines: Sequence[Mapping[str, Cell]]) -> str:
    columns = list(dict.fromkeys(key for line in lines for key in line))
    rows = [[text(line.get(column)) for column in columns] for line in lines]
    written = ["| " + " | ".join(row) + " |" for row in [columns, *rows]]
    return "\n".join([written[0], "|" + "---|" * len(columns), *written[1:]]) + "\n\n"
