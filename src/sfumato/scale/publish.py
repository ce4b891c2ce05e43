"""Publishing a source beyond memory: domains and counts, codes, groups, parts, and the audit of what was written."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

from sfumato.arrays import Integers
from sfumato.auditor.result import Audit
from sfumato.budget import book
from sfumato.errors import ClaimBroken, PolicyError
from sfumato.methods import Method, default_method
from sfumato.methods.base import MAKING, PEOPLE, Task
from sfumato.privacy.requirement import Bounds, Requirement
from sfumato.progress import Progress, silent
from sfumato.randomness import Randomness, randomness
from sfumato.register import open_register
from sfumato.release.base import Release
from sfumato.release.manifest import Manifest
from sfumato.scale.audit import audit_parts
from sfumato.scale.engine import Engine, Limits
from sfumato.scale.makers import Work, maker_of
from sfumato.table.fingerprint import Fingerprint
from sfumato.table.people import require_shared_texts
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

    @property
    def rows(self) -> int:
        """Number of people published."""
        return self.manifest.rows

    def load(self) -> Release:
        """Return the release in memory."""
        return Release.load(self.directory)


def prepare(
    engine: Engine,
    schema: Schema,
    requirement: Requirement,
    directory: Path,
    out: Path,
    *,
    method: Method | None = None,
    random: Randomness | int | None = None,
    progress: Progress | None = None,
    register: Path | None = None,
    budget: Fraction | None = None,
    limits: Limits,
) -> Published:
    """Write the release of an engine's source to an empty directory, from where it will come to `out`, and audit it there."""
    tell = progress or silent
    tell("counting values", 0.0)
    outline = engine.outline(schema)
    table = outline.table
    table.require_people()
    require_shared_texts(table, outline.counts)
    chosen = method or default_method(requirement, table)
    maker = maker_of(chosen, each=table.schema.apart)
    bounds = chosen.kept_bounds(table, requirement)
    gamma = chosen.odds(table, requirement)
    if gamma is not None:
        book(engine.fingerprints()[1], gamma, open_register() if register is None else register, budget=budget)
    elif budget is not None:
        raise PolicyError(
            f"[budget]: nothing bounds what the method {chosen.name!r} tells an insider, so that no budget can be kept",
            hint='name = "noisy-boxes", or leave [budget] out',
        )
    coins = randomness(random)
    task = Task(table, requirement, bounds, coins.spawn(MAKING), tell)
    tell("coding rows", 0.1)
    people = engine.people(outline)
    coded = partial(engine.coded, outline)
    written = maker(Work(task, outline, people, directory, limits.shard, engine.scratch, coded, coins.spawn(PEOPLE)), chosen)
    manifest, figures = written.manifest, written.figures
    tell("auditing", 0.85)
    place, coded_people = engine.scratch("audit"), engine.coded(outline)
    audit = audit_parts(directory, manifest, place, outline, coded_people, draw=False, in_parts=written.in_parts)
    if audit.holds is not True:
        raise ClaimBroken("the release does not pass its own audit, so it is not published", audit=audit)
    tell("done", 1.0)
    sets = {"sets": {one.name: str(one.limit) for one in bounds.sets}} if bounds.sets else {}
    return Published(out, manifest, audit, {**figures, **sets}, chosen, bounds, table, written.sizes)
