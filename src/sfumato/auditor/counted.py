"""People of a table whose rows are not in memory: counted, some at a time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple, Protocol

from sfumato.arrays import Array, Integers


class Counted(NamedTuple):
    """Different people: their codes in the table's quasi columns, the code of their sensitive value, and how many they are."""

    codes: tuple[Array, ...]
    secret: Array
    weight: Integers


class Batches(Protocol):
    """The different people of a table, some at a time: those with equal quasi values together, in no particular order."""

    def __len__(self) -> int: ...

    def __iter__(self) -> Iterator[Counted]: ...
