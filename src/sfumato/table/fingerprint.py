"""A fingerprint of the table: is this, or nearly this, the table that was published before?

It belongs in private receipts only. The hashes are fast ones without a secret: whoever holds a fingerprint and guesses a whole
row, or the identifiers of one of some 256 people, can check the guess.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt

from sfumato.arrays import Integers, Unsigned
from sfumato.table.coding import texts
from sfumato.table.column import Column

SKETCH = 256
"""How many of the smallest row hashes are kept: enough to tell shares of common rows to about ±0.06."""

_BASE = 0x9E3779B97F4A7C15 | 1
_INVERSE = pow(_BASE, -1, 1 << 64)
_ABSENT = np.uint64(0xD6E8FEB86659FD93)
_ROWS_AT_ONCE = 1 << 16
_BETWEEN = " \t-./_"
"""Signs that one spelling of an identifier has and another does without."""


@dataclass(frozen=True)
class Fingerprint:
    """`digest` is equal for the same rows in any order, `sketch` holds the smallest distinct row hashes.

    `columns` has a digest of each column's values, in any order: it still tells the same table when its columns were given other
    roles, which changes every row. `identities` holds the smallest distinct hashes of identifiers alone: it still tells the same
    people when all else about them has changed, as in next year's table.
    """

    digest: str
    rows: int
    sketch: tuple[int, ...]
    columns: Mapping[str, str] = field(default_factory=dict)
    identities: tuple[int, ...] = ()

    def common_columns(self, other: Fingerprint) -> tuple[str, ...]:
        """Return the columns that hold the same values the same number of times in both tables."""
        return tuple(name for name, digest in self.columns.items() if other.columns.get(name) == digest)

    def similarity(self, other: Fingerprint) -> float:
        """Return an estimate of the share of distinct rows that both tables have, among those that either has."""
        return _in_both(self.sketch, other.sketch) if self.sketch or other.sketch else 1.0

    def same_people(self, other: Fingerprint) -> float:
        """Return an estimate of the share of identifiers that both tables have, among those that either has; 0 without any."""
        return _in_both(self.identities, other.identities) if self.identities and other.identities else 0.0

    def own_share(self, common: float, other: Fingerprint) -> float:
        """Return what part of this table's rows a share of those that either table has is."""
        return min(1.0, common / (1 + common) * (self.rows + other.rows) / max(1, self.rows))

    def to_dict(self) -> dict[str, Any]:
        """Return the fingerprint in JSON types."""
        return {
            "digest": self.digest,
            "rows": self.rows,
            "sketch": [f"{value:016x}" for value in self.sketch],
            "columns": dict(self.columns),
            "identities": [f"{value:016x}" for value in self.identities],
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Fingerprint:
        """Return the fingerprint that `to_dict` wrote."""
        sketch, identities = (tuple(int(text, 16) for text in some) for some in (data["sketch"], data.get("identities", ())))
        return cls(str(data["digest"]), int(data["rows"]), sketch, dict(data.get("columns", {})), identities)


def _in_both(mine: Iterable[int], theirs: Iterable[int]) -> float:
    """Return the share of the smallest hashes of either sketch that is in both (bottom-k sketches)."""
    ours, other = set(mine), set(theirs)
    smallest = sorted(ours | other)[:SKETCH]
    return sum(value in ours and value in other for value in smallest) / len(smallest)


def quasi_hashes(columns: Sequence[Column], rows: int) -> Unsigned:
    """Return one hash per row of these columns alone, without identifiers."""
    total = np.zeros(rows, np.uint64)
    for column in columns:
        total += value_hashes(column)[column.codes]
    return total


def fingerprint(columns: Sequence[Column], rows: int, *, identity: Unsigned | None = None) -> Fingerprint:
    """Return the fingerprint of these columns; `identity` brings in identifiers that were hashed before they were dropped."""
    total = np.zeros(rows, np.uint64) if identity is None else identity.copy()
    own = {}
    for column in columns:
        hashes = value_hashes(column)
        total += hashes[column.codes]
        own[column.name] = column_digest(hashes, np.bincount(column.codes, minlength=len(hashes)))
    ordered = np.sort(mix(total))
    digest = hashlib.blake2b(ordered.astype("<u8").tobytes(), digest_size=16).hexdigest()
    return Fingerprint(digest, rows, sketched(ordered), own, () if identity is None else sketched(np.sort(identity)))


def sketched(ordered: Unsigned) -> tuple[int, ...]:
    """Return the smallest distinct hashes of a sorted array."""
    distinct = np.unique(ordered[: 64 * SKETCH])
    if len(distinct) < SKETCH:
        distinct = np.unique(ordered)
    return tuple(int(value) for value in distinct[:SKETCH])


def value_hashes(column: Column) -> Unsigned:
    """Return what each value of a column, and then a missing one, adds to the hash of its row."""
    return _named(np.append(hash_texts(texts(column.values)), _ABSENT), column.name)


def column_digest(hashes: Unsigned, times: Integers) -> str:
    """Return the digest of a column whose values, with these hashes, occur so often."""
    occurring = np.flatnonzero(times)
    order = occurring[np.argsort(hashes[occurring])]
    content = np.stack([hashes[order], times[order].astype(np.uint64)])
    return hashlib.blake2b(content.astype("<u8").tobytes(), digest_size=16).hexdigest()


def hash_rows(columns: Iterable[tuple[str, pa.ChunkedArray]], rows: int) -> Unsigned:
    """Return one hash per row over these columns, whatever their order."""
    total = np.zeros(rows, np.uint64)
    for name, data in columns:
        parts = [hash_texts(pc.cast(chunk, pa.string())) for chunk in data.chunks]
        total += _named(np.concatenate(parts) if parts else np.empty(0, np.uint64), name)
    return total


def hash_people(columns: Mapping[str, pa.ChunkedArray], rows: int) -> Unsigned:
    """Return one hash per row of who it is about, whatever the columns are called and however their cells are spelled.

    Case, blanks, signs between letters and digits, and zeros in front make no difference, nor do numbers that came as floats.
    """
    total = np.zeros(rows, np.uint64)
    for name in sorted(columns, key=str.casefold):
        parts = [hash_texts(_plain_spelling(chunk)) for chunk in columns[name].chunks]
        total = mix(total * np.uint64(_BASE) + (np.concatenate(parts) if parts else np.empty(0, np.uint64)))
    return total


def _plain_spelling(cells: pa.Array) -> pa.Array:
    if pt.is_dictionary(cells.type):
        cells = cells.dictionary_decode()
    text = pc.utf8_lower(pc.cast(_whole(cells), pa.string()))
    text = pc.replace_substring_regex(text, r"^(\s*[+-]?[0-9]+)\.0+\s*$", r"\1")
    for sign in _BETWEEN:
        text = pc.replace_substring(text, sign, "")
    return pc.utf8_ltrim(text, "0")


def _whole(cells: pa.Array) -> pa.Array:
    """Return floats that are all whole as whole numbers, which are written without an exponent."""
    if not pt.is_floating(cells.type):
        return cells
    try:
        return pc.cast(cells, pa.int64())
    except pa.ArrowInvalid:
        return cells


def nobody(columns: int) -> Unsigned:
    """Return the hash of whoever has a missing value in each of so many columns that tell people apart, as an array of one."""
    absent = pa.chunked_array([pa.array([None], pa.string())])
    return hash_people({str(k): absent for k in range(columns)}, 1)


def hash_texts(text: pa.Array) -> Unsigned:
    """Return a 64-bit hash of every text: a polynomial in its bytes modulo 2^64, then mixed. Nulls get one of their own."""
    parts = [_hash_some(text.slice(start, _ROWS_AT_ONCE)) for start in range(0, len(text), _ROWS_AT_ONCE)]
    return np.concatenate(parts) if parts else np.empty(0, np.uint64)


def _hash_some(text: pa.Array) -> Unsigned:
    """Hash a slice of texts at once: running sums of byte·base^position, so that a text is a difference of two of them."""
    _, places, data = text.buffers()
    ends = np.frombuffer(places, np.int32, count=len(text) + 1, offset=4 * text.offset).astype(np.int64)
    count = int(ends[-1] - ends[0])
    raw = np.frombuffer(data, np.uint8, count=count, offset=int(ends[0])) if count else np.empty(0, np.uint8)
    ends -= ends[0]
    sums = np.zeros(count + 1, np.uint64)
    np.cumsum((raw.astype(np.uint64) + np.uint64(1)) * _powers(_BASE, count), out=sums[1:])
    hashes = (sums[ends[1:]] - sums[ends[:-1]]) * _powers(_INVERSE, count + 1)[ends[:-1]]
    hashes = mix(hashes + mix(np.diff(ends).astype(np.uint64)))
    if text.null_count:
        hashes[pc.is_null(text).to_numpy(zero_copy_only=False)] = _ABSENT
    return hashes


def _powers(base: int, count: int) -> Unsigned:
    powers = np.full(count, base, np.uint64)
    powers[:1] = 1
    return np.cumprod(powers, dtype=np.uint64)


def _named(hashes: Unsigned, name: str) -> Unsigned:
    """Return the hashes mixed with a column's name, so that equal values in two columns differ."""
    key = int.from_bytes(hashlib.blake2b(name.encode(), digest_size=8).digest(), "little")
    return mix(hashes + np.uint64(key))


def mix(words: Unsigned) -> Unsigned:
    """Return each word scrambled by a bijection in which every bit depends on every other."""
    words = words ^ (words >> np.uint64(30))
    words = words * np.uint64(0xBF58476D1CE4E5B9)
    words = words ^ (words >> np.uint64(27))
    words = words * np.uint64(0x94D049BB133111EB)
    return words ^ (words >> np.uint64(31))
