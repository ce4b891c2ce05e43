"""Pictures of answers and releases: points with intervals, a heat map of lift, and what a reader may learn of one person."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from sfumato.charts.pictures import Allowance, Allowances, HeatMap, Library, Point, Points, Tile, draw
from sfumato.errors import SfumatoError
from sfumato.exact import percent
from sfumato.query.answer import Estimate, GroupedAnswer, cell_texts, interval_text
from sfumato.query.language.predicate import Query

if TYPE_CHECKING:
    from sfumato.query.crosstab import Crosstab
    from sfumato.release.base import Release

MOST_CELLS = 5000
"""Marks that a picture shows."""

TOLD = 12
"""Cells that the words of a picture tell; of more it says how many there are."""

MOST_VALUES = 30
"""Values that the picture of a release shows: those whose bound is used most, then the most frequent."""


def plot_answer(cells: Sequence[tuple[str, Estimate]], columns: Sequence[str], library: Library | None = None) -> Any:
    """Return a picture of estimates: a point with its interval for each cell, in the order of the answer."""
    require_few(len(cells))
    measure = cells[0][1].measure if cells else "count"
    by = f" by {', '.join(columns)}" if columns else ""
    confidence = f"with {100 * cells[0][1].confidence:g} % intervals; a cross has none" if cells else ""
    told = "; ".join(": ".join(filter(None, (name, _figure(estimate)))) for name, estimate in cells[:TOLD])
    more = f"; and {len(cells) - TOLD:,} more" if len(cells) > TOLD else ""
    rows = [Point(name, estimate.value, estimate.low, estimate.high) for name, estimate in cells]
    words = f"{measure}{by}, {len(cells):,} {'point' if len(cells) == 1 else 'points'} {confidence}. {told}{more}."
    picture = Points(f"{measure}{by}", confidence, words, ", ".join(columns), measure, rows)
    return draw(picture, library)


def plot_crosstab(table: Crosstab, library: Library | None = None) -> Any:
    """Return a heat map of lift: blue below 1, red above, pale where the interval holds 1."""
    require_few(len(table.rows) * len(table.columns))
    tiles = [
        Tile(row, column, count.value, lift.value, lift.low, lift.high)
        for row, column, count, lift in table.named()
        if lift is not None
    ]
    clear = sorted((tile for tile in tiles if tile.clear), key=lambda one: -abs(one.lift - 1))
    told = "; ".join(f"{one.row} and {one.column}: {one.lift:.2f}" for one in clear[:TOLD])
    words = (
        f"How many times as many people have both values as if {table.names[0]} and {table.names[1]} were unrelated, in "
        f"{len(tiles):,} cells, {len(clear):,} of them with an interval that leaves 1 out. {told}"
    )
    under = "how many times as many as if unrelated; pale where the interval holds 1"
    return draw(HeatMap(f"{table.names[0]} and {table.names[1]}: lift", under, words, table.names, tiles), library)


def plot_release(release: Release, library: Library | None = None) -> Any:
    """Return a picture of what a reader may learn of one person: each value's share, its largest in a group, and its bound."""
    rows: list[Allowance] = []
    for one in release.each:
        rows += _allowances(one, f"{one.secrets[0]}: " if len(release.secrets) > 1 else "")
    rows.sort(key=lambda row: (-_used(row), -row.share))
    shown = rows[:MOST_VALUES]
    of = " and ".join(release.secrets)
    left = f"; the {MOST_VALUES} of {len(rows):,} values nearest to their bounds" if len(rows) > len(shown) else ""
    words = f"{of} of {release.rows:,} people: how sure somebody can be of a value{left}. "
    words += "; ".join(_told(row) for row in shown[:TOLD]) + "."
    under = f"{release.rows:,} people, from the release alone{left}"
    return draw(Allowances(f"What a reader may learn of one person: {of}", under, words, shown), library)


def _allowances(release: Release, prefix: str) -> list[Allowance]:
    stated = {str(entry["value"]): entry for entry in release.manifest.values or ()}
    largest = release.largest_shares()
    beliefs = {} if largest is None else dict(zip(release.labels, largest.tolist(), strict=True))
    rows = []
    for label, share in _shares(release, stated).items():
        bound = Fraction(str(stated.get(label, {}).get("bound", 1)))
        rows.append(Allowance(f"{prefix}{label}", share, beliefs.get(label), float(bound) if bound < 1 else None))
    return rows


def _shares(release: Release, stated: Mapping[str, Mapping[str, Any]]) -> dict[str, float]:
    """Return the share of each value among all people: as the manifest states it, else as the release tells."""
    from sfumato.query.count import count

    if stated and all("count" in entry for entry in stated.values()):
        return {label: entry["count"] / release.rows for label, entry in stated.items()}
    answer = count(release, Query(group_by=release.domain.names))
    assert isinstance(answer, GroupedAnswer)
    return {", ".join(cell_texts(answer.columns, key)): estimate.value / release.rows for key, estimate in answer}


def _figure(estimate: Estimate) -> str:
    return f"{estimate.written(estimate.value, ',')} ({interval_text(estimate)})"


def _used(row: Allowance) -> float:
    """Return which part of its bound a value's largest share uses."""
    return 0.0 if row.belief is None or row.bound is None else row.belief / row.bound


def _told(row: Allowance) -> str:
    parts = [f"{row.value}: {percent(row.share, 1)} of all"]
    parts += [] if row.belief is None else [f"at most {percent(row.belief, 1)} of a group"]
    parts += [] if row.bound is None else [f"bound {percent(row.bound, 1)}"]
    return ", ".join(parts)


def require_few(marks: int) -> None:
    """Refuse a picture that nobody could read."""
    if marks > MOST_CELLS:
        raise SfumatoError(f"a chart of {marks:,} cells cannot be read", hint="ask for fewer cells: WHERE, HAVING or LIMIT")
