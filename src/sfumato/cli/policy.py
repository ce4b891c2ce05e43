"""`sfumato policy`: a draft of a policy, its check against a table, what two policies say differently, and their schema."""

from __future__ import annotations

import re
import shlex
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from sfumato.cli._options import Data, From, JsonOption, SqlOption, table_source
from sfumato.cli._run import verb
from sfumato.cli._show import console, grid, print_json, shown, warn
from sfumato.cli._state import writing

if TYPE_CHECKING:
    from sfumato.explanation.tightness import Tightness
    from sfumato.policy import Decision, Policy
    from sfumato.table import Table
    from sfumato.table.read import TablePath

app = typer.Typer(help="Write, check and compare policy files.", no_args_is_help=True)

ColumnsOption: TypeAlias = Annotated[list[str] | None, typer.Option(help="Columns, with commas between them.")]
PolicyPath: TypeAlias = Annotated[Path, typer.Argument(help="A policy, a TOML file.")]

ROWS = 20
"""A table of more columns is listed with --all; without, those with a ? only."""

_REVIEWED = re.compile(r"^reviewed[ \t]*=[ \t]*false\b", re.MULTILINE)


@app.callback()
def group() -> None:
    """Write, check and compare policy files."""


@app.command("init")
@verb
def init(
    data: Data = None,
    *,
    database: From = None,
    sql: SqlOption = None,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="A new file; standard output otherwise.")] = None,
    sensitive: Annotated[list[str] | None, typer.Option(help="What is protected: columns, with commas between them.")] = None,
    quasi: Annotated[list[str] | None, typer.Option(help="What a reader may know, and is published.")] = None,
    identifier: Annotated[list[str] | None, typer.Option(help="What names a person, and is dropped.")] = None,
    other: Annotated[list[str] | None, typer.Option(help="What is dropped for another reason.")] = None,
    reviewed: Annotated[
        bool, typer.Option("--reviewed", help="You know the role of every column: the draft can be published as it is.")
    ] = False,
    strict: Annotated[
        bool, typer.Option("--strict", help="Stricter bounds: theta and odds of 4 in place of 8; less is told.")
    ] = False,
    declared: Annotated[
        bool,
        typer.Option("--declared", help="For declared parameters and synthetic records: nothing follows from the table."),
    ] = False,
    rename: Annotated[bool, typer.Option("--rename", help="Number columns of one name: score, score_2.")] = False,
    names: ColumnsOption = None,
    delimiter: Annotated[
        str | None, typer.Option(help="Between the values of a text file, such as ';' or tab; guessed otherwise.")
    ] = None,
    decimal: Annotated[str | None, typer.Option(help="The decimal sign, '.' or ','; guessed otherwise.")] = None,
    encoding: Annotated[str | None, typer.Option(help="Such as utf-8, cp1252 or utf-16; guessed otherwise.")] = None,
) -> None:
    """Write a commented draft of a policy for a table; check every role before you use it.

    Every column gets a role, with the reason; what is not clear is dropped. --sensitive, --quasi, --identifier and --other fix
    roles up front, --names says what the columns of a file without a header are called. The draft says reviewed = false, and
    nothing is published until somebody has looked and says true. It tells shares of the original table, so keep it private.
    """
    from sfumato.errors import InputError, OutputError
    from sfumato.policy import draft_policy
    from sfumato.policy.wording import hint_in_toml
    from sfumato.receipt import refuse_in_release
    from sfumato.release.atomic import write_private

    if out is not None:
        if out.exists() or out.is_symlink():
            raise OutputError(f"{out} exists already; it is not overwritten", hint="choose another --out")
        if not out.parent.is_dir():
            raise OutputError(f"cannot write {out}: there is no directory {out.parent}", hint="make it first")
        refuse_in_release(out)
    between = "\t" if delimiter in ("\\t", "tab") else delimiter
    source = table_source(data, database, sql)
    try:
        text = draft_policy(
            source,
            delimiter=between,
            decimal=decimal,
            encoding=encoding,
            names=_listed(names),
            roles={
                "identifier": _listed(identifier),
                "quasi": _listed(quasi),
                "sensitive": _listed(sensitive),
                "other": _listed(other),
            },
            rename=rename,
            reviewed=reviewed,
            strict=strict,
            declared=declared,
        )
    except InputError as error:
        hint = hint_in_toml(error.hint)
        if hint is None or "[input]" not in hint:
            raise
        raise InputError(error.message, hint=f"{hint}; here: --delimiter, --decimal, --encoding, --names") from None
    if out is None:
        sys.stdout.write(text)
        return
    try:
        with writing(out):
            write_private(out, lambda stream: stream.write(text.encode()))
    except OSError as error:
        raise OutputError(f"cannot write {out}: {error.strerror or error}", hint="check the path and its permissions") from None
    where = "…" if data is None else shown(shlex.quote(str(data)))
    console().print(
        f"Wrote a draft to {shown(out)}. Look at the role of every column, at what has a ? first; then: "
        f"sfumato policy check {shown(shlex.quote(str(out)))} {where}",
        soft_wrap=True,
    )


@app.command("check")
@verb
def check(
    policy: PolicyPath,
    data: Data = None,
    *,
    database: From = None,
    sql: SqlOption = None,
    reviewed: Annotated[
        bool, typer.Option("--reviewed", help="You have looked at every role: write reviewed = true into the policy.")
    ] = False,
    every: Annotated[bool, typer.Option("--all", help="List every column, however many there are.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Check a policy, by itself or with its table: everything that is wrong at once, and every role with what speaks for it.

    Exit code 0 says that it can be used. A draft that nobody has reviewed passes, with a note.
    """
    from sfumato.errors import PolicyError
    from sfumato.policy import Policy

    given = data is not None or sql is not None
    source = table_source(data, database, sql) if given else None
    chosen = Policy.load(policy, data=source)
    decisions, table, tight = ([], None, None) if source is None else _judged(chosen, source)
    if reviewed and not chosen.reviewed:
        if source is None:
            raise PolicyError("--reviewed: the roles are looked at beside the table", hint="give the table too")
        _say_reviewed(policy)
    if as_json:
        print_json(
            {
                "reviewed": chosen.reviewed or reviewed,
                "warnings": chosen.warnings,
                "rows": None,
                **({} if table is None else _facts(table)),
                "columns": [vars(decision) for decision in decisions],
                "too_tight": None if tight is None else tight.to_dict(),
            }
        )
        return
    for warning in chosen.warnings:
        warn(warning)
    if tight is not None:
        warn(tight.sentence())
    _show(policy, chosen, decisions, table, reviewed=reviewed, every=every)


def _judged(chosen: Policy, source: TablePath) -> tuple[list[Decision], Table, Tightness | None]:
    """Return every role with its reason, the table, and which bounds are too tight; raise where the policy cannot be kept."""
    from sfumato.explanation.explanation import tightness_of
    from sfumato.methods import default_method
    from sfumato.policy import review
    from sfumato.table.people import require_shared_texts

    table = chosen.read_table(source)
    table.require_people()
    require_shared_texts(table)
    method = chosen.method or default_method(chosen.requirement, table)
    method.require_provable(table, chosen.requirement)
    method.require_bands(table, method.bounds(table, chosen.requirement))
    return review(source, chosen.schema, chosen.options), table, tightness_of(table, chosen.requirement, chosen.method)


def _facts(table: Table) -> dict[str, int]:
    """Return how many rows there are; and where a person may have several values, how many people and facts."""
    if table.bundles is None:
        return {"rows": table.rows}
    rows = table.rows if table.choice is None else table.choice.rows
    return {"rows": rows, "people": table.rows, "facts": table.bundles.facts}


def _show(
    policy: Path, chosen: Policy, decisions: Sequence[Decision], table: Table | None, *, reviewed: bool, every: bool
) -> None:
    from sfumato.table.people import often_alone

    screen = console()
    whom = "people" if chosen.schema.people_rule.unit is None else "households"
    many = "" if table is None else f"{table.rows:,} {'rows' if table.bundles is None else whom}"
    beside = "" if table is None else f" for this table of {many}"
    screen.print(f"{shown(policy)}: no error was found{beside}.", soft_wrap=True)
    if reviewed and not chosen.reviewed:
        screen.print("It says reviewed = true now, and can be published.")
    elif not chosen.reviewed:
        screen.print("It is a draft: once every role is right, --reviewed says so, or reviewed = true in the file.")
    listed = decisions if every or len(decisions) <= ROWS else [one for one in decisions if not one.sure][:ROWS]
    if listed:
        rows = [("" if decision.sure else "?", shown(decision.column), decision.role, shown(decision.why)) for decision in listed]
        screen.print(grid("", "column", "role", "why", rows=rows))
    if len(listed) < len(decisions):
        counts = Counter(decision.role for decision in decisions)
        roles = ", ".join(f"{number} {role}" for role, number in counts.items())
        screen.print(f"Of {len(decisions)} columns ({roles}) shown {len(listed)}, those with a ?: --all lists every one.")
    doubtful = sum(not decision.sure for decision in decisions)
    if doubtful:
        several = "1 role has" if doubtful == 1 else f"{doubtful} roles have"
        screen.print(f"{several} a ?: look there. No program can tell that a secret was called quasi, and is published.")
    for sentence in [] if table is None else often_alone(table):
        warn(sentence)
    for sentence in [] if table is None or table.bundles is None else table.about_people():
        screen.print(shown(sentence))


def _say_reviewed(policy: Path) -> None:
    """Write reviewed = true into the file, in one step; nothing else in it changes."""
    from sfumato.errors import OutputError
    from sfumato.release.atomic import replace_private

    text = policy.read_text(encoding="utf-8")
    changed = _REVIEWED.sub("reviewed = true", text, count=1)
    try:
        with writing(policy):
            replace_private(policy, lambda stream: stream.write(changed.encode()))
    except OSError as error:
        raise OutputError(f"cannot write {policy}: {error.strerror or error}", hint="write reviewed = true yourself") from None


@app.command("diff")
@verb
def diff(
    old: PolicyPath,
    new: PolicyPath,
    *,
    as_json: JsonOption = False,
) -> None:
    """Tell in sentences what a new policy says differently from an old one, and what that means."""
    from sfumato.policy import Policy, differences

    said = differences(Policy.load(old), Policy.load(new))
    if as_json:
        print_json(said)
        return
    screen = console()
    for sentence in said or ["Both policies mean the same."]:
        screen.print(shown(sentence), soft_wrap=True)


def _listed(given: Sequence[str] | None) -> list[str]:
    """Return the columns of an option that may be repeated and may hold several with commas between them."""
    return [name.strip() for text in given or () for name in text.split(",") if name.strip()]


@app.command("schema")
@verb
def schema() -> None:
    """Print the JSON Schema of policies, by which editors complete and check them while you write.

    Save it beside the policy, and let the policy begin with the line "#:schema ./policy.schema.json": editors that use taplo
    (Even Better TOML) read it. It knows the models and methods of installed packages too.
    """
    from sfumato.policy.schema import policy_schema

    print_json(policy_schema())
