"""Reading files of Stata, SPSS and SAS, by pyreadstat: values that have labels come as these.

The library is written in C and may end its process on a damaged file. So it works in a child, whose death is a sentence.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping
from typing import Any

import pyarrow as pa
from pyarrow import ipc

from sfumato.errors import InputError
from sfumato.table.cells import column_of
from sfumato.table.extras import extra
from sfumato.table.source import Source

_READERS = {
    ".dta": "read_dta",
    ".sav": "read_sav",
    ".zsav": "read_sav",
    ".por": "read_por",
    ".sas7bdat": "read_sas7bdat",
    ".xpt": "read_xport",
}


def read_labelled(source: Source) -> pa.Table:
    """Return the table in the file. A column comes as labels where each of its values has one, else as its values.

    Values that the file itself declares missing are.
    """
    extra("pyreadstat")
    command = [sys.executable, "-m", "sfumato.table.labelled", _READERS[source.ending], str(source.path)]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=False)
    try:
        if done.returncode == 0:
            return ipc.open_stream(done.stdout).read_all()
    except (pa.ArrowException, OSError):
        pass
    # Not with what the library says, which may quote a cell.
    fault = f"{source.name}: the file is damaged or of another kind than its ending says"
    raise InputError(fault, hint="save it again") from None


def _labelled(cells: list[Any], labels: Mapping[Any, str]) -> list[Any]:
    """Return labels instead of values if every value has one and no two have the same."""
    present = {cell for cell in cells if cell is not None and cell == cell and cell != ""}
    if not labels or not present or not present <= set(labels) or len({labels[cell] for cell in present}) < len(present):
        return cells
    return [labels.get(cell) if cell in present else None for cell in cells]


def _child(reader: str, path: str) -> None:
    """Write the table in a file to standard output, as a stream of Arrow."""
    columns, meta = getattr(extra("pyreadstat"), reader)(path, output_format="dict")
    labels: Mapping[str, Mapping[Any, str]] = meta.variable_value_labels or {}
    table = pa.table({name: column_of(_labelled(list(cells), labels.get(name, {}))) for name, cells in columns.items()})
    with ipc.new_stream(sys.stdout.buffer, table.schema) as writer:
        writer.write_table(table)


if __name__ == "__main__":
    _child(*sys.argv[1:])
