"""Writing a release so that it is there whole or not at all, and reading one that a stranger may have prepared."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import pyarrow as pa

from sfumato.errors import FormatError, OutputError, out_of_memory
from sfumato.release.atomic import write_directory
from sfumato.release.box_tables import lists_as_text
from sfumato.release.careful import value_type
from sfumato.release.coded import arrow, coded
from sfumato.release.csvfile import read_csv, write_csv
from sfumato.release.manifest import Manifest
from sfumato.release.parquet import decode, encode

MANIFEST = "manifest.json"
LARGEST_MANIFEST = 1 << 25
TableFormat = Literal["parquet", "csv"]
_KINDS = ("parquet", "csv")


@dataclass(frozen=True)
class Stored:
    """What a release directory holds: the manifest, its tables, and what is wrong with the files."""

    manifest: Manifest
    tables: Mapping[str, pa.Table]
    problems: tuple[str, ...]


def write_release(directory: Path, manifest: Manifest, tables: Mapping[str, pa.Table], kind: TableFormat) -> Manifest:
    """Write the release to a new directory, whole or not at all, and return the manifest that was written."""
    if kind not in _KINDS:
        raise OutputError(f"format: expected 'parquet' or 'csv', got {kind!r}")

    def fill(partial: Path) -> Manifest:
        # As many threads as Arrow may use: that is what --workers limits.
        with ThreadPoolExecutor(pa.cpu_count()) as pool:
            facts = pool.map(lambda name: _write_table(partial, name, tables[name], kind), tables)
            written = replace(manifest, tables=dict(zip(tables, facts, strict=True)))
        text = written.to_json()
        Manifest.from_json(text)  # what could not be read again is not written
        (partial / MANIFEST).write_text(text, encoding="utf-8")
        return written

    return write_directory(Path(directory), fill)


def read_release(directory: Path) -> Stored:
    """Return what a release directory holds; damage that can be described is listed, not raised."""
    directory = Path(directory)
    if not directory.is_dir():
        raise FormatError(f"{directory} is not a release directory", hint="give the directory that `publish --out` made")
    if not (directory / MANIFEST).exists():
        raise FormatError(f"{directory} has no {MANIFEST}", hint="give the directory that `publish --out` made")
    try:
        manifest = Manifest.from_json(read_file(directory / MANIFEST, LARGEST_MANIFEST).decode("utf-8"))
    except UnicodeDecodeError:
        raise FormatError(f"{MANIFEST} is not UTF-8 text", hint="the release was damaged; get it again") from None
    kind = _kind_of(manifest)
    tables: dict[str, pa.Table] = {}
    problems: list[str] = []
    listed = {MANIFEST, *(f"{name}.{kind}" for name in manifest.tables)}
    extra = sorted(entry.name for entry in os.scandir(directory) if entry.name not in listed)
    if extra:
        problems.append(f"{len(extra)} files lie in the release that its manifest does not list")
    for name, facts in manifest.tables.items():
        try:
            tables[name] = _stored_table(directory / f"{name}.{kind}", facts, problems)
        except FormatError as error:
            if out_of_memory(error):
                raise MemoryError from error  # nothing is wrong with the file
            problems.append(error.message)
    return Stored(manifest, tables, tuple(problems))


def _kind_of(manifest: Manifest) -> str:
    """Return whether the tables are Parquet or CSV; files that are not named after their tables are refused."""
    for kind in _KINDS:
        if all(
            [file["file"] for file in facts["files"]] == [f"{name}.{kind}"] and name == os.path.basename(name)
            for name, facts in manifest.tables.items()
        ):
            return kind
    raise FormatError("manifest.json: the files are not named after their tables, all .parquet or all .csv")


def _stored_table(path: Path, facts: Mapping[str, Any], problems: list[str]) -> pa.Table:
    """Return one table, after comparing its file with what the manifest says; differences go to `problems`."""
    (file,) = facts["files"]
    if file["rows"] != facts["rows"]:
        raise FormatError(f"{path.name}: the manifest gives two numbers of rows")
    data = read_file(path)
    if hashlib.sha256(data).hexdigest() != file["sha256"]:
        problems.append(f"{path.name}: its content does not have the sha-256 that the manifest gives")
    types = {column["name"]: column["type"] for column in facts["columns"]}
    if len(types) < len(facts["columns"]):
        raise FormatError(f"{path.name}: the manifest lists a column twice")
    try:
        if path.suffix == ".csv":
            return read_csv(data, rows=facts["rows"], types=types)
        return pa.table({name: arrow(column) for name, column in decode(data, rows=facts["rows"], types=types).items()})
    except FormatError as error:
        raise FormatError(f"{path.name}: {error.message}", hint=error.hint) from None


def read_file(path: Path, largest: int | None = None) -> bytes:
    """Return the content of a regular file; a link, a pipe or a device is refused before it is read."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            found = os.fstat(handle)
            if not stat.S_ISREG(found.st_mode):
                raise FormatError(f"{path.name} is not a file of this release")
            if largest is not None and found.st_size > largest:
                raise FormatError(f"{path.name} is larger than such a file can be")
            with open(handle, "rb", closefd=False) as stream:
                return stream.read(found.st_size)
        finally:
            os.close(handle)
    except OSError:
        raise FormatError(f"{path.name} is not a file of this release, or cannot be read") from None


def sha256(path: Path) -> str:
    """Return the SHA-256 of a file, in hexadecimal."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _write_table(directory: Path, name: str, table: pa.Table, kind: TableFormat) -> dict[str, Any]:
    """Write one table and return what the manifest says about it."""
    if kind == "csv":
        table = lists_as_text(table)
        data = write_csv(table)
    else:
        data = encode({column: coded(table[column]) for column in table.column_names})
    (directory / f"{name}.{kind}").write_bytes(data)
    return {
        "rows": table.num_rows,
        "columns": [{"name": column.name, "type": str(value_type(column.type))} for column in table.schema],
        # A list: large tables may come to be written in parts.
        "files": [{"file": f"{name}.{kind}", "rows": table.num_rows, "sha256": hashlib.sha256(data).hexdigest()}],
    }
