"""A release directory as any program could read it, without sfumato."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq

Row = dict[str, Any]


@dataclass
class Group:
    """Who shares a group: how many people, and how often each sensitive value is shown."""

    people: int = 0
    counts: Counter[str] = field(default_factory=Counter)
    account: int = 1000

    @property
    def shown(self) -> int:
        return sum(self.counts.values())


@dataclass(frozen=True)
class Files:
    """A release directory as any program could read it; of one of so many secrets, where each is protected by itself."""

    manifest: dict[str, Any]
    tables: dict[str, list[Row]]
    secrets: int = 1

    @classmethod
    def read(cls, directory: Path) -> Files:
        manifest = json.loads((directory / "manifest.json").read_text(encoding="utf-8"))
        return cls(manifest, {name: _rows(directory, facts) for name, facts in manifest["tables"].items()})

    @property
    def form(self) -> str:
        return self.manifest["form"]

    @property
    def parameters(self) -> dict[str, Any]:
        return self.manifest["parameters"]

    @property
    def quasi(self) -> list[str]:
        return [column["name"] for column in self.manifest["schema"]["quasi"]]

    @property
    def sensitive(self) -> list[str]:
        return [column["name"] for column in self.manifest["schema"]["sensitive"]]

    @property
    def apart(self) -> bool:
        """Whether each of several sensitive columns is protected by itself."""
        return self.manifest["schema"]["declared"].get("protect") == "each"

    @property
    def held(self) -> bool:
        """Whether a person may have several values of a secret."""
        return "secrets" in self.manifest["schema"]["declared"]

    def parts(self) -> list[Files]:
        """Return the release of each sensitive column alone where each is protected by itself; else this one."""
        return [self._part(name) for name in self.sensitive] if self.apart else [self]

    def _part(self, name: str) -> Files:
        manifest, asked = self.manifest, self.manifest["requirement"]
        own = asked.get("columns", {}).get(name) or {key: value for key, value in asked.items() if key != "columns"}
        values = manifest["values"] and [one for one in manifest["values"] if one["columns"] == [name]]
        method = dict(manifest["method"])
        if manifest["basis"] == "noisy":
            method |= {key: method[key] and method[key][name] for key in ("shares", "values", "otherwise")}
        schema = manifest["schema"] | {"sensitive": [one for one in manifest["schema"]["sensitive"] if one["name"] == name]}
        tables = {key: rows for key, rows in self.tables.items() if key != "st"}
        if "records" in tables:
            others = set(self.sensitive) - {name}
            tables["records"] = [{key: one for key, one in row.items() if key not in others} for row in tables["records"]]
        else:
            kind = schema["sensitive"][0]["kind"]
            tables["st"] = [
                {"group": row["group"], name: typed(row["value"], kind), "count": row["count"]}
                for row in self.tables["st"]
                if row["secret"] == name
            ]
        schema["declared"] = {key: one for key, one in schema["declared"].items() if key != "protect"}
        return Files(
            manifest | {"schema": schema, "requirement": own, "values": values, "method": method}, tables, len(self.sensitive)
        )

    @property
    def counted(self) -> int:
        """How many people the table of sensitive values counts."""
        return sum(row["count"] for row in self.tables["st"])

    def label(self, row: Row) -> str:
        return " / ".join(text(row[name]) for name in self.sensitive)

    def groups(self) -> dict[Any, Group]:
        """Return the histograms of all groups; forms in which people show their own values by coin have none."""
        found: dict[Any, Group] = defaultdict(Group)
        if self.form == "ranges":
            for row in self.tables["records"]:
                found[row["group"]].people += 1
                found[row["group"]].counts[self.label(row)] += 1
            return self._with_accounts(found)
        for row in self.tables["st"]:
            found[row["group"]].counts[self.label(row)] += row["count"]
        for row in self.tables.get("qit", []) + self.tables.get("at", []):
            found[row["group"]].people += 1
        if self.form == "columns":
            for group in found.values():
                group.people = group.shown
        return self._with_accounts(found)

    def _with_accounts(self, found: dict[Any, Group]) -> dict[Any, Group]:
        for row in self.tables.get("groups", []):
            found[row["group"]].account = row["account"]
        return found


def typed(value: str | None, kind: str) -> Any:
    """Return a value of one of several secrets, which is written as text, in its own type."""
    if value is None or kind == "categorical":
        return value
    if kind == "date":
        return date.fromisoformat(value) if len(value) == 10 else datetime.fromisoformat(value)
    return int(value) if value.lstrip("-").isdecimal() else float(value)


def _rows(directory: Path, facts: Mapping[str, Any]) -> list[Row]:
    return [row for one in facts["files"] for row in _rows_of(directory / one["file"], facts)]


def _rows_of(path: Path, facts: Mapping[str, Any]) -> list[Row]:
    if path.suffix == ".parquet":
        return pq.read_table(path).to_pylist()
    types = {column["name"]: pa.type_for_alias(column["type"]) for column in facts["columns"]}
    options = pyarrow.csv.ConvertOptions(
        column_types=types, strings_can_be_null=True, quoted_strings_can_be_null=False, null_values=[""]
    )
    parse = pyarrow.csv.ParseOptions(newlines_in_values=True)
    return pyarrow.csv.read_csv(path, convert_options=options, parse_options=parse).to_pylist()


def text(value: Any) -> str:
    """Return a sensitive value as policies write it."""
    if value is None:
        return "(missing)"
    if isinstance(value, float) and value == int(value):
        return str(int(value))
    return str(value)
