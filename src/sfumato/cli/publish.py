"""`sfumato publish`: one table and one policy become a release, with a private receipt beside it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sfumato.cli._options import Data, Format, Json, PolicyFile, Seed
from sfumato.cli._run import STATE, verb
from sfumato.cli._show import console, near, print_json, progress_bar, warn
from sfumato.errors import InputError

if TYPE_CHECKING:
    from sfumato.auditor import Audit
    from sfumato.table import Table


@verb
def publish(
    data: Data,
    policy: PolicyFile,
    out: Annotated[Path, typer.Option("--out", "-o", help="A new directory for the release.", show_default=False)],
    *,
    seed: Seed = None,
    format: Annotated[Format, typer.Option(help="How the tables are written.")] = Format.parquet,
    receipts: Annotated[
        Path | None,
        typer.Option(
            help="Where the private receipt goes, and where earlier ones are looked for; the directory of --out otherwise.",
            envvar="SFUMATO_RECEIPTS",
            show_default=False,
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Publish a table once: a release that keeps the policy's bounds, checked before it is written.

    A private receipt goes beside the release, never into it. If either cannot be written, neither is.
    """
    from sfumato.receipt import check_outputs

    check_outputs(out, receipts)
    document, audit = deliver(data, policy, out, seed=seed, format=format, receipts=receipts)
    if as_json:
        print_json(document)
        return
    for warning in document["warnings"]:
        warn(warning)
    show_published(document, audit)


def deliver(
    data: Path, policy: Path, out: Path, *, seed: int | None, format: Format, receipts: Path | None
) -> tuple[dict[str, Any], Audit]:
    """Publish to a directory, and return what there is to tell about it, with the audit it passed."""
    from sfumato.api import publication
    from sfumato.policy import Policy
    from sfumato.receipt import earlier_publications, save_with_receipt

    chosen = Policy.load(policy)
    with progress_bar() as tell:
        tell("reading the table", 0.0)
        table = chosen.read(data)
        refuse_all_equal(table)
        places = [out.absolute().parent, data.absolute().parent, *([] if receipts is None else [receipts])]
        earlier = earlier_publications(table.fingerprint, places)
        made = publication(table, chosen.requirement, method=chosen.method, random=seed, progress=tell)
        tell("writing", 1.0)
        receipt = save_with_receipt(
            made.release,
            out,
            format=format.value,
            receipts=receipts,
            fingerprint=table.fingerprint,
            policy=chosen.text,
            figures=made.private,
            audit=made.audit.to_dict(),
        )
        STATE.written = str(out)
    document = {
        "private": "figures about the original table; do not publish",
        "release": str(out),
        "receipt": str(receipt),
        "rows": made.release.rows,
        "dropped": table.dropped,
        "reproducible": made.release.manifest.reproducible,
        "figures": made.private,
        "audit": made.audit.to_dict(),
        "warnings": [*(found.warning for found in earlier), *made.audit.warnings],
    }
    return document, made.audit


def refuse_all_equal(table: Table) -> None:
    """Refuse a table in which everybody has the same sensitive value: whoever knows who is in it knows that value."""
    if len(table.sensitive.labels) == 1:
        names = " and ".join(table.sensitive.domain.names)
        raise InputError(
            f"every person has the same value of {names}, so there is nothing a release could hide",
            hint="check the column under [columns] sensitive, and its bins",
        )


def show_published(document: dict[str, Any], audit: Audit) -> None:
    """Print what was published, where it lies and what it promises."""
    from rich.markup import escape

    from sfumato.cli.audit import claim_lines

    screen = console()
    screen.print(f"Published [bold]{document['rows']:,}[/bold] people to [bold]{escape(document['release'])}[/bold]")
    for line in claim_lines(audit):
        screen.print(line)
    screen.print(f"Private receipt, not to be published: {escape(near(document['receipt']))}")
