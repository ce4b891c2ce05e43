"""A first policy for a table, with every guess marked as one."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import numpy as np
import pyarrow as pa

from sfumato.errors import InputError
from sfumato.exact import decimal_text, exact, percent
from sfumato.policy.profile import Profile, Roles, guess_roles, nice_width, profiles
from sfumato.table import Schema, Table
from sfumato.table.bins import MOST_UNBINNED

THETA, OFFSET = 8, "0.02"
"""The papers' default bound: 8·share + 0.02."""

SHOWN = 60
"""How many values get a line of their own, the rarest first."""

_ROUND = tuple(exact(bound) for bound in ("0.02", "0.03", "0.05", "0.1", "0.2", "0.3", "0.5"))


def draft_policy(path: str | Path) -> str:
    """Return the text of a policy for the table in a file: valid, runnable, commented, and only a guess.

    It tells shares of the sensitive values, so it is as private as the table.
    """
    columns, raw = profiles(path)
    roles = guess_roles(columns)
    by_name = {column.name: column for column in columns}
    types = {name: _kind(by_name[name]) for name in (*roles.quasi, roles.sensitive)}
    recode = {name: _recode(by_name[name]) for name in roles.quasi}
    bins = _bins(by_name[roles.sensitive], raw[roles.sensitive])
    missing = {name: "value" for name in (*roles.quasi, roles.sensitive) if by_name[name].missing}
    table, repeated = _read(path, roles, types, {n: plain for n, (_, plain) in recode.items() if plain}, bins, missing)
    return "\n".join(
        [
            *_head(Path(path).name, table.rows),
            *_columns(roles, by_name, repeated=repeated),
            *_types(types),
            *_recodes(recode, by_name, table, roles),
            *_bin_lines(roles.sensitive, bins),
            *_missing(roles, missing),
            *_requirement(table),
            *_method(),
            "",
        ]
    )


def _read(
    path: str | Path,
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
            types=types,  # type: ignore[arg-type]  # the kinds of the profiles
            recode=recode,
            bins={roles.sensitive: bins} if bins else {},
            missing=missing,  # type: ignore[arg-type]
            one_row_per_person=strict,
        )
        try:
            return Table.read(path, schema), not strict
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
        shown = int(width) if width.is_integer() else width
        return f"{{ width = {shown} }}", {"width": shown}
    return "", {}


def _bins(column: Profile, values: pa.ChunkedArray) -> list[float]:
    """Return edges between about ten bins of equal numbers of people, rounded to two figures; empty when none are needed."""
    if column.kind != "numeric" or column.distinct <= MOST_UNBINNED:
        return []
    kind = values.type.value_type if pa.types.is_dictionary(values.type) else values.type
    numbers = values.cast(kind).drop_null().cast(pa.float64(), safe=False).to_numpy()
    cuts = np.quantile(numbers[~np.isnan(numbers)], np.arange(1, 10) / 10)
    inner = sorted({float(f"{cut:.2g}") for cut in cuts})
    return [float("-inf"), *inner, float("inf")]


def _head(name: str, rows: int) -> list[str]:
    return [
        f"# A DRAFT of a policy for {_comment(name)} ({rows:,} people), made by looking at the table.",
        "# Roles, types and recodings are guesses: check every one of them before anything is published.",
        "# The comments tell shares of the original table: keep this file private.",
        "",
    ]


def _columns(roles: Roles, by_name: dict[str, Profile], *, repeated: bool) -> list[str]:
    lines = []
    if repeated:
        lines += [
            "# ATTENTION: somebody has several rows here. A bound per row is no bound per person: make it one row per person",
            "# and delete the next two lines, or move the column from identifier to other if it does not name people.",
            "[input]",
            "one_row_per_person = false",
            "",
        ]
    lines += ["[columns]                       # every column has exactly one role"]
    lines.append(f"identifier = {_list(roles.identifier)}  # names a person: compared, then dropped")
    lines.append(f"quasi      = {_list(roles.quasi)}  # what a reader may know: published as recoded below")
    lines.append(f"sensitive  = {_list((roles.sensitive,))}  # what is protected")
    lines.append("other      = []  # dropped: neither published nor used")
    lines += [
        f"# {_comment(name)}: {column.distinct:,} different values, {column.missing:,} missing"
        for name, column in by_name.items()
    ]
    return [*lines, ""]


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
    edges = ", ".join(f"{int(edge)}" if edge.is_integer() else f"{edge}" for edge in bins)
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


def _requirement(table: Table) -> list[str]:
    counts = table.sensitive.histogram()
    total = sum(counts.values())
    lines = [
        "[requirement]",
        'model   = "f-privacy"',
        'against = "engineer"            # reader | engineer: also somebody who knows this program',
        f"theta   = {THETA}                     # a reader may become at most theta · share + offset sure of a value",
        f'offset  = "{OFFSET}"',
        "",
        "[requirement.bounds]            # own bounds for single values; remove the # from a line to use it, 1 means no bound",
    ]
    ranked = sorted((value for value in counts if counts[value]), key=lambda value: (counts[value], value))
    for value in ranked[:SHOWN]:
        share = Fraction(counts[value], total)
        rule = min(Fraction(1), THETA * share + exact(OFFSET))
        sure = f"at most {percent(rule)} sure" if rule < 1 else "certain: the rule does not protect this value"
        lines.append(f"# {_comment(value)}: {percent(share)} of people now; a reader may become {sure}")
        lines.append(f'# {_key(value)} = "{decimal_text(_stricter(share, rule))}"')
    if len(ranked) > SHOWN:
        lines.append(f"# … and {len(ranked) - SHOWN} values that more people have.")
    return [*lines, ""]


def _stricter(share: Fraction, rule: Fraction) -> Fraction:
    """Return a round bound below the rule's that is still well above the share, or 1 where there is none."""
    return max((bound for bound in _ROUND if share * Fraction(6, 5) <= bound < rule), default=Fraction(1))


def _method() -> list[str]:
    return [
        "[method]",
        'name     = "buckets"',
        "max_size = 50                   # a bound below 1/50 needs larger buckets",
    ]


def _key(name: str) -> str:
    return json.dumps(name, ensure_ascii=False).replace("\x7f", "\\u007f")


def _list(names: tuple[str, ...]) -> str:
    return "[" + ", ".join(_key(name) for name in names) + "]"


def _and(names: tuple[str, ...]) -> str:
    return names[0] if len(names) == 1 else ", ".join(names[:-1]) + " and " + names[-1]


def _comment(text: str) -> str:
    """Return text that cannot end the comment it stands in."""
    return "".join(letter if letter.isprintable() else " " for letter in text)
