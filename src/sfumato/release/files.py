"""Writing a release so that it is there whole or not at all, and reading one that a stranger may have prepared."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import pyarrow as pa

from sfumato.errors import FormatError, OutputError, out_of_memory
from sfumato.release.atomic import write_directory
from sfumato.release.box_tables import lists_as_text
from sfumato.release.coding import value_type
from sfumato.release.csvfile import read_csv, write_csv
from sfumato.release.manifest import Manifest
from sfumato.release.parquet import decode, encode
from sfumato.release.parquet_meta import arrow, coded

MANIFEST = "manifest.json"
LARGEST_MANIFEST = 1 << 25
PART_ROWS = 1 << 22
"""A table of more rows is written in part files of so many rows each, the last with what is left: by this rule alone."""
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
        def write(name: str) -> dict[str, Any]:
            return _write_table(partial, name, tables[name], kind)

        # As many threads as Arrow may use: that is what --workers limits. With one, none: see `sfumato.cli._memory`.
        if pa.cpu_count() > 1:
            with ThreadPoolExecutor(pa.cpu_count()) as pool:
                facts = list(pool.map(write, tables))
        else:
            facts = [write(name) for name in tables]
        written = replace(manifest, tables=dict(zip(tables, facts, strict=True)))
        write_manifest(partial, written)
        return written

    return write_directory(Path(directory), fill)


def write_manifest(directory: Path, manifest: Manifest) -> None:
    """Write the manifest, last of all files: a directory without one is no release."""
    text = manifest.to_json()
    Manifest.from_json(text)  # what could not be read again is not written
    (directory / MANIFEST).write_text(text, encoding="utf-8")


def read_manifest(directory: Path) -> Manifest:
    """Return the manifest of a release directory."""
    if not directory.is_dir():
        raise FormatError(f"{directory} is not a release directory", hint="give the directory that `publish --out` made")
    if not (directory / MANIFEST).exists():
        raise FormatError(f"{directory} has no {MANIFEST}", hint="give the directory that `publish --out` made")
    try:
        return Manifest.from_json(read_file(directory / MANIFEST, LARGEST_MANIFEST).decode("utf-8"))
    except UnicodeDecodeError:
        raise FormatError(f"{MANIFEST} is not UTF-8 text", hint="the release was damaged; get it again") from None


def read_release(directory: Path, manifest: Manifest | None = None) -> Stored:
    """Return what a release directory holds, by its manifest if that was read; damage that can be described is only listed."""
    directory = Path(directory)
    manifest = read_manifest(directory) if manifest is None else manifest
    kind = kind_of(manifest)
    tables: dict[str, pa.Table] = {}
    problems: list[str] = []
    extra = not_listed(directory, manifest)
    if extra:
        problems.append(f"{extra} files in the release are not listed in its manifest")
    for name in manifest.tables:
        try:
            tables[name] = stored_table(directory, manifest, name, kind, problems)
        except FormatError as error:
            if out_of_memory(error):
                raise MemoryError from error  # nothing is wrong with the file
            problems.append(error.message)
    return Stored(manifest, tables, tuple(problems))


def require_sound(directory: Path, problems: Sequence[str]) -> None:
    """Raise `FormatError` where something is wrong with the files of a release."""
    if problems:
        raise FormatError(
            f"{directory} is not the release that its manifest describes: " + "; ".join(problems),
            hint="run `sfumato audit` for the full account, and get the release again",
        )


def part_names(name: str, rows: int, kind: str) -> list[tuple[str, int]]:
    """Return the files of a table of so many rows, and how many rows each has: one file, or parts in a directory."""
    if rows <= PART_ROWS:
        return [(f"{name}.{kind}", rows)]
    parts = range(-(-rows // PART_ROWS))
    return [(f"{name}/part-{part:05d}.{kind}", min(PART_ROWS, rows - part * PART_ROWS)) for part in parts]


def kind_of(manifest: Manifest) -> str:
    """Return whether the tables are Parquet or CSV; files that are not named after their tables are refused."""
    for kind in _KINDS:
        if all(
            [file["file"] for file in facts["files"]] == [file for file, _ in part_names(name, facts["rows"], kind)]
            and name == os.path.basename(name)
            for name, facts in manifest.tables.items()
        ):
            return kind
    raise FormatError("manifest.json: the files are not named after their tables, all .parquet or all .csv")


def files_of(name: str, facts: Mapping[str, Any], kind: str) -> list[Mapping[str, Any]]:
    """Return what the manifest says of each file of a table; FormatError where it gives them other rows than the table has."""
    files: list[Mapping[str, Any]] = list(facts["files"])
    if [file["rows"] for file in files] != [rows for _, rows in part_names(name, facts["rows"], kind)]:
        raise FormatError(f"{files[0]['file']}: the manifest gives two numbers of rows")
    return files


def not_listed(directory: Path, manifest: Manifest) -> int:
    """Return how many files lie in a release, or in the directories of its parts, that its manifest does not list."""
    listed = {MANIFEST, *(file["file"] for facts in manifest.tables.values() for file in facts["files"])}
    folders = {name for name, facts in manifest.tables.items() if len(facts["files"]) > 1}
    present = {entry.name for entry in os.scandir(directory)} - folders
    for folder in folders:
        place = directory / folder
        if place.is_dir() and not place.is_symlink():
            present |= {f"{folder}/{entry.name}" for entry in os.scandir(place)}
    return len(present - listed)


def stored_part(directory: Path, facts: Mapping[str, Any], file: Mapping[str, Any], problems: list[str]) -> pa.Table:
    """Return the table in one file, after comparing it with what the manifest says; differences go to `problems`."""
    name = file["file"]
    if (directory / name).parent.is_symlink():
        raise FormatError(f"{name} is not a file of this release")
    data = read_file(directory / name)
    if hashlib.sha256(data).hexdigest() != file["sha256"]:
        problems.append(f"{name}: its content does not have the sha-256 that the manifest gives")
    types = {column["name"]: column["type"] for column in facts["columns"]}
    if len(types) < len(facts["columns"]):
        raise FormatError(f"{name}: the manifest lists a column twice")
    try:
        if name.endswith(".csv"):
            return read_csv(data, rows=file["rows"], types=types)
        return pa.table({column: arrow(values) for column, values in decode(data, rows=file["rows"], types=types).items()})
    except FormatError as error:
        raise FormatError(f"{name}: {error.message}", hint=error.hint) from None


def stored_table(directory: Path, manifest: Manifest, name: str, kind: str, problems: list[str]) -> pa.Table:
    """Return a whole table of a release, every column with one dictionary; what is wrong with its files goes to `problems`."""
    facts = manifest.tables[name]
    parts = [stored_part(directory, facts, file, problems) for file in files_of(name, facts, kind)]
    return parts[0] if len(parts) == 1 else pa.concat_tables(parts).unify_dictionaries()


def read_file(path: Path, largest: int | None = None) -> bytes:
    """Return the content of a regular file; a link, a pipe or a device is refused before it is read."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            status = os.fstat(handle)
            if not stat.S_ISREG(status.st_mode):
                raise FormatError(f"{path.name} is not a file of this release")
            if largest is not None and status.st_size > largest:
                raise FormatError(f"{path.name} exceeds the largest size of such a file")
            with open(handle, "rb", closefd=False) as stream:
                return stream.read(status.st_size)
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
    files, at = part_names(name, table.num_rows, kind), 0
    written = []
    for file, rows in files:
        written.append(write_part(directory, file, table.slice(at, rows)))
        at += rows
    return {"rows": table.num_rows, "columns": described_columns(table.schema), "files": written}


def write_part(directory: Path, file: str, part: pa.Table) -> dict[str, Any]:
    """Write the rows of one file and return what the manifest says about it."""
    data = write_csv(part) if file.endswith(".csv") else parquet_bytes(part)
    (directory / file).parent.mkdir(exist_ok=True)
    (directory / file).write_bytes(data)
    return {"file": file, "rows": part.num_rows, "sha256": hashlib.sha256(data).hexdigest()}


def parquet_bytes(part: pa.Table) -> bytes:
    """Return what a Parquet file of these rows holds."""
    return encode({column: coded(part[column]) for column in part.column_names})


def described_columns(schema: pa.Schema) -> list[dict[str, str]]:
    """Return names and types of a table's columns, as the manifest lists them."""
    return [{"name": column.name, "type": str(value_type(column.type))} for column in schema]
