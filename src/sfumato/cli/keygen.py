"""`sfumato keygen`: a pair of keys with which releases are signed."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from sfumato.cli._run import verb
from sfumato.cli._show import console, shown
from sfumato.cli._state import writing

PASSPHRASE = "SFUMATO_PASSPHRASE"


@verb
def keygen(
    key: Annotated[Path, typer.Argument(help="Where to write the private key; the public one goes to the same name and .pub.")],
    *,
    passphrase: Annotated[
        bool, typer.Option("--passphrase", help=f"Ask for a passphrase to encrypt the private key with ({PASSPHRASE} otherwise).")
    ] = False,
) -> None:
    """Make a pair of Ed25519 keys for signing releases; needs the extra `sign`.

    The private key is for its owner alone. Give the public one, or its fingerprint, to recipients on another way than releases.
    """
    from sfumato.signature import PUBLIC
    from sfumato.signature import keygen as make

    word = typer.prompt("Passphrase", hide_input=True, confirmation_prompt=True) if passphrase else os.environ.get(PASSPHRASE)
    with writing(key):
        fingerprint = make(key, passphrase=word)
    locked = "encrypted" if word is not None else "not encrypted"
    console().print(f"Wrote {shown(key)} (private, {locked}: keep it) and {shown(f'{key}{PUBLIC}')} (for recipients)")
    console().print(f"Fingerprint: {fingerprint}")
