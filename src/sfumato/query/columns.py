"""Count estimates from a columns release, where a group shows for every quasi column which values occur.

`paper`
    Σ over groups of #{S in g} · Π_j (values of column j that are accepted / values of column j), 004 §6: every value of a group's
    column is equally frequent, and columns are unrelated inside a group. (Figure 5 adds over columns where its worked example
    multiplies; we multiply.)
`likelihood`
    Frequencies learned from all groups together instead of equal ones, each value having at least one person where it is shown:
    see `sfumato.query.range_spread`; for many disjoint boxes also how columns go together: see `sfumato.query.classes`. The
    default, by measurement (benchmarks/fragments.py): auxiliary tables hold every value once, and taking a rare value to be as
    frequent as a common one is most of the papers' error.

**The standard error.** To the stranger every combination of a group's values is equally likely to be a person's, and people may
share one. The c people of a group with a value in S then meet the condition like c coins of chance p = Π_j share_j: the variance
is Σ over groups of c·p·(1 − p), with the chances of the estimator used. If no two people shared a combination, they would be
drawn without replacement from V combinations, and it would be smaller by (V − c)/(V − 1), which is 1 − α at the least. That
values are not equally frequent, and columns related, is in neither, and it is the larger part (docs/methods/fragments.md has the
coverage measured): there is **no interval**, except where the tables make the answer certain.
"""

from __future__ import annotations

import threading
import weakref

from sfumato.errors import QueryError
from sfumato.query import classes
from sfumato.query.answer import Answer, Estimator
from sfumato.query.by_group import GroupIndex, count_by_group
from sfumato.query.predicate import Query
from sfumato.query.range_cells import Bag
from sfumato.query.vocabulary import Vocabulary, declared_in
from sfumato.release.columns import ColumnsRelease

DEFAULT: Estimator = "likelihood"

NO_INTERVAL = "no interval: how often values occur together is not published, and the standard error does not cover it"

_known: weakref.WeakKeyDictionary[ColumnsRelease, GroupIndex] = weakref.WeakKeyDictionary()
_lock = threading.Lock()


def count_columns(
    release: ColumnsRelease, asked: Query, *, estimator: Estimator | None = None, confidence: float = 0.95
) -> Answer:
    """Return the estimated count from the release alone: an `Estimate`, or a `GroupedAnswer` for a GROUP BY."""
    chosen = estimator or DEFAULT
    if chosen not in ("paper", "likelihood"):
        raise QueryError(f"estimator: expected 'paper' or 'likelihood' for columns, got {estimator!r}")
    index = _index_of(release)
    return count_by_group(index, asked, estimator=chosen, confidence=confidence, native=release.native, no_interval=NO_INTERVAL)


def _index_of(release: ColumnsRelease) -> GroupIndex:
    with _lock:
        index = _known.get(release)
        if index is None:
            index = _known[release] = _build(release)
        return index


def _build(release: ColumnsRelease) -> GroupIndex:
    vocabulary = Vocabulary.of(release.columns, release.domain, declared_in(release.manifest.schema))
    shown = zip(vocabulary.quasi, release.start, release.codes, strict=True)
    boxes = release.manifest.method.get("grouping") != "paper"
    return GroupIndex(
        tuple(Bag(words, start, codes, words.has_missing) for words, start, codes in shown),
        vocabulary,
        release.sizes,
        release.st_start,
        release.st_value,
        release.st_count,
        classes=boxes and len(release.sizes) >= classes.FEWEST_GROUPS,
    )
