"""`sfumato audit`: a release checked by code that did not make it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sfumato.cli._options import (
    EngineOption,
    From,
    JsonOption,
    MemoryOption,
    Receipts,
    ReleaseDirectory,
    SqlOption,
    table_source,
)
from sfumato.cli._run import BROKEN, verb
from sfumato.cli._show import console, print_json, progress_bar, shown

if TYPE_CHECKING:
    from sfumato.admission import GateResult
    from sfumato.auditor import Audit
    from sfumato.policy import Policy
    from sfumato.register import NamedReceipt
    from sfumato.table import Table
    from sfumato.table.database import Database

PROBLEMS = 5
"""How many problems are printed one by one; --json has them all."""


def _schema(wanted: bool) -> None:
    if wanted:
        from sfumato.release.shape import manifest_schema

        print_json(manifest_schema())
        raise typer.Exit


@verb
def audit(
    release: ReleaseDirectory,
    *,
    table: Annotated[Path | None, typer.Option(help="The original table: then it is also checked that nobody is lost.")] = None,
    database: From = None,
    sql: SqlOption = None,
    policy: Annotated[
        Path | None,
        typer.Option(
            "--policy",
            "-p",
            help="The policy that the release should keep; it also says how to read the table (receipt or manifest otherwise).",
        ),
    ] = None,
    links: Annotated[Path | None, typer.Option(help="The private file that `publish --links` made; needs --table.")] = None,
    outsiders: Annotated[
        Path | None,
        typer.Option(
            help="People who are not in the table, with its quasi columns: for releases that hide presence, how sure a reader "
            "becomes of theirs."
        ),
    ] = None,
    verify: Annotated[
        Path | None,
        typer.Option(help="The publisher's public key, from elsewhere than the release: is it signed with that one?"),
    ] = None,
    signature: Annotated[
        Path | None, typer.Option(help="The signature for --verify; RELEASE.signature.json beside the release otherwise.")
    ] = None,
    gate: Annotated[
        Path | None,
        typer.Option(help="For pipelines: exit code 1 unless the release keeps what this reviewed policy asks for, or more."),
    ] = None,
    receipts: Receipts = None,
    engine: EngineOption = None,
    memory: MemoryOption = None,
    as_json: JsonOption = False,
    schema: Annotated[
        bool, typer.Option("--schema", callback=_schema, is_eager=True, help="Print the JSON Schema of manifest.json and exit.")
    ] = False,
) -> None:
    """Check what a release promises, from its tables alone and, if given, against the original table and the policy.

    Exit code 1 when a claim is broken, when the files are not what the manifest says, when the release was made under another
    policy than --policy, is not signed with the key of --verify, or does not pass --gate.
    """
    del schema  # its callback has done what it asks for
    from sfumato.admission import gated
    from sfumato.api import audit as check
    from sfumato.cli.large import audit_large
    from sfumato.errors import InputError
    from sfumato.policy import Policy
    from sfumato.register import receipt_of
    from sfumato.release.files import read_manifest
    from sfumato.table.source import refusal

    if signature is not None and verify is None:
        raise InputError("--signature is read with a key", hint="give --verify KEY too")
    refused = None if links is None else refusal(links)
    if refused is not None:
        raise InputError(f"{links}: {refused}", hint="check the path of --links")
    with progress_bar() as tell:
        kept = receipt_of(release, [] if receipts is None else [receipts])
        asked = None if policy is None else Policy.load(policy)
        wanted = None if gate is None else Policy.load(gate)
        reader, named = (asked, policy) if asked is not None else (wanted, gate)
        original, how = None, ""
        large = is_large(release, table, engine, memory, alone=database is None and links is None and outsiders is None)
        if large:
            tell("checking the release", 0.1)
            options: dict[str, Any] = {"engine": engine, "memory": memory, "named": str(named)}
            report, how, original = audit_large(release, table, reader, kept, **options)
        elif table is not None or sql is not None:
            tell("reading the table", 0.1)
            original, how = read_original(release, table_source(table, database, sql), reader, kept, named=str(named))
        if not large:
            tell("checking the release", 0.5)
            away = None if outsiders is None else read_outsiders(release, outsiders)
            report = check(release, original, links=links, outsiders=away, engine="memory")
        signed, unsigned = (None, []) if verify is None else verified(release, verify, signature)
        report = replace(report, problems=(*report.problems, *policy_problems(release, asked, kept), *unsigned))
        passed = None if wanted is None else gated(read_manifest(release), wanted, report)
    if as_json:
        own = {} if verify is None else {"signature": {"valid": signed is not None, "key": signed}}
        print_json(report.to_dict() | own | ({} if passed is None else {"gate": passed.to_dict()}))
    else:
        _show(report, release, how, original)
        if signed is not None:
            console().print(f"The manifest is signed with the key given, whose fingerprint is {signed}")
        if passed is not None:
            _show_gate(passed, str(gate))
    if report.holds is False or (passed is not None and not passed.passes):
        raise typer.Exit(BROKEN)


def verified(release: Path, key: Path, signature: Path | None) -> tuple[str | None, list[str]]:
    """Return the fingerprint of the key that a release is signed with; or None, and why it is not signed with this one."""
    from sfumato.errors import SignatureError
    from sfumato.signature import verify

    try:
        return verify(release, key, signature=signature), []
    except SignatureError as error:
        return None, [f"not signed with {key.name}: {error.sentence}"]


def _show_gate(passed: GateResult, policy: str) -> None:
    verdict = "[green]passes[/green]" if passed.passes else "[red]does not pass[/red]"
    console().print(f"The gate of [bold]{shown(policy)}[/bold]: {verdict}")
    for check in passed.checks:
        if not check.passes:
            console().print(f"  {check.name}: {shown(check.why)}")


def is_large(release: Path, table: Path | None, engine: str | None, memory: str | None, *, alone: bool) -> bool:
    """Return whether a release is audited beyond memory: as asked, else by its size or that of the table.

    `alone`: there is nothing else that only an audit in memory reads.
    """
    from sfumato.errors import PolicyError
    from sfumato.release.files import read_manifest
    from sfumato.scale.choice import beyond_memory
    from sfumato.scale.verb import audited_in_parts

    chosen = engine
    if chosen in ("duckdb", "spark"):
        if not alone:
            raise PolicyError(f"--engine {chosen}: --from, --links and --outsiders are read in memory", hint="--engine memory")
        return True
    if memory is not None:
        raise PolicyError("--memory: it limits what an engine uses", hint="--engine duckdb, or leave it out")
    if chosen == "memory" or not alone:
        return False
    manifest = read_manifest(release)
    if not audited_in_parts(manifest):
        return False
    if table is not None:
        return beyond_memory(table, None)
    return manifest.in_parts


def read_original(
    release: Path, table: Path | Database, policy: Policy | None, kept: NamedReceipt | None, *, named: str = ""
) -> tuple[Table, str]:
    """Return the original table, read as the policy, the receipt of the release, or else the manifest says; and which."""
    from sfumato.errors import InputError
    from sfumato.policy import Policy
    from sfumato.release.files import read_manifest
    from sfumato.table import Schema, Table
    from sfumato.table.read import column_names

    remembered = Policy.parse(kept.policy) if kept is not None and kept.same else None
    if policy is not None:
        original = policy.read_table(table, random=None if remembered is None else remembered.coins)
        require_choice(original, remembered)
        return original, f"read as {named} says"
    if remembered is not None and kept is not None:
        return remembered.read_table(table), f"read as the policy in {kept.path} says"
    declared = _declared(release)
    published, drawn = Schema.from_dict(declared), not read_manifest(release).shown_as.of_people
    rest = [name for name in column_names(table) if published.role(name) is None]
    try:
        original = Table.read(table, Schema(**declared, other=rest, by_cell=drawn))
        original.require_people()
    except InputError as error:
        raise InputError(error.message, hint="give --policy, which says how the publisher read the table") from None
    return original, "read as the manifest says"


def require_choice(table: Table, remembered: Policy | None) -> None:
    """Raise unless it is known which of several rows coins chose."""
    from sfumato.errors import InputError

    if table.choice is not None and table.choice.tied and (remembered is None or remembered.coins is None):
        raise InputError(
            f"for {table.choice.tied:,} people coins decided which of their rows was kept, and only the receipt knows how",
            hint="--receipts DIR names where the receipt lies; or audit without --table",
        )


def read_outsiders(release: Path, people: Path) -> Table:
    """Return people who are not in the table, their quasi columns read and recoded as the manifest says; they need no others."""
    import pyarrow as pa

    from sfumato.errors import InputError
    from sfumato.table import Schema, Table
    from sfumato.table.read import column_names, read_arrow

    public = Schema.from_dict(_declared(release))
    names = column_names(people)
    lacking = [name for name in public.quasi if name not in names]
    if lacking:
        raise InputError(
            f"{people}: the columns {', '.join(map(repr, lacking))} are missing",
            hint="outsiders need every quasi column of the release",
        )
    read = read_arrow(people, columns=public.quasi)
    nothing = "-" * (1 + max(map(len, read.column_names)))  # a name that no column has
    schema = Schema(
        quasi=public.quasi,
        sensitive=[nothing],
        types={name: kind for name, kind in public.types.items() if name in public.quasi},
        recode=public.recode,
        weight=public.weight,
    )
    return Table.from_frame(read.append_column(nothing, pa.array(["outsider"] * read.num_rows)), schema)


def _declared(release: Path) -> dict[str, Any]:
    """Return how the table was read, as the manifest says."""
    from sfumato.errors import FormatError
    from sfumato.release.files import read_manifest

    declared = read_manifest(release).schema.get("declared")
    if not isinstance(declared, dict):
        raise FormatError(f"{release}: the manifest does not say how the table is read", hint="give --policy")
    return declared


def policy_problems(release: Path, policy: Policy | None, kept: NamedReceipt | None) -> list[str]:
    """Return where the release is not the one that the policy asks for, or not the one that its receipt remembers."""
    from sfumato.release.files import MANIFEST
    from sfumato.release.manifest import Manifest

    problems = []
    if policy is not None:
        manifest = Manifest.from_json((release / MANIFEST).read_text(encoding="utf-8"))
        for name, made, asked in (
            ("requirement", manifest.requirement, policy.requirement.to_dict()),
            ("method", manifest.method, None if policy.method is None else policy.method.settled(manifest.rows).to_dict()),
        ):
            if asked is not None and dict(made) != asked:
                problems.append(f"the release was made with another {name} than the policy has: {_differences(made, asked)}")
    if kept is not None and not kept.same:
        problems.append(f"the manifest is not the one that was published: {kept.path.name} remembers another sha-256 of it")
    return problems


def _differences(made: Mapping[str, Any], asked: Mapping[str, Any]) -> str:
    keys = [key for key in (*asked, *(key for key in made if key not in asked)) if made.get(key) != asked.get(key)]
    return "; ".join(f"{key} is {_written(made.get(key))}, the policy says {_written(asked.get(key))}" for key in keys)


def _written(value: Any) -> str:
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{key} = {item}" for key, item in sorted(value.items())) + "}"
    return "not there" if value is None else str(value).lower() if isinstance(value, bool) else str(value)


def claim_lines(report: Audit, baseline: float | None = None, *, several: bool = False) -> list[str]:
    """Return each claim: against whom, whether it holds, which value comes closest to its bound, and why if it does not hold.

    Where the audit had the table also the exposure, beside the `baseline` of somebody who knows only how frequent each value is.
    """
    from sfumato.exact import percent

    words = {True: "[green]holds[/green]", False: "[red]BROKEN[/red]", None: "[yellow]cannot be judged from this[/yellow]"}
    lines = []
    for result in report.claims:
        article = "an" if result.claim.adversary[0] in "aeiou" else "a"
        line = f"Claim against {article} [bold]{result.claim.adversary}[/bold]: {words[result.holds]}"
        if result.worst is not None and result.bound is not None:
            place = "closest to its bound" if result.holds else "beyond its bound"
            what = "presence" if result.claim.kind == "presence" else f"'{shown(result.value)}'"
            allowed = f"{percent(result.bound)} {'is' if result.holds else 'was'} allowed"
            used = f" ({percent(result.used, 0)} of it used)" if result.holds and result.used is not None else ""
            line += f"; {place}: {what}, {percent(result.worst)} where {allowed}{used}"
        lines.append(line)
        if result.reader is not None:
            nearest = f"'{shown(result.reader_value)}', {percent(result.reader)}"
            lines.append(f"  a reader, who does not rerun the program, comes closest to a bound with {nearest}")
        if result.stronger is not None:
            attack, whose = result.stronger
            lines.append(f"  [dim]not claimed, the next stronger: {whose} (sfumato attack --attack {attack})[/dim]")
        if result.note:
            note = shown(result.note)
            lines.append(f"  [dim]{note}[/dim]" if result.holds else f"  {note}")
    if report.exposure is not None:
        what = "what a person has, over all facts" if several else "a person's true value"
        line = f"Exposure, the mean belief of a reader in {what} (private): {percent(report.exposure)}"
        if report.exposed is not None:
            line += f" for {shown(report.exposed)}, the largest of all secrets"
        if baseline is not None:
            line += f"; knowing only how frequent each value is: {percent(baseline)}"
        lines.append(line)
    return lines


def _show(report: Audit, release: Path, how: str, original: Table | None) -> None:
    screen = console()
    verdict = {
        True: "[green]every claim holds[/green]",
        False: "[red]a claim is broken, or the release is not what it says[/red]",
        None: "[yellow]not every claim can be checked with what there is; see below, or give --table[/yellow]",
    }[report.holds]
    if report.holds and not report.claims:
        verdict = "[yellow]nothing wrong was found, and nothing is claimed about what a reader believes[/yellow]"
    screen.print(f"Audit of [bold]{shown(release)}[/bold]: {verdict}")
    if how:
        screen.print(f"The original table was {shown(how)}.")
    baseline, several = (None, False) if original is None else (original.prior_exposure(report.exposed), original.schema.bundled)
    for line in claim_lines(report, baseline, several=several):
        screen.print(line)
    for problem in report.problems[:PROBLEMS]:
        screen.print(f"[red]problem:[/red] {shown(problem)}")
    if len(report.problems) > PROBLEMS:
        screen.print(f"[red]problem:[/red] … and {len(report.problems) - PROBLEMS} more; --json shows them all")
    if report.problems and original is not None:
        screen.print(
            "If nobody changed the release, --table is another table than it was made of, or --policy reads it otherwise: "
            "without both, the audit tells whether the release is whole by itself."
        )
    if report.notice and not any(report.notice in result.note for result in report.claims):
        screen.print(f"[dim]{shown(report.notice)}[/dim]")
    for warning in report.warnings:
        screen.print(f"[yellow]warning:[/yellow] {shown(warning)}")
    if report.stronger:
        screen.print("Not claimed, only measured: what stronger adversaries reach")
        for name, finding in report.stronger.items():
            screen.print(f"  {shown(name)}: {finding.figure:.3g} ({shown(finding.text)})")
