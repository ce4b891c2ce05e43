"""A process of its own for one run: a task comes in on standard input, the figures go out on standard output as JSON.

The table travels through a pipe, so that nothing of it is written to disk. The parent keeps its end open: when the parent is
gone, however that came, the worker ends too.
"""

from __future__ import annotations

import json
import os
import pickle
import struct
import sys
import threading
from typing import BinaryIO

LENGTH = struct.Struct("<Q")


def main() -> None:
    """Run the task that comes in, and write its figures."""
    source = sys.stdin.buffer
    task = pickle.loads(_exactly(source, LENGTH.unpack(_exactly(source, LENGTH.size))[0]))
    threading.Thread(target=_end_with_parent, args=(source,), daemon=True).start()
    from sfumato.compare.measure import measure

    out = os.dup(1)
    os.dup2(2, 1)  # what a library prints is no figure
    found = json.dumps(measure(task))
    with os.fdopen(out, "wb") as stream:
        stream.write(found.encode())
    os._exit(0)  # the watching thread has standard input


def _exactly(source: BinaryIO, length: int) -> bytes:
    found = source.read(length)
    if len(found) < length:
        os._exit(1)
    return found


def _end_with_parent(source: BinaryIO) -> None:
    source.read(1)
    os._exit(1)


if __name__ == "__main__":
    main()
