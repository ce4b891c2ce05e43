"""`sfumato attack`: adversaries tried on a release, each beside what guessing reaches."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sfumato.cli._options import Attacks, From, Json, Receipts, Seed, Sql, TablePolicy, table_source
from sfumato.cli._run import BROKEN, verb
from sfumato.cli._show import console, counted, grid, hundredths, print_json, progress_bar, shown

if TYPE_CHECKING:
    from sfumato.attacks import AttackResult
    from sfumato.table import Table


@verb
def attack(
    release: Annotated[Path | None, typer.Argument(help="A release directory.")] = None,
    *,
    table: Annotated[Path | None, typer.Option(help="The original table: it judges the attacks, which never see it.")] = None,
    database: From = None,
    sql: Sql = None,
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
    as_json: Json = False,
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
            others=[Release.load(one) for one in others or ()],
            persons=None if person is None else _persons(table, person),
            random=seed,
            progress=tell,
        )
    if as_json:
        print_json({"release": str(release), "attacks": [one.to_dict() for one in results]})
    else:
        show_results(results, release, original.rows)
    if any(one.verdict == "refuted" for one in results):
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
    limits = asked.requirement.bounds(people.sensitive.histogram())
    bounds = {label: float(limit) for label, limit in zip(limits.values, limits.limits, strict=True)}
    found = differential_inference(people, bounds, draws=draws)
    if as_json:
        print_json(found.to_dict())
        return
    screen = console()
    screen.print(f"Two counts with Laplace noise of scale 1/ε about {counted(people.rows)}, and their ratio. Private.")
    screen.print(
        f"Furthest above its bound in a group by {shown(found.where)}: '{shown(found.value)}', {hundredths(found.share)} % of "
        f"{found.size:,} people where {hundredths(found.bound)} % is allowed."
    )
    lines = grid("ε", "groups shown", "people %", "smallest group shown", "such a share from", right=(0, 1, 2, 3, 4))
    for one in found.levels:
        smallest, needed = ("" if size is None else f"{size:,}" for size in (one.smallest, one.needed))
        lines.add_row(f"{one.epsilon:g}", f"{one.groups:,}", hundredths(one.people), smallest, needed)
    screen.print(lines)
    for check in found.checked:
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

    found: dict[str, list[str]] = {}
    for one in given:
        name, equals, values = one.partition("=")
        if not name or not equals or not values:
            raise PolicyError(f"--set {one}: expected a name and values", hint="--set infectious=HIV,Hepatitis")
        found[name] = values.split(",")
    return found


def show_results(results: Sequence[AttackResult], release: Path, rows: int) -> None:
    """Print a row for each attack, then what is worth knowing about it."""
    screen = console()
    screen.print(f"Attacks on [bold]{shown(release)}[/bold], a release of {counted(rows)}. Private: measured on the original.")
    table = grid("attack", "right", "±", "guess", "control", "belief", "largest", "over", "claim", right=(1, 2, 3, 4, 5, 6, 7))
    said = {"claimed": "[green]kept[/green]", "refuted": "[red]refuted[/red]", "not claimed": "[dim]none[/dim]"}
    for one in results:
        if one.refused:
            continue
        low, high = one.interval or (0.0, 1.0)
        table.add_row(
            shown(one.name),
            hundredths(one.success),
            f"{50 * (high - low):.1f}",
            *map(hundredths, (one.baseline, one.control, one.mean_belief, one.largest_belief, one.over)),
            said[one.verdict],
        )
    screen.print(table)
    for one in results:
        if one.verdict == "refuted":
            belief, bound = hundredths(one.worst), hundredths(one.bound)
            screen.print(f"[red]refuted:[/red] {shown(one.name)} reaches {belief} % where {bound} % is claimed to be the most")
        for text in one.warnings:
            screen.print(f"[yellow]warning:[/yellow] {shown(one.name)}: {shown(text)}")
        for name, figure in one.figures.items():
            screen.print(f"  {shown(one.name)}: {shown(name)} {figure:.4g}")
        if one.refused:
            screen.print(f"[dim]{shown(one.attack)} was not tried: {shown(one.refused)}[/dim]")
    screen.print(
        "[dim]In %. right: how often the best guess names the truth. guess: how often the most frequent value does. control: "
        "right for people who are not in the table. belief, largest: mean and largest belief in the truth. over: people of whom "
        "some belief is above its bound. claim: whether the release claims its bounds against her, and they were kept.[/dim]"
    )
