"""Which engine publishes a table: the one that is asked for, else by size."""

from __future__ import annotations

from typing import Any, Literal

from sfumato.errors import PolicyError, did_you_mean

EngineName = Literal["memory", "duckdb", "spark"]
ENGINES = ("memory", "duckdb", "spark")

LARGE = 2 << 30
"""Files of more bytes than this, together, are published beyond memory where nobody says otherwise."""


def require_engine(engine: str | None) -> None:
    """Raise a `PolicyError` for an engine that is not known."""
    if engine is not None and engine not in ENGINES:
        raise PolicyError(f"engine: unknown {engine!r}", hint=did_you_mean(str(engine), ENGINES))


def beyond_memory(source: Any, engine: str | None) -> bool:
    """Return whether a source is published by an engine: as asked, else for large files and for frames that are not in memory."""
    files = isinstance(source, (str, list, tuple)) or hasattr(source, "__fspath__")
    if is_spark(source) and engine not in (None, "spark"):
        raise PolicyError("engine: a Spark DataFrame stays in its cluster", hint='engine="spark", or leave it out')
    if engine == "spark" and not (is_spark(source) or files):
        raise PolicyError(
            "engine: Spark holds Spark DataFrames and Parquet files", hint='spark.read.parquet("…"), or engine="duckdb"'
        )
    if engine is not None:
        return engine != "memory"
    if files:
        from sfumato.scale.source import listed_files, size_of

        listed = listed_files(source)
        return listed is not None and (len(listed) > 1 or listed[0].is_dir() or size_of(listed) > LARGE)
    if is_spark(source):
        return True
    lazy = hasattr(source, "sink_parquet") and hasattr(source, "collect")
    return lazy or type(source).__name__ == "DuckDBPyRelation"


def is_spark(source: Any) -> bool:
    """Return whether a source is a Spark DataFrame, without loading Spark."""
    return type(source).__module__.startswith("pyspark.sql") and hasattr(source, "mapInArrow")
