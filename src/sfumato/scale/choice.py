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
    if (engine == "spark") != is_spark(source) and (engine == "spark" or (is_spark(source) and engine is not None)):
        raise PolicyError(
            "engine: Spark publishes Spark DataFrames, and nothing else does", hint='spark.read.parquet("…"), engine="spark"'
        )
    if engine is not None:
        return engine != "memory"
    if isinstance(source, (str, list, tuple)) or hasattr(source, "__fspath__"):
        from sfumato.scale.source import listed_files, size_of

        files = listed_files(source)
        return files is not None and (len(files) > 1 or files[0].is_dir() or size_of(files) > LARGE)
    if is_spark(source):
        return True
    lazy = hasattr(source, "sink_parquet") and hasattr(source, "collect")
    return lazy or type(source).__name__ == "DuckDBPyRelation"


def is_spark(source: Any) -> bool:
    """Return whether a source is a Spark DataFrame, without loading Spark."""
    return type(source).__module__.startswith("pyspark.sql") and hasattr(source, "mapInArrow")
