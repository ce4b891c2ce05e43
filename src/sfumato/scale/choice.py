"""Which engine publishes a table: the one that is asked for, else by size."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeAlias

from sfumato.errors import PolicyError, did_you_mean
from sfumato.plugins import installed, package_of_entry

if TYPE_CHECKING:
    from sfumato.scale.engine import Engine

EngineName: TypeAlias = str
"""``"memory"``, ``"duckdb"``, ``"spark"``, or an engine of an installed package (entry points `sfumato.engines`)."""

_OWN = {"duckdb": ("sfumato.scale.duckdb", "DuckEngine"), "spark": ("sfumato.scale.spark", "SparkEngine")}
_GROUP = "sfumato.engines"

LARGE = 2 << 30
"""Files of more bytes than this, together, are published beyond memory where nobody says otherwise."""


def engines() -> Iterator[str]:
    """Yield the names of all engines; a package cannot take one of sfumato's own."""
    yield from ("memory", *_OWN)
    yield from (name for name in installed(_GROUP) if name not in ("memory", *_OWN))


def require_engine(engine: str | None) -> None:
    """Raise a `PolicyError` for an engine that is not known."""
    if engine is not None and engine not in ("memory", *_OWN) and engine not in engines():
        raise PolicyError(f"engine: unknown {engine!r}", hint=did_you_mean(str(engine), list(engines())))


def engine_of(name: str | None, source: Any) -> type[Engine]:
    """Return who holds a source: the engine of this name, else the cluster of a Spark DataFrame, or DuckDB."""
    from sfumato.scale.engine import Engine

    chosen = name or ("spark" if is_spark(source) else "duckdb")
    if chosen in _OWN:
        room, kind = _OWN[chosen]
        own: type[Engine] = getattr(import_module(room), kind)
        return own
    require_engine(chosen)
    entry = installed(_GROUP)[chosen]
    given = entry.load()
    if not (isinstance(given, type) and issubclass(given, Engine)):
        raise PolicyError(f"{package_of_entry(entry)} gives {entry.value} as {chosen!r}, which is no Engine")
    return given


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
