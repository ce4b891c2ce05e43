"""What a statistician takes from a release: each person's probabilities, and completed tables for ordinary tools.

Both are computed from the release alone, so they tell nothing that it does not tell. They are statistics of a *population*: a
person's probabilities say what is usual among people like her in her box, as far as all boxes together teach it. They are no
measurement of her, and no value in a completed table is anybody's.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pyarrow as pa

from sfumato.arrays import Integers, Small
from sfumato.errors import QueryError
from sfumato.query.answer import free_names
from sfumato.query.bands import OpenBandWarning, open_bands, with_middles
from sfumato.query.buckets import BucketsEngine
from sfumato.query.bundled import BundledSecret, Drawn, long, wide
from sfumato.query.count import engine_of, having
from sfumato.query.engine import one_thread
from sfumato.query.language.vocabulary import Vocabulary, declared_in
from sfumato.query.models.inside import Inside
from sfumato.query.models.placing import draw_values, person_chances
from sfumato.query.models.records import RecordModel, learnable
from sfumato.query.models.softmax import MAX_VALUES
from sfumato.randomness import Randomness, coins_of, randomness
from sfumato.release.base import Release
from sfumato.release.coding import sensitive_columns
from sfumato.table.frames import Native, to_native

if TYPE_CHECKING:
    from sfumato.release.buckets import BucketsRelease
    from sfumato.release.randomized import RandomizedRelease

MOST_TABLES = 1_000

_WHY_NOT = {
    "ranges": "it shows ranges instead of people's quasi values",
    "columns": "it does not show which quasi values are one person's",
    "views": "it does not show which quasi values are one person's",
    "synthetic": "its records are a complete synthetic table already",
}
"""Why releases of other forms have no completed tables."""


Shape = Literal["wide", "long"]
"""How a completed table shows people with several values: a row a person, or a row for each value that somebody has."""


class UnlinkedWarning(UserWarning):
    """Secrets that are protected each by itself, or several values of a person: their link with one another is not in a table."""


@dataclass(frozen=True, eq=False)
class _Attribute:
    """The release of one sensitive attribute, and what all its boxes teach about their inside, or all its records."""

    release: BucketsRelease | RandomizedRelease
    model: Inside | RecordModel

    @property
    def rows(self) -> int:
        """Number of published people."""
        return len(self.model.cells.cell) if isinstance(self.model, Inside) else len(self.model.cell)

    @property
    def order(self) -> Integers:
        """The published rows in the order of the model."""
        group = getattr(self.release, "group", None)
        return np.arange(self.rows) if group is None else np.argsort(group, kind="stable").astype(np.int64)

    def chances(self) -> dict[str, pa.Array]:
        """Return one column of probabilities a sensitive value."""
        in_order = np.empty((self.rows, len(self.release.domain)), np.float32, order="F")
        chances = person_chances(self.model) if isinstance(self.model, Inside) else self.model.person_chances()
        chances /= chances.sum(axis=1, keepdims=True)  # raking leaves them a little off one
        in_order[self.order] = chances
        return {name: pa.array(in_order[:, v]) for v, name in enumerate(probability_names(self.release))}

    def draw(self, random: Randomness) -> Small:
        """Return a value for every published row: one proper draw."""
        drawn = np.empty(self.rows, np.int32)
        with one_thread():
            model = self.model
            drawn[self.order] = draw_values(model, random) if isinstance(model, Inside) else model.draw_values(random)
        return drawn


@dataclass(frozen=True, eq=False)
class Completion:
    """A release whose people can be given probabilities and values; several secrets that are protected each by itself, each."""

    secrets: tuple[_Attribute, ...]
    bundles: tuple[BundledSecret, ...] = ()
    """The secrets in place of `secrets`, where people may have several values of them."""

    @classmethod
    def of(cls, release: Release) -> Completion:
        """Return what completes a release; `QueryError` where nothing that is right is known."""
        whole: Any = getattr(release, "one_by_one", lambda: release)()  # every person gets values of her own
        if release.manifest.bundled:
            _require_form(release, bool(getattr(release, "quasi", ())))
            return cls((), BundledSecret.of(whole, having(whole)))
        parts: tuple[Any, ...] = whole.each
        if release.shown_as.by_coin:
            return cls(tuple(_Attribute(part, _recorded(part)) for part in parts))
        engines = [_boxed(part) for part in parts]
        with one_thread():
            return cls(tuple(_Attribute(part, engine.inside) for part, engine in zip(parts, engines, strict=True)))

    @property
    def rows(self) -> int:
        """Number of published people."""
        return self._each[0].rows

    @property
    def _each(self) -> tuple[_Attribute | BundledSecret, ...]:
        return self.bundles or self.secrets

    @property
    def names(self) -> tuple[str, ...]:
        """The sensitive columns."""
        return tuple(name for secret in self._each for name in secret.release.domain.names)

    @cached_property
    def vocabularies(self) -> tuple[Vocabulary, ...]:
        """The words of each secret's release."""
        releases = [secret.release for secret in self._each]
        return tuple(Vocabulary.of(release.quasi, release.domain, declared_in(release.manifest.schema)) for release in releases)

    def quasi(self) -> dict[str, pa.Array]:
        """Return the quasi columns, decoded; bands of numbers as their middles, with their edges."""
        return dict(self._quasi)

    @cached_property
    def _quasi(self) -> dict[str, pa.Array]:
        shown = {column.name: column.arrow() for column in self._each[0].release.quasi}
        return with_middles(shown, self.vocabularies[0], (*shown, *self.names))

    def probabilities(self) -> pa.Table:
        """Return the quasi columns and one column a sensitive value, a row for every published one."""
        return pa.table(
            {**self.quasi(), **{name: chances for secret in self._each for name, chances in secret.chances().items()}}
        )

    def values(self, random: Randomness) -> dict[str, pa.Array]:
        """Return the sensitive columns with a value drawn for every row, or a list of values: secrets each by its own coins."""
        if self.bundles:
            return {name: drawn.lists() for name, drawn in zip(self.names, self._bundles(random), strict=True)}
        alone = len(self.secrets) == 1
        columns, taken = dict[str, pa.Array](), tuple(self.quasi())
        for k, (secret, words) in enumerate(zip(self.secrets, self.vocabularies, strict=True)):
            drawn = sensitive_columns(secret.release.domain, secret.draw(random if alone else random.spawn(k)))
            columns |= with_middles(drawn, words, (*taken, *self.names, *columns))
        return columns

    def _bundles(self, random: Randomness) -> list[Drawn]:
        """Return what everybody has of each secret, drawn by its own coins."""
        alone = len(self.bundles) == 1
        with one_thread():
            return [secret.draw(random if alone else random.spawn(k)) for k, secret in enumerate(self.bundles)]

    def table(self, random: Randomness, shape: Shape | None = None) -> pa.Table:
        """Return one completed table: quasi and sensitive columns; a row a person, or `long` a row for each value of hers."""
        if not self.bundles:
            if shape is not None:
                raise QueryError(
                    "shape: only for releases with several values of a secret a person; here a completed table has "
                    "one row a person",
                    hint="leave it out",
                )
            return pa.table({**self.quasi(), **self.values(random)})
        if shape not in (None, "wide", "long"):
            raise QueryError(f"shape: expected wide or long, got {shape!r}")
        drawn, quasi = self._bundles(random), self.quasi()
        if shape == "long":
            return long(quasi, free_names((*quasi, *self.names), ("person",))[0], drawn)
        return pa.table({**quasi, **{name: column for bundle in drawn for name, column in wide(bundle).items()}})

    def tell(self) -> None:
        """Warn that a completed table shows no association of secrets, and what stands for bands without an end."""
        said = dict.fromkeys(line for words in self.vocabularies for line in open_bands(words))
        if said:
            warnings.warn(
                f"bands without an end stand as their edge and half of the usual width, a convention ({'; '.join(said)})",
                OpenBandWarning,
                stacklevel=3,
            )
        if self.bundles:
            warnings.warn(
                "which values one person has together is not published: they are drawn independently of one another, so that a "
                "completed table shows too little of a link between them",
                UnlinkedWarning,
                stacklevel=3,
            )
        elif len(self.secrets) > 1:
            listed = f"{', '.join(self.names[:-1])} and {self.names[-1]}"
            warnings.warn(
                f"the association of {listed} is not published: they are drawn independently inside "
                "groups, so that a completed table shows too little of a link between them",
                UnlinkedWarning,
                stacklevel=3,
            )


def probabilities(release: Release, kind: Native | None = None) -> Any:
    """Return each published person's probabilities over the sensitive values, as a frame; see `Release.probabilities`."""
    return to_native(Completion.of(release).probabilities(), kind or release.native)


def impute(
    release: Release,
    m: int,
    *,
    seed: int | None = None,
    random: Randomness | int | None = None,
    kind: Native | None = None,
    shape: Shape | None = None,
) -> list[Any]:
    """Return m completed tables; see `Release.impute`."""
    source = randomness(coins_of(seed, random))
    count = tables_wanted(m)
    completion = Completion.of(release)
    completion.tell()
    return [to_native(completion.table(source.spawn(number), shape), kind or release.native) for number in range(count)]


def tables_wanted(m: int, name: str = "m") -> int:
    """Return how many tables are wanted, if that is a number that can be."""
    if isinstance(m, bool) or not isinstance(m, (int, np.integer)) or not 1 <= m <= MOST_TABLES:
        raise QueryError(f"{name}: expected a whole number from 1 to {MOST_TABLES:,}, got {m!r}", hint="5 to 20 tables are usual")
    return int(m)


def probability_names(release: BucketsRelease | RandomizedRelease) -> list[str]:
    """Return the names of the columns of probabilities: `diagnosis = Flu`."""
    named = " / ".join(release.domain.names)
    return [f"{named} = {label}" for label in release.labels]


def _recorded(release: Release) -> RecordModel:
    engine: Any = engine_of(release)
    why = ""
    if engine.no_likelihood or not learnable(engine):
        why = engine.no_likelihood or "it is too large for a likelihood of all columns"
    elif engine.rates.too_noisy:
        why = "it tells too little of how many people have each value"
    if why:
        raise QueryError(f"this release cannot be completed: {why}", hint="counts are answered from every release")
    with one_thread():
        model: RecordModel = engine.records
        return model


def _require_form(release: Release, known: bool) -> None:
    """Raise for forms that show no people to complete, and those whose model is not known."""
    if release.form in _WHY_NOT or not known:
        why = _WHY_NOT.get(release.form, "no model of it is known")
        raise QueryError(
            f"a release of the form {release.form!r} cannot be completed: {why}",
            hint="boxes, noisy ones, near groups and randomized records can be completed; counts are answered from every release",
        )


def _boxed(release: Release) -> BucketsEngine:
    engine = engine_of(release)
    _require_form(release, isinstance(engine, BucketsEngine))
    assert isinstance(engine, BucketsEngine)
    values = engine.index.values
    if not engine.no_likelihood and engine.model_error is not None and values <= MAX_VALUES:
        return engine
    if values > MAX_VALUES:
        why = f"it has {values:,} sensitive values, and a model of the inside of boxes is learned for at most {MAX_VALUES}"
    else:
        why = engine.no_likelihood or "its groups are not boxes of near people"
    raise QueryError(f"this release cannot be completed: {why}", hint="counts are answered from every release: release.count(…)")
