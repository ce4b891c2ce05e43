"""Writing a release so that it is there whole or not at all, and reading one that a stranger may have prepared."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

from sfumato.errors import FormatError, OutputError, out_of_memory
from sfumato.release.atomic import write_directory
from sfumato.release.manifest import Manifest

MANIFEST = "manifest.json"
TableFormat = Literal["parquet", "csv"]


@dataclass(frozen=True)
class Stored:
    """What a release directory holds: the manifest, its tables, and what is wrong with the files."""

    manifest: Manifest
    tables: Mapping[str, pa.Table]
    problems: tuple[str, ...]


def write_release(directory: Path, manifest: Manifest, tables: Mapping[str, pa.Table], kind: TableFormat) -> Manifest:
    """Write the release to a new directory, whole or not at all, and return the manifest that was written."""
    if kind not in ("parquet", "csv"):
        raise OutputError(f"format: expected 'parquet' or 'csv', got {kind!r}")

    def fill(partial: Path) -> Manifest:
        # As many threads as Arrow may use: that is what --workers limits.
        with ThreadPoolExecutor(pa.cpu_count()) as pool:
            facts = pool.map(lambda name: _write_table(partial / f"{name}.{kind}", tables[name], kind), tables)
            written = manifest.with_tables(dict(zip(tables, facts, strict=True)))
        (partial / MANIFEST).write_text(written.to_json(), encoding="utf-8")
        return written

    return write_directory(Path(directory), fill)


def read_release(directory: Path) -> Stored:
    """Return what a release directory holds; damage that can be described is listed, not raised."""
    directory = Path(directory)
    if not directory.is_dir():
        raise FormatError(f"{directory} is not a release directory", hint="give the directory that `publish --out` made")
    if (directory / MANIFEST).is_symlink():
        raise FormatError(f"{directory / MANIFEST} is a link, not a file of this release")
    try:
        manifest = Manifest.from_json((directory / MANIFEST).read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise FormatError(f"{directory} has no {MANIFEST}", hint="give the directory that `publish --out` made") from None
    except (OSError, UnicodeDecodeError) as error:
        raise FormatError(f"{directory / MANIFEST} cannot be read: {error}") from None
    tables: dict[str, pa.Table] = {}
    problems: list[str] = []
    listed = {MANIFEST, *(facts.get("file") for facts in manifest.tables.values() if isinstance(facts, Mapping))}
    extra = sorted(path.name for path in directory.iterdir() if path.name not in listed)
    if extra:
        problems.append(f"{len(extra)} files lie in the release that its manifest does not list: {', '.join(extra[:3])}")
    for name, facts in manifest.tables.items():
        path = _inside(directory, name, facts)
        try:
            tables[name] = _stored_table(path, facts, problems)
        except FormatError as error:
            if out_of_memory(error):
                raise MemoryError from error  # nothing is wrong with the file
            problems.append(error.message)
    return Stored(manifest, tables, tuple(problems))


def _stored_table(path: Path, facts: Mapping[str, Any], problems: list[str]) -> pa.Table:
    """Return one table, after comparing its file with what the manifest says; differences go to `problems`."""
    if path.is_symlink() or not path.is_file():
        raise FormatError(f"{path.name} is not a file of this release")
    if sha256(path) != facts.get("sha256"):
        problems.append(f"{path.name}: its content does not have the sha-256 that the manifest gives")
    columns = facts.get("columns")
    if not isinstance(columns, Mapping):
        raise FormatError(f"{path.name}: the manifest does not list its columns and their types")
    table = _read_table(path, columns)
    if table.num_rows != facts.get("rows"):
        problems.append(f"{path.name}: {table.num_rows} rows, the manifest says {facts.get('rows')}")
    if {column.name: str(column.type) for column in table.schema} != dict(columns):
        problems.append(f"{path.name}: its columns are not those of the manifest")
    if path.suffix != ".csv" and pyarrow.parquet.read_metadata(path).metadata:
        problems.append(f"{path.name}: its footer carries metadata, which no release has")
    return table


def sha256(path: Path) -> str:
    """Return the SHA-256 of a file, in hexadecimal."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _inside(directory: Path, name: str, facts: Any) -> Path:
    file = facts.get("file") if isinstance(facts, Mapping) else None
    if not isinstance(file, str) or file != os.path.basename(file) or file in ("", ".", "..") or "\\" in file:
        raise FormatError(f"manifest.json: table {name!r} points outside the release directory or at nothing")
    return directory / file


def _write_table(path: Path, table: pa.Table, kind: TableFormat) -> dict[str, Any]:
    """Write one table and return what the manifest says about its file."""
    table = table.replace_schema_metadata(None)
    if kind == "csv":
        plain = pa.table({name: _plain(column) for name, column in zip(table.column_names, table.columns, strict=True)})
        pyarrow.csv.write_csv(plain, path)
        columns = {column.name: str(column.type) for column in plain.schema}
        if not _read_table(path, columns).equals(plain):
            raise OutputError(
                f"table {path.stem!r} does not survive as CSV: what is read back is not what was written",
                hint="use --format parquet",
            )
    else:
        # No Arrow schema in the footer: it would tell how the publisher held the table.
        pyarrow.parquet.write_table(table, path, store_schema=False, compression="zstd", compression_level=1)
    return {
        "file": path.name,
        "rows": table.num_rows,
        "columns": {column.name: str(_value_type(column.type)) for column in table.schema},
        "sha256": sha256(path),
    }


def _value_type(kind: pa.DataType) -> pa.DataType:
    return kind.value_type if pa.types.is_dictionary(kind) else kind


def _plain(column: pa.ChunkedArray) -> pa.ChunkedArray:
    return column.cast(_value_type(column.type))


def _read_table(path: Path, columns: Mapping[str, str]) -> pa.Table:
    try:
        if path.suffix == ".csv":
            types = {name: pa.type_for_alias(kind) for name, kind in columns.items()}
            options = pyarrow.csv.ConvertOptions(
                column_types=types, strings_can_be_null=True, quoted_strings_can_be_null=False, null_values=[""]
            )
            # One block: a text with line breaks must not straddle two.
            whole = pyarrow.csv.ReadOptions(block_size=min(max(path.stat().st_size, 1) + 1, 2**31 - 1))
            parse = pyarrow.csv.ParseOptions(newlines_in_values=True)
            return pyarrow.csv.read_csv(path, read_options=whole, parse_options=parse, convert_options=options)
        return pyarrow.parquet.read_table(path)
    except (pa.ArrowException, OSError, ValueError, KeyError) as error:
        raise FormatError(f"{path.name} cannot be read: {error}", hint="the file is damaged; get the release again") from None
