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
import traceback
from typing import Any, BinaryIO

LENGTH = struct.Struct("<Q")


def main() -> None:
    """Run the task that comes in, and write its figures."""
    source = sys.stdin.buffer
    task = pickle.loads(_exactly(source, LENGTH.unpack(_exactly(source, LENGTH.size))[0]))
    threading.Thread(target=_end_with_parent, args=(source,), daemon=True).start()
    out = os.dup(1)
    os.dup2(2, 1)  # what a library prints is no figure
    answer = json.dumps(_measured(task))
    with os.fdopen(out, "wb") as stream:
        stream.write(answer.encode())
    os._exit(0)  # the watching thread has standard input


def _measured(task: Any) -> dict[str, Any]:
    """Return a run's figures; of an unexpected exception the type alone, since its text might show a person."""
    from sfumato.comparison.measure import measure

    try:
        return measure(task)
    except Exception as error:
        if os.environ.get("SFUMATO_DEBUG"):
            traceback.print_exc()
        return {
            "note": f"failed in a way it should not ({type(error).__name__}); this is a bug, please report it",
            "failed": True,
        }


def _exactly(source: BinaryIO, length: int) -> bytes:
    content = source.read(length)
    if len(content) < length:
        os._exit(1)
    return content


def _end_with_parent(source: BinaryIO) -> None:
    source.read(1)
    os._exit(1)


if __name__ == "__main__":
    main()
