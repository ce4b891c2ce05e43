"""Publishing a source beyond memory: domains and counts, codes, groups, parts, and the audit of what was written."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from sfumato.arrays import Integers
from sfumato.auditor.result import Audit
from sfumato.methods import Method
from sfumato.methods.base import MAKING, PEOPLE, Task
from sfumato.privacy.bounds import Bounds
from sfumato.randomness import randomness
from sfumato.release.base import Release
from sfumato.release.manifest import Manifest
from sfumato.request import PublicationRequest
from sfumato.scale.audit import audit_parts
from sfumato.scale.engine import Engine, ResourceLimits
from sfumato.scale.makers import Work, maker_of
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
    """Write the release of an engine's source to an empty directory, from where it will come to `out`, and audit it there."""
    tell = asked.progress
    if asked.method is not None:
        maker_of(asked.method, each=schema.protects_each)  # refused before anything is read, whatever that would tell
    tell("counting values", 0.0)
    outline = engine.outline(schema)
    table = outline.table
    chosen, bounds = asked.decided(table, outline.counts)
    maker = maker_of(chosen, each=table.schema.protects_each)
    drawn = asked.book(chosen, bounds, engine.marks)
    coins = randomness(asked.random)
    task = Task(table, asked.requirement, bounds, coins.spawn(MAKING), tell)
    tell("coding rows", 0.1)
    people = engine.people(outline)
    coded = partial(engine.coded, outline)
    written = maker(Work(task, outline, people, directory, limits.shard, engine.scratch, coded, coins.spawn(PEOPLE)), chosen)
    manifest, figures = written.manifest, written.figures
    tell("auditing", 0.85)
    place, coded_people = engine.scratch("audit"), engine.coded(outline)
    audit = audit_parts(directory, manifest, place, outline, coded_people, draw=False, in_parts=written.in_parts)
    audit.require_holds()
    tell("done", 1.0)
    sets = {"sets": {name: str(limit) for name, limit in bounds.set_limits.items()}} if bounds.members else {}
    spent = None if drawn is None else drawn.to_dict()
    return Published(out, manifest, audit, {**figures, **sets}, chosen, bounds, table, written.sizes, spent=spent)


def prepare_gathered(engine: Engine, schema: Schema, asked: PublicationRequest, target: Path, out: Path) -> Published:
    """Write the release of people who may have several values: the engine gathers rows to people, memory does the rest."""
    asked.progress("gathering rows to people", 0.0)
    table = engine.gathered(schema)
    made = asked.made(table)
    manifest, sizes = made.release.save(target), made.release.sizes
    prints = table.fingerprint, table.people_fingerprint
    return Published(out, manifest, made.audit, made.private, made.method, made.bounds, table, sizes, prints, made.spent)
