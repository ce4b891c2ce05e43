"""`sfumato attack`: adversaries tried on a release, each beside what guessing reaches."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sfumato.cli._options import Attacks, From, JsonOption, Receipts, Seed, SqlOption, TablePolicy, table_source
from sfumato.cli._run import BROKEN, verb
from sfumato.cli._show import console, counted, grid, hundredths, print_json, progress_bar, shown

if TYPE_CHECKING:
    from sfumato.attacks import AttackResult
    from sfumato.attacks.differential import DifferentialInference
    from sfumato.table import Table


@verb
def attack(
    release: Annotated[Path | None, typer.Argument(help="A release directory.")] = None,
    *,
    table: Annotated[Path | None, typer.Option(help="The original table: it judges the attacks, which never see it.")] = None,
    database: From = None,
    sql: SqlOption = None,
    attacks: Attacks = None,
    outsiders: Annotated[
        Path | None,
        typer.Option(
            help="People who are not in the table, with its quasi columns: the control. With the sensitive ones also how often "
            "they are guessed."
        ),
    ] = None,
    others: Annotated[
        list[Path] | None, typer.Option("--with", help="Another release about the same people, for composition.")
    ] = None,
    sets: Annotated[
        list[str] | None, typer.Option("--set", help="Values that mean one secret together, for similarity: NAME=VALUE,VALUE")
    ] = None,
    person: Annotated[
        str | None, typer.Option(help="The column of the table that says whose a row is, where people have several.")
    ] = None,
    differential: Annotated[
        Path | None,
        typer.Option(
            help="A table, in place of a release: what two counts with differentially private noise tell beyond the bounds of "
            "--policy."
        ),
    ] = None,
    draws: Annotated[
        int, typer.Option(min=0, help="With --differential: compare the theorem with so many draws of OpenDP's Laplace noise.")
    ] = 0,
    policy: TablePolicy = None,
    receipts: Receipts = None,
    seed: Seed = None,
    every: Annotated[
        bool, typer.Option("--all", help="Show everything: every attack, every figure, and why some were not tried.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Try adversaries on a release: how often each is right, how sure she is, and what the release claims against her.

    Private: the figures are measured on the original table. Exit code 1 when an attack refutes a claim.
    """
    from sfumato.attacks import attack as run
    from sfumato.cli.audit import read_original
    from sfumato.errors import InputError
    from sfumato.policy import Policy
    from sfumato.register import receipt_of
    from sfumato.release import Release

    if differential is not None:
        _differential(release, differential, policy, draws, as_json=as_json)
        return
    if release is None:
        raise InputError("no release was given", hint="sfumato attack RELEASE --table FILE; or --differential FILE --policy FILE")
    if draws:
        raise InputError("--draws belongs to --differential", hint="leave it out")
    if table is None and sql is None:
        raise InputError("no table was given, and nothing else can judge an attack", hint="--table FILE, the original table")
    with progress_bar() as tell:
        tell("reading the release", 0.0)
        attacked = Release.load(release)
        kept = receipt_of(release, [] if receipts is None else [receipts])
        asked = None if policy is None else Policy.load(policy)
        tell("reading the table", 0.1)
        original, _ = read_original(release, table_source(table, database, sql), asked, kept, named=str(policy))
        results = run(
            attacked,
            original,
            attacks,
            outsiders=None if outsiders is None else _outsiders(release, outsiders, original),
            sets=_sets(sets or ()),
            others=[Release.load(directory) for directory in others or ()],
            persons=None if person is None else _persons(table, person),
            random=seed,
            progress=tell,
        )
    if as_json:
        print_json({"release": str(release), "attacks": [result.to_dict() for result in results]})
    else:
        show_results(results, release, original.rows, every=every)
    if any(result.verdict == "refuted" for result in results):
        raise typer.Exit(BROKEN)


def _persons(table: Path | None, column: str) -> Any:
    """Return whose each row of the table is, by one of its columns."""
    from sfumato.errors import InputError, did_you_mean
    from sfumato.table.read import column_names, read_arrow

    if table is None:
        raise InputError("--person names a column of a file", hint="--table FILE")
    names = column_names(table)
    if column not in names:
        raise InputError(f"--person {column}: the table has no such column", hint=did_you_mean(column, names))
    return read_arrow(table, columns=(column,))[column]


def _differential(release: Path | None, table: Path, policy: Path | None, draws: int, *, as_json: bool) -> None:
    """Show what two counts with noise tell about a table beyond the bounds of a policy."""
    from sfumato.attacks.differential import differential_inference
    from sfumato.errors import InputError
    from sfumato.policy import Policy

    if policy is None or release is not None:
        raise InputError("--differential takes a table and a policy, and no release", hint="--differential FILE --policy FILE")
    asked = Policy.load(policy)
    people = asked.read_table(table)
    inferences = {}
    for part in people.each():
        name = part.sensitive.domain.names[0]
        limits = asked.requirement.of(name).bounds(part.sensitive.histogram())
        bounds = {label: float(limit) for label, limit in limits.value_limits.items()}
        inferences[name] = differential_inference(part, bounds, draws=draws)
    if as_json:
        plain = {name: inference.to_dict() for name, inference in inferences.items()}
        print_json(plain if people.schema.protects_each else next(iter(plain.values())))
        return
    console().print(f"Two counts with Laplace noise of scale 1/ε about {counted(people.rows)}, and their ratio. Private.")
    for name, inference in inferences.items():
        if people.schema.protects_each:
            console().print(f"[bold]{shown(name)}[/bold]")
        _show_differential(inference)


def _show_differential(inference: DifferentialInference) -> None:
    screen = console()
    screen.print(
        f"Furthest above its bound in a group by {shown(inference.where)}: '{shown(inference.value)}', "
        f"{hundredths(inference.share)} % of {inference.size:,} people where {hundredths(inference.bound)} % is allowed."
    )
    lines = grid("ε", "groups shown", "people %", "smallest group shown", "such a share from", right=(0, 1, 2, 3, 4))
    for level in inference.levels:
        smallest, needed = ("" if size is None else f"{size:,}" for size in (level.smallest, level.needed))
        lines.add_row(f"{level.epsilon:g}", f"{level.groups:,}", hundredths(level.people), smallest, needed)
    screen.print(lines)
    for check in inference.checked:
        screen.print("  " + ", ".join(f"{name.replace('_', ' ')} {figure:.4g}" for name, figure in check.items()))
    screen.print(
        "[dim]shown: the ratio is above the bound with 95 %. people: have a value in such a group. such a share from: the size "
        "of group from which on the share named above is shown.[/dim]"
    )


def _outsiders(release: Path, people: Path, table: Table) -> Table:
    """Return people who are not in the table, with their sensitive values where the file has them."""
    from sfumato.cli.audit import read_original, read_outsiders
    from sfumato.errors import InputError
    from sfumato.table.read import column_names

    if set(table.sensitive.domain.names) <= set(column_names(people)):
        try:
            return read_original(release, people, None, None)[0]
        except InputError as error:
            raise InputError(error.message, hint="outsiders are one line a person, with the columns of the release") from None
    return read_outsiders(release, people)


def _sets(given: Sequence[str]) -> dict[str, list[str]]:
    from sfumato.errors import PolicyError

    sets: dict[str, list[str]] = {}
    for text in given:
        name, equals, values = text.partition("=")
        if not name or not equals or not values:
            raise PolicyError(f"--set {text}: expected a name and values", hint="--set infectious=HIV,Hepatitis")
        sets[name] = values.split(",")
    return sets


ROWS = 20
"""How many attacks are listed without --all."""


def show_results(results: Sequence[AttackResult], release: Path, rows: int, *, every: bool = False) -> None:
    """Print a row for each attack that reached something, a line about each kind of others, then what is worth knowing.

    Of several secrets, a row only where somebody is above a bound or a claim is refuted, by the variant that reaches most. With
    `every`, a row for every attack.
    """
    from sfumato.attacks.judge import NO_BETTER

    screen = console()
    screen.print(_answer(results, release, rows))
    tried = [result for result in results if not result.refused]
    idle = [] if every else [result for result in tried if _reaches_nothing(result)]
    within = [] if every else [result for result in tried if result.secret and result not in idle and _within_bounds(result)]
    telling = [result for result in tried if result not in idle and result not in within]
    listed = telling if every else sorted(_strongest(telling), key=_rank)
    if listed:
        _show_figures(listed if every else listed[:ROWS])
    if not every and len(telling) > len(listed[:ROWS]):
        screen.print(f"{counted(len(telling) - len(listed[:ROWS]), 'variant', 'variants')} of these reach no more: --all.")
    if within:
        screen.print(_about_within(within, len(tried)))
    if idle:
        screen.print(_about_idle(idle, len(tried)))
    for result in results:
        if result.verdict == "refuted":
            belief, bound = hundredths(result.worst), hundredths(result.bound)
            screen.print(f"[red]refuted:[/red] {shown(result.name)} reaches {belief} % where {bound} % is claimed to be the most")
        for text in result.warnings:
            if text == NO_BETTER:  # the table shows both shares
                continue
            screen.print(f"[yellow]warning:[/yellow] {shown(result.name)}: {shown(text)}")
        for name, figure in result.figures.items() if every else ():
            screen.print(f"  {shown(result.name)}: {shown(name)} {figure:.4g}")
    refused = sorted({(result.attack, result.refused) for result in results if result.refused})
    if refused and not every:
        names = ", ".join(dict.fromkeys(shown(name) for name, _ in refused))
        screen.print(f"[dim]Not tried: {names}; --all says why, and shows every figure.[/dim]")
    for name, reason in refused if every else ():
        screen.print(f"[dim]{shown(name)} was not tried: {shown(reason)}[/dim]")


def _answer(results: Sequence[AttackResult], release: Path, rows: int) -> str:
    """Return whether a claim was refuted, and how often the best attack is right where guessing is."""
    refuted = sum(result.verdict == "refuted" for result in results)
    kept = sum(result.verdict == "claimed" for result in results)
    verdict = (
        f"[red]{counted(refuted, 'claim is', 'claims are')} REFUTED[/red]" if refuted else "[green]no claim is refuted[/green]"
    )
    kept_too = f", {counted(kept, 'was', 'were')} tried and kept" if kept and not refuted else ""
    return f"Attacks on [bold]{shown(release)}[/bold] ({counted(rows)}): {verdict}{kept_too}. Private figures."


def _rank(result: AttackResult) -> tuple[bool, bool, float]:
    """Return where an attack stands in the list: what refutes a claim, what a claim is made against, then who is right most."""
    return result.verdict != "refuted", result.verdict != "claimed", -(result.success or 0.0)


def _reaches_nothing(result: AttackResult) -> bool:
    """Return whether an attack guesses no better than the most frequent value does, and puts nobody above a bound."""
    from sfumato.attacks.judge import NO_BETTER

    return NO_BETTER in result.warnings and not result.over and result.verdict != "refuted"


def _within_bounds(result: AttackResult) -> bool:
    """Return whether an attack puts nobody above a bound, as far as there are bounds that it could be above."""
    return result.over == 0 and result.verdict != "refuted"


def _strongest(results: Sequence[AttackResult]) -> list[AttackResult]:
    """Return of each attack on one of several secrets the variant that reaches most, and all that refute a claim."""
    best: dict[tuple[object, ...], AttackResult] = {}
    for result in results:
        key: tuple[object, ...] = (result.attack, result.variant)
        if result.secret and result.verdict != "refuted":
            key = (result.attack, result.secret)
        kept = best.setdefault(key, result)
        best[key] = max(kept, result, key=lambda tried: (tried.over or 0.0, tried.success or 0.0))
    return list(best.values())


def _about_within(within: Sequence[AttackResult], tried: int) -> str:
    """Return in a line what attacks reach that keep all bounds: of each secret the one that is right most often."""
    kept = sum(result.verdict == "claimed" for result in within)
    best: dict[str, AttackResult] = {}
    for result in within:
        best[result.secret] = max(best.get(result.secret, result), result, key=lambda tried: tried.success or 0.0)
    named = "; ".join(
        f"{shown(result.name)}: {hundredths(result.success)} % right, guessing {hundredths(result.baseline)} %"
        for result in best.values()
    )
    claims = f" {counted(kept, 'claim', 'claims')} kept." if kept else ""
    return f"Better than guessing, and nobody above a bound: {len(within)} of {tried}, at most {named}.{claims}"


def _about_idle(idle: Sequence[AttackResult], tried: int) -> str:
    kept = sum(result.verdict == "claimed" for result in idle)
    largest = max(result.largest_belief or 0.0 for result in idle)
    names = ", ".join(dict.fromkeys(shown(result.attack) for result in idle))
    claims = f" {counted(kept, 'claim', 'claims')} kept." if kept else ""
    return (
        f"No better than guessing, and nobody above a bound: {len(idle)} of {tried} ({names}); largest belief in the truth "
        f"{hundredths(largest)} %.{claims}"
    )


def _show_figures(results: Sequence[AttackResult]) -> None:
    """Print the table of figures, and what its columns mean."""
    controlled = any(result.control is not None for result in results)
    control = ("control",) if controlled else ()
    headings = ("attack", "right", "±", "guess", *control, "belief", "largest", "over", "claim")
    table = grid(*headings, right=tuple(range(1, len(headings) - 1)))
    said = {"claimed": "[green]kept[/green]", "refuted": "[red]refuted[/red]", "not claimed": "[dim]none[/dim]"}
    for result in results:
        low, high = result.interval or (0.0, 1.0)
        table.add_row(
            shown(result.name),
            hundredths(result.success),
            f"{50 * (high - low):.1f}",
            hundredths(result.baseline),
            *((hundredths(result.control),) if controlled else ()),
            *map(hundredths, (result.mean_belief, result.largest_belief, result.over)),
            said[result.verdict],
        )
    screen = console()
    screen.print(table)
    outside = " control: right for people who are not in the table." if controlled else ""
    screen.print(
        f"[dim]In %. right: how often the best guess names the truth; guess: the most frequent value.{outside} belief, largest: "
        "in the truth. over: people of whom some belief is above its bound. claim: whether bounds are claimed against her.[/dim]"
    )
