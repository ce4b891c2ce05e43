"""The sensitive values of every group, as an auditor counts them: the same for every form that shows groups."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sfumato.arrays import Floats, Integers, Small
from sfumato.auditor.result import Finding
from sfumato.table.sensitive import Domain


@dataclass(frozen=True, eq=False)
class Histograms:
    """How often each group shows each sensitive value: entries sorted by group, then by value.

    With decoys every group shows so many more values than it has people. `told` is the account of each group where cuts were
    soft, in thousandths.
    """

    group: Small
    value: Small
    count: Integers
    sizes: Integers
    domain: Domain
    decoys: int = 0
    told: Integers | None = None

    @property
    def labels(self) -> tuple[str, ...]:
        """The sensitive values as text."""
        return self.domain.labels

    @cached_property
    def people(self) -> int:
        """Number of people published."""
        return int(self.sizes.sum())

    @cached_property
    def start(self) -> Integers:
        """First entry of each group; one more than there are groups."""
        return np.searchsorted(self.group, np.arange(len(self.sizes) + 1)).astype(np.int64)

    @cached_property
    def shown(self) -> Integers:
        """Number of sensitive values shown in each group."""
        return np.bincount(self.group, weights=self.count, minlength=len(self.sizes)).astype(np.int64)

    @cached_property
    def totals(self) -> dict[str, int]:
        """How often each sensitive value is shown; 0 for none."""
        counts = np.bincount(self.value, weights=self.count, minlength=len(self.labels)).astype(np.int64)
        return dict(zip(self.labels, map(int, counts), strict=True))

    @cached_property
    def shares(self) -> Floats:
        """The share of each entry's value in its group, as a float."""
        return self.count / np.maximum(self.shown, 1)[self.group]

    @property
    def exposure(self) -> float | None:
        """The mean over published people of the share of their true value in their own group; None where nobody is published.

        That is the belief (posterior) of a reader who knows which row is hers; one who sees several rows that fit believes less.
        Of the values shown with decoys, as many as there are people are taken as real, each as likely as the next.
        """
        if not self.people:
            return None
        real = self.count * (self.sizes / np.maximum(self.shown, 1))[self.group]
        return float((real * self.shares).sum()) / self.people

    def stronger(self, noun: str) -> dict[str, Finding]:
        """Return what adversaries beyond the claims reach: who knows somebody of the group, who asks for parts of a value."""
        findings = {}
        size = self.sizes[self.group] + self.decoys
        if len(size):
            knows_one = np.where(size > 1, self.count / np.maximum(size - 1, 1), 1.0)
            findings[f"insider who knows one other person of the {noun}"] = Finding(
                f"worst belief of a reader who knows who is in a {noun} and the value of one other (a different value)",
                float(knows_one.max()),
            )
        for name, belief in self._worst_parts().items():
            findings[f"belief in {name} alone"] = Finding(
                f"worst belief in a single value of {name}, over all combinations", belief
            )
        return findings

    def _worst_parts(self) -> dict[str, float]:
        """Return per sensitive column the worst belief in one of its values, when there are several columns."""
        worst: dict[str, float] = {}
        for name, column in zip(self.domain.names, self.domain.table.columns, strict=True) if len(self.domain.names) > 1 else ():
            part = np.asarray(column.combine_chunks().dictionary_encode("encode").indices, dtype=np.int64)
            key, where = np.unique(self.group.astype(np.int64) * (part.max() + 1) + part[self.value], return_inverse=True)
            together = np.bincount(where, weights=self.count)
            worst[name] = float((together / np.maximum(self.sizes[key // (part.max() + 1)], 1)).max())
        return worst
