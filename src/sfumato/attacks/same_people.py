"""Whether a table is the one that a release was made of: against any other, every figure of an attack would be wrong."""

from __future__ import annotations

from typing import Any

import numpy as np

from sfumato.auditor.original import quasi_keys
from sfumato.errors import InputError
from sfumato.table.table import Table

HINT = "the original table, read as the publisher read it (its policy); `sfumato audit --table` says what differs"


def require_same_people(release: Any, table: Table) -> None:
    """Raise unless columns, the number of people, values and published quasi values are the table's, as far as they are shown."""
    manifest = release.manifest
    quasi, sensitive = ([str(one["name"]) for one in manifest.schema[role]] for role in ("quasi", "sensitive"))
    if {*quasi} != {column.name for column in table.quasi} or sensitive != [*table.sensitive.domain.names]:
        raise InputError("the release and the table do not have the same quasi and sensitive columns", hint=HINT)
    fewer = manifest.parameters.get("suppression") or manifest.parameters.get("dummies")
    if release.rows > table.rows or (release.rows < table.rows and not fewer):
        raise InputError(f"the release is about {release.rows:,} people, and the table has {table.rows:,}", hint=HINT)
    if manifest.values is not None:
        listed = {str(one["value"]): int(one["count"]) for one in manifest.values}
        own = table.sensitive.histogram()
        differ = sum(listed.get(value, 0) != own.get(value, 0) for value in {*listed, *own})
        if differ:
            raise InputError(
                f"{differ:,} sensitive values are published another number of times than the table has them", hint=HINT
            )
    if release.form in ("buckets", "randomized") and not fewer:
        key = np.unique(quasi_keys(release.quasi, table), return_inverse=True)[1]
        many = np.bincount(key[: release.rows], minlength=int(key.max()) + 1)
        gone = int(np.maximum(np.bincount(key[release.rows :], minlength=len(many)) - many, 0).sum())
        if gone:
            raise InputError(f"the release has no row with the quasi values of {gone:,} people of the table", hint=HINT)


def require_outsiders(release: Any, outsiders: Table) -> None:
    """Raise unless people who are not in the table have the quasi columns of the release."""
    quasi = {str(one["name"]) for one in release.manifest.schema["quasi"]}
    if quasi != {column.name for column in outsiders.quasi}:
        raise InputError(
            "outsiders: they do not have the quasi columns of the release", hint="people with the same quasi columns"
        )
