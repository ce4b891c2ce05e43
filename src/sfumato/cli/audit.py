"""`sfumato audit`: a release checked by code that did not make it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sfumato.cli._options import Json, ReleaseDirectory
from sfumato.cli._run import BROKEN, verb
from sfumato.cli._show import console, print_json, progress_bar

if TYPE_CHECKING:
    from sfumato.auditor import Audit
    from sfumato.table import Table


@verb
def audit(
    release: ReleaseDirectory,
    *,
    table: Annotated[
        Path | None, typer.Option(help="The original table: then it is also checked that nobody is lost.", show_default=False)
    ] = None,
    policy: Annotated[
        Path | None,
        typer.Option("--policy", "-p", help="How to read the table; found in receipt or manifest otherwise.", show_default=False),
    ] = None,
    as_json: Json = False,
) -> None:
    """Check what a release promises, from its tables alone and, if given, against the original table.

    Exit code 1 when a claim is broken or the files are not what the manifest says.
    """
    from sfumato.api import audit as check
    from sfumato.errors import PolicyError

    if policy is not None and table is None:
        raise PolicyError("--policy says how to read the original table; it needs --table", hint="add --table DATA")
    with progress_bar() as tell:
        original, how = None, ""
        if table is not None:
            tell("reading the table", 0.1)
            original, how = read_original(release, table, policy)
        tell("checking the release", 0.5)
        found = check(release, original)
    if as_json:
        print_json(found.to_dict())
    else:
        _show(found, release, how)
    if found.holds is False:
        raise typer.Exit(BROKEN)


def read_original(release: Path, table: Path, policy: Path | None) -> tuple[Table, str]:
    """Return the original table, read as the policy, the receipt beside the release, or else the manifest says; and which."""
    from sfumato.errors import FormatError, InputError
    from sfumato.policy import Policy
    from sfumato.release.files import read_release
    from sfumato.table import Schema, Table
    from sfumato.table.read import read_arrow

    if policy is not None:
        return Policy.load(policy).read(table), f"read as {policy} says"
    kept = policy_of_receipt(release)
    if kept is not None:
        return Policy.parse(kept[0]).read(table), f"read as the policy in {kept[1]} says"
    declared = read_release(release).manifest.schema.get("declared")
    if not isinstance(declared, dict):
        raise FormatError(f"{release}: the manifest does not say how the table is read", hint="give --policy")
    published = Schema.from_dict(declared)
    rest = [name for name in read_arrow(table).column_names if published.role(name) is None]
    try:
        return Table.read(table, Schema(**declared, other=rest)), "read as the manifest says"
    except InputError as error:
        raise InputError(error.message, hint="give --policy, which says how the publisher read the table") from None


def policy_of_receipt(release: Path) -> tuple[str, Path] | None:
    """Return the policy text in the receipt of exactly this release, and the receipt, if it lies beside the release."""
    from sfumato.receipt import SUFFIX
    from sfumato.release.files import MANIFEST, sha256

    home = release.absolute()
    manifest = home / MANIFEST
    if not manifest.is_file():
        return None
    for path in sorted(home.parent.glob(f"{home.name}*{SUFFIX}")):
        try:
            document = json.loads(path.read_text(encoding="utf-8"))
            if document["release"]["manifest_sha256"] == sha256(manifest):
                return str(document["policy"]), path
        except (OSError, ValueError, KeyError, TypeError):
            continue
    return None


def claim_lines(found: Audit) -> list[str]:
    """Return one line per claim: against whom, whether it holds, and how near the worst belief comes to its bound."""
    from rich.markup import escape

    from sfumato.exact import percent

    words = {True: "[green]holds[/green]", False: "[red]BROKEN[/red]", None: "[yellow]cannot be told from this[/yellow]"}
    lines = []
    for result in found.claims:
        article = "an" if result.claim.adversary[0] in "aeiou" else "a"
        line = f"Claim against {article} [bold]{result.claim.adversary}[/bold]: {words[result.holds]}"
        if result.worst is not None and result.bound is not None:
            line += f"; worst belief {percent(result.worst)} in {escape(str(result.value))}, bound {percent(result.bound)}"
        lines.append(line)
    if found.exposure is not None:
        lines.append(f"Exposure, the mean belief of a reader in a person's true value (private): {found.exposure:.3f}")
    return lines


def _show(found: Audit, release: Path, how: str) -> None:
    from rich.markup import escape

    screen = console()
    verdict = {
        True: "[green]every claim holds[/green]",
        False: "[red]a claim is broken, or the release is not what it says[/red]",
        None: "[yellow]not every claim can be checked without the original table; give --table[/yellow]",
    }[found.holds]
    screen.print(f"Audit of [bold]{escape(str(release))}[/bold]: {verdict}")
    if how:
        screen.print(f"The original table was {escape(how)}.")
    for line in claim_lines(found):
        screen.print(line)
    for problem in found.problems:
        screen.print(f"[red]problem:[/red] {escape(problem)}")
    for warning in found.warnings:
        screen.print(f"[yellow]warning:[/yellow] {escape(warning)}")
    if found.stronger:
        screen.print("Not claimed, only measured: what stronger adversaries reach")
        for name, finding in found.stronger.items():
            screen.print(f"  {escape(name)}: {finding.figure:.3g} ({escape(finding.text)})")
