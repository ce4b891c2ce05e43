"""Publishing a source beyond memory: what there is to tell of a release that stays on disk, and how it comes there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sfumato.arrays import Integers
from sfumato.auditor.result import Audit
from sfumato.methods import Method
from sfumato.privacy.bounds import Bounds
from sfumato.release.base import Release
from sfumato.release.manifest import Manifest
from sfumato.request import PublicationRequest
from sfumato.scale.counted import Counted, require_made
from sfumato.scale.engine import Engine, ResourceLimits
from sfumato.table.fingerprint import Fingerprint
from sfumato.table.schema import Schema
from sfumato.table.table import Table


@dataclass(frozen=True, eq=False)
class Published:
    """A release that lies in a directory, its audit, and what only the publisher may see. Its people are not in memory.

    `table` has the domains and counts of the table that was published, without its rows.
    """

    directory: Path
    manifest: Manifest
    audit: Audit
    private: Mapping[str, Any]
    method: Method
    bounds: Bounds
    table: Table
    sizes: Integers
    """Number of people in each group."""
    fingerprints: tuple[Fingerprint, Fingerprint] | None = None
    spent: Mapping[str, Any] | None = None
    """What was drawn of these people with it, as `sfumato.budget.Spent` says; None where nothing was drawn."""

    @property
    def rows(self) -> int:
        """Number of people published."""
        return self.manifest.rows

    def load(self) -> Release:
        """Return the release in memory."""
        return Release.load(self.directory)


def prepare(
    engine: Engine, schema: Schema, asked: PublicationRequest, directory: Path, out: Path, limits: ResourceLimits
) -> Published:
    """Write the release of an engine's source to a new directory, from where it will come to `out`, and audit it there.

    People who may have several values are gathered by the engine from their rows, and memory does the rest.
    """
    if schema.bundled:
        asked.progress("gathering rows to people", 0.0)
        table = engine.gathered(schema)
        made = asked.made(table)
        manifest, sizes = made.release.save(directory), made.release.sizes
        prints = table.fingerprint, table.people_fingerprint
        return Published(out, manifest, made.audit, made.private, made.method, made.bounds, table, sizes, prints, made.spent)
    if asked.method is not None:
        require_made(asked.method, asked.requirement.against)  # refused before anything is read, whatever that would tell
    directory.mkdir()
    asked.progress("counting values", 0.0)
    outline = engine.outline(schema)
    made = asked.made(Counted(engine, outline, directory, limits.shard))
    manifest, sizes = made.release  # type: ignore[misc]
    told = made.audit, made.private, made.method, made.bounds
    return Published(out, manifest, *told, outline.table, sizes, spent=made.spent)
