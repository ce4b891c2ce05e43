"""What every release has in common, whatever its form."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

import numpy as np
import pyarrow as pa

from sfumato import notebook
from sfumato.arrays import Array, Floats, Integers
from sfumato.errors import FormatError, InputError, did_you_mean
from sfumato.form import FORMS, Form
from sfumato.release.accounts import fixed_claim
from sfumato.release.canonical import CanonicalOrder, TableRows, canonical_order, require_canonical
from sfumato.release.consistent import inconsistencies
from sfumato.release.files import TableFormat, read_manifest, read_release, require_sound, write_release
from sfumato.release.manifest import Claim, Manifest, own_bounds
from sfumato.release.paper_claims import weaker_claim
from sfumato.release.weights import stray_weights
from sfumato.table.column import Column, Domain
from sfumato.table.frames import Native, to_native

if TYPE_CHECKING:
    from sfumato.query.answer import Answer, Estimator
    from sfumato.query.comparing import Comparison
    from sfumato.query.crosstab import Crosstab
    from sfumato.query.language.predicate import Query
    from sfumato.query.quality import Quality, QualityOfEach

RELEASES: dict[str, type[Release]] = {}
"""The classes of releases by their form."""

_WORDS = "manifest.json: a claim is not worded as this version words such claims"

SHOWN = 5
"""How many rows of each published table a notebook shows."""


class _Fields(ABC):
    """What every form has as a field of its own."""

    if TYPE_CHECKING:  # a field of some forms, which a property here would take for its default

        @property
        def domain(self) -> Domain:
            """The sensitive values of the release; of several secrets each has its own."""

    @property
    @abstractmethod
    def made_from(self) -> Native:
        """The kind of frame that the table came in."""


@dataclass(frozen=True, eq=False, repr=False)
class Release(_Fields):
    """A published table. Immutable; a subclass per form.

    >>> import pyarrow as pa
    >>> import sfumato as sf
    >>> people = pa.table({"age": [31, 44, 58, 62], "illness": ["Flu", "Gout", "Flu", "Asthma"]})
    >>> release = sf.publish(people, sf.LDiversity(2), quasi=["age"], sensitive="illness", random=1)
    >>> release.claims[0].adversary
    'engineer'
    >>> round(release.count("illness = 'Flu'").value)
    2
    """

    manifest: Manifest

    form: ClassVar[str]

    of_several: ClassVar[bool] = False
    """Whether a release of this form may have several secrets."""

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "form" in vars(cls):
            RELEASES[cls.form] = cls

    def __post_init__(self) -> None:
        for array in _arrays(vars(self).values()):
            array.setflags(write=False)

    def __repr__(self) -> str:
        quasi = ", ".join(str(column["name"]) for column in self.manifest.schema["quasi"])
        sensitive = ", ".join(str(column["name"]) for column in self.manifest.schema["sensitive"])
        public = self.manifest.parameters
        groups = public.get("groups", len(public.get("parts", ())))
        return f"{type(self).__name__}({self.rows:,} people in {groups:,} groups; {quasi} → {sensitive})"

    def _repr_html_(self) -> str:
        """Return what the release promises and the first rows of each published table."""
        claims = notebook.paragraphs(claim.statement for claim in self.claims)
        parts = []
        for name, table in self.tables().items():
            first = table.slice(0, SHOWN)
            rows = zip(*(column.to_pylist() for column in first.columns), strict=True)
            more = f"{name}: {table.num_rows:,} rows, the first of them"
            parts.append(notebook.card(more, notebook.table(first.column_names, rows)))
        return notebook.card(repr(self), claims or notebook.paragraphs(["It makes no claim."]), *parts)

    @property
    def claims(self) -> tuple[Claim, ...]:
        """What the release promises, and against whom."""
        return self.manifest.claims

    @property
    def rows(self) -> int:
        """Number of people published."""
        return self.manifest.rows

    @property
    def shown_as(self) -> Form:
        """What follows from the form."""
        return FORMS[self.form]

    @property
    def sizes(self) -> Integers:
        """Number of people in each group, or part; nothing where records are in none."""
        return np.zeros(0, np.int64)

    @property
    def account(self) -> Integers | None:
        """The account of each group, where groups have accounts."""
        return None

    @property
    def decoys(self) -> int:
        """How many of the sensitive values shown in each group belong to nobody."""
        return 0

    @property
    def noisy(self) -> bool:
        """Whether counts have noise."""
        return self.manifest.rests_on.noisy

    @property
    def secrets(self) -> tuple[str, ...]:
        """The names of the secrets: of several sensitive columns that are protected each by itself, each is one."""
        return self.manifest.secrets

    @cached_property
    def each(self) -> tuple[Self, ...]:
        """The release of each secret alone, all with the same people and groups; a release of one secret is its own."""
        return (
            (self,)
            if len(self.secrets) == 1
            else tuple(self._alone(k, manifest) for k, manifest in enumerate(self.manifest.each))
        )

    def of(self, secret: str) -> Self:
        """Return the release of one secret alone."""
        if secret not in self.secrets:
            raise InputError(f"there is no secret {secret!r}", hint=did_you_mean(secret, self.secrets))
        return self.each[self.secrets.index(secret)]

    def _alone(self, place: int, manifest: Manifest) -> Self:
        """Return the release of one of several secrets, with what the manifest says of it."""
        raise FormatError(f"a release of the form {self.form!r} has one secret")

    @abstractmethod
    def tables(self) -> dict[str, pa.Table]:
        """Return what is published, as Arrow tables."""

    @abstractmethod
    def beliefs(self, people: Any) -> Floats:
        """Return, per given quasi row and sensitive value, the reader's largest belief: over all groups or rows that fit.

        That is what claims bound ([F' §3.1] takes the largest over the groups that hold a person's quasi values). Those of one
        person may add up to more than 1.
        """

    def largest_shares(self) -> Floats | None:
        """Return the largest share of each value in a group: a reader's largest belief. None if groups show no exact counts."""
        return None

    @abstractmethod
    def mean_beliefs(self, people: Any) -> Floats:
        """Return the same where she may be any of the published rows that fit: a mean over them, which adds up to 1."""

    def presence(self, people: Any) -> Floats:
        """Return a stranger's belief that a person with each of these quasi rows is in the table; 0 where it is ruled out."""
        raise FormatError(
            f"a release of the form {self.form!r} makes no statement about presence: it shows who is in the table",
            hint="the forms columns (method ambiguity), views (method priview) and ranges of shared groups do",
        )

    @property
    def native(self) -> Native:
        """The kind of frame that results come back in: that of the table published here, pyarrow for a loaded release."""
        return self.made_from

    def frames(self, kind: Native | None = None) -> dict[str, Any]:
        """Return what is published as frames of the caller's own kind, or of the kind asked for."""
        return {name: to_native(table, kind or self.native) for name, table in self.tables().items()}

    @abstractmethod
    def listing(self) -> tuple[tuple[TableRows, ...], int]:
        """Return the rows of every table by group and by what they show, and the number of groups: what has a canonical order."""

    def require_canonical(self) -> None:
        """Raise `FormatError` unless rows and groups are in the one order that a release has (docs/formats.md)."""
        if self._disorder is not None:
            raise self._disorder

    @cached_property
    def _disorder(self) -> FormatError | None:
        try:
            require_canonical(*self.listing())
        except FormatError as error:
            return error
        return None

    def in_fixed_words(self, claim: Claim) -> Claim:
        """Return the claim of this kind against this adversary in the words that such a release makes it in."""
        return fixed_claim(self.manifest, claim)

    def contradictions(self) -> list[str]:
        """Return where the manifest has words of its own, or names what the release lacks: either could leak information."""
        manifest, faults = self.manifest, inconsistencies(self.manifest)
        if len(self.each) > 1:
            if any(claim != self.in_fixed_words(claim) for claim in self.claims):
                faults.append(_WORDS)
            return list(dict.fromkeys([*faults, *(fault for release in self.each for fault in release.contradictions())]))
        paper_claim = manifest.parameters.get("weaker_claim")
        kinds = [claim.kind for claim in self.claims]
        allowed = [[], ["association"], *([["presence", "association"]] if self.shown_as.hides_presence else [])]
        if kinds not in allowed or (paper_claim is not None and kinds):
            faults.append("manifest.json: these are not the claims that a release makes")
        elif paper_claim not in (None, weaker_claim(manifest.method)) or any(
            claim != self.in_fixed_words(claim) for claim in self.claims
        ):
            faults.append(_WORDS)
        shown = self.labels if self.shown_as.has_groups else ()
        if manifest.values is not None and tuple(entry.get("value") for entry in manifest.values) != shown:
            faults.append("the manifest lists other sensitive values than the tables show, or in another order")
        if not self._knows_names():
            faults.append("manifest.json: it names sensitive values or columns that the release does not have")
        return faults + stray_weights(manifest, self.shown_columns)

    @property
    def shown_columns(self) -> Sequence[Column]:
        """The columns in which everybody's own quasi values are shown; none where ranges or sets are."""
        return ()

    def _knows_names(self) -> bool:
        """Return whether requirement and method speak of values and columns that the release has.

        Where people were left out, a value may have been theirs alone: then only the table can tell.
        """
        method, quasi = self.manifest.method, {column["name"] for column in self.manifest.schema["quasi"]}
        weights, column = method.get("weights"), method.get("column")
        columns = [*(weights if isinstance(weights, Mapping) else ()), *(column if isinstance(column, list) else [])]
        columns += [column] if isinstance(column, str) else []
        left_out = bool(self.manifest.parameters.get("suppression"))
        return quasi.issuperset(columns) and (left_out or set(self.labels).issuperset(own_bounds(self.manifest.requirement)))

    @property
    def labels(self) -> tuple[str, ...]:
        """The sensitive values of the release as text, in the order of the tables."""
        return self.domain.labels

    @abstractmethod
    def arranged(self, order: CanonicalOrder) -> Self:
        """Return the same release with rows and group numbers in this order."""

    @classmethod
    @abstractmethod
    def as_read(cls, manifest: Manifest, tables: Mapping[str, pa.Table], *, in_any_order: bool) -> Self:
        """Return the release with rows and groups in the order in which they are read; tables that cannot be such are refused."""

    @classmethod
    def from_tables(cls, manifest: Manifest, tables: Mapping[str, pa.Table], *, in_any_order: bool = False) -> Self:
        """Return the release whose published tables these are; what is not in canonical order is refused, or put into it."""
        release = cls.as_read(manifest, tables, in_any_order=in_any_order)
        if not in_any_order:
            release.require_canonical()
        return release if release._disorder is None else release.arranged(canonical_order(*release.listing()))

    def count(
        self, query: str | Query, *, estimator: Estimator | None = None, confidence: float = 0.95, weighted: bool = False
    ) -> Answer:
        """Return the estimated count with its error, from the release alone; one line per cell for a GROUP BY.

        `weighted` figures are those of the population that the people were drawn from.
        """
        from sfumato.query import count

        return count(self, query, estimator=estimator, confidence=confidence, weighted=weighted)

    def compare(
        self,
        a: str | Query,
        b: str | Query,
        *,
        of: str | None = None,
        estimator: Estimator | None = None,
        confidence: float = 0.95,
    ) -> Comparison:
        """Return two figures with their difference and ratio: of two questions, or of two conditions and `of="AVG(age)"`."""
        from sfumato.query.comparing import compare

        return compare(self, a, b, of=of, estimator=estimator, confidence=confidence)

    def crosstab(
        self,
        a: str,
        b: str,
        *,
        where: str | Query | None = None,
        estimator: Estimator | None = None,
        confidence: float = 0.95,
        weighted: bool = False,
    ) -> Crosstab:
        """Return how the values of two columns occur together: counts, lift and a test of association."""
        from sfumato.query.crosstab import crosstab

        return crosstab(self, a, b, where=where, estimator=estimator, confidence=confidence, weighted=weighted)

    def quality(self, *, weighted: bool = False) -> Quality | QualityOfEach:
        """Return how well the release can tell about each column, and the expected error of typical questions.

        Where each of several sensitive columns is protected by itself, of each: `release.quality()["income"]`. `weighted`: of
        figures of the population, with the part of the error that is that of sampling.
        """
        from sfumato.query.quality import quality

        return quality(self, weighted=weighted)

    def plot(self, library: Literal["altair", "matplotlib"] | None = None) -> Any:
        """Return a picture of what a reader may learn of one person: each value's share, its largest in a group, its bound."""
        from sfumato.query.plots import plot_release

        return plot_release(self, library)

    def probabilities(self, kind: Native | None = None) -> Any:
        """Return a frame: every published row's quasi values and a probability of each sensitive value, adding up to one.

        They are learned from all boxes together and raked: over the people of a box they add up to what the box shows. They
        are population statistics, computed from the release alone: what is usual among people like these, not what is known
        of a person. Of several secrets that are protected each by itself, those of each add up to one. Where people may have
        several values of a secret, they are those of having each, and add up to how many somebody is expected to have.
        """
        from sfumato.query.complete import probabilities

        return probabilities(self, kind)

    def impute(
        self,
        m: int = 10,
        *,
        seed: int | None = None,
        random: Any = None,
        kind: Native | None = None,
        shape: Literal["wide", "long"] | None = None,
    ) -> list[Any]:
        """Return m completed tables as frames: quasi values as published, and a sensitive value drawn for every row.

        Analyse every one of them with any tool, and combine the results with `sfumato.combine`: one table alone shows neither
        what the release leaves open nor anybody's value. The draws are proper (Rubin): the model's parameters are drawn too.
        A `seed` makes them repeatable; `random` is another spelling, and also takes a `Randomness`. Several secrets that are
        protected each by itself are drawn independently of one another inside groups, since how they go together is not
        published: `UnlinkedWarning`.

        Where people may have several values of a secret, everybody gets a set of them: in `wide` tables, the usual ones, a column
        of 0 and 1 for each value (`diagnosis = Flu`), in `long` ones a row for each person and value, with her number (`person`).
        """
        from sfumato.query.complete import impute

        return impute(self, m, seed=seed, random=random, kind=kind, shape=shape)

    def save(self, directory: str | Path, *, format: TableFormat = "parquet") -> Manifest:
        """Write the release to a new directory, whole or not at all, and return its manifest; in CSV, sets become JSON text."""
        self.require_canonical()
        return write_release(Path(directory), self.manifest, self.tables(), format)

    @staticmethod
    def load(directory: str | Path) -> Release:
        """Return the release in a directory; damaged or manipulated files are refused.

        Of boxes whose people lie in several files equal rows are only counted: what is told of a release of many millions
        then fits in memory, and its rows are there for whoever asks for them.
        """
        place = Path(directory)
        manifest = read_manifest(place)
        release: Release | None = None
        if manifest.in_parts:
            from sfumato.release.counted import counts_rows, read_counted

            release = read_counted(place, manifest) if counts_rows(manifest) else None
        if release is None:
            stored = read_release(place, manifest)
            require_sound(place, stored.problems)
            release = form_of(stored.manifest).from_tables(stored.manifest, stored.tables)
        faults = release.contradictions()
        if faults:
            raise FormatError(faults[0], hint="the release was changed, or made by other software; get it again")
        return release


def form_of(manifest: Manifest) -> type[Release]:
    """Return the class of the form that a manifest names."""
    form = RELEASES.get(manifest.form)
    if form is None:
        raise FormatError(f"this sfumato does not know the form {manifest.form!r}", hint=f"known: {', '.join(sorted(RELEASES))}")
    if len(manifest.secrets) > 1 and not form.of_several:
        raise FormatError(f"a release of the form {manifest.form!r} does not protect each of several columns by itself")
    return form


def _arrays(values: Iterable[Any]) -> Iterator[Array]:
    """Yield the arrays among the fields of a release, in columns and tuples too."""
    for value in values:
        if isinstance(value, np.ndarray):
            yield value
        elif isinstance(value, Column):
            yield value.codes
        elif isinstance(value, tuple):
            yield from _arrays(value)
