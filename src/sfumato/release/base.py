"""What every release has in common, whatever its form."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import pyarrow as pa

from sfumato.arrays import Floats
from sfumato.errors import FormatError
from sfumato.release.canonical import Shown, require_canonical
from sfumato.release.consistent import require_consistent
from sfumato.release.files import Stored, TableFormat, read_release, write_release
from sfumato.release.manifest import Claim, Manifest, own_bounds
from sfumato.release.weaker import WEAKER_CLAIMS
from sfumato.table.frames import Native, to_native
from sfumato.table.sensitive import Domain

if TYPE_CHECKING:
    from sfumato.query.answer import Answer
    from sfumato.query.language.predicate import Query

_FORMS: dict[str, type[Release]] = {}


@dataclass(frozen=True, eq=False)
class Release(ABC):
    """A published table. Immutable; a subclass per form."""

    manifest: Manifest

    form: ClassVar[str]
    shows_counts: ClassVar[bool] = True
    """Whether the tables show how often each sensitive value occurs, so that the manifest may list it."""

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        _FORMS[cls.form] = cls

    @property
    def claims(self) -> tuple[Claim, ...]:
        """What the release promises, and against whom."""
        return self.manifest.claims

    @property
    def rows(self) -> int:
        """Number of people published."""
        return self.manifest.rows

    @abstractmethod
    def tables(self) -> dict[str, pa.Table]:
        """Return what is published, as Arrow tables."""

    @abstractmethod
    def beliefs(self, people: Any) -> Floats:
        """Return, per given quasi row and sensitive value, the reader's belief, averaged over the published rows that fit."""

    def presence(self, people: Any) -> Floats:
        """Return a stranger's belief that a person with each of these quasi rows is in the table; 0 where it is ruled out."""
        raise FormatError(
            f"a release of the form {self.form!r} says nothing about presence: it shows who is in the table",
            hint="only the forms columns (method ambiguity) and views (method priview) do",
        )

    @property
    def native(self) -> Native:
        """The kind of frame that results come back in: that of the table published here, pyarrow for a loaded release."""
        return "pyarrow"

    def frames(self, kind: Native | None = None) -> dict[str, Any]:
        """Return what is published as frames of the caller's own kind, or of the kind asked for."""
        return {name: to_native(table, kind or self.native) for name, table in self.tables().items()}

    @abstractmethod
    def listing(self) -> tuple[tuple[Shown, ...], int]:
        """Return the rows of every table by group and by what they show, and the number of groups: what has a canonical order."""

    def require_canonical(self) -> None:
        """Raise `FormatError` unless rows and groups are in the one order that a release has (docs/formats.md)."""
        if self._disorder is not None:
            raise self._disorder

    def must_be_arranged(self, *, in_any_order: bool) -> bool:
        """Return whether rows or groups are not in canonical order; raise `FormatError` if they should be."""
        if not in_any_order:
            self.require_canonical()
        return self._disorder is not None

    @cached_property
    def _disorder(self) -> FormatError | None:
        try:
            require_canonical(*self.listing())
        except FormatError as error:
            return error
        return None

    def in_fixed_words(self, claim: Claim) -> Claim:
        """Return the claim of this kind against this adversary in the words that such a release makes it in."""
        one_row = bool(self.manifest.parameters["one_row_per_person"])
        if claim.kind == "presence":
            program = self.manifest.method.get("grouping") == "halves"
            return Claim.presence(claim.adversary, form=self.form, program=program, one_row_per_person=one_row)
        return Claim.association(claim.adversary, one_row_per_person=one_row)

    def require_fixed_words(self) -> None:
        """Raise `FormatError` where the release speaks in words of its own: free text could tell anything."""
        weaker = self.manifest.parameters.get("weaker_claim")
        free = weaker is not None and weaker != WEAKER_CLAIMS.get(self.manifest.method["name"])
        kinds = [claim.kind for claim in self.claims]
        if kinds not in ([], ["association"], ["presence", "association"]) or (weaker is not None and kinds):
            raise FormatError("manifest.json: these are not the claims that a release makes")
        if free or any(claim != self.in_fixed_words(claim) for claim in self.claims):
            raise FormatError(
                "manifest.json: a claim is not made in the words that such a claim has",
                hint="the release was edited or made by something else; get it again",
            )

    def require_listed_values(self) -> None:
        """Raise `FormatError` where the manifest lists other sensitive values than the tables show, or in another order."""
        listed = self.manifest.values
        shown = self.labels if self.shows_counts else ()
        if listed is not None and tuple(entry.get("value") for entry in listed) != shown:
            raise FormatError(
                "the manifest lists other sensitive values than the tables show, or in another order",
                hint="the release was edited or made by something else; get it again",
            )

    def require_known_names(self) -> None:
        """Raise `FormatError` where requirement or method speak of values or columns that the release does not have.

        Where people were left out, a value may have been theirs alone: then only the table can tell.
        """
        values = own_bounds(self.manifest.requirement)
        left_out = bool(self.manifest.parameters.get("suppression"))
        method, quasi = self.manifest.method, {column["name"] for column in self.manifest.schema["quasi"]}
        weights, column = method.get("weights"), method.get("column")
        columns = [*(weights if isinstance(weights, Mapping) else ()), *([column] if isinstance(column, str) else column or ())]
        if not quasi.issuperset(columns) or not (left_out or set(self.labels).issuperset(values)):
            raise FormatError(
                "manifest.json: it speaks of sensitive values or of columns that the release does not have",
                hint="the release was edited or made by something else; get it again",
            )

    @property
    def labels(self) -> tuple[str, ...]:
        """The sensitive values of the release as text, in the order of the tables."""
        domain: Domain = getattr(self, "domain")  # noqa: B009  (a field of every form)
        return domain.labels

    def faults(self) -> tuple[str, ...]:
        """Return what keeps a release in memory from being one that could be written down."""
        found = []
        checks = (self.require_canonical, self.require_fixed_words, self.require_listed_values, self.require_known_names)
        for check in checks:
            try:
                check()
            except FormatError as error:
                found.append(error.message)
        return tuple(found)

    @classmethod
    @abstractmethod
    def from_tables(cls, manifest: Manifest, tables: Mapping[str, pa.Table], *, in_any_order: bool = False) -> Release:
        """Return the release whose published tables these are; what is not in canonical order is refused, or put into it."""

    def count(
        self,
        query: str | Query,
        *,
        estimator: Literal["paper", "likelihood"] | None = None,
        confidence: float = 0.95,
    ) -> Answer:
        """Return the estimated count with its error, from the release alone; one line per cell for a GROUP BY."""
        from sfumato.query import count

        return count(self, query, estimator=estimator, confidence=confidence)

    def save(self, directory: str | Path, *, format: TableFormat = "parquet") -> Manifest:
        """Write the release to a new directory, whole or not at all, and return its manifest."""
        self.require_canonical()
        return write_release(Path(directory), self.manifest, self.tables(), format)

    @staticmethod
    def load(directory: str | Path) -> Release:
        """Return the release in a directory; damaged or manipulated files are refused."""
        stored = read_release(Path(directory))
        if stored.problems:
            raise FormatError(
                f"{directory} is not the release that its manifest describes: " + "; ".join(stored.problems),
                hint="run `sfumato audit` for the full account, and get the release again",
            )
        return release_from(stored)


def release_from(stored: Stored) -> Release:
    """Return stored tables as a release of the form that the manifest names."""
    form = _FORMS.get(stored.manifest.form)
    if form is None:
        raise FormatError(
            f"this sfumato does not know the form {stored.manifest.form!r}", hint=f"known: {', '.join(sorted(_FORMS))}"
        )
    release = form.from_tables(stored.manifest, stored.tables)
    release.require_fixed_words()
    release.require_listed_values()
    release.require_known_names()
    require_consistent(release.manifest)
    return release
