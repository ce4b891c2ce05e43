"""The one stream of a compound file that old workbooks are: sectors in chains, listed by a table of next sectors."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

import numpy as np

_MAGIC = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_LAST = 0xFFFFFFFA
"""From here on a number of a sector means that there is none."""
_STREAMS = ("workbook", "book")


def workbook_stream(path: Path) -> bytes:
    """Return the stream of a workbook; a `ValueError` says that the file is no compound file, or has none."""
    raw = path.read_bytes()
    if raw[:8] != _MAGIC or len(raw) < 512:
        raise ValueError("no compound file")
    size, small = 1 << min(raw[30], 20), 1 << min(raw[32], 20)
    directory, _, cutoff, minis = struct.unpack_from("<IIII", raw, 48)
    table = _next_sectors(raw, size)

    def stream(first: int) -> bytes:
        return b"".join(raw[(sector + 1) * size : (sector + 2) * size] for sector in _chain(table, first))

    entries = stream(directory)
    root, workbook = b"", None
    for at in range(0, len(entries) - 127, 128):
        length, kind = struct.unpack_from("<HB", entries, at + 64)
        start, bytes_in = struct.unpack_from("<IQ", entries, at + 116)
        name = entries[at : at + max(0, min(length, 64) - 2)].decode("utf-16-le", "replace").casefold()
        if kind == 5:  # the root, which holds the short streams
            root = stream(start)
        elif kind == 2 and name in _STREAMS and workbook is None:
            workbook = start, bytes_in & 0xFFFFFFFF
    if workbook is None:
        raise ValueError("no workbook in the file")
    start, bytes_in = workbook
    if bytes_in >= cutoff:
        return stream(start)[:bytes_in]
    short = np.frombuffer(stream(minis)[: len(stream(minis)) // 4 * 4], "<u4")
    return b"".join(root[sector * small : (sector + 1) * small] for sector in _chain(short, start))[:bytes_in]


def _next_sectors(raw: bytes, size: int) -> Any:
    """Return the table of next sectors; where it lies stands in the header, and in sectors that it names."""
    listed = list(struct.unpack_from("<109I", raw, 76))
    more, steps = struct.unpack_from("<I", raw, 68)[0], 0
    while more < _LAST and steps <= len(raw) // size:
        part = raw[(more + 1) * size : (more + 2) * size]
        if len(part) < size:
            break
        *some, more = struct.unpack(f"<{size // 4}I", part)
        listed += some
        steps += 1
    parts = [raw[(sector + 1) * size : (sector + 2) * size] for sector in listed if sector < _LAST]
    joined = b"".join(parts)
    return np.frombuffer(joined[: len(joined) // 4 * 4], "<u4")


def _chain(table: Any, first: int) -> list[int]:
    chain: list[int] = []
    while first < len(table):
        chain.append(first)
        if len(chain) > len(table):
            raise ValueError("a chain of sectors without an end")
        first = int(table[first])
    return chain
