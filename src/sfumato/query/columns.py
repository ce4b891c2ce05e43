"""Count estimates from a columns release, where a group shows for every quasi column which values occur.

`paper`
    Σ over groups of #{S in g} · Π_j (values of column j that are accepted / values of column j), 004 §6: every value of a group's
    column is equally frequent, and columns are unrelated inside a group. (Figure 5 adds over columns where its worked example
    multiplies; we multiply.)
`likelihood`
    Frequencies learned from all groups together instead of equal ones, each value having at least one person where it is shown:
    see `sfumato.query.models.spread`; for many disjoint boxes also how columns go together: see `sfumato.query.models.classes`.
    The default, by measurement (benchmarks/fragments.py): auxiliary tables hold every value once, and taking a rare value to be
    as frequent as a common one is most of the papers' error.

**The standard error.** To the stranger every combination of a group's values is equally likely to be a person's, and people may
share one. The c people of a group with a value in S then meet the condition like c coins of chance p = Π_j share_j: the variance
is Σ over groups of c·p·(1 − p), with the chances of the estimator used. If no two people shared a combination, they would be
drawn without replacement from V combinations, and it would be smaller by (V − c)/(V − 1), which is 1 − α at the least. That
values are not equally frequent, and columns related, is in neither, and it is the larger part (docs/measured.md has the
coverage measured): there is **no interval**, except where the tables make the answer certain.
"""

from __future__ import annotations

from sfumato.query.language.vocabulary import Vocabulary, declared_in
from sfumato.query.models import classes
from sfumato.query.models.spread import GroupValues
from sfumato.query.models.units import SetColumn
from sfumato.query.ranges import BoxesEngine
from sfumato.release.columns import ColumnsRelease

NO_INTERVAL = "no interval: how often values occur together is not published, and the standard error does not cover it"


def columns_engine(release: ColumnsRelease) -> BoxesEngine:
    """Return the engine of a release; classes of people are learned from many disjoint boxes only."""
    vocabulary = Vocabulary.of(release.columns, release.domain, declared_in(release.manifest.schema))
    columns = zip(vocabulary.quasi, release.start, release.codes, strict=True)
    return BoxesEngine(
        tuple(SetColumn(words, start, codes) for words, start, codes in columns),
        vocabulary,
        GroupValues(release.sizes, release.st_start, release.st_value, release.st_count),
        release.sizes,
        NO_INTERVAL,
        joint=not release.manifest.rests_on.as_published and len(release.sizes) >= classes.FEWEST_GROUPS,
    )
