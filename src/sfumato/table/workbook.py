"""Reading a sheet of a workbook: Excel and OpenDocument, by python-calamine."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from sfumato.errors import InputError, did_you_mean
from sfumato.table.cells import cell_text, column_of
from sfumato.table.extent import require_compact
from sfumato.table.extras import extra
from sfumato.table.schema import check_unique
from sfumato.table.source import Source
from sfumato.table.textfile import HEADERLESS, HeaderlessError, ReadOptions, looks_like_row

_LOOKED_AT = 1000


def read_sheet(source: Source, options: ReadOptions) -> pa.Table:
    """Return the table on a sheet: the one that `[input] sheet` names, else the first; its first row names the columns."""
    calamine = extra("python_calamine")
    assert source.path is not None
    require_compact(source.path, source.ending, options.sheet)
    rows = [row for row in _cells(calamine, source, options) if any(cell not in ("", None) for cell in row)]
    if not rows:
        raise InputError(
            f"{source.name}: the sheet is empty", hint='expected a row of names and one row per person; [input] sheet = "…"'
        )
    first = [cell_text(cell) or "" for cell in rows[0]]
    if options.header:
        body = [[cell_text(cell) or "" for cell in row] for row in rows[1:_LOOKED_AT]]
        if looks_like_row(first, body):
            raise HeaderlessError(f"{source.name}: {HEADERLESS}", width=len(first))
        unnamed = [str(place) for place, name in enumerate(first, 1) if not name.strip()]
        if unnamed:
            raise InputError(f"{source.name}: column {', '.join(unnamed[:10])} has no name in the first row", hint="name it")
    stripped = [name.strip() for name in first]
    names = options.headed(stripped) if options.header else options.columns_named(len(first), source.name)
    check_unique(names, source.name)
    body_rows = rows[1:] if options.header else rows
    return pa.table({name: column_of((row[place] for row in body_rows), options.null) for place, name in enumerate(names)})


def _cells(calamine: Any, source: Source, options: ReadOptions) -> list[list[Any]]:
    """Return the rows of the sheet; whatever the library makes of a damaged file is one sentence."""
    try:
        book = calamine.CalamineWorkbook.from_path(str(source.path))
        sheets = list(book.sheet_names)
        if options.sheet is None or options.sheet in sheets:
            chosen = options.sheet or sheets[0]
            return [list(row) for row in book.get_sheet_by_name(chosen).to_python(skip_empty_area=True)]
    except (KeyboardInterrupt, SystemExit, MemoryError):
        raise
    except BaseException:  # a library in Rust may panic, which is no Exception
        raise InputError(f"{source.name}: the file is damaged or no workbook", hint="save it again, or as CSV") from None
    raise InputError(f"{source.name}: it has no sheet {options.sheet!r}", hint=did_you_mean(str(options.sheet), sheets))
