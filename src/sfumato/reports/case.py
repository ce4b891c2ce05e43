"""What a report is about: the release, its audit, and, for the publisher alone, the table it was made of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa

from sfumato.arrays import Floats, Integers, combine_codes
from sfumato.attacks.judge import by_prior, covered, limits_of
from sfumato.auditor import Audit
from sfumato.errors import SfumatoError
from sfumato.randomness import SeededRandomness
from sfumato.release import Release
from sfumato.table import Table
from sfumato.table.column import Column

MOST_PEOPLE = 20_000
"""Beliefs of more people are those of a sample."""


@dataclass(frozen=True, eq=False)
class ReportCase:
    """A release with its audit; `table` and `policy` are None where the report is for everybody, or they are not at hand."""

    release: Release
    audit: Audit
    table: Table | None = None
    policy: str | None = None
    public: bool = False
    secret: str = ""

    @cached_property
    def each(self) -> tuple[ReportCase, ...]:
        """The case of each sensitive column alone, where each is protected by itself; else this one."""
        release: Any = self.release
        if len(release.secrets) == 1:
            return (self,)
        tables = {} if self.table is None else {part.schema.sensitive[0]: part for part in self.table.each()}
        return tuple(replace(self, release=release.of(name), table=tables.get(name), secret=name) for name in release.secrets)

    @property
    def quasi(self) -> tuple[Column, ...] | None:
        """The quasi values of all people, as the table or the release has them; None where neither shows them."""
        return self.table.quasi if self.table is not None else getattr(self.release, "quasi", None)

    @cached_property
    def sample(self) -> Integers:
        """The rows whose beliefs are looked at."""
        rows = 0 if not self.quasi else len(self.quasi[0].codes)
        chosen = np.arange(rows) if rows <= MOST_PEOPLE else SeededRandomness(0).permutation(rows)[:MOST_PEOPLE]
        return np.sort(chosen).astype(np.int64)

    @cached_property
    def beliefs(self) -> Floats | None:
        """A reader's belief in every value, for each person of the sample; None where the release cannot tell."""
        return self._believed("mean_beliefs")

    @cached_property
    def largest(self) -> Floats | None:
        """The largest belief over what fits each person, which bounds are compared with."""
        return self._believed("beliefs")

    def _believed(self, which: str) -> Floats | None:
        if not self.quasi or not self.release.shown_as.of_people:
            return None
        people = pa.table({column.name: column.take(self.sample).arrow() for column in self.quasi})
        try:
            beliefs: Floats = getattr(self.release, which)(people)
        except SfumatoError:
            return None
        return beliefs

    @cached_property
    def truth(self) -> tuple[Integers, Integers] | None:
        """Whose every fact about the sample is, and the place of the value among the release's; −1 where it is not shown.

        Everybody has one fact, unless people may have several values.
        """
        if self.table is None:
            return None
        place = {label: code for code, label in enumerate(self.release.labels)}
        codes = np.array([place.get(label, -1) for label in self.table.sensitive.labels], np.int64)
        bundles = self.table.bundles
        if bundles is None:
            return np.arange(len(self.sample)), codes[self.table.sensitive.codes[self.sample]]
        begin, value = bundles.at(self.sample).incidence()
        return np.repeat(np.arange(len(self.sample)), np.diff(begin)), codes[value]

    @property
    def several(self) -> bool:
        """Whether people may have several values of a secret."""
        return self.release.manifest.bundled

    @cached_property
    def bounds(self) -> Mapping[str, Fraction]:
        """The bound of every value, as far as it is known."""
        manifest = self.release.manifest
        if manifest.values is not None:
            return {str(entry["value"]): Fraction(str(entry["bound"])) for entry in manifest.values if "bound" in entry}
        limits = None if self.table is None else limits_of(self.release, self.table)
        return {} if limits is None else dict(zip(self.release.labels, map(Fraction, limits.tolist()), strict=True))

    @cached_property
    def covered(self) -> tuple[str, ...]:
        """Against whom beliefs in values are bounded, the strongest last."""
        return covered(self.release)

    @property
    def by_prior(self) -> bool:
        """Whether the promise starts from a belief before, which nobody has to hold: noise, and declared parameters."""
        return by_prior(self.release)

    @cached_property
    def shares(self) -> Mapping[str, Fraction]:
        """The share of every value among all people, as the table or the release shows it."""
        if self.table is not None:
            counts: Mapping[str, Any] = self.table.sensitive.histogram()
        else:
            counts = {str(entry["value"]): entry["count"] for entry in self.release.manifest.values or () if "count" in entry}
        total = self.release.manifest.rows if self.several else sum(counts.values())
        return {value: Fraction(count, total) for value, count in counts.items()} if total else {}

    @cached_property
    def alike(self) -> Integers | None:
        """How many people have the same quasi values, one entry a combination that occurs; None where nobody's are shown."""
        if not self.quasi:
            return None
        return np.unique(combine_codes([(column.codes, column.size) for column in self.quasi]), return_counts=True)[1]
