"""Margins (noisy one-way tables beside noisy boxes), judged anew: which there must be, their part of γ, and their noise."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from sfumato.arrays import Array, Integers
from sfumato.auditor.declaration import exact_share
from sfumato.errors import FormatError
from sfumato.release.buckets import BucketsRelease
from sfumato.release.manifest import Manifest
from sfumato.table.column import Column

_FINE = 10**12
_FROM, _USUAL, _MOST, _BANDS = 100_000, Fraction(7, 10), 600, 32


@dataclass(frozen=True)
class StatedMargins:
    """What the manifest states of margins: the columns of each table, their part of γ, and the ratio of their noise."""

    tables: tuple[tuple[str, ...], ...]
    gamma: Fraction
    ratio: Fraction

    @classmethod
    def of(cls, manifest: Manifest) -> StatedMargins | None:
        """Return it; None where no table is stated."""
        stated = manifest.parameters.get("margins")
        if stated is None:
            return None
        try:
            tables = tuple(tuple(map(str, table)) for table in stated["tables"])
            return cls(tables, exact_share(stated["gamma"]), exact_share(stated["ratio"]))
        except (KeyError, TypeError, ValueError, ZeroDivisionError):
            raise FormatError("manifest.json: parameters.margins cannot be read") from None


def tables_due(manifest: Manifest, gamma: Fraction, counted: int) -> tuple[tuple[str, ...], ...]:
    """Return the margins that there must be: those that the method was asked for, else by the number of people.

    Where γ leaves no ratio below 1 to so many tables there are none. A person is counted of `counted` values in every table.
    """
    asked = manifest.method.get("margins")
    usual = manifest.rows >= _FROM and _values_declared(manifest.method) <= _MOST and not manifest.bundled
    if asked == "0" or (asked is None and not usual):
        return ()
    single = [(str(column["name"]),) for column in manifest.schema["quasi"]]
    pairs = [tuple(map(str, pair)) for pair in asked] if isinstance(asked, Sequence) and not isinstance(asked, str) else []
    most = 1 - Fraction(1, 1 << 30)
    if asked is None and most ** (2 * counted * len(single)) * _part(gamma, _USUAL) < 1:
        return ()
    return (*single, *pairs)


def wrong_margins(manifest: Manifest, stated: StatedMargins | None, gamma: Fraction, counted: int) -> list[str]:
    """Return where the margins' part of γ is not the one that the method gives them, or their noise is too small."""
    if "margins_from" in manifest.parameters and manifest.parameters["margins_from"] != _FROM:
        return [f"parameters.margins_from: without margins=… tables are added from {_FROM:,} people on"]
    if stated is None:
        return []
    problems = []
    if stated.gamma != _part(gamma, _share(manifest.method.get("margins"))):
        problems.append("the part of γ spent on margins is not the one that the method gives them")
    return problems + wrong_ratio(stated.ratio, stated.gamma, counted * len(stated.tables), "of the margins ")


def other_tables(manifest: Manifest, stated: StatedMargins | None, gamma: Fraction, counted: int) -> list[str]:
    """Return that the margins are not those that the method, or the number of people, asks for."""
    due = tables_due(manifest, gamma, counted)
    return (
        []
        if due == (stated.tables if stated else ())
        else ["the margins are not the tables that the method or the number of people asks for"]
    )


def wrong_ratio(ratio: Fraction, gamma: Fraction, moved: int, where: str = "") -> list[str]:
    """Return that noise of a ratio is not the least that hides `moved` values in γ-fold odds."""
    power = 2 * moved
    if not 0 < ratio < 1 or ratio**power * gamma < 1:
        return [f"noise {where}of this ratio is too small for γ: the ratio to the power of −{power} must not exceed it"]
    if (ratio * (1 << 30)).denominator != 1 or (ratio - Fraction(1, 1 << 30)) ** power * gamma >= 1:
        return [f"the ratio of the noise {where}is not the smallest multiple of 2^-30 that γ allows"]
    return []


def _values_declared(method: Mapping[str, Any]) -> int:
    """Return how many values are declared of a secret, of several the most."""
    given = next((method[key] for key in ("shares", "values", "has") if method.get(key) is not None), ())
    nested = isinstance(given, Mapping) and all(isinstance(value, Mapping | list | tuple) for value in given.values())
    return max(map(len, given.values()), default=0) if nested and isinstance(given, Mapping) else len(given)


def _share(asked: Any) -> Fraction:
    return exact_share(asked) if isinstance(asked, str) else _USUAL


def _part(gamma: Fraction, share: Fraction) -> Fraction:
    """Return the largest multiple of 10⁻¹² whose power of 1/share γ reaches, found from above by halving."""
    least, steps = _FINE, (gamma.numerator * _FINE) // gamma.denominator - _FINE
    while steps > 0:
        half = (steps + 1) // 2
        if Fraction(least + half, _FINE) ** share.denominator <= gamma**share.numerator:
            least, steps = least + half, steps - half
        else:
            steps = half - 1
    return Fraction(least, _FINE)


Parts = Callable[[], Iterable[tuple[Sequence[Array], Array]]]
"""Gives people part by part: the codes of their quasi columns, and the place of each one's value among the declared ones."""


def true_margins(release: BucketsRelease, quasi: Sequence[Column], parts: Parts) -> Integers | None:
    """Return [bands × values]: the table's people by the bands of every stated table; None where they have other bands."""
    stated, margins, values = StatedMargins.of(release.manifest), release.margins, len(release.domain)
    if stated is None or margins is None:
        return None
    times = [np.zeros(column.size, np.int64) for column in quasi]
    for codes, _ in parts():
        for own, code in zip(times, codes, strict=True):
            own += np.bincount(code, minlength=len(own))
    banded = {column.name: (j, *_bands(column, times[j])) for j, column in enumerate(quasi)}
    tables = [[banded[name] for name in names] for names in stated.tables]
    if [math.prod(bands for _, _, bands in table) for table in tables] != [*margins.bands]:
        return None
    counts = [np.zeros(bands * values, np.int64) for bands in margins.bands]
    for codes, truth in parts():
        for table, count in zip(tables, counts, strict=True):
            band = np.zeros(len(truth), np.int64)
            for j, of_code, bands in table:
                band = band * bands + of_code[codes[j]]
            count += np.bincount(band * values + truth, minlength=len(count))
    return np.concatenate(counts).reshape(-1, values)


def _bands(column: Column, times: Integers) -> tuple[Integers, int]:
    """Return the band of every code of a column that so many people have, from 0 on, and how many bands there are."""
    there = [code for code, many in enumerate(times.tolist()) if many]
    band = np.zeros(column.size, np.int64)
    if len(there) <= _BANDS:
        number: Sequence[Any] = range(len(there))
    elif column.kind == "categorical":
        rank = {code: place for place, code in enumerate(sorted(there, key=lambda code: (-int(times[code]), code)))}
        number = [min(rank[code], _BANDS - 1) for code in there]
    else:
        number = _bands_of_numbers([int(times[code]) for code in there if code < len(column.values)])
        number = [*number, *([max(number) + 1] if there[-1] == len(column.values) else [])]
    band[there] = number
    return band, max(number) + 1


def _bands_of_numbers(times: Sequence[int]) -> list[int]:
    """Return the bands of ascending numbers that so many people have: one of its own for whoever has a sixteenth of them."""
    own = [16 * many >= sum(times) for many in times]
    others = sum(many for many, alone in zip(times, own, strict=True) if not alone)
    parts, below, before, bands = _BANDS - 1 - 2 * sum(own), 0, 0, []
    for many, alone in zip(times, own, strict=True):
        bands.append((2 * before + 1, 0) if alone else (2 * before, (2 * below + many) * parts // (2 * others)))
        before, below = before + alone, below + (0 if alone else many)
    number = {first: k for k, first in enumerate(sorted(set(bands)))}
    return [number[first] for first in bands]
