"""`sfumato sign`: says whose release it is, in a file beside it."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from sfumato.cli._options import ReleaseDirectory
from sfumato.cli._run import verb
from sfumato.cli._show import console, shown
from sfumato.cli._state import writing
from sfumato.cli.keygen import PASSPHRASE


@verb
def sign(
    release: ReleaseDirectory,
    *,
    key: Annotated[Path, typer.Option(help="The private key that `sfumato keygen` made.")],
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="The signature; RELEASE.signature.json beside the release otherwise.")
    ] = None,
) -> None:
    """Sign a release after auditing it: an Ed25519 signature over its manifest, which binds every file by its SHA-256.

    Recipients check it with `sfumato audit RELEASE --verify KEY`. The passphrase of a key is asked for, or taken from
    SFUMATO_PASSPHRASE. Exit code 1, and nothing is signed, when the release does not pass its audit.
    """
    from sfumato.signature import is_locked, signature_place
    from sfumato.signature import sign as make

    word = os.environ.get(PASSPHRASE)
    if word is None and is_locked(key) and sys.stdin.isatty():
        word = typer.prompt("Passphrase", hide_input=True)
    with writing(signature_place(release) if out is None else out):
        made = make(release, key, passphrase=word, out=out)
    console().print(f"Wrote {shown(made)}: hand it out beside the release")
