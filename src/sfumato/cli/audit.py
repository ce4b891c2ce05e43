"""`sfumato audit`: a release checked by code that did not make it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
from sfumato.cli._show import bullets, console, labelled, near, print_json, progress_bar, shown

if TYPE_CHECKING:
    from sfumato.admission import GateResult
    from sfumato.auditor import Audit
    from sfumato.auditor.result import ClaimResult
    from sfumato.policy import Policy
    from sfumato.register import NamedReceipt
    from sfumato.table import Table
    from sfumato.table.database import Database

PROBLEMS = 5
"""How many problems are printed one by one without --all."""

WARNINGS = 5
"""How many warnings are printed one by one without --all."""

CLAIMS = 5
"""How many claims are printed one by one without --all; a broken one always is."""


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
    every: Annotated[
        bool, typer.Option("--all", help="Show everything: every problem, and what stronger adversaries reach.")
    ] = False,
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
        _show(report, release, how, original, every=every)
        if signed is not None:
            console().print(labelled([f"Signed: the manifest, with the key given, whose fingerprint is {signed}"]))
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
        return remembered.read_table(table), f"read as the policy in {near(str(kept.path))} says"
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


def claim_lines(report: Audit, baseline: float | None = None, *, several: bool = False, every: bool = False) -> list[str]:
    """Return each claim: against whom, whether it holds, which value comes closest to its bound, and why if it does not hold.

    Where the audit had the table also the exposure, beside the `baseline` of somebody who knows only how frequent each value is.
    With `every` also how near a reader comes, and what the claim rests on.
    """
    from sfumato.exact import percent

    lines = []
    told = report.claims if every else _first_claims(report.claims)
    for result in told:
        lines.append(f"{result.claim.adversary.capitalize()}: {_judged(result)}.")
        if result.reader is not None and every:
            nearest = f"'{shown(result.reader_value)}', {percent(result.reader)}"
            lines.append(f"Reader: who does not rerun the program comes closest to a bound with {nearest}.")
        if result.note and (every or not result.holds):
            lines.append(f"{'Rests on' if result.holds else 'Because'}: {shown(result.note)}.")
    if len(told) < len(report.claims):
        lines.append(f"{len(report.claims) - len(told)} more claims hold; --all lists them.")
    beyond = dict.fromkeys(result.stronger for result in report.claims if result.stronger is not None)
    for attack, whose in beyond:
        lines.append(f"Not claimed: against {whose} (sfumato attack --attack {attack}).")
    if report.exposure is not None:
        what = "what a person has, over all facts" if several else "a person's true value"
        whom = "" if report.exposed is None else f" for {shown(report.exposed)}, the largest of all secrets"
        before = "" if baseline is None else f"; {percent(baseline)} by how frequent each value is"
        lines.append(f"Exposure: a reader believes {percent(report.exposure)} of {what} on average{whom}{before}. Private.")
    return lines


def _first_claims(claims: Sequence[ClaimResult]) -> Sequence[ClaimResult]:
    """Return the claims to show: all that do not hold, and of the others the first."""
    told = [result for result in claims if not result.holds]
    held = [result for result in claims if result.holds]
    return claims if len(claims) <= CLAIMS else [*told, *held[: max(1, CLAIMS - len(told))]]


def _judged(result: ClaimResult) -> str:
    """Return whether a claim holds, and which value comes closest to its bound, or lies beyond."""
    from sfumato.exact import percent

    judged = {
        True: "[green]the claim holds[/green]",
        False: "[red]the claim is BROKEN[/red]",
        None: "[yellow]the claim cannot be judged from this[/yellow]",
    }[result.holds]
    if result.worst is None or result.bound is None:
        return judged
    place = "closest to its bound" if result.holds else "beyond its bound"
    what = "presence" if result.claim.kind == "presence" else f"'{shown(result.value)}'"
    return f"{judged}; {place}: {what}, {percent(result.worst)} of {percent(result.bound)}"


def _show(report: Audit, release: Path, how: str, original: Table | None, *, every: bool) -> None:
    screen = console()
    verdict = {
        True: "[green]every claim holds[/green]",
        False: "[red]a claim is broken, or the release is not what it says[/red]",
        None: "[yellow]not every claim can be checked with what there is; see below, or give --table[/yellow]",
    }[report.holds]
    if report.holds and not report.claims:
        verdict = "[yellow]nothing wrong was found, and nothing is claimed about what a reader believes[/yellow]"
    screen.print(f"Audit of [bold]{shown(release)}[/bold]: {verdict}")
    problems = report.problems if every else report.problems[:PROBLEMS]
    screen.print(labelled(f"[red]Problem[/red]: {shown(problem)}" for problem in problems))
    if len(report.problems) > len(problems):
        screen.print(f"… and {len(report.problems) - len(problems)} more problems; --all shows them.")
    baseline, several = (None, False) if original is None else (original.prior_exposure(report.exposed), original.schema.bundled)
    lines = claim_lines(report, baseline, several=several, every=every)
    if original is not None:
        lines.append(f"Table: {shown(how)}.")
    screen.print(labelled(lines))
    if report.problems and original is not None:
        screen.print(
            "If nobody changed the release, --table is another table than it was made of, or --policy reads it otherwise: "
            "without both, the audit tells whether the release is whole by itself."
        )
    if report.notice and not any(report.notice in result.note for result in report.claims):
        screen.print(shown(report.notice))
    told = report.warnings if every else report.warnings[:WARNINGS]
    for warning in told:
        screen.print(f"[yellow]warning:[/yellow] {shown(warning)}")
    if len(told) < len(report.warnings):
        screen.print(f"… and {len(report.warnings) - len(told)} more warnings; --all shows them.")
    if report.stronger and not every:
        screen.print("[dim]--all shows what stronger adversaries reach: measured, not claimed.[/dim]")
    if report.stronger and every:
        screen.print("Not claimed, only measured: what stronger adversaries reach")
        screen.print(bullets(f"{name}: {finding.figure:.3g} ({finding.text})" for name, finding in report.stronger.items()))
