"""A first policy for a table, with every guess marked as one."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pyarrow as pa

from sfumato.errors import InputError
from sfumato.exact import decimal_text, percent
from sfumato.policy.guess import Looked, look
from sfumato.policy.profile import Profile, Roles, guess_roles, nice_width
from sfumato.policy.rule import OFFSET, USUAL_THETA, Rule, choose_rule
from sfumato.table import ReadOptions, Schema, Table
from sfumato.table.bins import MOST_UNBINNED

SHOWN = 15
"""How many values get a line of their own, the rarest first."""

_WIDEST = 50
_MORE = (
    "",
    "# Also possible:",
    '# [input]    how the file is read: delimiter = ";", decimal = ",", encoding = "cp1252", null = ["", "NA"]',
    "# [bins]     the edges between the values of a sensitive column of numbers: salary = [0, 1000, inf]",
    '# [domains]  values that a column may have besides those in this table: sex = ["f", "m", "x"]',
)


def draft_policy(
    path: str | Path, *, delimiter: str | None = None, decimal: str | None = None, encoding: str | None = None
) -> str:
    """Return the text of a policy for the table in a file: valid, runnable, commented, and only a guess.

    `delimiter`, `decimal` and `encoding` say how a text file is read; what is not said is guessed. As it stands the draft
    protects every sensitive value. It tells shares of them, so it is as private as the table.
    """
    looked = look(path, delimiter=delimiter, decimal=decimal, encoding=encoding)
    roles = guess_roles(looked.profiles)
    by_name = {column.name: column for column in looked.profiles}
    types = {name: _kind(by_name[name]) for name in (*roles.quasi, roles.sensitive)}
    recode = {name: _recode(by_name[name]) for name in roles.quasi}
    bins = _bins(by_name[roles.sensitive], looked.columns[roles.sensitive])
    missing = {name: "value" for name in (*roles.quasi, roles.sensitive) if by_name[name].missing}
    plain = {name: spec for name, (_, spec) in recode.items() if spec}
    table, repeated = _read(path, looked.options, roles, types, plain, bins, missing)
    rule = choose_rule(table.sensitive.histogram())
    return "\n".join(
        [
            *_head(Path(path).name, table.rows),
            *_input(looked, repeated=repeated),
            *_columns(roles, by_name),
            *_types(types),
            *_recodes(recode, by_name, table, roles),
            *_bin_lines(roles.sensitive, bins),
            *_missing(roles, missing),
            *_requirement(rule),
            *_METHOD,
            *_MORE,
            "",
        ]
    )


def _read(
    path: str | Path,
    options: ReadOptions,
    roles: Roles,
    types: dict[str, str],
    recode: dict[str, dict[str, object]],
    bins: list[float],
    missing: dict[str, str],
) -> tuple[Table, bool]:
    """Return the table as the draft reads it, and whether somebody has several rows."""
    for strict in (True, False):
        schema = Schema(
            identifier=roles.identifier,
            quasi=roles.quasi,
            sensitive=[roles.sensitive],
            other=roles.other,
            types=types,  # type: ignore[arg-type]  # the kinds of the profiles
            recode=recode,
            bins={roles.sensitive: bins} if bins else {},
            missing=missing,  # type: ignore[arg-type]
            one_row_per_person=strict,
        )
        try:
            return Table.read(path, schema, options=options), not strict
        except InputError:
            if not strict or not roles.identifier:
                raise
    raise AssertionError("unreachable: the second reading returns or raises")


def _kind(column: Profile) -> str:
    return "categorical" if column.place else column.kind


def _recode(column: Profile) -> tuple[str, dict[str, object]]:
    """Return the recoding as a policy writes it, and as the schema takes it; both empty when none is needed."""
    if column.place:
        return ("{ prefix = 2 }", {"prefix": 2}) if column.distinct > 20 else ("", {})
    if column.kind == "date":
        return ('{ to = "month" }', {"to": "month"}) if column.distinct > 12 else ("", {})
    if column.kind == "numeric" and column.distinct > 50 and column.low is not None and column.high is not None:
        width = nice_width(column.low, column.high)
        shown = _number(width)
        return f"{{ width = {shown} }}", {"width": shown}
    return "", {}


def _bins(column: Profile, values: pa.ChunkedArray) -> list[float]:
    """Return edges between about ten bins of equal numbers of people, rounded to two figures; empty when none are needed."""
    if column.kind != "numeric" or column.distinct <= MOST_UNBINNED:
        return []
    kind = values.type.value_type if pa.types.is_dictionary(values.type) else values.type
    numbers = values.cast(kind).drop_null().cast(pa.float64(), safe=False).to_numpy()
    cuts = np.quantile(numbers[~np.isnan(numbers)], np.arange(1, 10) / 10)
    inner = sorted({edge for edge in (float(f"{cut:.2g}") for cut in cuts) if np.isfinite(edge)})
    return [float("-inf"), *inner, float("inf")]


def _number(number: float) -> int | float:
    """Return a number as TOML writes it: whole ones without a point, as long as they fit in 64 bits."""
    return int(number) if number.is_integer() and abs(number) < 1 << 53 else number


def _head(name: str, rows: int) -> list[str]:
    people = "1 person" if rows == 1 else f"{rows:,} people"
    return [
        f"# A DRAFT of a policy for {_comment(name)} ({people}), made by looking at the table.",
        "# Roles, types and recodings are guesses: check every one of them before anything is published.",
        "# The comments tell shares of the original table: keep this file private.",
        "",
    ]


def _input(looked: Looked, *, repeated: bool) -> list[str]:
    """Return how the file is read, as far as it is not the usual way."""
    lines = []
    for key in ("delimiter", "decimal", "encoding"):
        if key in looked.why:
            lines.append(f"{key} = {_key(str(getattr(looked.options, key)))}  # {looked.why[key]}")
    if repeated:
        lines += [
            "# ATTENTION: two rows have the same identifier. Where they are one person, a bound per row is no bound per person:",
            "# make it one row per person and delete the next line, or move a column that does not name people to other.",
            "one_row_per_person = false",
        ]
    return ["[input]", *lines, ""] if lines else []


def _columns(roles: Roles, by_name: dict[str, Profile]) -> list[str]:
    weights = " (survey weights)" if roles.other else ""
    counts = ", ".join(f"{_comment(name)} {column.distinct:,}" for name, column in by_name.items())
    gaps = ", ".join(f"{_comment(name)} {column.missing:,}" for name, column in by_name.items() if column.missing)
    return [
        "[columns]                       # every column has exactly one role",
        f"identifier = {_list(roles.identifier)}  # names a person: compared, then dropped",
        f"quasi      = {_list(roles.quasi)}  # what a reader may know: published as recoded below",
        f"sensitive  = {_list((roles.sensitive,))}  # what is protected",
        f"other      = {_list(roles.other)}  # dropped: neither published nor used{weights}",
        f"# Different values: {counts}.",
        *([f"# Missing values: {gaps}."] if gaps else []),
        "",
    ]


def _types(types: dict[str, str]) -> list[str]:
    return [
        "[types]                         # numeric, categorical or date",
        *(f'{_key(n)} = "{k}"' for n, k in types.items()),
        "",
    ]


def _recodes(
    recode: dict[str, tuple[str, dict[str, object]]], by_name: dict[str, Profile], table: Table, roles: Roles
) -> list[str]:
    lines = ["[recode]                        # what is published instead of the exact values"]
    for name, (written, _) in recode.items():
        if written:
            lines.append(f"{_key(name)} = {written}")
        elif by_name[name].kind == "categorical" and by_name[name].distinct > 50:
            lines.append(f"# {_key(name)} = {{ prefix = 3 }}   # {by_name[name].distinct:,} values are many: make them coarser")
    lines.append(
        f"# As recoded here, {percent(table.unique_share())} of people are the only one with their {_comment(_and(roles.quasi))}."
    )
    return [*lines, ""]


def _bin_lines(sensitive: str, bins: list[float]) -> list[str]:
    if not bins:
        return []
    edges = ", ".join(str(_number(edge)) for edge in bins)
    return [
        "[bins]                          # numbers that count as one value, each from its edge up to the next",
        f"{_key(sensitive)} = [{edges}]",
        "",
    ]


def _missing(roles: Roles, missing: dict[str, str]) -> list[str]:
    lines = ["[missing]                       # value (a value of its own) | drop | error"]
    for name in (*roles.quasi, roles.sensitive):
        if name in missing:
            lines.append(f'{_key(name)} = "value"')
    if roles.sensitive not in missing:
        lines.append(f'{_key(roles.sensitive)} = "error"')
    else:
        lines.append('# "drop" would leave those people out; then the claim only holds with against = "reader"')
    return [*lines, ""]


def _requirement(rule: Rule) -> list[str]:
    theta, most = decimal_text(rule.theta), rule.most
    share, bound = rule.shares[most], rule.bound(most)
    lines = [
        "[requirement]",
        'model   = "f-privacy"',
        'against = "engineer"            # reader | engineer: also somebody who knows this program',
        f"theta   = {theta.ljust(22)}# a reader may become at most theta · share + offset sure of a value;",
        f'offset  = "{decimal_text(OFFSET)}"                # the most frequent, {_comment(most)}: '
        f"{theta} · {percent(share)} + {percent(OFFSET)} = {percent(rule.theta * share + OFFSET)}",
    ]
    if bound == 1:
        lines.append("# ATTENTION: everybody has the same sensitive value, so there is nothing that a release could hide.")
    elif rule.theta < USUAL_THETA:
        lines.append(
            f"# {decimal_text(USUAL_THETA)} is a usual theta; it would leave the most frequent value with a bound above 1/2."
        )
    ranked = sorted(rule.shares, key=lambda value: (rule.shares[value], value))
    lines += ["", "[requirement.bounds]            # own bounds for single values; remove the # from a line to use it"]
    own = {value: f'# {_key(value)} = "{decimal_text(rule.suggestion(value))}"' for value in ranked[:SHOWN]}
    wide = min(max(map(len, own.values())), _WIDEST)
    for value, line in own.items():
        now = f"{percent(rule.shares[value])} of people now; a reader may become at most {percent(rule.bound(value))} sure"
        lines.append(f"{line.ljust(wide)}  # {now}")
    if len(ranked) > SHOWN:
        lines.append(f"# … and {len(ranked) - SHOWN} more, which more people have; `sfumato explain --all` shows them.")
    return [*lines, ""]


_METHOD = [
    "# [method]                      # without it: near people share a group where the table leaves room for that, else small",
    '# name  = "boxes"               # groups. `sfumato explain` measures what each way would answer and expose.',
    "# floor = 100                   # at least so many people in a box",
]


def _key(name: str) -> str:
    quoted = json.dumps(name, ensure_ascii=False)
    return "".join(one if one.isprintable() else f"\\U{ord(one):08x}" for one in quoted)


def _list(names: tuple[str, ...]) -> str:
    return "[" + ", ".join(_key(name) for name in names) + "]"


def _and(names: tuple[str, ...]) -> str:
    return names[0] if len(names) == 1 else ", ".join(names[:-1]) + " and " + names[-1]


def _comment(text: str) -> str:
    """Return text that cannot end the comment it stands in."""
    return "".join(letter if letter.isprintable() else " " for letter in text)
