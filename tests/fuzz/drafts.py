"""Releases taken apart into plain rows and a plain manifest, and put together again: well-formed files that may tell lies."""

from __future__ import annotations

import copy
from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow as pa

from sfumato.release.accounts import fixed_claim
from sfumato.release.base import Release
from sfumato.release.buckets import BucketsRelease
from sfumato.release.columns import ColumnsRelease
from sfumato.release.manifest import Claim, Manifest, spelled
from sfumato.release.randomized import RandomizedRelease, randomized_claim
from sfumato.release.ranges import RangesRelease
from sfumato.release.views import ViewsRelease
from tests.fuzz.files import Files, Row
from tests.fuzz.held_books import keep_held
from tests.fuzz.truth import bound, set_bound, sets_of, shares_of, shares_shown

FORMS: dict[str, type[Release]] = {
    "buckets": BucketsRelease,
    "ranges": RangesRelease,
    "columns": ColumnsRelease,
    "views": ViewsRelease,
    "randomized": RandomizedRelease,
}


class NoDraftError(Exception):
    """The rows do not even have the types of a table."""


@dataclass
class Draft:
    """A release that can be changed: the manifest as JSON, every table as rows, and the type of every column."""

    manifest: dict[str, Any]
    tables: dict[str, list[Row]]
    types: dict[str, pa.Schema]

    @classmethod
    def of(cls, release: Release) -> Draft:
        tables = release.tables()
        types = {name: pa.schema([(one.name, _plain(one.type)) for one in table.schema]) for name, table in tables.items()}
        made = cls(copy.deepcopy(release.manifest.document()), {name: table.to_pylist() for name, table in tables.items()}, types)
        for row in made.tables.get("groups", []):  # here groups have the same name in every table
            row[made.number] = row.pop("group")
        return made

    def copy(self) -> Draft:
        return Draft(copy.deepcopy(self.manifest), copy.deepcopy(self.tables), self.types)

    @property
    def files(self) -> Files:
        return Files(self.manifest, self.tables)

    @property
    def number(self) -> str:
        """The column that says who belongs together."""
        return "part" if self.manifest["form"] == "randomized" else "group"

    @property
    def counted(self) -> list[str]:
        """The tables that count sensitive values."""
        return [name for name in self.tables if name in (("st", "numbers") if self.files.held else ("st",))]

    def keep_books(self) -> None:
        """Make the manifest agree with the tables: numbers of people, of groups and of values, bounds, and words of claims."""
        if self.files.held:
            return keep_held(self.manifest, self.tables)
        self._add_up()
        form, parameters = self.manifest["form"], self.manifest["parameters"]
        people = {"buckets": "qit", "views": "at"}.get(form, "records")
        if form == "columns":
            self.manifest["rows"] = self.files.parts()[0].counted
        else:
            self.manifest["rows"] = len(self.tables[people])
        if form == "randomized":
            return
        parts = self.files.parts()
        parameters["groups"] = len(parts[0].groups())
        if self.manifest["values"] is not None:
            for part, told in zip(parts, self.manifest["values"], strict=True):
                _tell_values(part, told)

    def _add_up(self) -> None:
        """Add up entries of `st` that name the same, drop empty ones, and number groups without gaps."""
        for name in self.counted:
            sums: Counter[Any] = Counter()
            for row in self.tables[name]:
                sums[tuple((key, value) for key, value in row.items() if key != "count")] += row["count"]
            self.tables[name] = [{**dict(key), "count": count} for key, count in sums.items() if count > 0]
        if self.manifest["form"] == "columns":
            for name, rows in self.tables.items():
                self.tables[name] = [dict(row) for row in dict.fromkeys(tuple(row.items()) for row in rows)]
        if "groups" in self.tables:
            told = {row[self.number]: row["account"] for row in self.tables["groups"]}
            there = {row[self.number] for name, rows in self.tables.items() if name != "groups" for row in rows}
            self.tables["groups"] = [{self.number: one, "account": told.get(one, 1000)} for one in there]
        if self.manifest["form"] != "randomized":
            used = sorted({row[self.number] for rows in self.tables.values() for row in rows})
            short = {number: k + 1 for k, number in enumerate(used)}
            for rows in self.tables.values():
                for row in rows:
                    row[self.number] = short[row[self.number]]

    def claim_anew(self) -> None:
        """Make the claims of the manifest in fixed words, against whom the requirement names."""
        for claim in self.manifest["claims"]:
            one_row = self.manifest["parameters"]["one_row_per_person"]
            if self.files.held:
                against = self.manifest["requirement"]["against"]
                told = Claim(claim["kind"], against, claim["statement"])
                made = fixed_claim(Manifest.from_json(spelled(self.manifest)), told)
            elif claim["kind"] == "presence":
                made = Claim.presence("stranger", form=self.manifest["form"], one_row_per_person=one_row)
            elif self.manifest["form"] == "randomized":
                declared = self.manifest["parameters"]["parameters"] == "declared"
                made = randomized_claim(self.manifest["requirement"]["against"], declared=declared, one_row_per_person=one_row)
            else:
                asked, several = self.manifest["requirement"], self.files.apart
                sets = any("sets" in one for one in (asked, *asked.get("columns", {}).values()))
                made = Claim.association(asked["against"], one_row_per_person=one_row, sets=sets, several=several)
            claim.update(vars(made))

    def save(self, directory: Path, kind: str) -> None:
        """Write the draft as a release in canonical order and bytes; what cannot be one raises as it does for anybody."""
        manifest = Manifest.from_json(spelled(self.manifest))
        try:
            accounts = [{"group": row[self.number], "account": row["account"]} for row in self.tables.get("groups", [])]
            written = self.tables | ({"groups": accounts} if accounts else {})
            tables = {name: pa.Table.from_pylist(rows, schema=self.types[name]) for name, rows in written.items()}
        except (pa.ArrowException, OverflowError, TypeError, ValueError):
            raise NoDraftError from None
        FORMS[manifest.form].from_tables(manifest, tables, in_any_order=True).save(directory, format=kind)


def _tell_values(files: Files, told: dict[str, Any]) -> None:
    """Count the values and sets of an attribute as its tables show them, with the bounds that they then have."""
    totals: Counter[str] = Counter()
    for group in files.groups().values():
        totals += group.counts
    asked = files.manifest["requirement"]
    shares = shares_shown(files) or shares_of(totals)
    known = {one["value"]: one["bound"] for one in told["values"]}
    entries = []
    for label, count in sorted(totals.items()):
        own = known.get(label, "1") if asked.get("enhanced") else str(bound(asked, label, shares[label]))
        entries.append({"value": label, "count": count, "bound": own})
    order = [one["value"] for one in told["values"]]
    entries.sort(key=lambda one: (order.index(one["value"]) if one["value"] in order else len(order), one["value"]))
    told["values"] = entries
    sets = sets_of(asked, totals)
    for one in told.get("sets", []):
        values, rule = sets[one["set"]]
        share = sum((shares[label] for label in values & set(totals)), Fraction(0))
        one.update(count=sum(totals[label] for label in values), bound=str(set_bound(rule, share)))


def half(text: str) -> str:
    """Return half of an exact number."""
    return str(Fraction(text) / 2)


def _plain(kind: pa.DataType) -> pa.DataType:
    return kind.value_type if pa.types.is_dictionary(kind) else kind
