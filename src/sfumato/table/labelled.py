"""Reading files of Stata, SPSS and SAS, by pyreadstat: values that have labels come as these.

The library is written in C and may end its process on a damaged file. So it works in a child, whose death is a sentence.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping, Sequence
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
_TWICE = 7
"""What the child ends with where two columns have one name, of which it could give only the last."""


def read_labelled(source: Source, alone: Sequence[str] = ()) -> pa.Table:
    """Return the table in the file. A column comes as labels where each of its values has one, else as its values.

    In columns that are read cell by cell, `alone`, a value that has a label comes as that, whatever others have. Values that the
    file itself declares missing are.
    """
    extra("pyreadstat")
    assert source.path is not None
    # By its whole path: the library takes a ~ for somebody's home.
    place = str(source.path.absolute())
    command = [sys.executable, "-m", "sfumato.table.labelled", _READERS[source.ending], place, *alone]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=False)
    try:
        if done.returncode == 0:
            return ipc.open_stream(done.stdout).read_all()
    except (pa.ArrowException, OSError):
        pass
    if done.returncode == _TWICE:
        raise InputError(f"{source.name}: two columns have the same name", hint="rename the columns")
    # Not with what the library says, which may quote a cell.
    fault = f"{source.name}: the file is damaged or of another kind than its ending says"
    raise InputError(fault, hint="save it again") from None


def _labelled(cells: list[Any], labels: Mapping[Any, str], *, alone: bool) -> list[Any]:
    """Return labels instead of values if no two values have the same, and every value has one or each is looked at alone."""
    present = {cell for cell in cells if cell is not None and cell == cell and cell != ""}
    known = set(labels) if alone else present & set(labels)
    if not known or len({labels[cell] for cell in known}) < len(known) or not (alone or present <= known):
        return cells
    return [labels.get(cell, cell) if cell in present else None for cell in cells]


def _child(reader: str, path: str, *alone: str) -> None:
    """Write the table in a file to standard output, as a stream of Arrow."""
    columns, meta = getattr(extra("pyreadstat"), reader)(path, output_format="dict")
    if len(columns) < len(meta.column_names):
        sys.exit(_TWICE)
    labels: Mapping[str, Mapping[Any, str]] = meta.variable_value_labels or {}
    table = pa.table(
        {name: column_of(_labelled(list(cells), labels.get(name, {}), alone=name in alone)) for name, cells in columns.items()}
    )
    with ipc.new_stream(sys.stdout.buffer, table.schema) as writer:
        writer.write_table(table)


if __name__ == "__main__":
    _child(*sys.argv[1:])
