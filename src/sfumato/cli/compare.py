"""`sfumato compare`: methods and bounds side by side on one's own table."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sfumato.cli._options import Data, From, JsonOption, PolicyFile, Receipts, SqlOption, Workers, table_source
from sfumato.cli._run import verb
from sfumato.cli._show import console, grid, hundredths, labelled, near, print_json, progress_bar, shown, warn
from sfumato.cli._state import STATE
from sfumato.cli.explain import DRAFT, read_workload

if TYPE_CHECKING:
    from rich.console import Console

    from sfumato.comparison import Run, Study
    from sfumato.progress import Progress


ROWS = 20
"""How many releases are listed without --all."""

NARROW = 92
"""On a screen of fewer columns the multiple of independence's error, which is told below the table, is left out."""


@verb
def compare(
    data: Data = None,
    *,
    policy: PolicyFile,
    database: From = None,
    sql: SqlOption = None,
    methods: Annotated[
        str | None, typer.Option(help="Names, separated by commas; all that can keep the policy otherwise.")
    ] = None,
    vary: Annotated[
        list[str] | None,
        typer.Option(
            help="A parameter and its values: theta=2,4,8, floor=50,100, form=buckets,ranges, recode.age=none,5,10. Repeatable."
        ),
    ] = None,
    workload: Annotated[
        str, typer.Option(help="random, crosstabs, or a file with your own count questions, one a line.")
    ] = "random",
    translate: Annotated[
        bool, typer.Option("--translate", help="Other methods too, under the nearest requirement that they can keep.")
    ] = False,
    attack: Annotated[list[str] | None, typer.Option(help="Further attacks to measure, by name. Repeatable.")] = None,
    people: Annotated[int | None, typer.Option(help="Measure on so many people, drawn from the table.", min=1)] = None,
    out: Annotated[
        Path | None, typer.Option(help="A directory for results and picture; a killed study goes on from there.")
    ] = None,
    spend: Annotated[
        bool, typer.Option("--spend", help="Against an insider: draw on your own people, and book every draw.")
    ] = False,
    receipts: Receipts = None,
    every: Annotated[bool, typer.Option("--all", help="Show everything: cost and size too, and who takes no part.")] = False,
    workers: Workers = None,
    as_json: JsonOption = False,
) -> None:
    """Measure every method that can keep the policy, and every variation, side by side: error, exposure, time, size.

    Nothing is published. What is shown tells figures of the original table, so keep it private; to choose by it is a choice made
    on the data.
    """
    from sfumato.api import compare as make
    from sfumato.comparison.study import ATTACKS, WORKLOADS
    from sfumato.comparison.vary import parse_vary
    from sfumato.errors import PolicyError
    from sfumato.policy import Policy

    source = table_source(data, database, sql)
    chosen = Policy.load(policy, data=source)
    for warning in (*chosen.warnings, *(() if chosen.reviewed else (DRAFT,))):
        warn(warning)
    if workers is not None and workers < 1:
        raise PolicyError(f"--workers: expected a whole number from 1 on, got {workers}", hint="leave it out")
    asked = workload if workload in WORKLOADS else read_workload(Path(workload))
    names = None if methods is None else [name.strip() for name in methods.split(",") if name.strip()]
    with progress_bar() as tell:
        tell("reading the table", 0.0)
        study = make(
            source if isinstance(source, Path) and str(source) != "-" else chosen.read_table(source),
            chosen,
            names,
            vary=parse_vary(vary or []),
            workload=asked,
            translate=translate,
            attacks=tuple(dict.fromkeys((*ATTACKS, *(attack or ())))),
            sample=people,
            spend=spend,
            register=receipts,
            out=out,
            workers=workers,
            progress=_in_lines(tell),
        )
    if out is not None:
        STATE.written = str(out)
    if as_json:
        print_json(study.to_dict())
    else:
        show(console(), study, every=every)


def _in_lines(tell: Progress) -> Progress:
    """Return a progress call that also writes a line per finished run where there is no terminal for a bar."""
    last = [""]

    def both(stage: str, done: float) -> None:
        tell(stage, done)
        runs = stage.partition(",")[0]
        if " runs" in runs and runs != last[0] and not sys.stderr.isatty():
            last[0] = runs
            sys.stderr.write(stage + "\n")
            sys.stderr.flush()

    return both


def show(screen: Console, study: Study, *, every: bool) -> None:
    """Show the ranking, what else was measured, who takes no part and why, and what must be known before choosing."""
    best = study.runs[0]
    if best.made:
        name = f"{best.method} {best.label}".rstrip() + (", the policy's own" if best.own and best.policy else "")
        reached = "" if best.error is None else f", {hundredths(best.error)} %"
        beside = "" if best.relative is None else f" ({best.relative:.2g} of that of assuming independence)"
        screen.print(f"[bold green]Least error: {shown(name)}{reached}[/]{beside}")
    else:
        screen.print("[bold red]No method can make a release of this table under this policy[/]")
    attacks = list(dict.fromkeys(name for run in study.runs for name in run.attacks))
    varied = _one_varied(study)
    headings = ["", "method", varied or "varied", "error", "÷ indep.", "held", "exposure", "belief/bound", *attacks]
    rows = [_cells(number, run, attacks, varied) for number, run in enumerate(study.runs, 1)]
    if screen.width < NARROW:
        rows = [[cell for cell, name in zip(row, headings, strict=True) if name != "÷ indep."] for row in rows]
        headings.remove("÷ indep.")
    right = (0, *range(2 if varied else 3, len(headings)))
    listed = rows if every else rows[:ROWS]
    table = grid(*headings, title="Ranked by error (error, held, exposure and belief in %)", right=right, rows=listed)
    for column, cells in zip(table.columns, zip(*rows, strict=True), strict=True):
        if column.header != "varied":  # which is folded first
            column.min_width = max(len(str(column.header)), *map(len, cells))
    screen.print(table)
    if len(listed) < len(rows):
        screen.print(f"… and {len(rows) - len(listed)} more: --all.")
    if every:
        costs = ("", "method", varied or "varied", "groups", "GCP", "loss", "left out", "s", "MB", "KB")
        made = [_costs(number, run, varied) for number, run in enumerate(study.runs, 1) if run.made]
        right = (0, *range(2 if varied else 3, len(costs)))
        screen.print(grid(*costs, title="What else was measured", right=right, rows=made))
    screen.print(labelled(map(shown, _notes(study, every=every))))
    if not every:
        screen.print(
            "[dim]Private: figures of the original table. --all shows cost and size, what is measured, and every reason.[/dim]"
        )
    if study.place is not None:
        drawn = (study.place / "picture.svg").exists()
        picture = "picture.svg" if drawn else "and no picture, which needs pip install 'sfumato[report]'"
        screen.print(shown(f"In {near(str(study.place))}: results.parquet, {picture}"))


def _one_varied(study: Study) -> str:
    """Return the one parameter that is varied, which then heads its column; nothing where there are several or none."""
    names = dict.fromkeys(name for run in study.runs for name in run.varied)
    return next(iter(names)) if len(names) == 1 else ""


def _varied(run: Run, varied: str) -> str:
    return str(run.varied.get(varied, "")) if varied else run.label


def _translations(study: Study) -> list[str]:
    """Return what was translated, a line a method; what differs from bound to bound follows in brackets."""
    lines = []
    for method in dict.fromkeys(run.method for run in study.runs if run.translated):
        mine = [run for run in study.runs if run.method == method and run.translated]
        words: dict[str, list[str]] = {}
        for run in mine:
            for sentence in run.translated:
                words.setdefault(sentence, []).append(run.label)
        said = [text if len(where) == len(mine) else f"{text} ({'; '.join(where)})" for text, where in words.items()]
        lines.append(f"* {method}: {'; '.join(said)}.")
    return lines


def _cells(number: int, run: Run, attacks: list[str], varied: str) -> list[str]:
    name = run.method + (" *" if run.translated else "") + (" ← yours" if run.own and run.policy else "")
    first = [str(number), shown(name), shown(_varied(run, varied))]
    if not run.made:
        return [*first, "none", *[""] * (4 + len(attacks))]
    return [
        *first,
        hundredths(run.error),
        "" if run.relative is None else f"{run.relative:.2f}",
        hundredths(run.coverage, 0) + (f" ({hundredths(run.intervals, 0)})" if run.coverage is not None and _partly(run) else ""),
        hundredths(run.exposure),
        "" if run.worst is None else f"{hundredths(run.worst)}/{hundredths(run.bound)}",
        *(_points(run.attacks.get(attack)) for attack in attacks),
    ]


def _costs(number: int, run: Run, varied: str) -> list[str]:
    return [
        str(number),
        shown(run.method),
        shown(_varied(run, varied)),
        "" if run.groups is None else f"{run.groups:,}",
        "" if run.gcp is None else f"{run.gcp:.2f}",
        "" if run.loss is None else f"{run.loss:,}",
        f"{run.suppressed:,}",
        f"{run.seconds:.1f}",
        f"{(run.memory or 0) / 1e6:.0f}",
        f"{(run.size or 0) / 1e3:,.0f}",
    ]


def _partly(run: Run) -> bool:
    return run.intervals is not None and run.intervals < 1


def _points(value: float | None) -> str:
    return "" if value is None else f"{100 * value:+.1f}"


def _notes(study: Study, *, every: bool) -> list[str]:
    lines = list(study.about())
    if any(run.attacks for run in study.runs):
        lines.append(
            "Attacks: of 100 people so many more are guessed right than by naming the most frequent value for everybody."
        )
    if any(run.coverage is not None and _partly(run) for run in study.runs):
        lines.append(
            "Held: of 100 intervals so many hold the truth; in brackets how many of 100 answers have one, where not all do."
        )
    lines += _translations(study)
    told = [run for run in study.runs if run.note and (run.made or every)]
    lines += list(dict.fromkeys(f"{run.method}{run.label and f', {run.label}'}: {run.note}" for run in told))
    if every:
        return [*lines, *(f"{name} takes no part: {why}" for name, why in study.left_out.items())]
    none = dict.fromkeys(run.method for run in study.runs if not run.made)
    lines += [f"No release: {', '.join(none)}; --all says why."] if none else []
    if study.left_out:
        lines.append(f"Left out: {', '.join(study.left_out)}, which cannot keep the policy; --translate takes them in.")
    return lines
