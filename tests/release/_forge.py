"""Saved releases changed by somebody who knows the format: everything that is not changed on purpose is as it should be."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq

from sfumato import audit
from sfumato.errors import FormatError
from sfumato.release.base import RELEASES
from sfumato.release.box_tables import lists_as_text
from sfumato.release.coding import decoded, value_type
from sfumato.release.csvfile import write_csv
from sfumato.release.manifest import Claim, Manifest, spelled
from sfumato.release.parquet import encode
from sfumato.release.parquet_meta import coded


def forge(directory, manifest=None, tables=None, *, order="canonical"):
    """Change a saved release and write it back well formed.

    `manifest` changes the document in place. `tables` gets the tables by name and returns others; they are put into canonical
    order, unless they are no release or `order` is "as given", and the facts about their files follow.
    """
    document = read_manifest(directory)
    if manifest is not None:
        manifest(document)
    if tables is not None:
        found = read_tables(directory)
        kind = file_kind(directory)
        before = {name: _facts(name, table, kind)[0] for name, table in found.items()}
        changed = tables(found)
        if order == "canonical":
            document, changed = _arranged(document, changed)
        if kind == "csv":
            changed = {name: lists_as_text(table) for name, table in changed.items()}
        for name in set(found) - set(changed):
            (Path(directory) / f"{name}.{kind}").unlink()
            del document["tables"][name]
        for name, table in changed.items():
            facts, data = _facts(name, table, kind)
            (Path(directory) / f"{name}.{kind}").write_bytes(data)
            if facts != before.get(name):
                document["tables"][name] = facts
    write_manifest(directory, document)


def edited(name, change):
    """Return a change of tables that changes the rows of one, in place or by returning others."""

    def change_tables(tables):
        rows = tables[name].to_pylist()
        found = change(rows)
        return {**tables, name: with_rows(tables[name], rows if found is None else found)}

    return change_tables


def with_rows(table, rows):
    """Return a table of these rows with the columns and types of another."""
    return pa.Table.from_pylist(rows, schema=pa.schema([(column.name, value_type(column.type)) for column in table.schema]))


def in_order(manifest, tables):
    """Return the tables in canonical order, or as they are if they are no release."""
    try:
        return dict(RELEASES[manifest.form].from_tables(manifest, tables, in_any_order=True).tables())
    except FormatError:
        return tables


def refusal(directory, table=None):
    """Return why the audit of a directory does not confirm it, in one text: refused as bad input, or found to have problems."""
    try:
        report = audit(directory, table)
    except FormatError as error:
        return error.message
    assert report.holds is False
    return " | ".join([*report.problems, *(result.note for result in report.claims if result.holds is not True)])


def file_kind(directory):
    """Return the ending of the table files."""
    return "csv" if any(Path(directory).glob("*.csv")) else "parquet"


def read_manifest(directory):
    """Return the plain document."""
    return json.loads((Path(directory) / "manifest.json").read_text(encoding="utf-8"))


def write_manifest(directory, document):
    """Write the document as manifests are spelled."""
    (Path(directory) / "manifest.json").write_bytes(spelled(document).encode())


def read_tables(directory):
    """Return the tables that the manifest lists, read by a stranger's Parquet or CSV reader."""
    found = {}
    for name, facts in read_manifest(directory)["tables"].items():
        path = Path(directory) / f"{name}.{file_kind(directory)}"
        if path.suffix == ".parquet":
            found[name] = pq.read_table(path)
            continue
        types = {column["name"]: pa.type_for_alias(column["type"]) for column in facts["columns"]}
        options = pa.csv.ConvertOptions(
            column_types=types, strings_can_be_null=True, quoted_strings_can_be_null=False, null_values=[""]
        )
        found[name] = pa.csv.read_csv(path, convert_options=options, parse_options=pa.csv.ParseOptions(newlines_in_values=True))
    return found


def unchecked(document):
    """Return the manifest that a document would be, whether or not it could be read: for audits of releases in memory."""
    values = document["values"]
    return Manifest(
        **{key: document[key] for key in ("form", "schema", "rows", "requirement", "method", "parameters")},
        claims=tuple(Claim(**claim) for claim in document["claims"]),
        values=None if values is None else tuple(values[0]["values"]),
        **{key: document[key] for key in ("seeded", "reproducible", "tables", "software")},
    )


def _arranged(document: dict[str, Any], tables: dict[str, pa.Table]) -> tuple[dict[str, Any], dict[str, pa.Table]]:
    manifest = unchecked(document)
    try:
        release = RELEASES[manifest.form].from_tables(manifest, tables, in_any_order=True)
    except FormatError:
        return document, tables
    return {**document, "parameters": dict(release.manifest.parameters)}, release.tables()


def _facts(name: str, table: pa.Table, kind: str) -> tuple[dict[str, Any], bytes]:
    """Return what a manifest says about a table, and its file."""
    plain = pa.table({column: decoded(table[column]) for column in table.column_names})
    data = write_csv(plain) if kind == "csv" else encode({column: coded(plain[column]) for column in plain.column_names})
    facts = {
        "rows": plain.num_rows,
        "columns": [{"name": column.name, "type": str(column.type)} for column in plain.schema],
        "files": [{"file": f"{name}.{kind}", "rows": plain.num_rows, "sha256": hashlib.sha256(data).hexdigest()}],
    }
    return facts, data
