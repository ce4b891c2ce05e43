"""How long work tells where it is: a function that takes the name of the stage and the fraction done."""

from __future__ import annotations

from collections.abc import Callable

Progress = Callable[[str, float], None]


def silent(stage: str, done: float) -> None:
    """Tell nobody."""
