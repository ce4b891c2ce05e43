"""`sfumato policy init`: a draft of a policy, made by looking at the table."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from sfumato.cli._options import Data, From, Sql, table_source
from sfumato.cli._run import verb
from sfumato.cli._show import console, shown

app = typer.Typer(help="Write policy files.", no_args_is_help=True)


@app.callback()
def group() -> None:
    """Write policy files."""


@app.command("init")
@verb
def init(
    data: Data = None,
    *,
    database: From = None,
    sql: Sql = None,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="A new file; standard output otherwise.", show_default=False)
    ] = None,
    delimiter: Annotated[
        str | None, typer.Option(help="Between the values of a text file, such as ';' or tab; guessed otherwise.")
    ] = None,
    decimal: Annotated[str | None, typer.Option(help="The decimal sign, '.' or ','; guessed otherwise.")] = None,
    encoding: Annotated[str | None, typer.Option(help="Such as utf-8, cp1252 or utf-16; guessed otherwise.")] = None,
) -> None:
    """Write a commented draft of a policy for a table; check every role before you use it.

    As it stands the draft protects every sensitive value. It tells shares of the original table, so keep it private.
    """
    from sfumato.errors import InputError, OutputError
    from sfumato.policy import draft_policy
    from sfumato.receipt import refuse_in_release
    from sfumato.release.atomic import write_private

    if out is not None:
        if out.exists() or out.is_symlink():
            raise OutputError(f"{out} exists already; it is not overwritten", hint="choose another --out")
        if not out.parent.is_dir():
            raise OutputError(f"cannot write {out}: there is no directory {out.parent}", hint="make it first")
        refuse_in_release(out)
    between = "\t" if delimiter in ("\\t", "tab") else delimiter
    try:
        source = table_source(data, database, sql)
        text = draft_policy(source, delimiter=between, decimal=decimal, encoding=encoding)
    except InputError as error:
        if error.hint is None or "[input]" not in error.hint:
            raise
        raise InputError(error.message, hint=f"{error.hint}; here: --delimiter, --decimal, --encoding") from None
    if out is None:
        sys.stdout.write(text)
        return
    try:
        write_private(out, lambda stream: stream.write(text.encode()))
    except OSError as error:
        raise OutputError(f"cannot write {out}: {error.strerror or error}", hint="check the path and its permissions") from None
    console().print(
        f"Wrote a draft to {shown(out)}. Check the role of every column, then: "
        f"sfumato explain {'…' if data is None else shown(data)} --policy {shown(out)}",
        soft_wrap=True,
    )
