"""Columns and views that a stranger prepared: refused in a sentence or read safely, and never certified wrongly."""

from collections import Counter, defaultdict
from dataclasses import replace
from fractions import Fraction
from itertools import combinations
from math import prod
from random import Random

import pyarrow as pa
import pytest

from sfumato.auditor import audit_tables, views
from sfumato.auditor.views import meets, meets_at_least
from sfumato.errors import FormatError
from sfumato.methods import Ambiguity
from sfumato.privacy import PresenceAssociation
from tests.groups.fragments._crowds import crowd
from tests.release._fragments import columns_of, views_of
from tests.release._mutants import mutated

TABLE = crowd(60, 3, seed=1, widths=(14, 4, 6))
SIDE = [int(code > 6) for code in TABLE.quasi[0].codes]
ASKED = PresenceAssociation("1/2", "1/2", against="reader")
OPEN = PresenceAssociation(1, "1/2", against="reader")
MADE = {
    "columns": lambda: columns_of(TABLE, SIDE, ASKED),
    "views": lambda: views_of(TABLE, SIDE, ["q1"], OPEN),
    "halves": lambda: Ambiguity(grouping="halves").run(TABLE, ASKED, random=1).release,
    "weaker": lambda: columns_of(TABLE, [k % 7 for k in range(60)], ASKED, weaker=True),
    "one group": lambda: views_of(TABLE, [0] * 60, ["q1", "q2"], OPEN),
}


@pytest.fixture(scope="module", params=["columns", "views"])
def release(request):
    return MADE[request.param]()


def load(release, tables, rows=None, **parameters):
    manifest = replace(release.manifest, rows=release.rows if rows is None else rows)
    manifest = replace(manifest, parameters={**manifest.parameters, **parameters})
    return type(release).from_tables(manifest, tables, in_any_order=True)


def with_column(table, name, values, kind=None):
    place = table.column_names.index(name)
    return table.set_column(place, name, pa.array(values, kind or table.schema.field(name).type))


def groups_by_hand(tables):
    """Return people, histogram and shown values of every group of a columns release, read in plain Python."""
    shown = defaultdict(lambda: defaultdict(set))
    people = defaultdict(Counter)
    for name, table in tables.items():
        for row in table.to_pylist():
            if name == "st":
                people[row["group"]][row["value"]] += row["count"]
            else:
                shown[row["group"]][name].add(next(value for key, value in row.items() if key != "group"))
    return people, shown


def keeps_by_hand(tables, alpha, beta):
    """Return whether groups do not overlap, and every one keeps alpha and beta."""
    people, shown = groups_by_hand(tables)
    for one, other in combinations(shown.values(), 2):
        if all(one[name] & other[name] for name in one):
            return False
    for group, values in people.items():
        size = sum(values.values())
        if Fraction(size, prod(map(len, shown[group].values()))) > alpha or max(values.values()) > beta * size:
            return False
    return True


@pytest.mark.parametrize("release", MADE, indirect=True)
def test_mutants_are_refused_or_read_and_none_is_certified_wrongly(release):
    random = Random(release.form)
    read = 0
    for _ in range(150):
        tables, rows = mutated(release.tables(), release.rows, random)
        manifest = replace(release.manifest, rows=rows)
        found = audit_tables(manifest, tables, TABLE if random.random() < 0.5 else None)
        if release.form == "columns" and found.claims and found.holds:
            assert keeps_by_hand(tables, Fraction(1, 2), Fraction(1, 2))
        try:
            loaded = load(release, tables, rows)
        except FormatError:
            continue
        read += 1
        loaded.tables()
        loaded.presence(TABLE.to_arrow())
        loaded.beliefs(TABLE.to_arrow())
    assert 0 < read < 150


def test_counts_that_no_table_has_are_refused(release):
    tables = release.tables()
    counts = tables["st"]["count"].to_pylist()
    wraps = [10**18, *[2**62] * 4, *counts[5:]]  # these add up to a small number, if 64 bits are all there is
    for changed, rows in (
        ([0, *counts[1:]], 60),
        ([-1, *counts[1:]], 60),
        ([10**18, *counts[1:]], 10**18 + sum(counts[1:])),
        (wraps, (sum(wraps) + 2**63) % 2**64 - 2**63),
        ([2**62] * len(counts), 2**62 * len(counts)),
        (counts, 59),
        (counts, 0),
    ):
        with pytest.raises(FormatError):
            load(release, {**tables, "st": with_column(tables["st"], "count", changed)}, rows)


def test_an_audit_of_very_many_people_takes_no_room_for_each(release):
    tables = release.tables()
    counts = tables["st"]["count"].to_pylist()
    many = with_column(tables["st"], "count", [2**30, *counts[1:]])
    manifest = replace(release.manifest, rows=2**30 + sum(counts[1:]))
    found = audit_tables(manifest, {**tables, "st": many}, None)
    assert not found.holds


def test_group_numbers_with_gaps_below_one_or_beyond_all_tables_are_refused(release):
    for name, table in release.tables().items():
        groups = table["group"].to_pylist()
        for changed in (
            [g + 1 for g in groups],
            [2 * g for g in groups],
            [0, *groups[1:]],
            [2**31 - 1, *groups[1:]],
            [1] * len(groups),
        ):
            with pytest.raises(FormatError):
                load(release, {**release.tables(), name: with_column(table, "group", changed)})
        with pytest.raises(FormatError):
            load(release, {**release.tables(), name: table.slice(0, 0)})


def test_columns_of_types_that_no_release_has_are_refused(release):
    strange = [
        pa.nulls,
        lambda n: pa.array([[1]] * n),
        lambda n: pa.array([b"x"] * n),
        lambda n: pa.array([True] * n),
        lambda n: pa.array([1] * n, pa.duration("s")),
        lambda n: pa.array([1] * n, pa.time32("s")),
        lambda n: pa.array([1] * n, pa.uint64()),
    ]
    for name, table in release.tables().items():
        for place, column in enumerate(table.column_names):
            for make in strange:
                with pytest.raises(FormatError):
                    load(release, {**release.tables(), name: table.set_column(place, column, make(table.num_rows))})


@pytest.mark.parametrize("moved", [None, [], ["q1", "q1"], ["q0", "q1", "q2"], ["zz"], "q1", [1], [["q1"]], {"q1": 1}, ["q0"]])
@pytest.mark.parametrize("release", ["views"], indirect=True)
def test_moved_columns_that_make_no_sense_are_refused(release, moved):
    with pytest.raises(FormatError):
        load(release, release.tables(), moved=moved)


@pytest.mark.parametrize("release", ["views"], indirect=True)
def test_views_whose_two_tables_disagree_about_a_group_are_refused(release):
    tables = release.tables()
    groups = tables["at"]["group"].to_pylist()
    swapped = with_column(tables["at"], "group", [3 - g for g in groups])
    assert Counter(groups)[1] != Counter(groups)[2]
    with pytest.raises(FormatError, match="same number of people"):
        load(release, {**tables, "at": swapped})


def test_matchings_of_many_rows_are_bounded_from_both_sides_and_exact_for_few(monkeypatch):
    triples = [(n, a, b) for n in range(1, 10) for a in range(1, n + 1) for b in range(1, n + 1)]
    exact = {one: meets(*one) for one in triples}
    assert all(meets_at_least(*one) == belief for one, belief in exact.items())
    monkeypatch.setattr(views, "LARGEST", 2)
    for one in triples:
        assert meets_at_least(*one) <= exact[one] <= meets(*one)
        if min(one[1:]) <= 2:
            assert meets_at_least(*one) == meets(*one) == exact[one]
    assert meets(10**9, 10**8, 10**8) == 1
