"""Any data frame in, the same kind out: pandas, polars and pyarrow, through narwhals."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from typing import Any, Literal, get_args

import narwhals as nw
import pyarrow as pa

from sfumato.errors import InputError, PolicyError, did_you_mean
from sfumato.table.assemble import Rows
from sfumato.table.cells import cell_texts
from sfumato.table.schema import Schema
from sfumato.table.source import comparable, require_sound

Native = Literal["pandas", "polars", "pyarrow"]

WHERE = "the data frame"


def from_native(frame: Any, rows: Rows) -> tuple[pa.Table, Native]:
    """Return the columns that the schema uses as an Arrow table of one row a person, and the kind of frame they came in."""
    schema = rows.schema
    if isinstance(frame, pa.Table):
        schema.check_columns(frame.column_names, WHERE)
        beside = [name for name in rows.beside if comparable(frame.schema.field(name).type)]
        return rows.pick(require_sound(frame.select([*rows.used, *beside]), WHERE)), "pyarrow"
    wrapped, native = _wrap(frame, schema)
    schema.check_columns(wrapped.columns, WHERE)
    columns = {name: (_cells if name in schema.read_by_cell else _column)(wrapped, name) for name in rows.used}
    for name in rows.beside:
        with contextlib.suppress(InputError):  # nothing of it is published
            columns[name] = _column(wrapped, name)
    columns = {name: column for name, column in columns.items() if name in rows.used or comparable(column.type)}
    return rows.pick(require_sound(pa.table(columns), WHERE)), native


def column_names(frame: Any) -> list[str]:
    """Return the names of a frame's columns; a lazy one is asked for its schema."""
    if isinstance(frame, pa.Table):
        return list(frame.column_names)
    if hasattr(frame, "collect_schema"):
        return list(frame.collect_schema().names())
    return [str(name) for name in getattr(frame, "columns", ())]


def as_arrow(frame: Any, alone: Sequence[str] = ()) -> pa.Table:
    """Return a whole frame as an Arrow table; columns in `alone` may hold cells of any types, which are read one by one."""
    if isinstance(frame, pa.Table):
        return frame
    try:
        wrapped = nw.from_native(frame, eager_only=True)
    except TypeError:
        raise InputError(
            f"{WHERE}: got a {type(frame).__name__}", hint="give a pandas, polars or pyarrow table, or the path of a file"
        ) from None
    return pa.table({name: (_cells if name in alone else _column)(wrapped, name) for name in wrapped.columns})


def to_native(table: pa.Table, kind: Native) -> Any:
    """Return an Arrow table as a frame of this kind."""
    if kind not in get_args(Native):
        raise PolicyError(f"unknown kind of data frame {kind!r}", hint=did_you_mean(str(kind), get_args(Native)))
    if kind == "pyarrow":
        return table
    try:
        if kind == "pandas":
            return table.to_pandas(date_as_object=False)
        import polars

        return polars.from_arrow(table)
    except ImportError:
        raise InputError(
            f"{kind} is not installed, so no {kind} frame can be made", hint=f"pip install {kind}, or ask for 'pyarrow'"
        ) from None


def _wrap(frame: Any, schema: Schema) -> tuple[nw.DataFrame[Any], Native]:
    _check_names(frame, schema)
    try:
        wrapped = nw.from_native(frame, eager_only=True)
    except TypeError:
        hint = "call .collect() first" if hasattr(frame, "collect") else "give a pandas, polars or pyarrow table"
        raise InputError(f"expected a data frame, got {type(frame).__name__}", hint=hint) from None
    name = wrapped.implementation.value
    native: Native = "pandas" if name == "pandas" else "polars" if name == "polars" else "pyarrow"
    return wrapped, native


def _check_names(frame: Any, schema: Schema) -> None:
    """Refuse column names that are no texts or occur twice, which pandas allows."""
    names = [] if hasattr(frame, "collect") else list(getattr(frame, "columns", ()))
    if not all(isinstance(name, str) for name in names):
        raise InputError(f"{WHERE}: column names must be texts", hint="frame.columns = [str(name) for name in frame.columns]")
    schema.check_unique(names, WHERE)


def _cells(frame: nw.DataFrame[Any], name: str) -> Any:
    """Return a column whose cells are read one by one: of one type as it is, else as the text of each cell."""
    series = frame.get_column(name)
    if str(getattr(series.to_native(), "dtype", "")).lower() != "object":
        with contextlib.suppress(pa.ArrowException, TypeError, ValueError, OverflowError):
            return series.to_arrow()
    return cell_texts(series.to_list(), series.is_null().to_list())


def _column(frame: nw.DataFrame[Any], name: str) -> Any:
    try:
        return frame.get_column(name).to_arrow()
    except Exception:
        # Whatever it is: the library's own message may quote a value, which may be an identifier.
        raise InputError(
            f"column {name!r}: its values are of different types, expected one type",
            hint=f"make them one type first: frame[{name!r}] = frame[{name!r}].astype(str)",
        ) from None
