"""Count estimates from a ranges release.

A query costs groups × columns, since all people of a group show the same. For people with a sensitive value in S who meet a
quasi condition R, with G_j what group g shows of column j:

`paper`
    Σ over groups of #{S in g} · Π_j |R_j ∩ G_j| / |G_j|: people lie evenly in ranges and sets, and columns are unrelated inside a
    group. In cells, so that the range 30–30 holds one value: a whole number, a day, a category; ranges of other numbers by their
    length. ``cells="continuous"`` takes whole numbers by length as well, as in 004 §1.
`likelihood`
    The same with shares learned from the release instead of equal ones, see `sfumato.query.range_spread`.

Any condition is first put into disjoint conjunctions. The standard error is that of every person with a value in S meeting R by a
coin of her own. Both estimators take columns as unrelated inside a group, and what they miss by that is not in it (a nominal 95 %
covers 12–77 % on a census of 100,000): there is **no interval**, except where the ranges make the answer certain.
"""

from __future__ import annotations

import threading
import weakref

from sfumato.errors import QueryError
from sfumato.query.answer import Answer, Estimator
from sfumato.query.by_group import GroupIndex, count_by_group
from sfumato.query.predicate import Query
from sfumato.query.range_cells import Bag, Cells, cells_of
from sfumato.query.vocabulary import Vocabulary, declared_in
from sfumato.release.ranges import RangesRelease

DEFAULT: Estimator = "likelihood"

NO_INTERVAL = "no interval: how people lie inside the ranges is not published, and the standard error does not cover it"

_known: weakref.WeakKeyDictionary[RangesRelease, dict[Cells, GroupIndex]] = weakref.WeakKeyDictionary()
_lock = threading.RLock()


def count_ranges(
    release: RangesRelease,
    asked: Query,
    *,
    estimator: Estimator | None = None,
    confidence: float = 0.95,
    cells: Cells = "discrete",
) -> Answer:
    """Return the estimated count from the release alone: an `Estimate`, or a `GroupedAnswer` for a GROUP BY.

    `estimator=None` means `likelihood`, by measurement: see `sfumato.query.range_spread`.
    """
    chosen = estimator or DEFAULT
    if chosen not in ("paper", "likelihood"):
        raise QueryError(f"estimator: expected 'paper' or 'likelihood' for ranges, got {estimator!r}")
    if cells not in ("discrete", "continuous"):
        raise QueryError(f"cells: expected 'discrete' or 'continuous', got {cells!r}")
    index = _index_of(release, cells)
    return count_by_group(index, asked, estimator=chosen, confidence=confidence, native=release.native, no_interval=NO_INTERVAL)


def _index_of(release: RangesRelease, cells: Cells) -> GroupIndex:
    with _lock:
        made = _known.setdefault(release, {})
        if cells not in made:
            declared = declared_in(release.manifest.schema)
            columns = tuple(
                cells_of(box, None if declared is None else declared.recoding(box.name), cells) for box in release.boxes
            )
            words = tuple(column.words_ if isinstance(column, Bag) else column.words([])[0] for column in columns)
            sensitive = Vocabulary.of((), release.domain)
            vocabulary = Vocabulary(words, sensitive.parts, sensitive.part_codes, declared)
            made[cells] = GroupIndex(columns, vocabulary, release.sizes, *release.shown)
        return made[cells]
