"""Cuts by sizes alone, as an acceptance of the engine: no sensitive value decides anything."""

from __future__ import annotations

from typing import Any, NamedTuple

from sfumato.groups._cut_kernels import divide, divide_evenly, implement, least_side


class Even(NamedTuple):
    """The most even cut, if both sides hold at least `floor` people."""

    floor: int


def _least(acceptance: Any, counts: Any, size: int) -> Any:
    return acceptance.floor


implement(least_side, Even, _least)
implement(divide, Even, divide_evenly)
