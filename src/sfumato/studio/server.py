"""The server: pages of one session, on 127.0.0.1 alone, for the browser that was given the token."""

from __future__ import annotations

import os
import secrets
import socket
from pathlib import Path
from typing import Any

from sfumato.errors import InputError
from sfumato.studio.guard import TOKEN, Guard
from sfumato.studio.session import Session

HOST = "127.0.0.1"


def open_studio(path: Path, *, port: int | None = None, show: bool = True) -> None:
    """Serve the studio for a table or a release until it is stopped, and open it in a browser."""
    nicegui = _library()
    session = session_of(path)
    chosen = port or _free_port()
    token = secrets.token_urlsafe(24)
    os.environ["NICEGUI_STORAGE_PATH"] = str(session.workshop)  # the library keeps nothing of ours; if it did, it would be wiped
    app, ui = nicegui.app, nicegui.ui
    _pages(session)
    app.add_middleware(Guard, token=token, port=chosen)
    app.on_shutdown(session.close)
    address = f"http://{HOST}:{chosen}/?{TOKEN}={token}"
    print(f"sfumato studio: {address}\nFor this browser only; ctrl-C ends it.", flush=True)
    try:
        ui.run(
            host=HOST,
            port=chosen,
            title="sfumato studio",
            dark=None,
            reload=False,
            show=address if show else False,
            show_welcome_message=False,
            uvicorn_logging_level="error",
        )
    finally:
        session.close()


def session_of(path: Path) -> Session:
    """Return a session for a table, or for a release: a directory with a manifest."""
    place = path.resolve()
    if (place / "manifest.json").is_file():
        return Session(root=Path.cwd(), directory=place)
    if not place.is_file():
        raise InputError(f"{path}: neither a table nor a release", hint="give a file, or the directory of a release")
    if Path.cwd().resolve() not in place.parents:
        raise InputError(
            f"{path}: the studio works only below the directory in which it is started", hint="start it where the table lies"
        )
    return Session(root=Path.cwd().resolve(), data=place)


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
