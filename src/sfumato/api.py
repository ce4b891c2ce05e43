"""The verbs: each a few lines that join the rooms."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast, get_args, overload

from sfumato.auditor import Audit, audit_release, audit_stored
from sfumato.budget import book
from sfumato.errors import PolicyError, did_you_mean
from sfumato.methods import Method, Publication, default_method
from sfumato.privacy.requirement import Requirement
from sfumato.progress import Progress, listening, silent
from sfumato.randomness import Randomness
from sfumato.register import open_register
from sfumato.release.base import Release
from sfumato.release.files import read_manifest, read_release
from sfumato.release.links import Links
from sfumato.table.frames import column_names
from sfumato.table.people import require_shared_texts
from sfumato.table.schema import Role, Schema
from sfumato.table.table import Table

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sfumato.compare import Study
    from sfumato.explain import Explanation
    from sfumato.policy import Policy
    from sfumato.query import Workload
    from sfumato.scale.choice import EngineName
    from sfumato.scale.publish import Published

ROLES: tuple[str, ...] = get_args(Role)
_KINDS = 'such as LDiversity(5) or FPrivacy(theta=8, offset="0.02"), or a Policy'


def publication(
    table: Any,
    requirement: Requirement | Policy,
    *,
    method: Method | None = None,
    random: Randomness | int | None = None,
    progress: Progress | None = None,
    register: Path | None = None,
    budget: Fraction | None = None,
    **columns: Any,
) -> Publication:
    """Return the release with its audit and private figures; a release whose claim fails is not returned but raised.

    Takes what `publish` takes. A draw of noise is first booked in `register`, the user's own where none is given (see
    `sfumato.budget`); where all draws of these people together exceed `budget`, an ε, nothing is drawn.
    """
    people, asked, own = _understood(table, requirement, columns, publishing=True)
    people.require_people()
    require_shared_texts(people)
    chosen = method or own or default_method(asked, people)
    _require_kind(chosen, Method, "method", "such as Boxes() or Anatomy()")
    gamma = chosen.odds(people, asked)
    if gamma is not None:
        book(people.people_fingerprint, gamma, open_register() if register is None else register, budget=budget)
    elif budget is not None:
        raise PolicyError(
            f"[budget]: nothing bounds what the method {chosen.name!r} tells an insider, so that no budget can be kept",
            hint='name = "noisy-boxes", or leave [budget] out',
        )
    with listening(progress or silent) as tell:
        return chosen.run(people, asked, random=random, progress=tell)


@overload
def publish(
    table: Any,
    requirement: Requirement | Policy,
    *,
    method: Method | None = None,
    random: Randomness | int | None = None,
    progress: Progress | None = None,
    out: None = None,
    engine: Literal["memory"] | None = None,
    memory: None = None,
    **columns: Any,
) -> Release: ...
@overload
def publish(
    table: Any,
    requirement: Requirement | Policy,
    *,
    method: Method | None = None,
    random: Randomness | int | None = None,
    progress: Progress | None = None,
    out: str | Path,
    engine: EngineName | None = None,
    memory: str | int | None = None,
    **columns: Any,
) -> Release | Published: ...
def publish(
    table: Any,
    requirement: Requirement | Policy,
    *,
    method: Method | None = None,
    random: Randomness | int | None = None,
    progress: Progress | None = None,
    out: str | Path | None = None,
    engine: EngineName | None = None,
    memory: str | int | None = None,
    **columns: Any,
) -> Release | Published:
    """Return a release of the table that keeps the requirement and has passed an independent audit.

    The table is a `Table`, or a pandas, polars or pyarrow frame whose columns are named here, as `Schema` takes them; columns
    that are not named are neither published nor read.

    >>> import pyarrow as pa
    >>> import sfumato as sf
    >>> people = pa.table({"age": [31, 44, 58, 62], "illness": ["Flu", "Gout", "Flu", "Asthma"]})
    >>> sf.publish(people, sf.LDiversity(2), quasi=["age"], sensitive="illness", random=1).rows
    4

    A `Policy` says requirement, method and columns at once. Randomness is the operating system's; an integer seeds it for
    experiments, and the release then says so.

    With `out` the release is written to that new directory. `engine="duckdb"` publishes what does not fit in memory: paths of
    Parquet or CSV files, a directory, a DuckDB relation, a polars LazyFrame or any frame; it uses about so much `memory` ("4GB"),
    and returns what there is to tell of the release, which stays on disk (docs/scale.md). Without an engine, files together
    larger than 2 GB, and lazy frames, go to DuckDB.
    """
    if _beyond_memory(table, engine):
        if out is None:
            raise PolicyError("engine: a release beyond memory is written to a directory", hint='out="release"')
        from sfumato.scale.engine import Limits
        from sfumato.scale.verb import publish_source

        schema, asked, stated = _stated(requirement, columns, method)
        limits = Limits.of(memory)
        return publish_source(
            table, schema, asked, Path(out), random=random, progress=progress, limits=limits, engine=engine, **stated
        )
    if memory is not None:
        raise PolicyError("memory: it limits what an engine uses", hint='engine="duckdb", or leave it out')
    made = publication(table, requirement, method=method, random=random, progress=progress, **columns).release
    if out is not None:
        made.save(out)
    return made


def _beyond_memory(source: Any, engine: str | None) -> bool:
    """Return whether a source is published by an engine: never a `Table`, which is in memory, unless one is asked for."""
    if engine is None and isinstance(source, Table):
        return False
    from sfumato.scale.choice import beyond_memory, require_engine

    require_engine(engine)
    return beyond_memory(source, engine)


def _stated(
    requirement: Requirement | Policy, columns: dict[str, Any], method: Method | None
) -> tuple[Schema, Requirement, dict[str, Any]]:
    """Return the schema, the requirement, and what else a policy states, for a source that an engine publishes."""
    from sfumato.policy import Policy

    if isinstance(requirement, Policy):
        _require_publishable(requirement, columns)
        more = {"method": method or requirement.method, "budget": requirement.budget, "options": requirement.options}
        return requirement.schema, requirement.requirement, more
    _require_kind(requirement, Requirement, "requirement", _KINDS)
    schema = columns.get("schema") or Schema(**_roles(columns))
    _require_kind(schema, Schema, "schema", "a Schema")
    return schema, requirement, {"method": method}


def explain(
    table: Any,
    requirement: Requirement | Policy,
    *,
    method: Method | None = None,
    workload: Workload | None = None,
    quick: bool = False,
    workers: int | None = None,
    progress: Progress | None = None,
    **columns: Any,
) -> Explanation:
    """Return what the requirement means for the table: can it be kept, who is found, what does it cost. Nothing is published.

    The table and its columns are given as for `publish`. What it tells is private: figures of the original table.
    """
    from sfumato.explain.explanation import explain as make

    people, asked, own = _understood(table, requirement, columns, publishing=False)
    return make(people, asked, method=method or own, workload=workload, quick=quick, workers=workers, progress=progress)


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
    people: int | None = None,
    spend: bool = False,
    register: Path | None = None,
    out: str | Path | None = None,
    workers: int | None = None,
    progress: Progress | None = None,
    **columns: Any,
) -> Study:
    """Return every method that can keep the requirement, and every variation, measured side by side. Nothing is published.

    The table and its columns are given as for `publish`; with a `Policy` it may also be the path of a file. `vary` names
    parameters of the requirement, of methods (`floor`, `form`) or recodings (`recode.age`) with the values to try. `workload` is
    "random", "crosstabs", or your own questions. With `translate` methods that cannot keep the requirement take part under the
    nearest one that they can. `out` is a directory in which every run is kept as it ends: a killed study goes on from there.

    Runs are processes of their own, one a processor (`workers`). Against an insider they are made on generated people; with
    `spend` on yours, and then every draw is booked in `register`. What it tells is private.
    """
    from sfumato.compare.study import Setting
    from sfumato.compare.study import compare as make
    from sfumato.policy import Policy

    policy = requirement if isinstance(requirement, Policy) else None
    given = table
    if isinstance(table, (str, Path)):
        if policy is None:
            raise PolicyError("table: a path needs a policy, which says what the columns are", hint="Policy.load(path)")
        table = policy.read_table(Path(table))
    understood, asked, own = _understood(table, requirement, columns, publishing=False)
    if isinstance(methods, (str, Method)):
        methods = [methods]
    setting = Setting(
        workload=workload,
        people=people,
        attacks=tuple(attacks),
        spend=spend,
        register=None if register is None else Path(register),
        budget=None if policy is None else policy.budget,
        workers=workers,
        out=None if out is None else Path(out),
    )
    return make(
        understood,
        asked,
        method or own or default_method(asked, understood),
        methods=methods,
        vary=vary,
        translate=translate,
        setting=setting,
        reread=_rereading(given, understood, policy),
        progress=progress,
    )


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


def draft(table: Any, *, reviewed: bool = False, **roles: Any) -> Policy:
    """Return a first policy for a frame, or for the table in a file: every role a guess with its reason in the policy's `text`.

    Roles that you know are fixed up front: `draft(frame, sensitive="diagnosis")`. What is not clear is dropped as `other`. The
    draft can be explained; nothing is published with it until somebody has looked at it and says `reviewed=True`.
    """
    from sfumato.policy import Policy, draft_policy

    given = {role: _listed(names) for role, names in roles.items()}
    unknown = [role for role in given if role not in ROLES]
    if unknown:
        raise PolicyError(f"draft({unknown[0]}=…): unknown role", hint=did_you_mean(unknown[0], ROLES))
    if isinstance(table, (str, Path)):
        return Policy.parse(draft_policy(Path(table), roles=cast("Any", given), reviewed=reviewed))
    import tempfile

    from sfumato.table.frames import as_arrow
    from sfumato.table.write import write_table

    with tempfile.TemporaryDirectory(prefix="sfumato-") as private:  # open to this user only, and gone at the end
        place = Path(private) / "frame.parquet"
        write_table(as_arrow(table), place)
        return Policy.parse(draft_policy(place, roles=cast("Any", given), reviewed=reviewed))


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
    if isinstance(release, (str, Path)) and links is None and outsiders is None and _in_parts(Path(release), table, engine):
        from sfumato.scale.engine import Limits
        from sfumato.scale.verb import audit_directory

        return audit_directory(Path(release), table, schema, limits=Limits.of(memory), engine=engine)[0]
    if memory is not None or schema is not None or engine not in (None, "memory"):
        raise PolicyError(
            "engine, memory and schema: they are for release directories, without links or outsiders",
            hint="leave them out, or give the directory",
        )
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


def _in_parts(release: Path, table: Any, engine: EngineName | None) -> bool:
    """Return whether a release directory is audited beyond memory: as asked, else by the size of the release or the source."""
    if table is None and engine is None:
        manifest = read_manifest(release)
        if not manifest.in_parts:
            return False
        from sfumato.scale.verb import audited_in_parts

        return audited_in_parts(manifest)
    from sfumato.scale.choice import beyond_memory, require_engine

    require_engine(engine)
    return not isinstance(table, Table) and engine != "memory" and beyond_memory(table, engine)


def _understood(
    table: Any, requirement: Requirement | Policy, columns: dict[str, Any], *, publishing: bool
) -> tuple[Table, Requirement, Method | None]:
    """Return the table, the requirement, and the method that a policy names."""
    from sfumato.policy import Policy

    if not isinstance(requirement, Policy):
        _require_kind(requirement, Requirement, "requirement", _KINDS)
        return _table(table, columns), requirement, None
    _require_publishable(requirement, columns, publishing=publishing)
    people = table if isinstance(table, Table) else Table.from_frame(table, requirement.schema)
    return people, requirement.requirement, requirement.method


def _require_publishable(policy: Policy, columns: dict[str, Any], *, publishing: bool = True) -> None:
    """Raise unless the policy alone says what the columns are, and somebody has reviewed it."""
    if columns:
        raise PolicyError(f"{next(iter(columns))}: the policy says what the columns are", hint="leave it out, or edit the policy")
    if publishing and not policy.reviewed:
        raise PolicyError(
            "a draft that nobody has reviewed is not published",
            hint="look at every role in policy.text, then draft(…, reviewed=True), or reviewed = true in the policy",
        )


def _table(table: Any, columns: dict[str, Any]) -> Table:
    """Return the table, or that of a frame whose columns are named."""
    if isinstance(table, Table):
        if columns:
            raise PolicyError(f"{next(iter(columns))}: the table has its own schema", hint="leave it out, or give a data frame")
        return table
    if not columns:
        expected = "Table.read(path, schema), Table.from_frame(frame, schema), or a frame with quasi=[…] and sensitive=…"
        _require_kind(table, Table, "table", expected)
    roles = _roles(columns)
    if "other" not in roles:
        named = {name for role in ROLES for name in roles.get(role, ())}
        roles["other"] = [name for name in column_names(table) if name not in named]
    return Table.from_frame(table, Schema(**roles))


def _roles(columns: dict[str, Any]) -> dict[str, Any]:
    """Return roles and other facts about columns as a schema takes them: a single name stands for a list of it."""
    return {name: _listed(given) if name in ROLES else given for name, given in columns.items()}


def _listed(names: Any) -> Any:
    return [names] if isinstance(names, str) else names


def _require_kind(value: object, kind: type | tuple[type, ...], name: str, expected: str) -> None:
    if not isinstance(value, kind):
        raise PolicyError(f"{name}: got a {type(value).__name__}", hint=f"expected {expected}")
