"""`sfumato publish`: one table and one policy become a release, with a private receipt."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, cast

import typer

from sfumato.cli._options import (
    DataFiles,
    EngineName,
    EngineOption,
    Format,
    From,
    Json,
    MemoryOption,
    PolicyFile,
    Receipts,
    Seed,
    Sql,
    Workers,
    table_source,
)
from sfumato.cli._run import verb
from sfumato.cli._show import console, counted, near, print_json, progress_bar, shown, warn
from sfumato.cli._state import STATE
from sfumato.cli._workers import limited
from sfumato.errors import OneBox

if TYPE_CHECKING:
    from fractions import Fraction

    from sfumato.auditor import Audit
    from sfumato.budget import Spent
    from sfumato.methods import Boxes, Publication
    from sfumato.policy import Policy
    from sfumato.privacy import Bounds, Requirement
    from sfumato.register import Earlier
    from sfumato.release import Release
    from sfumato.release.manifest import Manifest
    from sfumato.scale.publish import Published
    from sfumato.table import Table
    from sfumato.table.database import Database
    from sfumato.table.fingerprint import Fingerprint

NAMED = 5
"""How many values are named one by one in a warning."""


@verb
def publish(
    data: DataFiles = None,
    *,
    policy: PolicyFile,
    out: Annotated[Path, typer.Option("--out", "-o", help="A new directory for the release.")],
    database: From = None,
    sql: Sql = None,
    seed: Seed = None,
    format: Annotated[Format, typer.Option(help="How the tables are written.")] = Format.parquet,
    receipts: Receipts = None,
    links: Annotated[
        Path | None,
        typer.Option(
            help="A new private file for who was matched with whom (methods heterogeneous and ring); `audit --links` reads it.",
        ),
    ] = None,
    workers: Workers = None,
    engine: EngineOption = None,
    memory: MemoryOption = None,
    as_json: Json = False,
) -> None:
    """Publish a table once: a release that keeps the policy's bounds, checked before it is written.

    A private receipt goes to your own register, never into the release. If either cannot be written, neither is.
    """
    from sfumato.receipt import check_outputs

    check_outputs(out, receipts)
    large = is_large(data, database, engine, memory)
    if large:
        refuse_beyond_memory(format, links)
    with limited(workers):
        if large and data:
            from sfumato.cli.large import deliver_large

            limits = {"engine": engine_of(engine), "memory": memory, "workers": workers}
            document, audit = deliver_large(data, policy, out, seed=seed, receipts=receipts, **limits)
        else:
            source = table_source(data[0] if data else None, database, sql)
            document, audit = deliver(source, policy, out, seed=seed, format=format, receipts=receipts, links=links)
    if as_json:
        print_json(document)
        return
    for warning in document["warnings"]:
        warn(warning)
    show_published(document, audit)


def is_large(data: list[Path] | None, database: str | None, engine: EngineName | None, memory: str | None) -> bool:
    """Return whether an engine publishes these files: as asked, else by size."""
    from sfumato.errors import PolicyError
    from sfumato.scale.choice import beyond_memory

    chosen = engine_of(engine)
    if database is not None or not data or str(data[0]) == "-":
        if chosen in ("duckdb", "spark"):
            raise PolicyError(f"--engine {chosen}: it reads files and directories", hint="write the table as Parquet first")
        return False
    large = beyond_memory(data if len(data) > 1 else data[0], chosen)
    if not large and len(data) > 1:
        raise PolicyError("--engine memory: it reads one file", hint="--engine duckdb reads several")
    if memory is not None and not large:
        raise PolicyError("--memory: it limits what an engine uses", hint="--engine duckdb, or leave it out")
    return large


def engine_of(given: EngineName | None) -> Any:
    """Return the engine that was asked for, as the library names it."""
    return None if given is None else given.value


def refuse_beyond_memory(format: Format, links: Path | None) -> None:
    """Raise where something is asked for that only a release in memory has."""
    from sfumato.errors import PolicyError

    if format is not Format.parquet:
        raise PolicyError("--format csv: beyond memory a release is written as Parquet", hint="leave --format out")
    if links is not None:
        raise PolicyError("--links: only methods in memory match people", hint="--engine memory")


def deliver(
    data: Path | Database,
    policy: Path,
    out: Path,
    *,
    seed: int | None,
    format: Format,
    receipts: Path | None,
    links: Path | None = None,
) -> tuple[dict[str, Any], Audit]:
    """Publish to a directory, and return what there is to tell about it, with the audit it passed."""
    from sfumato.api import publication
    from sfumato.cli.audit import baseline_of
    from sfumato.errors import PolicyError
    from sfumato.methods import METHODS
    from sfumato.policy import Policy
    from sfumato.receipt import save_with_receipt
    from sfumato.register import earlier_publications, open_register, places_of
    from sfumato.release.atomic import undisturbed
    from sfumato.release.links import require_private_place

    chosen = Policy.load(policy, data=data)
    chosen.require_reviewed(data, named=str(policy))
    if links is not None and (chosen.method is None or not chosen.method.links_records):
        linking = " and ".join(name for name, method in METHODS.items() if method.links_records)
        raise PolicyError("--links: the policy's method matches nobody", hint=f"only for {linking}")
    if links is not None:
        require_private_place(links, out)
    with progress_bar() as tell:
        tell("reading the table", 0.0)
        table = chosen.read_table(data, random=seed)
        home = open_register() if receipts is None else receipts
        places = places_of(
            out, [*([data.absolute().parent] if isinstance(data, Path) else []), *([] if home is None else [home])]
        )
        earlier = earlier_publications(table.fingerprint, places)
        warnings.simplefilter("ignore", OneBox)  # `room_lost` says it, and more
        made = publication(
            table, chosen.requirement, method=chosen.method, random=seed, progress=tell, register=home, budget=chosen.budget
        )
        tell("writing", 1.0)
        with undisturbed():
            receipt = save_with_receipt(
                made.release,
                out,
                format=format.value,
                receipts=home,
                fingerprint=table.fingerprint,
                policy=chosen.kept_text(table),
                figures=made.private,
                audit=made.audit.to_dict(),
                people=table.people_fingerprint,
            )
            STATE.written = str(out)
        if links is not None and made.links is not None:
            made.links.save(links)
    how = [made_of(made.release, made.private), *room_lost(table, chosen.requirement, made)]
    baseline = None if made.audit.exposure is None else baseline_of(table)
    written = Written(out, receipt, home, table.people_fingerprint, earlier)
    return document_of(made, made.release.manifest, table, chosen, written, how, baseline), made.audit


class Written(NamedTuple):
    """Where a release and its receipt were written, who is in it, and what was published of them before."""

    release: Path
    receipt: Path
    register: Path | None
    people: Fingerprint
    earlier: Sequence[Earlier]


def document_of(
    made: Publication | Published,
    manifest: Manifest,
    table: Table,
    policy: Policy,
    written: Written,
    how: Sequence[str],
    baseline: float | None,
) -> dict[str, Any]:
    """Return what there is to tell about a publication; `how` are sentences about the groups."""
    from sfumato.budget import spent
    from sfumato.register import warnings_of

    drawn = spent(written.people, kept_in(written.register)) if "gamma" in manifest.parameters else None
    return {
        "private": "figures about the original table; do not publish",
        "release": str(written.release),
        "receipt": str(written.receipt),
        "rows": manifest.rows,
        "dropped": table.dropped,
        "reproducible": manifest.reproducible,
        "method": made.method.name,
        "basis": manifest.basis,
        "one_row_per_person": table.schema.one_row_per_person,
        "made": [
            *([] if table.choice is None else [table.choice.sentence]),
            *how,
            *([] if drawn is None else [drawn_so_far(drawn, policy.budget)]),
        ],
        "spent": None if drawn is None else drawn.to_dict(),
        "figures": made.private,
        "audit": made.audit.to_dict(),
        "baseline": baseline,
        "earlier": [found.to_dict() for found in written.earlier],
        "warnings": [
            *policy.warnings,
            *warnings_of(written.earlier),
            *([NO_REGISTER] if written.register is None else []),
            *unbounded(made.bounds),
            *(w for w in made.audit.warnings if OPEN not in w),
        ],
    }


def made_of(release: Release, figures: Mapping[str, Any]) -> str:
    """Return how people were put together: "Near people together, by safe cuts: 321 buckets of 100 to 1,900 people."."""
    from sfumato.exact import percent
    from sfumato.explain.cost import range_text
    from sfumato.explain.study import sizes_of

    if release.form == "synthetic":
        together = counted(len(release.manifest.parameters["measured"]), "noisy table", "noisy tables")
        return f"Records of nobody, drawn from {together}; no claim is made about what a reader believes."
    sizes = sizes_of(release)
    if release.form == "randomized":
        # Nothing of how the coins fell, so that nobody draws again for it: retention and parts are those of the plan.
        parts = counted(len(figures["parts"]), "part", "parts")
        return f"Values are kept with probability {percent(figures['retention'], 1)} on average, else replaced by coin: {parts}."
    one, more = ("bucket", "buckets") if release.form == "buckets" else ("group", "groups")
    groups = f"{counted(len(sizes), one, more)} of {range_text((int(sizes.min()), int(sizes.max())))}"
    parameters = release.manifest.parameters
    basis = release.manifest.basis
    if "matches" in parameters and "weaker_claim" in parameters:
        people = counted(int(parameters["matches"]), "person", "people")
        return f"Every record has ranges of its own, which hold {people} or more; no claim is made about what a reader believes."
    if "weaker_claim" in parameters:
        return f"Groups as published, scattered over quasi space: {groups}; no claim is made about what a reader believes."
    if len(sizes) == 1:
        return f"Everybody is in one {one} of {counted(int(sizes[0]), 'person', 'people')}: no division keeps what is asked for."
    floor = figures.get("share_in_boxes_at_the_floor", 0.0) if basis == "tight" else 0.0
    stopped = f"; {percent(floor, 1)} of people are in boxes smaller than twice the floor" if floor else ""
    return f"{_TOGETHER[str(basis)].format(one)}: {groups}{stopped}."


def drawn_so_far(drawn: Spent, budget: Fraction | None) -> str:
    """Return what all draws about the same people come to, and what is left of a budget."""
    limit = "" if budget is None else f" of a budget of {float(budget):g}"
    free = f", and {counted(len(drawn.unlimited), 'release that nothing bounds', 'releases that nothing bounds')}"
    said = f"Drawn about these people so far: {counted(drawn.draws, 'draw', 'draws')}, ε = {drawn.epsilon:.4g}{limit}"
    return f"{said}{free if drawn.unlimited else ''}."


def kept_in(home: Path | None) -> list[Path]:
    """Return where bookings and receipts are: in the place that was named, and in the user's own register."""
    from sfumato.register import user_register

    return [place for place in (home, user_register()) if place is not None]


_TOGETHER = {
    "blind": "Who shares a {} was drawn at random",
    "safe": "Near people together, by safe cuts",
    "soft": "Near people together, by soft cuts",
    "tight": "Near people together, by tight cuts",
    "matched": "Near people together, matched",
    "annealed": "Near people together, annealed",
    "noisy": "Near people together, cut by quasi values alone, with noise on every count",
}


def room_lost(table: Table, requirement: Requirement, made: Publication) -> list[str]:
    """Return why boxes were not cut, and what would help; nothing where they were."""
    from sfumato.explain import no_room
    from sfumato.methods.boxes import REFUSED

    if made.method.way != "boxes" or made.private["groups"] > 1:
        return []
    told = getattr(made.release, "told", None)
    if told is not None and told[0] < 1000:
        return [f"No cut was made: {REFUSED}."]
    return no_room(table, requirement, cast("Boxes", made.method)).sentences


NO_REGISTER = (
    "your register of receipts cannot be written, so the private receipt lies beside the release, and a later publication from "
    "elsewhere does not find it; --receipts DIR names another place"
)

OPEN = "without a bound"
"""What the audit's own warning about open values says; here one that also names them stands in its place."""


def unbounded(bounds: Bounds) -> list[str]:
    """Return a warning that says how many people have values without a bound, and which; nothing when nobody has."""
    from sfumato.exact import percent
    from sfumato.privacy.each import unstacked

    if bounds.apart:
        return [line for one in unstacked(bounds) for line in unbounded(one)]
    counts = {bounds.values[place]: bounds.counts[place] for place in bounds.open_values}
    if not counts:
        return []
    ranked = sorted(counts, key=lambda value: (-counts[value], value))
    more = f" and {len(ranked) - NAMED} more" if len(ranked) > NAMED else ""
    names = ", ".join(f"'{value}'" for value in ranked[:NAMED])
    return [f"{percent(bounds.open_share, 1)} of people have values {OPEN} and may be shown openly: {names}{more}"]


def show_published(document: dict[str, Any], audit: Audit) -> None:
    """Print what was published, where it lies and what it promises."""
    from sfumato.cli.audit import claim_lines

    screen = console()
    rows = document["rows"]
    what = counted(rows) if document["one_row_per_person"] else counted(rows, "row", "rows")
    screen.print(f"Published [bold]{what}[/bold] to [bold]{shown(document['release'])}[/bold]")
    for line in document["made"]:
        screen.print(shown(line))
    for line in claim_lines(audit, document["baseline"]):
        screen.print(line)
    screen.print(f"Private receipt, not to be published: {shown(near(document['receipt']))}")
