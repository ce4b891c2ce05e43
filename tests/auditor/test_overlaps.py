"""Groups that cover a common combination are found however they are looked up, among many groups too."""

from itertools import combinations

import numpy as np
import pytest

from sfumato.auditor import presence
from sfumato.auditor._group_kernels import _rare
from sfumato.auditor.presence import overlaps
from sfumato.release.covering import Cover, ShownPart

GROUPS = 300


def random_cover(seed, widths):
    """Return groups that show one to three values of every column, and those values."""
    coins = np.random.default_rng(seed)
    shown = [[np.unique(coins.integers(0, width, coins.integers(1, 4))) for _ in range(GROUPS)] for width in widths]
    parts = []
    for width, column in zip(widths, shown, strict=True):
        start = np.concatenate(([0], np.cumsum([len(values) for values in column]))).astype(np.int64)
        parts.append(ShownPart(width, start, np.concatenate(column).astype(np.int32)))
    return Cover(tuple(parts)), [[set(values.tolist()) for values in column] for column in shown]


@pytest.mark.parametrize("words", [0, 1500, 1 << 24])
@pytest.mark.parametrize("widths", [(300, 2), (900, 40, 3), (2000, 1), (5, 4)])
def test_pairs_among_many_groups_are_those_found_by_comparing_all(monkeypatch, words, widths):
    cover, shown = random_cover(1, widths)
    monkeypatch.setattr(presence, "MOST_WORDS", words)
    expected = {(g, h) for g, h in combinations(range(GROUPS), 2) if all(column[g] & column[h] for column in shown)}
    found = overlaps(cover, len(expected) + 10)
    assert len(found) == len(expected)
    assert {tuple(pair) for pair in found.tolist()} == expected
    assert len(overlaps(cover)) == 1


def test_values_that_few_groups_share_are_looked_up_by_lists():
    cover, _ = random_cover(1, (2000, 1))
    part = cover.parts[0]
    order = np.argsort(part.codes, kind="stable")
    start = np.searchsorted(part.codes[order], np.arange(part.size + 1))
    rare = sum(_rare(g, part.start[None, :], part.codes, part.size, start, 5) for g in range(GROUPS))
    assert 0 < rare < GROUPS
