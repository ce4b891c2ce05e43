"""The parts of a randomized release, as its manifest describes them: values, matrix, and what was declared."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa

from sfumato.arrays import Floats, Integers
from sfumato.errors import FormatError
from sfumato.release.coding import value_type
from sfumato.release.manifest import Manifest, plain_number
from sfumato.table.column import Domain, as_text

_KEYS = frozenset({"part", "values", "gamma", "retention", "largest_share", "shares", "weight"})
_PLAIN = re.compile(r"\d{1,400}(/\d{1,400})?")


@dataclass(frozen=True, eq=False)
class RandomizedPart:
    """One part as the manifest describes it: P[x→y] = p_x·[x = y] + (1 − p_x)/m, over its m values.

    `values` are codes of the release's domain in the manifest's order, `retention` the p_x in that order. `largest_share` is the
    declared largest share of a protected value in the part, `shares` are the declared shares of all of them and `weight` is the
    chance of a person with the declared shares to be in the part (None where the manifest does not say).
    """

    values: Integers
    retention: tuple[Fraction, ...]
    gamma: Fraction | None = None
    largest_share: Fraction | None = None
    shares: tuple[Fraction, ...] | None = None
    weight: Fraction | None = None

    def __len__(self) -> int:
        return len(self.values)

    @property
    def described(self) -> tuple[tuple[int, ...], tuple[Fraction, ...], tuple[Fraction, ...], Fraction]:
        """What the manifest says of the part, in the order that parts are numbered by: values, retentions, shares, weight."""
        return tuple(self.values.tolist()), self.retention, self.shares or (), self.weight or Fraction(0)

    @cached_property
    def kept(self) -> Floats:
        """The retentions as floats; a part of one value keeps it in any case."""
        if len(self) == 1:
            return np.ones(1)
        return np.array([float(p) for p in self.retention])

    def chance(self, x: int, y: int) -> Fraction:
        """Return P[x→y] exactly; x and y are positions in `values`."""
        p = self.retention[x]
        return (1 - p) / len(self) + (p if x == y else 0)

    def belief(self, x: int, y: int, shares: Sequence[Fraction]) -> Fraction:
        """Return how sure a reader is of x who sees y and takes these shares of the part as prior: exact ([SDR §4.1])."""
        spread = sum((share * (1 - p) for share, p in zip(shares, self.retention, strict=True)), Fraction(0)) / len(self)
        seen = spread + shares[y] * self.retention[y]
        return shares[x] * self.chance(x, y) / seen if seen else Fraction(0)

    def reconstruct(self, counts: Floats) -> Floats:
        """Return the unbiased estimate of the true counts behind published ones; may be negative.

        The matrix is diagonal plus rank one, so its inverse is a subtraction and a division: what replacing adds to every
        value is the same, and follows from the total. For one retention this is ((m−1+γ)·o − |T*|)/(γ−1) ([SDR §3.3]).
        """
        inverse = 1 / self.kept
        added = (counts @ inverse - counts.sum()) / inverse.sum()
        original: Floats = (counts - added) * inverse
        return original

    def likely_shares(self, counts: Floats) -> Floats:
        """Return shares in agreement with published counts: the reconstruction without negative counts; even if there is none."""
        original = np.maximum(self.reconstruct(counts), 0.0)
        total = original.sum()
        return original / total if total > 0 else np.full(len(self), 1 / len(self))


def plain_values(domain: Domain) -> list[Any]:
    """Return each value as the manifest's parts list it: plain JSON, for several columns a tuple; dates as text."""
    columns = [[_plain(value) for value in column.to_pylist()] for column in domain.table.columns]
    return list(columns[0]) if len(columns) == 1 else list(zip(*columns, strict=True))


def _plain(value: Any) -> Any:
    return plain_number(value) if value is None or isinstance(value, (str, int, float)) else as_text(value)


def part_entries(manifest: Manifest) -> list[Mapping[str, Any]]:
    """Return what the manifest says about each part, in the order of their numbers 1, 2, …."""
    entries = manifest.parameters.get("parts")
    if not isinstance(entries, list) or not entries or not all(isinstance(entry, Mapping) for entry in entries):
        raise FormatError("manifest.json: the parameters do not list the parts of this randomized release")
    for entry in entries:
        unknown = sorted(set(entry) - _KEYS)
        if unknown:
            raise FormatError(f"manifest.json: a part has unknown keys: {', '.join(map(str, unknown[:5]))}")
        if not isinstance(entry.get("values"), list) or not entry["values"]:
            raise FormatError("manifest.json: a part lists no values")
    numbers = [entry.get("part") for entry in entries]
    if any(isinstance(n, bool) or not isinstance(n, int) for n in numbers) or numbers != [*range(1, len(entries) + 1)]:
        raise FormatError("manifest.json: the parts should be numbered 1, 2, … without gaps")
    return entries


def read_part(entry: Mapping[str, Any], code: Mapping[Any, int]) -> RandomizedPart:
    """Return one part from what the manifest says about it, `code` being the number of each value of the domain."""
    where = f"manifest.json: part {entry['part']}"
    named = [tuple(value) if isinstance(value, (list, tuple)) else value for value in entry["values"]]
    try:
        values = np.array([code[value] for value in named], dtype=np.int64)
    except (KeyError, TypeError):
        raise FormatError(f"{where} lists a value that is not in the release's domain") from None
    if len(set(named)) < len(named):
        raise FormatError(f"{where} lists a value twice")
    known = list(code)
    if json.dumps(named) != json.dumps([known[k] for k in sorted(values)]):
        raise FormatError(f"{where} lists its values in another order or spelling than a release does")
    kept = entry.get("retention")
    retention = tuple(_number(p) for p in kept) if isinstance(kept, list) else (_number(kept),) * len(named)
    if len(retention) != len(named) or not all(0 < p <= 1 for p in retention):
        raise FormatError(f"{where} needs one retention above 0 and up to 1, or one for each value")
    if isinstance(kept, list) != (entry.get("gamma") is None):
        raise FormatError(f"{where} needs one retention if it states γ, and else one for each value")
    shares = entry.get("shares")
    declared = None if shares is None else tuple(_number(share) for share in (shares if isinstance(shares, list) else ()))
    if declared is not None and (len(declared) != len(named) or min(declared) <= 0 or sum(declared) != 1):
        raise FormatError(f"{where} needs shares above 0, one for each value, that add up to 1")
    gamma, *stated = (None if entry.get(key) is None else _number(entry[key]) for key in ("gamma", "largest_share", "weight"))
    if any(share is not None and not 0 < share <= 1 for share in stated):
        raise FormatError(f"manifest.json: a share that part {entry['part']} states is not above 0 and up to 1")
    return RandomizedPart(values, retention, gamma, stated[0], declared, stated[1])


def _number(text: Any) -> Fraction:
    if isinstance(text, bool) or not _PLAIN.fullmatch(str(text)):
        raise FormatError('manifest.json: a figure of a part is not an exact number such as "7/3"')
    try:
        return Fraction(str(text))
    except ZeroDivisionError:
        raise FormatError("manifest.json: a figure of a part divides by zero") from None


def listed_values(entries: list[Mapping[str, Any]], sensitive: pa.Table) -> pa.Table:
    """Return the values of all parts, each once, as rows with the types of the published columns."""
    rows = dict.fromkeys(
        tuple(value) if isinstance(value, (list, tuple)) else (value,)
        for entry in entries
        for value in _hashable(entry["values"])
    )
    if any(len(row) != sensitive.num_columns for row in rows):
        raise FormatError("manifest.json: the values of the parts do not have one entry per sensitive column")
    columns = {}
    for place, name in enumerate(sensitive.column_names):
        kind = value_type(sensitive.schema.field(name).type)
        plain = [row[place] for row in rows]
        try:
            columns[name] = pa.array(plain).cast(kind) if pa.types.is_temporal(kind) else pa.array(plain, kind)
        except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError):
            raise FormatError(f"manifest.json: a part lists values of {name!r} that are not {kind} values") from None
    return pa.table(columns)


def _hashable(values: list[Any]) -> list[Any]:
    for value in values:
        for entry in value if isinstance(value, (list, tuple)) else [value]:
            if entry is not None and not isinstance(entry, (str, int, float)):
                raise FormatError("manifest.json: a part lists something that is not a plain value")
    return values
