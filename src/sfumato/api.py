"""The verbs: each a few lines that join the rooms."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

from sfumato.auditor import Audit, audit_release, audit_stored
from sfumato.budget import book
from sfumato.errors import PolicyError
from sfumato.methods import Method, Publication, default_method
from sfumato.privacy.requirement import Requirement
from sfumato.progress import Progress
from sfumato.randomness import Randomness
from sfumato.register import open_register
from sfumato.release.base import Release
from sfumato.release.files import read_release
from sfumato.release.links import Links
from sfumato.table.table import Table


def publication(
    table: Table,
    requirement: Requirement,
    *,
    method: Method | None = None,
    random: Randomness | int | None = None,
    progress: Progress | None = None,
    register: Path | None = None,
    budget: Fraction | None = None,
) -> Publication:
    """Return the release with its audit and private figures; a release whose claim fails is not returned but raised.

    A draw of noise is first booked in `register`, the user's own where none is given (see `sfumato.budget`); where all draws of
    these people together exceed `budget`, an ε, nothing is drawn.
    """
    _require_kind(table, Table, "table", "Table.read(path, schema) or Table.from_frame(frame, schema)")
    _require_kind(requirement, Requirement, "requirement", 'such as LDiversity(5) or FPrivacy(theta=8, offset="0.02")')
    chosen = default_method(requirement, table) if method is None else method
    _require_kind(chosen, Method, "method", "such as Boxes() or Anatomy()")
    gamma = chosen.odds(table, requirement)
    if gamma is not None:
        book(table.people_fingerprint, gamma, open_register() if register is None else register, budget=budget)
    elif budget is not None:
        raise PolicyError(
            f"[budget]: nothing bounds what the method {chosen.name!r} tells an insider, so that no budget can be kept",
            hint='name = "noisy-boxes", or leave [budget] out',
        )
    return chosen.run(table, requirement, random=random, progress=progress)


def publish(
    table: Table,
    requirement: Requirement,
    *,
    method: Method | None = None,
    random: Randomness | int | None = None,
    progress: Progress | None = None,
) -> Release:
    """Return a release of the table that keeps the requirement and has passed an independent audit.

    Randomness is the operating system's; an integer seeds it for experiments, and the release then says so.
    """
    return publication(table, requirement, method=method, random=random, progress=progress).release


def audit(
    release: Release | str | Path,
    table: Table | None = None,
    *,
    links: Links | str | Path | None = None,
    outsiders: Any = None,
) -> Audit:
    """Return the audit of a release, or of a release directory; with the original table also against that.

    `links`, or the file they were saved in, is what the publisher of a heterogeneous or ring release may have kept. `outsiders`
    are people who are not in the table, as a `Table` or a frame with the quasi columns as published: for a release that hides
    presence the audit then also says how sure a reader becomes that they are in it, and how many are certainly absent.
    """
    away = outsiders.to_arrow() if isinstance(outsiders, Table) else outsiders
    if table is not None:
        _require_kind(table, Table, "table", "Table.read(path, schema) or Table.from_frame(frame, schema)")
    if links is not None:
        if table is None:
            raise PolicyError("links: they are checked against the original table", hint="give the table too")
        known = links if isinstance(links, Links) else Links.load(links)
        return audit_release(
            release if isinstance(release, Release) else Release.load(release), table, links=known, outsiders=away
        )
    if isinstance(release, Release):
        return audit_release(release, table, outsiders=away)
    _require_kind(release, (str, Path), "release", "a Release, or the path of a release directory")
    return audit_stored(read_release(Path(release)), table, outsiders=away)


def _require_kind(value: object, kind: type | tuple[type, ...], name: str, expected: str) -> None:
    if not isinstance(value, kind):
        raise PolicyError(f"{name}: got a {type(value).__name__}", hint=f"expected {expected}")
