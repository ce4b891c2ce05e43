"""Writing a table to a file, whole or not at all."""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

import pyarrow as pa
import pyarrow.parquet as pq
import pyarrow.types as pt
from pyarrow import csv as arrow_csv
from pyarrow import feather

from sfumato.errors import OutputError


def write_table(table: pa.Table, path: str | os.PathLike[str]) -> None:
    """Write a table as its ending says: .csv, .parquet, .arrow or .feather. An existing file is replaced in one step.

    Schema metadata (pandas writes an index there) is left out.
    """
    path = Path(path)
    writer = _WRITERS.get(path.suffix.lower())
    if writer is None:
        raise OutputError(f"{path.name}: unknown file ending {path.suffix!r}", hint=f"known: {', '.join(_WRITERS)}")
    if not path.parent.is_dir():
        raise OutputError(f"{path.name}: the directory {str(path.parent)!r} does not exist", hint="create it first")
    if path.is_dir():
        raise OutputError(f"{path.name}: this is a directory, expected a file name", hint="add a file name to the path")
    draft = path.with_name(f".{path.name}.{secrets.token_hex(6)}")
    try:
        with draft.open("xb") as file:
            writer(table.replace_schema_metadata(None), file)
        os.replace(draft, path)
    except PermissionError:
        raise OutputError(
            f"{path.name}: no permission to write in {str(path.parent)!r}", hint="choose a directory of your own"
        ) from None
    except OSError as problem:
        raise OutputError(f"{path.name}: cannot be written: {problem.strerror or 'the disk refused'}") from None
    finally:
        draft.unlink(missing_ok=True)


def _write_csv(table: pa.Table, file: BinaryIO) -> None:
    decoded = [column.cast(column.type.value_type) if pt.is_dictionary(column.type) else column for column in table.columns]
    arrow_csv.write_csv(pa.table(dict(zip(table.column_names, decoded, strict=True))), file)


_WRITERS: dict[str, Callable[[pa.Table, BinaryIO], None]] = {
    ".csv": _write_csv,
    ".parquet": pq.write_table,
    ".arrow": feather.write_feather,
    ".feather": feather.write_feather,
}

ENDINGS = frozenset(_WRITERS)
"""How the names of files end that are written here."""
