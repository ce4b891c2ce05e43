"""Libraries that only some tables need, imported in one place that says what to install."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from sfumato.errors import InputError

_EXTRAS = {
    "python_calamine": ("workbooks (Excel, OpenDocument)", "excel"),
    "pyreadstat": ("files of Stata, SPSS and SAS", "stats"),
    "adbc_driver_postgresql.dbapi": ("PostgreSQL", "database"),
    "duckdb": ("DuckDB", "duckdb"),
    "pyspark.sql.functions": ("Spark DataFrames", "spark"),
}


def extra(module: str) -> Any:
    """Return a library that is not installed with sfumato itself, or say how to get it."""
    try:
        return import_module(module)
    except ImportError:
        what, name = _EXTRAS[module]
        raise InputError(
            f"{what} are read by {module.split('.', maxsplit=1)[0].replace('_', '-')}, which is not installed",
            hint=f"pip install 'sfumato[{name}]'",
        ) from None
