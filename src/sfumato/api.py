"""The public functions: publish, audit, explain, compare, draft; each a few lines that join the rooms."""

from __future__ import annotations

import warnings
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Unpack, overload

from sfumato.arguments import (
    KINDS,
    by_name,
    closed,
    listed,
    require_kind,
    require_publishable,
    said,
    schema_of,
    understood,
)
from sfumato.auditor import Audit, audit_release, audit_stored
from sfumato.errors import PolicyError, PublicationWarning
from sfumato.methods import Method, Publication, default_method
from sfumato.privacy.requirement import Requirement
from sfumato.progress import LOG, Progress, listening, silent
from sfumato.randomness import Randomness, coins_of
from sfumato.release.base import Release
from sfumato.release.files import read_manifest, read_release
from sfumato.release.links import Links
from sfumato.release.manifest import Manifest
from sfumato.remarks import remarks
from sfumato.request import PublicationRequest
from sfumato.table.columns import Columns, Roles
from sfumato.table.schema import Schema
from sfumato.table.table import Table

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sfumato.comparison import Study
    from sfumato.explanation import Explanation
    from sfumato.policy import Policy
    from sfumato.query import Workload
    from sfumato.scale.choice import EngineName
    from sfumato.scale.publish import Published


@by_name
def publication(
    table: Any,
    requirement: Requirement | Policy,
    *,
    method: Method | None = None,
    seed: int | None = None,
    random: Randomness | int | None = None,
    progress: Progress | None = None,
    register: Path | None = None,
    budget: Fraction | None = None,
    **columns: Unpack[Columns],
) -> Publication:
    """Return the release with its audit and private figures; a release whose claim fails is not returned but raised.

    Takes what `publish` takes. A draw of noise is first booked in `register`, the user's own where none is given (see
    `sfumato.budget`); where somebody's draws together exceed `budget`, an ε, or that of the policy, nothing is drawn.
    """
    columns = said(publication, columns)
    coins = coins_of(seed, random)
    people, asked, own = understood(table, requirement, columns, method, publishing=True, coins=coins)
    chosen = method if method is not None else own
    if chosen is not None:
        require_kind(chosen, Method, "method", "such as Boxes() or Anatomy()")
    with listening(progress or silent) as tell:
        made = PublicationRequest(asked, chosen, coins, tell, register, _least(budget, requirement)).made(people)
    LOG.info("made and audited a release by %s", made.method.name)
    return made


@overload
def publish(
    table: Any,
    requirement: Requirement | Policy,
    *,
    method: Method | None = None,
    seed: int | None = None,
    random: Randomness | int | None = None,
    progress: Progress | None = None,
    register: Path | None = None,
    budget: Fraction | None = None,
    out: None = None,
    engine: Literal["memory"] | None = None,
    memory: None = None,
    **columns: Unpack[Columns],
) -> Release: ...
@overload
def publish(
    table: Any,
    requirement: Requirement | Policy,
    *,
    method: Method | None = None,
    seed: int | None = None,
    random: Randomness | int | None = None,
    progress: Progress | None = None,
    register: Path | None = None,
    budget: Fraction | None = None,
    out: str | Path,
    engine: EngineName | None = None,
    memory: str | int | None = None,
    **columns: Unpack[Columns],
) -> Release | Published: ...
@by_name
def publish(
    table: Any,
    requirement: Requirement | Policy,
    *,
    method: Method | None = None,
    seed: int | None = None,
    random: Randomness | int | None = None,
    progress: Progress | None = None,
    register: Path | None = None,
    budget: Fraction | None = None,
    out: str | Path | None = None,
    engine: EngineName | None = None,
    memory: str | int | None = None,
    **columns: Unpack[Columns],
) -> Release | Published:
    """Return a release of the table that keeps the requirement and has passed an independent audit.

    The table is a `Table`, or a pandas, polars or pyarrow frame whose columns are named here, as `Schema` takes them, or by a
    `schema`; columns that are not named are neither published nor read.

    >>> import pyarrow as pa
    >>> import sfumato as sf
    >>> people = pa.table({"age": [31, 44, 58, 62], "illness": ["Flu", "Gout", "Flu", "Asthma"]})
    >>> sf.publish(people, sf.LDiversity(2), quasi=["age"], sensitive="illness", seed=1).rows
    4

    What the command line would warn of (values that are shown openly, a seed, what a policy says in vain) is a
    `PublicationWarning`.

    A `Policy` says requirement, method and columns at once. Randomness is the operating system's; a `seed` replaces it in
    experiments, and the release then says so. `random` is another spelling of it, and also takes a `Randomness`.

    With `out` the release is written to that new directory. `engine="duckdb"` publishes what does not fit in memory: paths of
    Parquet or CSV files, a directory, a DuckDB relation, a polars LazyFrame or any frame; it uses about so much `memory` ("4GB"),
    and returns what there is to tell of the release, which stays on disk (docs/scale.md). Without an engine, files together
    larger than 2 GB, and lazy frames, go to DuckDB. `register` and `budget` are those of `publication`.
    """
    columns = said(publish, columns)
    coins = coins_of(seed, random)
    if _beyond_memory(table, engine):
        if out is None:
            raise PolicyError("engine: a release beyond memory is written to a directory", hint='out="release"')
        from sfumato.scale.engine import ResourceLimits
        from sfumato.scale.verb import publish_source

        schema, asked, stated = _stated(requirement, columns, method)
        limits = ResourceLimits.of(memory)
        stated |= {"register": register, "budget": _least(budget, requirement)}
        large = publish_source(
            table, schema, asked, Path(out), random=coins, progress=progress, limits=limits, engine=engine, **stated
        )
        _warn(requirement, large)
        return large
    if memory is not None:
        raise PolicyError("memory: it limits what an engine uses", hint='engine="duckdb", or leave it out')
    booked: dict[str, Any] = {"register": register, "budget": budget}
    made = publication(table, requirement, method=method, random=coins, progress=progress, **booked, **columns)
    _warn(requirement, made)
    if out is not None:
        made.release.save(out)
    return made.release


def _least(budget: Fraction | None, requirement: Requirement | Policy) -> Fraction | None:
    """Return the smaller of the budget that was given and that of the policy."""
    limits = [limit for limit in (budget, getattr(requirement, "budget", None)) if limit is not None]
    return min(limits) if limits else None


def _warn(requirement: Requirement | Policy, made: Publication | Published) -> None:
    """Warn the caller of `publish` of what the command line prints."""
    from sfumato.explanation.tightness import FEW

    release = made.release if isinstance(made, Publication) else made
    texts = [*getattr(requirement, "warnings", ()), *remarks(made.bounds, made.audit)]
    if release.manifest.rests_on.in_boxes and 1 < len(release.sizes) < FEW:  # of a single one `Boxes` warns
        texts.append(f"{len(release.sizes)} groups tell little beyond the overall shares of values; `explain` says why")
    for text in texts:
        warnings.warn(text, PublicationWarning, stacklevel=3)


def _beyond_memory(source: Any, engine: str | None) -> bool:
    """Return whether a source is published by an engine: never a `Table`, which is in memory, unless one is asked for."""
    if engine is None and isinstance(source, Table):
        return False
    from sfumato.scale.choice import beyond_memory, require_engine

    require_engine(engine)
    return beyond_memory(source, engine)


def _stated(
    requirement: Requirement | Policy, columns: Columns, method: Method | None
) -> tuple[Schema, Requirement, dict[str, Any]]:
    """Return the schema, the requirement, and what else a policy states, for a source that an engine publishes."""
    from sfumato.policy import Policy

    if isinstance(requirement, Policy):
        require_publishable(requirement, columns)
        more = {"method": method or requirement.method, "options": requirement.options}
        return closed(requirement.schema, method), requirement.requirement, more
    require_kind(requirement, Requirement, "requirement", KINDS)
    return closed(schema_of(columns), method), requirement, {"method": method}


@by_name
def explain(
    table: Any,
    requirement: Requirement | Policy,
    *,
    method: Method | None = None,
    workload: Workload | None = None,
    quick: bool = False,
    workers: int | None = None,
    progress: Progress | None = None,
    **columns: Unpack[Columns],
) -> Explanation:
    """Return what the requirement means for the table: can it be kept, who is found, what does it cost. Nothing is published.

    The table and its columns are given as for `publish`. What it tells is private: figures of the original table.
    """
    from sfumato.explanation.explanation import explain as make

    columns = said(explain, columns)
    people, asked, own = understood(table, requirement, columns, method, publishing=False)
    with listening(progress or silent) as tell:
        return make(people, asked, method=method or own, workload=workload, quick=quick, workers=workers, progress=tell)


@by_name
def compare(
    table: Any,
    requirement: Requirement | Policy,
    methods: Sequence[str | Method] | None = None,
    *,
    vary: Mapping[str, Sequence[Any]] | None = None,
    workload: Workload | str = "random",
    translate: bool = False,
    method: Method | None = None,
    attacks: Sequence[str] = ("nb",),
    sample: int | None = None,
    spend: bool = False,
    register: Path | None = None,
    out: str | Path | None = None,
    workers: int | None = None,
    progress: Progress | None = None,
    **columns: Unpack[Columns],
) -> Study:
    """Return every method that can keep the requirement, and every variation, measured side by side. Nothing is published.

    The table and its columns are given as for `publish`; with a `Policy` it may also be the path of a file. `vary` names
    parameters of the requirement, of methods (`floor`, `form`) or recodings (`recode.age`) with the values to try. `workload` is
    "random", "crosstabs", or your own questions. With `translate` methods that cannot keep the requirement take part under the
    nearest one that they can. `sample` measures on so many people, drawn from the table. `out` is a directory in which every
    run is kept as it ends: a killed study goes on from there.

    Runs are processes of their own, one a processor (`workers`). Against an insider they are made on generated people; with
    `spend` on yours, and then every draw is booked in `register`. What it tells is private.
    """
    from sfumato.comparison.study import StudyOptions
    from sfumato.comparison.study import compare as make
    from sfumato.policy import Policy

    columns = said(compare, columns)
    if isinstance(columns.get("people"), int):
        raise PolicyError(
            "compare(people=…) says which rows belong to one person; it is no sample size",
            hint="sample=… measures on that many people",
        )
    policy = requirement if isinstance(requirement, Policy) else None
    given = table
    if isinstance(table, (str, Path)):
        if policy is None:
            raise PolicyError(
                "table: a path is read only with a policy, which declares the roles of its columns", hint="Policy.load(path)"
            )
        table = policy.read_table(Path(table))
    read, asked, own = understood(table, requirement, columns, method, publishing=False)
    if isinstance(methods, (str, Method)):
        methods = [methods]
    setting = StudyOptions(
        methods=methods,
        vary=vary or {},
        translate=translate,
        workload=workload,
        people=sample,
        attacks=tuple(attacks),
        spend=spend,
        register=None if register is None else Path(register),
        budget=None if policy is None else policy.budget,
        workers=workers,
        out=None if out is None else Path(out),
    )
    chosen = method or own or default_method(asked, read)
    with listening(progress or silent) as tell:
        return make(read, asked, chosen, setting, reread=_rereading(given, read, policy), progress=tell)


def _rereading(given: Any, table: Table, policy: Policy | None) -> Any:
    """Return what reads the same people with other recodings, by column; None where the table as it came is not at hand."""
    if isinstance(given, Table):
        return None
    coins = None if table.choice is None else table.choice.coins

    def reread(rules: Mapping[str, Any]) -> Table:
        recode = {name: rule for name, rule in {**table.schema.recode, **rules}.items() if rule is not None}
        schema = replace(table.schema, recode=recode)
        if isinstance(given, (str, Path)) and policy is not None:
            return Table.read(Path(given), schema, options=policy.options, random=coins)
        return Table.from_frame(given, schema, random=coins)

    return reread


@by_name
def draft(
    table: Any,
    *,
    reviewed: bool = False,
    strict: bool = False,
    declared: bool = False,
    rename: bool = False,
    **roles: Unpack[Roles],
) -> Policy:
    """Return a first policy for a frame, or for the table in a file: every role a guess with its reason in the policy's `text`.

    Roles that you know are fixed up front: `draft(frame, sensitive="diagnosis")`. What is not clear is dropped as `other`. The
    draft can be explained; nothing is published with it until somebody has looked at it and says `reviewed=True`. With `strict`
    odds may grow half as much; with `declared`, for declared parameters, no bound and no edge follows from the table; `rename`
    numbers columns of a file that have one name.
    """
    from sfumato.policy import Policy, draft_policy

    roles = said(draft, roles)
    given = {role: listed(names) for role, names in roles.items()}
    asked: dict[str, Any] = {"roles": given, "reviewed": reviewed, "strict": strict, "declared": declared}
    if isinstance(table, (str, Path)):
        return Policy.parse(draft_policy(Path(table), rename=rename, **asked))
    if rename:
        raise PolicyError("draft(rename=…): a frame's columns are renamed before", hint="leave it out")
    from sfumato.release.atomic import scratch
    from sfumato.table.frames import as_arrow
    from sfumato.table.write import write_table

    with scratch() as private:
        place = private / "frame.parquet"
        write_table(as_arrow(table), place)
        return Policy.parse(draft_policy(place, **asked))


def audit(
    release: Release | str | Path,
    table: Any = None,
    *,
    links: Links | str | Path | None = None,
    outsiders: Any = None,
    schema: Schema | None = None,
    engine: EngineName | None = None,
    memory: str | int | None = None,
) -> Audit:
    """Return the audit of a release, or of a release directory; with the original table also against that.

    `links`, or the file they were saved in, is what the publisher of a heterogeneous or ring release may have kept. `outsiders`
    are people who are not in the table, as a `Table` or a frame with the quasi columns as published: for a release that hides
    presence the audit then also says how sure a reader becomes that they are in it, and how many are certainly absent.

    A directory whose people lie in several files is audited a file at a time; so is any with `engine="duckdb"`, in about so much
    `memory` ("4GB"). The table may then be what `publish` takes beyond memory (paths, a directory, a relation), read with
    `schema`, else as the manifest says.
    """
    manifest = None
    if isinstance(release, (str, Path)) and table is None and engine is None:
        manifest = read_manifest(Path(release))
    if isinstance(release, (str, Path)) and links is None and outsiders is None and _in_parts(manifest, table, engine):
        from sfumato.scale.engine import ResourceLimits
        from sfumato.scale.verb import audit_directory

        return audit_directory(Path(release), table, schema, limits=ResourceLimits.of(memory), engine=engine)[0]
    if memory is not None or schema is not None or engine not in (None, "memory"):
        raise PolicyError(
            "engine, memory and schema apply only to release directories, without links or outsiders",
            hint="leave them out, or give the directory",
        )
    away = outsiders.to_arrow() if isinstance(outsiders, Table) else outsiders
    if table is not None:
        require_kind(table, Table, "table", "Table.read(path, schema) or Table.from_frame(frame, schema)")
    if links is not None:
        if table is None:
            raise PolicyError("links: can only be checked against the original table", hint="pass table=… too")
        known = links if isinstance(links, Links) else Links.load(links)
        return audit_release(
            release if isinstance(release, Release) else Release.load(release), table, links=known, outsiders=away
        )
    if isinstance(release, Release):
        return audit_release(release, table, outsiders=away)
    require_kind(release, (str, Path), "release", "a Release, or the path of a release directory")
    return audit_stored(read_release(Path(release), manifest), table, outsiders=away)


def _in_parts(manifest: Manifest | None, table: Any, engine: EngineName | None) -> bool:
    """Return whether a release directory is audited beyond memory: as asked, else by the size of the release or the source."""
    if manifest is not None:
        if not manifest.in_parts:
            return False
        from sfumato.scale.verb import audited_in_parts

        return audited_in_parts(manifest)
    from sfumato.scale.choice import beyond_memory, require_engine

    require_engine(engine)
    return not isinstance(table, Table) and engine != "memory" and beyond_memory(table, engine)
