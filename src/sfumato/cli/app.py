"""The command `sfumato` and its verbs."""

from __future__ import annotations

from typing import Annotated

import typer

from sfumato import __version__
from sfumato.cli import (
    attack,
    audit,
    compare,
    complete,
    demo,
    doctor,
    explain,
    keygen,
    page,
    policy,
    publish,
    query,
    report,
    sample,
    sign,
    study,
)
from sfumato.cli._state import STATE
from sfumato.cli.plugged import Verbs

app = typer.Typer(
    name="sfumato",
    cls=Verbs,
    help="Publish a table about people once, with a proof of privacy.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

VERBS = (
    explain, compare, publish, audit, attack, report, query, page, complete, keygen, sign, sample, study, demo, doctor,
)  # fmt: skip
for module in VERBS:
    name = module.__name__.rpartition(".")[2]  # one verb a file, of the same name
    app.command(name)(getattr(module, name))
app.add_typer(policy.app, name="policy")


def _version(context: typer.Context, wanted: bool) -> None:
    if not wanted:
        return
    if context.params.get("as_json"):  # eager, so that it is known here
        from sfumato.cli._show import print_json
        from sfumato.installation import versions

        print_json(versions())
    else:
        typer.echo(f"sfumato {__version__}")
    raise typer.Exit


@app.callback()
def options(
    *,
    debug: Annotated[bool, typer.Option("--debug", envvar="SFUMATO_DEBUG", help="Show where an error comes from.")] = False,
    as_json: Annotated[bool, typer.Option("--json", is_eager=True, help="With --version: print JSON.")] = False,
    version: Annotated[bool, typer.Option("--version", callback=_version, help="Show the version and exit.")] = False,
) -> None:
    """Publish a table about people once, with a proof of privacy."""
    del version  # its callback has done what it asks for
    if as_json:
        raise typer.BadParameter("it stands after the verb, or beside --version", param_hint="--json")
    STATE.debug = debug
