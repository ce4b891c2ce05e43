"""docs/studies.md: every study's question, picture, verdict and figures, written from its results."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from benchmarks._show import Cell, text
from benchmarks.studies._study import RESULTS, Paper, Result, Size, Study, load, names, study_of
from sfumato.charts import save_picture

DOCS = Path(__file__).parent.parent.parent / "docs"
PAPERS: Mapping[Paper, str] = {
    "buckets": "F'-privacy and buckets of many sizes ([000], [001])",
    "domain": "Small-domain randomization ([002])",
    "matching": "Heterogeneous generalization ([003])",
    "fragments": "Ambiguity and PriView ([004])",
}
NUMBERS: Mapping[Paper, str] = {"buckets": "000, 001", "domain": "002", "matching": "003", "fragments": "004"}
HEAD = """# Studies

What the papers found, asked again: their figures and tables with sfumato's methods, on the bundled census (generated people; the
papers used an extract of a real one), and whether their findings hold. Written by `make studies` (`QUICK=1` for small settings:
two and a half minutes of one processor); each study's rows are left as Parquet in `build/studies/`, and the last
column says with which settings it was made. The papers are listed under [methods](methods/README.md).
Seconds are the processor's, measured on whatever machine ran them: compare them with each other only.

**The verdict** is computed from the rows, by one rule for all studies. Under each stands what the paper claims with that figure,
sentence by sentence: ✓ found again, ✗ not. What is claimed of every case is one claim, and one case that differs refutes it; how
many cases agree stands behind it.
*Holds*: all claims; *does not hold*: none; *holds in part*: some, and how many of how many.

"""
OLDER = (
    "Where no claims are listed, the study was run before they were; its verdict follows from those that its sentence names.\n\n"
)
_SECTION = re.compile(r"<!-- study (\w+) (quick|full) -->\n(.*?)<!-- end -->\n", re.DOTALL)


def write_page(*, docs: Path = DOCS, results: Path = RESULTS) -> Path:
    """Write the page and its pictures; a study that was not run here keeps the section it has, a full one before a quick one."""
    page = docs / "studies.md"
    old: dict[str, tuple[Size, str]] = {}
    if page.exists():
        for name, size, body in _SECTION.findall(page.read_text(encoding="utf-8")):
            old[name] = (size, body)
    known = [(name, *study_of(name)) for name in names()]
    lines, older = [], False
    summary = ["| paper | study | verdict | settings |\n|---|---|---|---|\n"]
    for paper, title in PAPERS.items():
        mine = [(name, study, question) for name, study, question in known if study.paper == paper]
        sections = []
        for name, study, question in mine:
            result = load(name, "full", results=results)
            if result is None and old.get(name, ("quick", ""))[0] == "quick":
                result = load(name, "quick", results=results)
            if result is not None:
                size, body = result.size, _section(study, question, result, docs)
            elif name in old:
                size, body = old[name]
            else:
                continue
            sections.append(f"<!-- study {name} {size} -->\n{body}<!-- end -->\n")
            found = re.search(r"\*\*(Holds|Holds in part|Does not hold)( \(\d+ of \d+ claims\))?\.\*\*", body)
            word = found.group(1).lower() + (found.group(2) or "").replace(" claims", "") if found else "–"
            older |= not re.search(r"^- [✓✗] ", body, re.MULTILINE)
            summary.append(f"| {NUMBERS[paper]} | {study.figure}: {question} | {word} | {size} |\n")
        if sections:
            lines += [f"## {title}\n\n", *(f"{section}\n" for section in sections)]
    page.parent.mkdir(parents=True, exist_ok=True)
    page.write_text("".join([HEAD, OLDER if older else "", *summary, "\n", *lines]).rstrip("\n") + "\n", encoding="utf-8")
    return page


def _section(study: Study, question: str, result: Result, docs: Path) -> str:
    """Return the section of a study, and write its picture."""
    verdict = study.judge(result.rows)
    picture = docs / "pictures" / "studies" / f"{result.name}.svg"
    save_picture(study.draw(result.rows), picture, title=f"{study.figure}: {question}", description=verdict.why)
    body = f"### {study.figure}: {question}\n\n"
    body += f"The paper: {study.says}\n\n"
    body += f"![{question}](pictures/studies/{picture.name})\n\n"
    held = verdict.held
    some = f" ({sum(held.values())} of {len(held)} claims)" if 0 < sum(held.values()) < len(held) else ""
    body += f"**{verdict.word.capitalize()}{some}.** {verdict.why}\n\n"
    body += "".join(f"- {'✓' if holds else '✗'} {claim}\n" for claim, holds in held.items()) + "\n"
    if study.table is not None:
        body += _table(study.table(result.rows))
    settings = ", ".join(f"{name} {_told(value)}" for name, value in result.settings.items())
    size = "quick" if result.size == "quick" else "full"
    return f"{body}<small>`{result.name}`, {size} settings: {settings}; {result.seconds:.0f} s.</small>\n\n"


def _table(lines: Sequence[Mapping[str, Cell]]) -> str:
    columns = list(dict.fromkeys(key for line in lines for key in line))
    rows = [[text(line.get(column)) for column in columns] for line in lines]
    written = ["| " + " | ".join(row) + " |" for row in [columns, *rows]]
    return "\n".join([written[0], "|" + "---|" * len(columns), *written[1:]]) + "\n\n"


def _told(value: object) -> str:
    if isinstance(value, Sequence) and not isinstance(value, str):
        return " · ".join(_told(one) for one in value)
    return text(value) if isinstance(value, str | int | float) else str(value)
