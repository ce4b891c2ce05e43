"""The verbs of large tables: publish a source to a directory, and audit such a release, each whole or not at all."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from sfumato.auditor.audit import audit_stored
from sfumato.auditor.result import Audit
from sfumato.errors import FormatError
from sfumato.methods import Method
from sfumato.privacy.requirement import Requirement
from sfumato.progress import LOG, Progress, listening, silent
from sfumato.randomness import Randomness
from sfumato.release.atomic import flush, let_in, move_new, refuse_existing, scratch, workshop
from sfumato.release.files import read_manifest, read_release
from sfumato.release.manifest import Manifest
from sfumato.request import PublicationRequest
from sfumato.scale.audit import JUDGES, audit_parts
from sfumato.scale.choice import EngineName, engine_of
from sfumato.scale.engine import Engine, ResourceLimits
from sfumato.scale.publish import Published, prepare
from sfumato.table.schema import Schema
from sfumato.table.table import Table
from sfumato.table.textfile import ReadOptions


def publish_source(
    source: Any,
    schema: Schema,
    requirement: Requirement,
    out: Path,
    *,
    method: Method | None = None,
    random: Randomness | int | None = None,
    progress: Progress | None = None,
    register: Path | None = None,
    budget: Fraction | None = None,
    options: ReadOptions | None = None,
    limits: ResourceLimits | None = None,
    engine: EngineName | None = None,
    fingerprinted: bool = False,
    deliver: Callable[[Published, Path], None] | None = None,
) -> Published:
    """Publish a source to a new directory, and return what there is to tell; the directory appears last of all.

    A Spark DataFrame is published by its cluster, files too where the engine is "spark", anything else by DuckDB.

    `deliver`, if given, is called with what was made and with where it lies ready: it puts that in its place, with whatever
    belongs to it. A signal is let in between two steps. A process that is killed leaves nothing that loads;
    what it left is removed by the next one that writes there.
    """
    out = out.absolute()
    refuse_existing(out)
    chosen = limits or ResourceLimits.of()
    with workshop(out) as hidden, listening(progress or silent) as tell:
        target, work = hidden / out.name, hidden / "work"
        work.mkdir(mode=0o700)
        holder = engine_of(engine, source)(source, work, chosen, options=options, random=random)

        def step(stage: str, part: float) -> None:
            let_in()
            tell(stage, part)

        asked = PublicationRequest(requirement, method, random, step, register, budget)
        try:
            done = prepare(holder, schema, asked, target, out, chosen)
            if fingerprinted and done.fingerprints is None:
                done = replace(done, fingerprints=holder.fingerprints())
        finally:
            holder.close()
        let_in()
        if deliver is not None:
            deliver(done, target)
        else:
            move_new(target, out)
            flush(out.parent)
    LOG.info("published %d rows by %s to %s", done.manifest.rows, done.method.name, out)
    return done


def audit_directory(
    directory: Path,
    source: Any = None,
    schema: Schema | None = None,
    *,
    options: ReadOptions | None = None,
    random: bytes | int | None = None,
    limits: ResourceLimits | None = None,
    engine: EngineName | None = None,
) -> tuple[Audit, Table | None]:
    """Return the audit of a release in a directory, people in files; with its source also against that.

    Beside it comes the source as a table without rows: its domains and counts. Without a schema it is read as the manifest says.
    """
    manifest = read_manifest(directory)
    chosen = limits or ResourceLimits.of()

    def opened(work: Path) -> Engine:
        return engine_of(engine, source)(source, work, chosen, options=options, random=random)

    if manifest.bundled:
        return _audit_gathered(directory, manifest, schema, None if source is None else opened)
    if not audited_in_parts(manifest):
        raise FormatError(
            "this release is not one that an audit beyond memory reads",
            hint='engine = "memory" audits releases of every form',
        )
    with scratch() as place:
        if source is None:
            return audit_parts(directory, manifest, place), None
        work = place / "table"
        work.mkdir(mode=0o700)
        holder = opened(work)
        try:
            outline = holder.outline(schema or declared_schema(manifest, holder.names()))
            return audit_parts(directory, manifest, place, outline, holder.coded(outline)), outline.table
        finally:
            holder.close()


def _audit_gathered(
    directory: Path, manifest: Manifest, schema: Schema | None, opened: Callable[[Path], Engine] | None
) -> tuple[Audit, Table | None]:
    """Return the audit of people who may have several values: in memory, against people that the engine gathers."""
    stored = read_release(directory)
    if opened is None:
        return audit_stored(stored), None
    with scratch() as work:
        holder = opened(work)
        try:
            table = holder.gathered(schema or declared_schema(manifest, holder.names()))
        finally:
            holder.close()
        return audit_stored(stored, table), table


def audited_in_parts(manifest: Manifest) -> bool:
    """Return whether a release can be audited a part at a time: by its form, and by how many secrets it protects."""
    if manifest.bundled:
        return False
    if len(manifest.secrets) > 1 and manifest.rests_on.noisy:
        return False
    return manifest.form in JUDGES and "weaker_claim" not in manifest.parameters


def declared_schema(manifest: Manifest, names: Sequence[str]) -> Schema:
    """Return how a table with columns of these names is read, as the manifest of its release says."""
    declared = manifest.schema.get("declared")
    if not isinstance(declared, dict):
        raise FormatError("the manifest does not say how the table is read", hint="give a schema, or --policy")
    published = Schema.from_dict(declared)
    return Schema(**declared, other=[name for name in names if published.role(name) is None])
