"""What a statistician takes from a release: each person's probabilities, and completed tables for ordinary tools.

Both are computed from the release alone, so they tell nothing that it does not tell. They are statistics of a *population*: a
person's probabilities say what is usual among people like her in her box, as far as all boxes together teach it. They are no
measurement of her, and no value in a completed table is anybody's.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from sfumato.arrays import Integers, Small
from sfumato.errors import QueryError
from sfumato.query.buckets import TELLING, BucketsEngine
from sfumato.query.count import engine_of
from sfumato.query.engine import one_thread
from sfumato.query.models.inside import Inside
from sfumato.query.models.placing import draw_values, person_chances
from sfumato.query.models.records import Records, learnable
from sfumato.query.models.softmax import MAX_VALUES
from sfumato.randomness import Randomness, randomness
from sfumato.release.apart import parts_of
from sfumato.release.base import Release
from sfumato.release.coding import sensitive_columns
from sfumato.table.frames import Native, to_native

if TYPE_CHECKING:
    from sfumato.release.buckets import BucketsRelease
    from sfumato.release.randomized import RandomizedRelease

MOST_TABLES = 1_000


_WHY_NOT = {
    "ranges": "it shows ranges in place of people's quasi values, so that these would have to be made up too",
    "columns": "it does not show which quasi values are one person's",
    "views": "it does not show which quasi values are one person's",
    "synthetic": "its records are a whole table already, and nobody's",
}
"""Why releases of other forms have no completed tables."""


class FewBoxesWarning(UserWarning):
    """A release of few boxes: what is completed from it is mostly prior."""


class UnlinkedWarning(UserWarning):
    """Secrets that are protected each by itself, in one completed table: their link with one another is not in it."""


@dataclass(frozen=True, eq=False)
class _Secret:
    """The release of one sensitive attribute, and what all its boxes teach about their inside, or all its records."""

    release: BucketsRelease | RandomizedRelease
    model: Inside | Records

    @property
    def rows(self) -> int:
        """Number of published people."""
        return len(self.model.cells.cell) if isinstance(self.model, Inside) else len(self.model.cell)

    @property
    def order(self) -> Integers:
        """The published rows in the order of the model."""
        bucket = getattr(self.release, "bucket", None)
        return np.arange(self.rows) if bucket is None else np.argsort(bucket, kind="stable").astype(np.int64)

    def chances(self) -> dict[str, pa.Array]:
        """Return one column of probabilities a sensitive value."""
        found = np.empty((self.rows, len(self.release.domain)), np.float32, order="F")
        chances = person_chances(self.model) if isinstance(self.model, Inside) else self.model.person_chances()
        chances /= chances.sum(axis=1, keepdims=True)  # raking leaves them a little off one
        found[self.order] = chances
        return {name: pa.array(found[:, v]) for v, name in enumerate(probability_names(self.release))}

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

    secrets: tuple[_Secret, ...]

    @classmethod
    def of(cls, release: Release) -> Completion:
        """Return what completes a release; `QueryError` where nothing that is right is known."""
        parts = parts_of(getattr(release, "one_by_one", lambda: release)())  # every person gets a value of her own
        if release.form == "randomized":
            return cls(tuple(_Secret(part, _recorded(part)) for part in parts))
        engines = [_boxed(part) for part in parts]
        boxes = engines[0].index.buckets
        if boxes < TELLING:
            warnings.warn(
                f"this release has {boxes} boxes; below {TELLING} they tell little about their inside, and "
                "what is completed is mostly prior",
                FewBoxesWarning,
                stacklevel=4,
            )
        with one_thread():
            return cls(tuple(_Secret(part, engine.inside) for part, engine in zip(parts, engines, strict=True)))

    @property
    def rows(self) -> int:
        """Number of published people."""
        return self.secrets[0].rows

    @property
    def names(self) -> tuple[str, ...]:
        """The sensitive columns."""
        return tuple(name for one in self.secrets for name in one.release.domain.names)

    def quasi(self) -> dict[str, pa.Array]:
        """Return the quasi columns, decoded."""
        return {column.name: column.arrow() for column in self.secrets[0].release.quasi}

    def probabilities(self) -> pa.Table:
        """Return the quasi columns and one column a sensitive value, a row for every published one."""
        return pa.table({**self.quasi(), **{name: found for one in self.secrets for name, found in one.chances().items()}})

    def values(self, random: Randomness) -> dict[str, pa.Array]:
        """Return the sensitive columns with a value drawn for every row: several secrets each by its own coins."""
        if len(self.secrets) == 1:
            return sensitive_columns(self.secrets[0].release.domain, self.secrets[0].draw(random))
        drawn = [sensitive_columns(one.release.domain, one.draw(random.spawn(k))) for k, one in enumerate(self.secrets)]
        return {name: column for one in drawn for name, column in one.items()}

    def table(self, random: Randomness) -> pa.Table:
        """Return one completed table: quasi and sensitive columns."""
        return pa.table({**self.quasi(), **self.values(random)})

    def tell(self) -> None:
        """Warn that a completed table does not show how several secrets go together."""
        if len(self.secrets) > 1:
            listed = f"{', '.join(self.names[:-1])} and {self.names[-1]}"
            warnings.warn(
                f"how {listed} go together is not published: they are drawn independently inside "
                "groups, so that a completed table shows too little of a link between them",
                UnlinkedWarning,
                stacklevel=3,
            )


def probabilities(release: Release, kind: Native | None = None) -> Any:
    """Return each published person's probabilities over the sensitive values, as a frame; see `Release.probabilities`."""
    return to_native(Completion.of(release).probabilities(), kind or release.native)


def impute(release: Release, m: int, *, random: Randomness | int | None = None, kind: Native | None = None) -> list[Any]:
    """Return m completed tables; see `Release.impute`."""
    source = randomness(random)
    count = tables_wanted(m)
    completion = Completion.of(release)
    completion.tell()
    return [to_native(completion.table(source.spawn(number)), kind or release.native) for number in range(count)]


def tables_wanted(m: int, name: str = "m") -> int:
    """Return how many tables are wanted, if that is a number that can be."""
    if isinstance(m, bool) or not isinstance(m, (int, np.integer)) or not 1 <= m <= MOST_TABLES:
        raise QueryError(f"{name}: expected a whole number from 1 to {MOST_TABLES:,}, got {m!r}", hint="5 to 20 tables are usual")
    return int(m)


def probability_names(release: BucketsRelease | RandomizedRelease) -> list[str]:
    """Return the names of the columns of probabilities: `diagnosis = Flu`."""
    named = " / ".join(release.domain.names)
    return [f"{named} = {label}" for label in release.labels]


def _recorded(release: Release) -> Records:
    engine: Any = engine_of(release)
    why = ""
    if engine.no_likelihood or not learnable(engine.columns, engine.rates, engine.table.rows):
        why = engine.no_likelihood or "it is too large for a likelihood of all columns"
    elif engine.rates.vague:
        why = "it tells too little of how many people have each value"
    if why:
        raise QueryError(f"this release cannot be completed: {why}", hint="counts are answered from every release")
    with one_thread():
        found: Records = engine.records
        return found


def _boxed(release: Release) -> BucketsEngine:
    engine = engine_of(release)
    if release.form in _WHY_NOT or not isinstance(engine, BucketsEngine):
        why = _WHY_NOT.get(release.form, "no model of it is known")
        raise QueryError(
            f"a release of the form {release.form!r} cannot be completed: {why}",
            hint="boxes, noisy ones, near groups and randomized records can be completed; counts are answered from every release",
        )
    values = engine.index.values
    if not engine.no_likelihood and engine.misses is not None and values <= MAX_VALUES:
        return engine
    if values > MAX_VALUES:
        why = f"it has {values:,} sensitive values, and a model of the inside of boxes is learned for at most {MAX_VALUES}"
    else:
        why = engine.no_likelihood or "its buckets are not boxes of near people"
    raise QueryError(f"this release cannot be completed: {why}", hint="counts are answered from every release: release.count(…)")
