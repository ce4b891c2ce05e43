"""The verb `report`: a release and, for the publisher, its table; one HTML file comes out."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from sfumato.errors import OutputError, PolicyError
from sfumato.progress import Progress, listening, silent
from sfumato.table import Table

if TYPE_CHECKING:
    from sfumato.reports.evidence import Audience


def report(
    release: Any,
    table: Table | None = None,
    *,
    out: str | Path,
    public: bool = False,
    attacks: Sequence[str] | None = None,
    policy: str | None = None,
    links: Any = None,
    audience: Audience | None = None,
    progress: Progress | None = None,
) -> Path:
    """Write the report of a release, or of a release directory, to a new HTML file and return its path.

    With the `table` it is private and marked so on every page: beliefs in what is true, attacks (`attacks` names some, an empty
    list none) and errors as they are. With `public` it is made from the release alone, and may be handed out with it. `policy` is
    the text of the policy, for the private report. `links` is what `audit` takes. For an `audience` ("hipaa", "gdpr", "iso27559"
    or "internal") the same facts stand under the headings that it looks for, with blanks for what only people can say.
    """
    place = Path(out)
    require_free(place, public=public)
    asked: dict[str, Any] = {"attacks": attacks, "policy": policy, "links": links, "audience": audience}
    content = compose(release, table, public=public, progress=progress, **asked)
    save(content, place, public=public)
    return place


def require_free(place: Path, *, public: bool) -> None:
    """Refuse a place where a report cannot be, before the work: one that exists, or a file of a release."""
    from sfumato.receipt import refuse_in_release

    if public:
        refuse_in_release(Path(os.path.abspath(place)), why="an audit refuses a release with files that are not its own")
    else:
        refuse_in_release(Path(os.path.abspath(place)))
    if place.exists():
        raise OutputError(f"{place} exists already", hint="choose another name, or remove it")


def compose(
    release: Any,
    table: Table | None,
    *,
    public: bool,
    attacks: Sequence[str] | None,
    policy: str | None,
    links: Any = None,
    audience: str | None = None,
    progress: Progress | None,
) -> bytes:
    """Return the report that is to be written to a new file."""
    from sfumato.api import audit
    from sfumato.release import Release
    from sfumato.reports.case import ReportCase
    from sfumato.reports.evidence import require_audience
    from sfumato.reports.page import html_of, page_of

    whom = require_audience(audience)
    if public and (table is not None or policy is not None or links is not None):
        raise PolicyError("public: such a report is made from the release alone", hint="leave table, policy and links out")
    if table is not None and not isinstance(table, Table):
        raise PolicyError(
            f"table: got a {type(table).__name__}", hint="Table.read(path, schema) or Table.from_frame(frame, schema)"
        )
    with listening(progress or silent) as tell:
        tell("the audit", 0.0)
        checked = audit(release, table, links=links)
        found = release if isinstance(release, Release) else Release.load(release)
        case = ReportCase(found, checked, table, policy, public)
        content = html_of(page_of(case, attacks=attacks, audience=whom, progress=tell))
        tell("done", 1.0)
    return content.encode()


def save(content: bytes, place: Path, *, public: bool) -> None:
    """Write a report to a new file, whole or not at all; for its owner alone unless it is public."""
    from sfumato.release.atomic import write_private

    def write(stream: BinaryIO) -> None:
        stream.write(content)
        if public and hasattr(os, "fchmod"):  # Windows has other rights
            os.fchmod(stream.fileno(), 0o644)

    try:
        write_private(place, write)
    except OSError as error:
        message = f"cannot write {place}: {error.strerror or error}"
        raise OutputError(message, hint="check the path and its permissions") from None
