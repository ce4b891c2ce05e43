"""The server: pages of one session, on 127.0.0.1 alone, for the browser that was given the token."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import threading
import time
import webbrowser
from collections.abc import Callable
from pathlib import Path
from typing import Any

from sfumato.errors import InputError
from sfumato.studio.guard import HOST, Guard, Tokens, address, redirect_file
from sfumato.studio.session import Session

PATIENCE = 60.0
"""Seconds for which a page that does not answer, on a busy or a sleeping machine, finds itself as it was."""


def open_studio(path: Path, *, port: int | None = None, show: bool = True) -> None:
    """Serve the studio for a table or a release until it is stopped, and open it in a browser."""
    session = session_of(path)
    try:
        _serve(session, port or _free_port(), show=show)
    finally:
        session.close()


def _serve(session: Session, port: int, *, show: bool) -> None:
    # The library reads where it may keep things when it is imported; it keeps nothing of ours, and if it did, it would be wiped.
    os.environ["NICEGUI_STORAGE_PATH"] = str(session.workshop)
    nicegui = _library()
    app, ui = nicegui.app, nicegui.ui
    tokens = Tokens()
    _pages(session)
    app.add_middleware(Guard, tokens=tokens, port=port)
    app.on_shutdown(session.close)
    if session.data is not None:  # while the browser comes up; what goes wrong is told by the page, which tries again
        threading.Thread(target=_try, args=(session.open,), daemon=True).start()
    if show:
        page = redirect_file(session.workshop, port, tokens.new())
        threading.Thread(target=_open_browser, args=(page, port), daemon=True).start()
    where = "" if session.root == Path.cwd().resolve() else f" It works in {session.root}."
    print(f"sfumato studio: {address(port, tokens.new())}\nGood for one browser, once; ctrl-C ends it.{where}", flush=True)
    # A closed terminal ends it as ctrl-C does, so that nothing is left; what the caller ignores, as nohup does, stays ignored.
    if hasattr(signal, "SIGHUP") and signal.getsignal(signal.SIGHUP) != signal.SIG_IGN:
        signal.signal(signal.SIGHUP, lambda *_: signal.raise_signal(signal.SIGTERM))
    ui.run(
        host=HOST,
        port=port,
        title="sfumato studio",
        dark=None,
        reload=False,
        reconnect_timeout=PATIENCE,
        show=False,  # it would put the address into the browser's command line, which other users can read
        show_welcome_message=False,
        uvicorn_logging_level="error",
    )


def _open_browser(page: Path, port: int) -> None:
    """Open a file in the user's browser as soon as the server answers."""
    while True:
        with contextlib.suppress(OSError), socket.create_connection((HOST, port)):
            break
        time.sleep(0.05)
    _try(lambda: webbrowser.open(page.as_uri()))


def _try(work: Callable[[], object]) -> None:
    with contextlib.suppress(Exception):
        work()


def session_of(path: Path) -> Session:
    """Return a session for a table, or for a release: a directory with a manifest.

    It works below the directory one is in, or, where that does not hold the table, below that in which the table lies.
    """
    release = (path / "manifest.json").is_file()
    if not release and not path.is_file():
        raise InputError(f"{path}: neither a table nor a release", hint="give a file, or the directory of a release")
    place, root = path.resolve(), Path.cwd().resolve()
    if root not in place.parents:
        root = place.parent
    return Session(root=root, directory=place) if release else Session(root=root, data=place)


def _library() -> Any:
    """Return the library of the pages, or say how to get it."""
    try:
        import nicegui
        import tomlkit  # noqa: F401
    except ImportError:
        raise InputError("the studio needs NiceGUI and tomlkit", hint="pip install 'sfumato[studio]'") from None
    return nicegui


def _pages(session: Session) -> None:
    from sfumato.studio import ask_page, publish_page, rule_page, table_page, trade_page

    if session.directory is not None:
        ask_page.add(session, "/")
        return
    table_page.add(session)
    rule_page.add(session)
    trade_page.add(session)
    publish_page.add(session)
    ask_page.add(session, "/ask")


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        return int(probe.getsockname()[1])
