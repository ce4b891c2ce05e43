"""`sfumato report`: one HTML file about a release, for whoever answers for it."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from sfumato.cli._options import Attacks, From, Receipts, ReleaseDirectory, SqlOption, TablePolicy, table_source
from sfumato.cli._run import verb
from sfumato.cli._show import console, near, progress_bar, shown
from sfumato.cli._state import writing


class AudienceChoice(StrEnum):
    """For whom the facts are arranged."""

    hipaa = "hipaa"
    gdpr = "gdpr"
    iso27559 = "iso27559"
    internal = "internal"


@verb
def report(
    release: ReleaseDirectory,
    *,
    out: Annotated[Path, typer.Option("--out", "-o", help="The HTML file to write.")] = Path("report.html"),
    table: Annotated[Path | None, typer.Option(help="The original table: the report is then private, and tells more.")] = None,
    database: From = None,
    sql: SqlOption = None,
    policy: TablePolicy = None,
    public: Annotated[
        bool, typer.Option("--public", help="Only what the release itself tells: may be handed out with it.")
    ] = False,
    audience: Annotated[
        AudienceChoice | None,
        typer.Option("--for", help="The same facts under such readers' headings, with blanks for what only people can say."),
    ] = None,
    attacks: Attacks = None,
    quick: Annotated[bool, typer.Option("--quick", help="No attacks.")] = False,
    receipts: Receipts = None,
) -> None:
    """Write a report for a privacy officer: what was published and promised, the audit, beliefs, attacks, usefulness.

    One HTML file that loads nothing; print it from a browser for paper or PDF. Made with the table it is private, and says so on
    every page. With --for it is a document to fill in and sign: it never says that a law or a contract is satisfied.
    """
    from sfumato.cli.audit import read_original
    from sfumato.errors import PolicyError
    from sfumato.policy import Policy
    from sfumato.register import receipt_of
    from sfumato.reports.making import compose, require_free, save

    given = table is not None or sql is not None
    if public and (given or policy is not None):
        raise PolicyError("--public is made from the release alone", hint="leave --table and --policy out")
    if quick and attacks:
        raise PolicyError("--quick tries no attack", hint="give one of --quick and --attack")
    require_free(out, public=public)
    with progress_bar() as tell:
        original, text = None, None
        if not public:
            kept = receipt_of(release, [] if receipts is None else [receipts])
            asked = None if policy is None else Policy.load(policy)
            text = asked.text if asked is not None else None if kept is None or not kept.same else kept.policy
            if given:
                tell("reading the table", 0.0)
                original, _ = read_original(release, table_source(table, database, sql), asked, kept, named=str(policy))
        chosen = [] if quick else attacks or None
        asked_for = None if audience is None else audience.value
        content = compose(release, original, public=public, attacks=chosen, policy=text, audience=asked_for, progress=tell)
    with writing(out):
        save(content, out, public=public)
    whom = "for everybody" if public else "private: keep it with the table"
    console().print(f"Wrote {shown(near(str(out.absolute())))} ({whom})")
