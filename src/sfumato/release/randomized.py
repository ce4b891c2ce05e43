"""Form *randomized*: exact quasi values, the part a person is in, and a sensitive value that was kept or replaced by a coin."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa

from sfumato.arrays import Array, Floats, Integers, Small
from sfumato.errors import FormatError
from sfumato.release.base import Release
from sfumato.release.buckets import published_names
from sfumato.release.canonical import Shown, canonical_order
from sfumato.release.careful import decoded, take_table, value_type, whole_numbers
from sfumato.release.coding import code_column, code_domain, combine, dictionary_array, match_rows, sensitive_columns
from sfumato.release.manifest import KNOWS, Adversary, Claim, Manifest, plain_number
from sfumato.table.column import Column, as_text
from sfumato.table.frames import Native
from sfumato.table.sensitive import Domain

PART = "part"
RECORDS = "records"
PART_KEYS = frozenset({"part", "values", "gamma", "retention", "largest_share", "shares", "weight"})


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
        found: Floats = (counts - added) * inverse
        return found

    def likely_shares(self, counts: Floats) -> Floats:
        """Return shares in agreement with published counts: the reconstruction without negative counts; even if there is none."""
        found = np.maximum(self.reconstruct(counts), 0.0)
        total = found.sum()
        return found / total if total > 0 else np.full(len(self), 1 / len(self))


@dataclass(frozen=True, eq=False, repr=False)
class RandomizedRelease(Release):
    """`records`: one row per person with quasi values, the part, and the randomized sensitive value ([SDR §3.1, §4]).

    Parts are numbered 0 … in memory and 1 … in the table and the manifest. The values and the matrix of each part are in the
    manifest's parameters `parts`; the domain holds the values of all parts.
    """

    form = "randomized"
    shows_counts = False

    quasi: tuple[Column, ...]
    domain: Domain
    part: Small
    value: Array
    made_from: Native = "pyarrow"

    @cached_property
    def parts(self) -> tuple[RandomizedPart, ...]:
        """The parts in the order of their numbers, read from the manifest."""
        code = {value: k for k, value in enumerate(plain_values(self.domain))}
        return tuple(_read_part(entry, code) for entry in _entries(self.manifest))

    @cached_property
    def declared(self) -> bool:
        """Whether shares, parts and retention were declared, and not computed from the table."""
        return self.manifest.parameters.get("parameters") == "declared"

    def counts(self, part: int) -> Floats:
        """Return how often each value of a part is published in it, in the order of the part's values."""
        shown = np.bincount(self.value[self.part == part], minlength=len(self.domain))
        return shown[self.parts[part].values].astype(np.float64)

    @cached_property
    def priors(self) -> tuple[Floats, ...]:
        """Per part the shares that a reader may take as prior: the declared ones, else likely ones from what is published."""
        return tuple(
            part.likely_shares(self.counts(i)) if part.shares is None else np.array([float(share) for share in part.shares])
            for i, part in enumerate(self.parts)
        )

    def tables(self) -> dict[str, pa.Table]:
        """Return `records`: the quasi columns, the part, and the sensitive columns as randomized."""
        columns: dict[str, pa.Array] = {column.name: dictionary_array(column) for column in self.quasi}
        columns[PART] = pa.array(self.part + 1, pa.int32())
        columns |= sensitive_columns(self.domain, self.value)
        return {RECORDS: pa.table(columns)}

    def beliefs(self, people: Any, *, shares: Sequence[Floats] | None = None) -> Floats:
        """Return [people × sensitive values]: the belief given part and published value, averaged over the rows that fit.

        The prior is what the release tells about the shares of the part (`priors`), or `shares`, one array per part in the order
        of its values: the bounds speak of the true shares, which only the publisher can give. A person whom no published row
        fits gets NaN.
        """
        owner, row, owners = match_rows(self.quasi, people)
        beliefs = np.zeros((owners, len(self.domain)))
        part, value = self.part[row], self.value[row]
        for i, (one, prior) in enumerate(zip(self.parts, self.priors if shares is None else shares, strict=True)):
            mine = part == i
            place = np.zeros(len(self.domain), np.int64)
            place[one.values] = np.arange(len(one))
            shown = place[value[mine]]
            replaced = prior * (1 - one.kept) / len(one)
            seen = prior * one.kept + replaced.sum()
            with np.errstate(invalid="ignore", divide="ignore"):
                weight = np.bincount(owner[mine], weights=1 / seen[shown], minlength=owners)
                beliefs[:, one.values] += weight[:, None] * replaced
                np.add.at(beliefs, (owner[mine], one.values[shown]), (prior * one.kept / seen)[shown])
        with np.errstate(invalid="ignore", divide="ignore"):
            result: Floats = beliefs / np.bincount(owner, minlength=owners)[:, None]
        return result

    def in_fixed_words(self, claim: Claim) -> Claim:
        """Return the claim against this adversary in the words that such a release makes it in."""
        one_row = bool(self.manifest.parameters["one_row_per_person"])
        return randomized_claim(claim.adversary, declared=self.declared, one_row_per_person=one_row)

    def listing(self) -> tuple[tuple[Shown, ...], int]:
        """Return the parts by what the manifest says of them, and the rows by quasi values and value."""
        parts = self.parts
        described = sorted(range(len(parts)), key=lambda i: parts[i].described)
        rank = np.zeros(len(parts), np.int64)
        for one, two in pairwise(described):
            rank[two] = rank[one] + (parts[one].described != parts[two].described)
        people = np.unique(combine(list(self.quasi)), return_inverse=True)[1].astype(np.int64)
        rows = Shown(RECORDS, self.part, people * len(self.domain) + self.value)
        return (Shown("parts", np.arange(len(parts)), rank), rows), len(parts)

    def canonical(self) -> tuple[RandomizedRelease, Small]:
        """Return the same release with rows and numbers of parts in canonical order, and the number there of each part here."""
        order = canonical_order(*self.listing())
        rows = order.rows[1]
        entries = sorted(
            ({**entry, "part": int(order.number[i]) + 1} for i, entry in enumerate(_entries(self.manifest))),
            key=lambda entry: int(entry["part"]),
        )
        release = replace(
            self,
            manifest=replace(self.manifest, parameters={**self.manifest.parameters, "parts": entries}),
            quasi=tuple(column.take(rows) for column in self.quasi),
            part=order.number[self.part[rows]],
            value=self.value[rows],
        )
        return release, order.number

    @classmethod
    def from_tables(cls, manifest: Manifest, tables: Mapping[str, pa.Table], *, in_any_order: bool = False) -> RandomizedRelease:
        """Return the release whose `records` these are; tables or parts that cannot be such are refused."""
        quasi_names, sensitive_names, kinds = published_names(manifest)
        if set(tables) != {RECORDS}:
            raise FormatError(f"a randomized release has the table records; this one has {', '.join(sorted(tables)) or 'none'}")
        expected = {name: kinds[name] for name in quasi_names} | {PART: "group"} | {name: kinds[name] for name in sensitive_names}
        records = take_table(tables, RECORDS, expected)
        if records.num_rows != manifest.rows:
            raise FormatError(f"table 'records' has {records.num_rows} rows, the manifest says {manifest.rows}")
        entries = _entries(manifest)
        part = _part_numbers(records, len(entries))
        quasi = tuple(code_column(name, kinds[name], records[name]) for name in quasi_names)
        listed = _listed_values(entries, records.select(sensitive_names))
        both = pa.concat_tables([listed, pa.table({name: decoded(records[name]) for name in sensitive_names})])
        domain, codes = code_domain(both, tuple(kinds[name] for name in sensitive_names))
        release = cls(manifest, quasi, domain, part, codes[listed.num_rows :].astype(np.int32))
        known = np.zeros((len(entries), len(domain)), bool)
        for i, one in enumerate(release.parts):
            known[i, one.values] = True
        if not known[part, release.value].all():
            raise FormatError(f"{int((~known[part, release.value]).sum())} records show a value that their part does not have")
        return release if release.is_arranged(in_any_order=in_any_order) else release.canonical()[0]


def randomized_claim(adversary: Adversary, *, declared: bool, one_row_per_person: bool = True) -> Claim:
    """Return the claim of a randomized release, in the words it is always made in; an insider's needs declared parameters."""
    article = "An" if adversary[0] in "aeiou" else "A"
    whom = "published person" if one_row_per_person else "published row (one person may have several)"
    prior = "the declared shares of the part" if declared else "the part's shares"
    statement = (
        f"{article} {adversary}, {KNOWS[adversary]}, believes that a given {whom} has a given sensitive value with probability "
        f"at most that value's bound, for records seen as independent with {prior} as prior."
    )
    if declared:
        statement += " For any prior p inside the part the belief is at most γp/(1+(γ−1)p)."
    return Claim("association", adversary, statement)


def plain_values(domain: Domain) -> list[Any]:
    """Return each value as the manifest's parts list it: plain JSON, for several columns a tuple; dates as text."""
    columns = [[_plain(value) for value in column.to_pylist()] for column in domain.table.columns]
    return list(columns[0]) if len(columns) == 1 else list(zip(*columns, strict=True))


def _plain(value: Any) -> Any:
    return plain_number(value) if value is None or isinstance(value, (str, int, float)) else as_text(value)


def _entries(manifest: Manifest) -> list[Mapping[str, Any]]:
    """Return what the manifest says about each part, in the order of their numbers 1, 2, …."""
    entries = manifest.parameters.get("parts")
    if not isinstance(entries, list) or not entries or not all(isinstance(entry, Mapping) for entry in entries):
        raise FormatError("manifest.json: the parameters do not list the parts of this randomized release")
    for entry in entries:
        unknown = sorted(set(entry) - PART_KEYS)
        if unknown:
            raise FormatError(f"manifest.json: a part says more than a part does: {', '.join(map(str, unknown[:5]))}")
        if not isinstance(entry.get("values"), list) or not entry["values"]:
            raise FormatError("manifest.json: a part lists no values")
    numbers = [entry.get("part") for entry in entries]
    if any(isinstance(n, bool) or not isinstance(n, int) for n in numbers) or numbers != [*range(1, len(entries) + 1)]:
        raise FormatError("manifest.json: the parts should be numbered 1, 2, … without gaps")
    return entries


def _read_part(entry: Mapping[str, Any], code: Mapping[Any, int]) -> RandomizedPart:
    named = [tuple(value) if isinstance(value, (list, tuple)) else value for value in entry["values"]]
    try:
        values = np.array([code[value] for value in named], dtype=np.int64)
    except (KeyError, TypeError):
        raise FormatError(f"manifest.json: part {entry['part']} lists a value that is not in the release's domain") from None
    if len(set(named)) < len(named):
        raise FormatError(f"manifest.json: part {entry['part']} lists a value twice")
    known = list(code)
    if json.dumps(named) != json.dumps([known[k] for k in sorted(values)]):
        raise FormatError(
            f"manifest.json: part {entry['part']} lists its values in another order or spelling than a release does"
        )
    kept = entry.get("retention")
    retention = tuple(_number(p) for p in kept) if isinstance(kept, list) else (_number(kept),) * len(named)
    if len(retention) != len(named) or not all(0 < p <= 1 for p in retention):
        raise FormatError(f"manifest.json: part {entry['part']} needs one retention above 0 and up to 1, or one for each value")
    if isinstance(kept, list) != (entry.get("gamma") is None):
        raise FormatError(f"manifest.json: part {entry['part']} needs one retention if it tells γ, and else one for each value")
    shares = entry.get("shares")
    declared = None if shares is None else tuple(_number(share) for share in (shares if isinstance(shares, list) else ()))
    if declared is not None and (len(declared) != len(named) or min(declared) <= 0 or sum(declared) != 1):
        raise FormatError(f"manifest.json: part {entry['part']} needs shares above 0, one for each value, that add up to 1")
    told = [None if entry.get(key) is None else _number(entry[key]) for key in ("gamma", "largest_share", "weight")]
    if any(share is not None and not 0 < share <= 1 for share in told[1:]):
        raise FormatError(f"manifest.json: a share that part {entry['part']} tells is not above 0 and up to 1")
    return RandomizedPart(values, retention, told[0], told[1], declared, told[2])


def _number(text: Any) -> Fraction:
    if isinstance(text, bool) or not _PLAIN.fullmatch(str(text)):
        raise FormatError('manifest.json: a figure of a part is not an exact number such as "7/3"')
    try:
        return Fraction(str(text))
    except ZeroDivisionError:
        raise FormatError("manifest.json: a figure of a part divides by zero") from None


def _part_numbers(records: pa.Table, parts: int) -> Small:
    number = whole_numbers(records, PART, RECORDS)
    if number.max(initial=1) > parts:
        raise FormatError(f"table 'records': parts should be numbers from 1 to {parts}")
    return (number - 1).astype(np.int32)


def _listed_values(entries: list[Mapping[str, Any]], sensitive: pa.Table) -> pa.Table:
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
            raise FormatError(f"manifest.json: a part lists values of {name!r} that are no {kind} values") from None
    return pa.table(columns)


def _hashable(values: list[Any]) -> list[Any]:
    for value in values:
        for one in value if isinstance(value, (list, tuple)) else [value]:
            if one is not None and not isinstance(one, (str, int, float)):
                raise FormatError("manifest.json: a part lists something that is no plain value")
    return values
