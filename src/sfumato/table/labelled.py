"""Reading files of Stata, SPSS and SAS, by pyreadstat: values that have labels come as these."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pyarrow as pa

from sfumato.errors import InputError
from sfumato.table.cellwise import column_of
from sfumato.table.extras import extra
from sfumato.table.found import Found

_READERS = {
    ".dta": "read_dta",
    ".sav": "read_sav",
    ".zsav": "read_sav",
    ".por": "read_por",
    ".sas7bdat": "read_sas7bdat",
    ".xpt": "read_xport",
}


def read_labelled(found: Found) -> pa.Table:
    """Return the table in the file. A column comes as labels where each of its values has one, else as its values.

    Values that the file itself declares missing are.
    """
    pyreadstat = extra("pyreadstat")
    try:
        columns, meta = getattr(pyreadstat, _READERS[found.ending])(str(found.path), output_format="dict")
        labels: Mapping[str, Mapping[Any, str]] = meta.variable_value_labels or {}
        return pa.table({name: column_of(_labelled(list(cells), labels.get(name, {}))) for name, cells in columns.items()})
    except (KeyboardInterrupt, MemoryError):
        raise
    except Exception:  # the library's own message may quote a cell
        raise InputError(
            f"{found.name}: the file is damaged or of another kind than its ending says", hint="save it again"
        ) from None


def _labelled(cells: list[Any], labels: Mapping[Any, str]) -> list[Any]:
    """Return labels instead of values if every value has one and no two have the same."""
    present = {cell for cell in cells if cell is not None and cell == cell and cell != ""}
    if not labels or not present or not present <= set(labels) or len({labels[cell] for cell in present}) < len(present):
        return cells
    return [labels.get(cell) if cell in present else None for cell in cells]
