"""`sfumato explain`: what a policy means for a table; no release is written."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sfumato.cli._options import Data, From, JsonOption, PolicyFile, SqlOption, Workers, table_source
from sfumato.cli._run import verb
from sfumato.cli._show import bullets, console, grid, hundredths, labelled, print_json, progress_bar, shown, warn
from sfumato.cli._workers import limited

if TYPE_CHECKING:
    from rich.console import Console

    from sfumato.explanation import Explanation, GroupingStudy, Risk
    from sfumato.explanation.odds import Odds
    from sfumato.policy import Policy
    from sfumato.query import Workload
    from sfumato.table.table import Table

DRAFT = (
    "the policy is a draft that nobody has reviewed, so `sfumato publish` refuses it; `sfumato policy check` lists its decisions"
)

LONGEST = 10_000_000
"""A file of questions has at most so many bytes."""


@verb
def explain(
    data: Data = None,
    *,
    policy: PolicyFile,
    database: From = None,
    sql: SqlOption = None,
    every: Annotated[
        bool,
        typer.Option("--all", help="Show everything: every column, every sensitive value, every figure and what each means."),
    ] = False,
    workload: Annotated[
        Path | None, typer.Option(help="Your own count questions, one a line, to measure errors on; random ones otherwise.")
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Do not measure query error and exposure.")] = False,
    workers: Workers = None,
    as_json: JsonOption = False,
) -> None:
    """Tell what a policy means for a table: can it be kept, who is unprotected, what does it cost, what is not promised.

    First the verdict, then the figures to decide on, then what follows, an idea a line; --all shows the rest.

    Query error and exposure are measured on releases that are made in memory and thrown away. Nothing is published. A policy that
    cannot be kept is said, and is no error: the exit code is 0. What is shown tells figures of the original table, so keep it
    private.
    """
    from sfumato.errors import PolicyError
    from sfumato.explanation import explain as make
    from sfumato.policy import Policy

    if quick and workload is not None:
        raise PolicyError("--workload is measured, and --quick leaves measuring out", hint="give one of the two")
    source = table_source(data, database, sql)
    chosen = Policy.load(policy, data=source)
    for warning in (*chosen.warnings, *(() if chosen.reviewed else (DRAFT,))):
        warn(warning)
    asked = None if workload is None else read_workload(workload)
    with limited(workers), progress_bar() as tell:
        tell("reading the table", 0.0)
        table = chosen.read_table(source)
        members = None if quick else _members(chosen, source)
        given: dict[str, Any] = {"workload": asked, "quick": quick, "members": members, "workers": workers, "progress": tell}
        about = make(table, chosen.requirement, method=chosen.method, **given)
    if as_json:
        print_json(about.to_dict())
    else:
        _show(about, every=every)


def _members(policy: Policy, source: Any) -> Table | None:
    """Return the people of a table one by one where the policy publishes whole households, and they can be read like that."""
    from sfumato.errors import SfumatoError
    from sfumato.table.secrets import single_people

    try:
        schema = single_people(policy.schema)
        return None if schema is None else replace(policy, schema=schema).read_table(source)
    except SfumatoError:
        return None  # it is a figure beside others


def read_workload(path: Path) -> Workload:
    """Return the questions in a text file, one a line."""
    from sfumato.errors import QueryError
    from sfumato.query import sql_workload

    text = question_text(path, "--workload", "a workload is a text file with one question a line")
    try:
        return sql_workload(text, name=path.name)
    except QueryError as error:
        raise QueryError(f"{path}: {error.message}", hint=error.hint) from None


def question_text(path: Path | None, option: str, expected: str) -> str:
    """Return the text of a file of questions that an option names, or of standard input."""
    from sfumato.errors import InputError
    from sfumato.table.source import read_text, small_text

    if path is not None:
        return read_text(path, str(path), most=LONGEST, error=InputError, check=f"check the path of {option}", expected=expected)
    content = sys.stdin.buffer.read(LONGEST + 1)
    return small_text(content, "standard input", most=LONGEST, error=InputError, expected=expected)


def _show(about: Explanation, *, every: bool) -> None:
    from sfumato.explanation.highlights import in_terms

    screen = console()
    answer, *more = map(shown, about.verdict())
    screen.print(f"[bold {'green' if about.feasible else 'red'}]{answer}[/]")
    if about.study is not None:
        screen.print()
        _show_study(screen, about.study, every=every)
    screen.print(labelled([*more, *map(shown, about.highlights())]))
    if not every:
        screen.print("[dim]Private figures. Claims take the policy as fixed in advance. --all shows more.[/dim]")
        return
    if about.table.risk is not None:
        screen.print(in_terms(about.table.risk))
        _show_risk(screen, about.table.risk)
    screen.print(bullets([*about.measured(), *about.details()]))
    screen.print()
    if about.cost.odds is not None:
        _show_odds(screen, about.cost.odds)
    title = "Every value, and every set" if about.rule.sets else "Every value"
    last = "smallest bucket" if about.cost.odds is None else "belief before"
    table = grid("value", "people", "share", "bound", "factor", last, title=title, right=(1, 2, 3, 4, 5))
    for value in (*about.rule.values, *about.rule.sets):
        before = value.share if about.cost.odds is None else about.cost.odds.before(value)
        bound = "none" if value.bound == 1 else f"{float(value.bound):.4f}"
        factor = "" if value.bound == 1 else f"{float(value.bound / before):.3g}×" if before else "∞"
        mark = "" if value.bound >= before else " (below its share)"
        name = f"any of {value.value}" if value.members else value.value
        needs = str(value.needs) if about.cost.odds is None else f"{float(before):.4f}"
        table.add_row(shown(name), f"{value.count:,}", f"{float(value.share):.4f}", bound + mark, factor, needs)
    screen.print(table)


def _show_odds(screen: Console, odds: Odds) -> None:
    title = f"{odds.given.rstrip(',')}: what usual parameters are for an insider"
    rows = [("this policy", f"{odds.epsilon:.2f}"), *odds.translated()]
    screen.print(grid("parameters", "ε", title=title, right=(1,), rows=rows))


def _show_risk(screen: Console, risk: Risk) -> None:
    from sfumato.exact import percent
    from sfumato.explanation.risk import band_names

    title = "k: how many people have the same quasi values"
    bands = [(name, f"{k:,}", percent(k / risk.people, 1)) for name, k in zip(band_names(), risk.bands, strict=True)]
    screen.print(grid("k", "people", "share", title=title, right=(1, 2), rows=bands))
    own = ("column", "levels", "unique without it", "secret guessed")
    coarser = ("coarser", "levels", "unique", "misplaced", "link lost")
    title = f"Every quasi column, and one step coarser; now {percent(risk.unique, 1)} unique"
    table = grid(*own, *coarser, title=title, right=(1, 2, 3, 5, 6, 7, 8))
    for column in risk.columns:
        own = (shown(column.name), f"{column.levels:,}", percent(column.unique_without, 1), percent(column.guessed, 1))
        step = column.step
        if step is None:
            table.add_row(*own, "no further step", "", "", "", "")
            continue
        costs = (percent(step.unique, 1), percent(step.misplaced, 1), percent(step.link_lost, 0))
        table.add_row(*own, shown(step.text), f"{step.levels:,}", *costs)
    screen.print(table)


def _show_study(screen: Console, study: GroupingStudy, *, every: bool) -> None:
    from sfumato.explanation.cost import range_text

    headings = ("cuts", "against", "groups", "people in each", *study.workloads, "exposure")
    many = len(study.workloads)
    table = grid(*headings, title="Median error of answers, and exposure, in %", right=(2, 3, *range(4, 5 + many)))
    table.show_edge = False
    table.add_row("independence", "", "", "", *map(hundredths, study.independence), hundredths(study.prior_exposure))
    for row in study.rows:
        name = row.name + (" ← yours" if row.chosen else "")
        if row.groups is None or row.sizes is None or row.exposure is None:
            table.add_row(name, row.against, "none", "", *[""] * many, "")
            continue
        people = range_text(row.sizes).removesuffix(" people")
        table.add_row(name, row.against, f"{row.groups:,}", people, *map(hundredths, row.errors), hundredths(row.exposure))
    screen.print(table)
    for row in study.rows:
        if row.note and (every or row.chosen):
            screen.print(f"{row.name}: {shown(row.note)}")
