"""`sfumato doctor`: what is installed, where things are kept, and whether they are safe there."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from sfumato.cli._options import JsonOption, Receipts
from sfumato.cli._run import BROKEN, verb
from sfumato.cli._show import bullets, console, grid, near, print_json, shown

if TYPE_CHECKING:
    from sfumato.installation import Installation


@verb
def doctor(*, receipts: Receipts = None, json: JsonOption = False) -> None:
    """Say what is installed, where caches and registers lie, and whether others could touch them.

    Exit code 0 if nothing is wrong, 1 if something is: a library that is missing or too old, or a place that others can write to,
    or read private files in.
    """
    from sfumato.installation import examine

    found = examine(receipts)
    if json:
        print_json(found.to_dict())
    else:
        _show(found)
    if found.problems:
        raise typer.Exit(BROKEN)


def _show(found: Installation) -> None:
    from sfumato.installation import versions

    screen = console()
    about = versions()
    screen.print(f"[bold]sfumato {about['sfumato']}[/bold], Python {about['python']}, {about['system']}")
    if not found.packages:
        screen.print("It runs from its source, not installed as a package: versions of libraries were not compared.")
    rows = []
    for extra in dict.fromkeys(one.extra for one in found.packages):
        mine = [one for one in found.packages if one.extra == extra]
        there = "yes" if all(one.fits for one in mine) else "no"
        names = ", ".join(f"{one.name} {one.found or '–'}" for one in mine)
        rows.append([shown("needed" if extra is None else f"sfumato[{extra}]"), there, shown(names)])
    if rows:
        screen.print(grid("libraries", "there", "versions", rows=rows))
    for name, package in found.plugins.items():
        screen.print(shown(f"{name} of {package}"))
    if found.left_out:
        screen.print(shown(f"left out of this installation: {', '.join(found.left_out)}"))
    places = [
        [shown(one.what), shown("–" if one.path is None else near(str(one.path))), one.state, shown(one.why)]
        for one in found.places
    ]
    screen.print(grid("kept", "where", "state", "", rows=places))
    if found.problems:
        screen.print("[bold]Wrong:[/bold]")
        screen.print(bullets(found.problems))
    else:
        screen.print("Nothing is wrong.")
