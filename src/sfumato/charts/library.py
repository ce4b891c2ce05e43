"""The chart library, imported in one place that says what to install."""

from __future__ import annotations

from importlib import import_module
from typing import Any, TypeAlias

from sfumato.errors import InputError

Chart: TypeAlias = Any
"""A chart of altair, of any of its kinds."""


def altair() -> Any:
    """Return altair, or say how to get it."""
    return chart_library("altair")


def chart_library(name: str) -> Any:
    """Return a library of the extra `report`, or say how to get it."""
    try:
        return import_module(name)
    except ImportError:
        raise InputError(
            f"charts and reports are made with {name.replace('_', '-')}, which is not installed",
            hint="pip install 'sfumato[report]'",
        ) from None
