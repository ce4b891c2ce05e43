"""`sfumato policy init`: a draft of a policy, made by looking at the table."""

from __future__ import annotations

import contextlib
import os
import secrets
import sys
from pathlib import Path
from typing import Annotated

import typer

from sfumato.cli._options import Data
from sfumato.cli._run import verb
from sfumato.cli._show import console

app = typer.Typer(help="Write policy files.", no_args_is_help=True)


@app.callback()
def group() -> None:
    """Write policy files."""


@app.command("init")
@verb
def init(
    data: Data,
    *,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="A new file; standard output otherwise.", show_default=False)
    ] = None,
) -> None:
    """Write a commented draft of a policy for a table; check every role before you use it."""
    from sfumato.errors import OutputError
    from sfumato.policy import draft_policy

    if out is not None and (out.exists() or out.is_symlink()):
        raise OutputError(f"{out} exists already; it is not overwritten", hint="choose another --out")
    text = draft_policy(data)
    if out is None:
        sys.stdout.write(text)
        return
    write_text(out, text)
    console().print(f"Wrote a draft to {out}. Check the role of every column, then: sfumato explain {data} --policy {out}")


def write_text(path: Path, text: str) -> None:
    """Write a small private text file, whole or not at all."""
    from sfumato.errors import OutputError

    partial = path.with_name(f".{path.name}.{secrets.token_hex(6)}.partial")
    try:
        with os.fdopen(os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as stream:
            stream.write(text)
        os.replace(partial, path)
    except OSError as error:
        raise OutputError(f"cannot write {path}: {error.strerror or error}", hint="check the path and its permissions") from None
    finally:
        with contextlib.suppress(OSError):
            partial.unlink()
