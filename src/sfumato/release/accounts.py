"""The table `groups` of releases with soft cuts: per group, what its refused tests may have told, in thousandths rounded down."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pyarrow as pa

from sfumato.arrays import Array, Integers
from sfumato.errors import FormatError
from sfumato.release.canonical import Shown
from sfumato.release.careful import groups_of, take_table, whole_numbers
from sfumato.release.manifest import Manifest

GROUPS = "groups"
GROUP, TOLD = "group", "told"
WHOLE = 1000
"""A group whose tests were never refused told nothing: 1000 thousandths."""


def account_tables(told: Integers | None) -> dict[str, pa.Table]:
    """Return the table `groups` (group, told), or none where groups have no accounts."""
    if told is None:
        return {}
    numbers = pa.array(np.arange(1, len(told) + 1), pa.int32())
    return {GROUPS: pa.table({GROUP: numbers, TOLD: pa.array(told, pa.int32())})}


def account_names(manifest: Manifest) -> tuple[str, ...]:
    """Return the name of the table that a release with such a manifest has beside those of its form."""
    return (GROUPS,) if manifest.basis == "soft" else ()


def account_listing(told: Integers | None) -> tuple[Shown, ...]:
    """Return the rows of the table by what they show."""
    return () if told is None else (Shown(GROUPS, np.arange(len(told)), told.astype(np.int64)),)


def renumbered(told: Integers | None, number: Array) -> Integers | None:
    """Return the accounts of groups that get other numbers."""
    return None if told is None else told[np.argsort(number)]


def read_accounts(
    manifest: Manifest, tables: Mapping[str, pa.Table], groups: int, *, in_any_order: bool = False
) -> Integers | None:
    """Return the account of every group; a table that cannot be one of accounts is refused."""
    if not account_names(manifest):
        return None
    table = take_table(tables, GROUPS, {GROUP: "group", TOLD: "group"})
    number, _ = groups_of(table, GROUP, GROUPS, groups)
    if table.num_rows != groups:
        raise FormatError(f"table {GROUPS!r} has {table.num_rows} rows for {groups} groups")
    if not in_any_order and (np.diff(number) < 0).any():
        raise FormatError(
            f"the rows of table {GROUPS!r} are not in the canonical order, and another order could tell anything",
            hint="the release was made or changed by something else; get it again",
        )
    told = whole_numbers(table, TOLD, GROUPS)
    if told.max(initial=0) > WHOLE:
        raise FormatError(f"table {GROUPS!r}: what a group told lies between 1 and {WHOLE} thousandths")
    found = np.empty(groups, np.int64)
    found[number] = told
    return found
