"""What can be published beyond memory: files and directories of Parquet or text, and frames that others hold."""

from __future__ import annotations

import glob
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from sfumato.errors import InputError
from sfumato.table.schema import check_unique
from sfumato.table.source import TEXT_ENDINGS, ending_of, find
from sfumato.table.textfile import ReadOptions, TextFile

MANY = 1 << 20


IN_DIRECTORIES = (".parquet", ".csv", ".tsv", ".txt", ".data")
"""What files of a directory end in that is published as one table."""


def listed_files(source: str | os.PathLike[str] | Sequence[Any]) -> list[Path] | None:
    """Return the files that a path, a pattern, a directory or a list of them names, sorted; None for anything else.

    A pattern has * or ? and is no file that is there: `x[1].parquet` alone names one file, also where that is missing.
    """
    if isinstance(source, (str, os.PathLike)):
        path = Path(source)
        if path.is_dir():
            files = sorted(file for file in path.rglob("*") if file.is_file() and not file.name.startswith((".", "_")))
            if any(ending_of(file) not in IN_DIRECTORIES for file in files):
                raise InputError(
                    f"{path}: this is a directory that holds other things than tables",
                    hint="a directory of Parquet or CSV files, or one file",
                )
        elif any(sign in os.fspath(source) for sign in "*?") and not path.exists():
            files = sorted(Path(name) for name in glob.glob(os.fspath(source)))
        else:
            files = [path]
        if not files:
            raise InputError(f"{path.name or path}: no file is there", hint="give files or a directory of Parquet or CSV files")
        return files
    if isinstance(source, (list, tuple)) and source and all(isinstance(item, (str, os.PathLike)) for item in source):
        return [file for item in source for file in listed_files(item) or ()]
    return None


def distinct_names(names: Sequence[str], where: str) -> list[str]:
    """Return the names of a source's columns; two that SQL does not tell apart are refused: it would read the first twice."""
    check_unique(names, where)
    seen: dict[str, int] = {}
    for place, name in enumerate(names, 1):
        first = seen.setdefault(name.casefold(), place)
        if first != place:
            raise InputError(
                f"{where}: the names of the columns {first} and {place} differ only in upper and lower case, which an engine "
                "does not tell apart",
                hint="rename one of them, or --engine memory",
            )
    return list(names)


def size_of(files: Sequence[Path]) -> int:
    """Return how many bytes the files have."""
    return sum(file.stat().st_size for file in files if file.exists())


def parquet_files(files: Sequence[Path], columns: Sequence[str], options: ReadOptions, place: Path) -> tuple[list[Path], bool]:
    """Return the same rows as Parquet files with one schema, and whether they were text; text is copied to a private place.

    A file whose columns or types are not those of the first one is refused by name.
    """
    kinds = {ending_of(file) in TEXT_ENDINGS for file in files}
    if len(kinds) > 1:
        raise InputError("the source has text files and others", hint="give files of one kind")
    if not kinds.pop():
        require_same_columns([find(file).path or file for file in files])
        return list(files), False
    place.mkdir(mode=0o700, exist_ok=True)
    first = TextFile(find(files[0]), options)
    target = place / "text.parquet"
    with pq.ParquetWriter(target, pa.schema([(name, pa.string()) for name in columns])) as writer:
        for file in files:
            text = TextFile(find(file), options)
            if text.names != first.names:
                raise InputError(
                    f"{file.name}: its columns are not those of {files[0].name}",
                    hint="all files of a source have the same columns",
                )
            for some in text.batches(columns):
                writer.write_table(some, row_group_size=MANY)
    return [target], True


def require_same_columns(files: Sequence[Path]) -> None:
    """Raise an `InputError` that names the first file whose columns or types differ from those of the first one."""
    schema: pa.Schema | None = None
    for file in files:
        if ending_of(file) != ".parquet":
            raise InputError(f"{file.name}: beyond memory only Parquet and text files are read", hint="write it as Parquet")
        try:
            stated = pq.read_schema(file)
        except (pa.ArrowException, OSError, ValueError):
            raise InputError(
                f"{file.name}: the file is damaged or not a file of Parquet", hint="write it again, or leave it out"
            ) from None
        mine = {field.name: _plain(field.type) for field in stated}
        if schema is None:
            schema, names = stated, mine
        elif mine != names:
            wrong = sorted({*mine.items()} ^ {*names.items()}, key=str)[0][0]
            raise InputError(
                f"{file.name}: the column {wrong!r} is not there, or of another type than in {files[0].name}",
                hint="all files of a source have the same columns and types",
            )


def _plain(kind: pa.DataType) -> str:
    return str(kind.value_type if pa.types.is_dictionary(kind) else kind).replace("large_", "")


def names_of(files: Sequence[Path], options: ReadOptions) -> list[str]:
    """Return the names of the columns of the first file."""
    from sfumato.table.read import column_names

    return column_names(files[0], options)
