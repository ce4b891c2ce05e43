"""The canonical order beside brute force: groups as tuples of sorted tuples, compared by Python."""

import numpy as np
import pytest

from sfumato.errors import FormatError
from sfumato.release.canonical import TableRows, canonical_order, ranked_lists, require_canonical


def drawn(coins):
    groups = int(coins.integers(1, 6))
    tables = []
    for name in ("one", "two"):
        rows = int(coins.integers(groups, 12))
        group = np.concatenate([np.arange(groups), coins.integers(0, groups, rows - groups)])
        coins.shuffle(group)
        tables.append(TableRows(name, group, coins.integers(0, 3, rows)))
    return tables, groups


def contents(tables, groups):
    return [tuple(tuple(sorted(table.key[table.group == g])) for table in tables) for g in range(groups)]


def accepted(tables, groups):
    try:
        require_canonical(tables, groups)
    except FormatError:
        return False
    return True


def renumbered(tables, number):
    changed = [TableRows(table.name, number[table.group], table.key) for table in tables]
    orders = [np.lexsort((table.key, table.group)) for table in changed]
    return [TableRows(table.name, table.group[rows], table.key[rows]) for table, rows in zip(changed, orders, strict=True)]


def test_groups_are_numbered_by_what_they_show_and_no_other_numbering_is_accepted():
    coins = np.random.default_rng(1)
    refused = 0
    for _ in range(1000):
        tables, groups = drawn(coins)
        order = canonical_order(tables, groups)
        arranged = [
            TableRows(table.name, order.number[table.group[rows]], table.key[rows])
            for table, rows in zip(tables, order.rows, strict=True)
        ]
        assert contents(arranged, groups) == sorted(contents(tables, groups))
        assert accepted(arranged, groups)
        other = renumbered(arranged, coins.permutation(groups))
        assert accepted(other, groups) == (contents(other, groups) == sorted(contents(other, groups)))
        refused += not accepted(other, groups)
    assert refused > 500


def test_rows_that_are_not_sorted_are_refused_wherever_they_stand():
    group, key = np.array([0, 0, 1, 1]), np.array([1, 2, 3, 4])
    assert accepted([TableRows("records", group, key)], 2)
    for first, second in ((0, 1), (1, 2), (2, 3), (0, 3)):
        rows = np.arange(4)
        rows[[first, second]] = rows[[second, first]]
        with pytest.raises(FormatError, match=r"'records'.*canonical order"):
            require_canonical([TableRows("records", group[rows], key[rows])], 2)


def test_many_groups_that_show_the_same_first_rows_are_compared_to_the_end():
    rows = 1000
    key = np.concatenate([np.append(np.zeros(rows - 1, np.int64), last) for last in (1, 2, 3)])
    group = np.repeat([2, 0, 1], rows)
    order = canonical_order([TableRows("records", group, key)], 3)
    assert order.number[[2, 0, 1]].tolist() == [0, 1, 2]


def test_lists_are_ranked_as_python_compares_them():
    coins = np.random.default_rng(2)
    for _ in range(300):
        lists = [coins.integers(0, 3, coins.integers(0, 4)).tolist() for _ in range(8)]
        start = np.concatenate(([0], np.cumsum([len(one) for one in lists])))
        rank, many = ranked_lists(start, np.array([code for one in lists for code in one], dtype=np.int32))
        distinct = sorted({tuple(one) for one in lists})
        assert rank.tolist() == [distinct.index(tuple(one)) for one in lists]
        assert many == len(distinct)
