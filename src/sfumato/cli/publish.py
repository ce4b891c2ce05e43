"""`sfumato publish`: one table and one policy become a release, with a private receipt."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from sfumato.cli._options import (
    DataFiles,
    EngineOption,
    Format,
    From,
    JsonOption,
    MemoryOption,
    PolicyFile,
    Receipts,
    Seed,
    SqlOption,
    Workers,
    table_source,
)
from sfumato.cli._run import verb
from sfumato.cli._show import console, counted, labelled, near, print_json, progress_bar, shown, warn
from sfumato.cli._state import writing
from sfumato.cli._workers import limited
from sfumato.errors import OneBox, PeopleNotIdentified

if TYPE_CHECKING:
    from fractions import Fraction

    from sfumato.arrays import Integers
    from sfumato.auditor import Audit
    from sfumato.methods import Publication
    from sfumato.policy import Policy
    from sfumato.register import Earlier
    from sfumato.release import Release
    from sfumato.release.manifest import Manifest
    from sfumato.scale.publish import Published
    from sfumato.table import Table
    from sfumato.table.database import Database
    from sfumato.table.fingerprint import Fingerprint


@verb
def publish(
    data: DataFiles = None,
    *,
    policy: PolicyFile,
    out: Annotated[Path, typer.Option("--out", "-o", help="A new directory for the release.")],
    database: From = None,
    sql: SqlOption = None,
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
    every: Annotated[
        bool, typer.Option("--all", help="Show everything: each claim, how near a reader comes, what it rests on.")
    ] = False,
    as_json: JsonOption = False,
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
            from sfumato.cli.large import by_engine
            from sfumato.scale.engine import ResourceLimits

            limits = ResourceLimits.of(memory, workers)
            document, audit = by_engine(data, policy, out, engine=engine, limits=limits, seed=seed, receipts=receipts)
        else:
            source = table_source(data[0] if data else None, database, sql)
            document, audit = from_memory(source, policy, out, seed=seed, format=format, receipts=receipts, links=links)
    if as_json:
        print_json(document)
        return
    for warning in document["warnings"]:
        warn(warning)
    show_published(document, audit, every=every)


def is_large(data: list[Path] | None, database: str | None, engine: str | None, memory: str | None) -> bool:
    """Return whether an engine publishes these files: as asked, else by size."""
    from sfumato.errors import PolicyError
    from sfumato.scale.choice import beyond_memory, require_engine

    require_engine(engine)
    if database is not None or not data or str(data[0]) == "-":
        if engine not in (None, "memory"):
            raise PolicyError(f"--engine {engine}: it reads files and directories", hint="write the table as Parquet first")
        return False
    large = beyond_memory(data if len(data) > 1 else data[0], engine)
    if not large and len(data) > 1:
        raise PolicyError("--engine memory: it reads one file", hint="--engine duckdb reads several")
    if memory is not None and not large:
        raise PolicyError("--memory: it limits what an engine uses", hint="--engine duckdb, or leave it out")
    return large


def refuse_beyond_memory(format: Format, links: Path | None) -> None:
    """Raise where something is asked for that only a release in memory has."""
    from sfumato.errors import PolicyError

    if format is not Format.parquet:
        raise PolicyError("--format csv: beyond memory a release is written as Parquet", hint="leave --format out")
    if links is not None:
        raise PolicyError("--links: only methods in memory match people", hint="--engine memory")


def from_memory(
    data: Path | Database,
    policy: Path,
    out: Path,
    *,
    seed: int | None,
    format: Format,
    receipts: Path | None,
    links: Path | None = None,
) -> tuple[dict[str, Any], Audit]:
    """Publish a table in memory to a directory, and return what there is to tell about it, with the audit it passed."""
    from sfumato.api import publication
    from sfumato.errors import PolicyError
    from sfumato.methods import METHODS
    from sfumato.policy import Policy
    from sfumato.receipt import whole_or_nothing
    from sfumato.register import open_register
    from sfumato.release.atomic import workshop
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
        warnings.simplefilter("ignore", OneBox)  # `made_of` says it
        warnings.simplefilter("ignore", PeopleNotIdentified)  # so does what is said of the draw
        made = publication(
            table, chosen.requirement, method=chosen.method, random=seed, progress=tell, register=home, budget=chosen.budget
        )
        manifest = made.release.manifest
        how = [made_of(manifest, sizes_in(made.release), made.private)]
        tell("writing", 1.0)
        with writing(out), whole_or_nothing(out, home), workshop(out.absolute()) as hidden:
            draft = hidden / out.name
            made.release.save(draft, format=format.value)
            beside = [data.absolute().parent] if isinstance(data, Path) else []
            ready = Ready(draft, made, manifest, table, (table.fingerprint, table.people_fingerprint), how, beside)
            with kept_links(made, links):
                return deliver(ready, chosen, out, home)


@contextlib.contextmanager
def kept_links(made: Publication, links: Path | None) -> Iterator[None]:
    """Keep who was matched with whom, where that is asked for, unless the block fails."""
    if links is None or made.links is None:
        yield
        return
    made.links.save(links)
    try:
        yield
    except BaseException:
        links.unlink()
        raise


class Ready(NamedTuple):
    """A release that lies ready in a workshop and has passed its audit, with what is known of it.

    `fingerprints` are of the table and of its people, `how` are sentences about the groups, `beside` is where receipts are looked
    for too.
    """

    draft: Path
    made: Publication | Published
    manifest: Manifest
    table: Table
    fingerprints: tuple[Fingerprint, Fingerprint]
    how: Sequence[str]
    beside: Sequence[Path]


def deliver(ready: Ready, policy: Policy, out: Path, home: Path | None) -> tuple[dict[str, Any], Audit]:
    """Put a release in its place, with its receipt, and return what there is to tell about it, with the audit it passed.

    The one way to a published release, whoever made it. Everything that can be told is put together before: a mistake in that
    leaves nothing behind, and what comes after the release has appeared only prints.
    """
    from sfumato import receipt
    from sfumato.register import earlier_publications, places_of

    made, (fingerprint, people) = ready.made, ready.fingerprints
    earlier = earlier_publications(fingerprint, places_of(out, [*ready.beside, *([] if home is None else [home])]))
    document = document_of(ready, policy, home, earlier)
    lies = receipt.deliver(
        ready.draft,
        out.absolute(),
        home,
        gamma=ready.manifest.parameters.get("gamma"),
        fingerprint=fingerprint,
        policy=policy.kept_text(ready.table),
        figures=made.private,
        audit=made.audit.to_dict(),
        people=people,
    )
    return {**document, "release": str(out), "receipt": str(lies)}, made.audit


def document_of(ready: Ready, policy: Policy, home: Path | None, earlier: Sequence[Earlier]) -> dict[str, Any]:
    """Return what there is to tell about a publication, but where it lies."""
    from sfumato.register import warnings_of
    from sfumato.remarks import remarks

    made, manifest, table = ready.made, ready.manifest, ready.table
    drawn, choice = made.spent, table.choice
    if choice is not None and table.schema.read_by_cell:  # parameters are declared: a log must not show one person's secret
        choice = choice.without_secrets
    return {
        "private": "figures about the original table; do not publish",
        "release": "",
        "receipt": "",
        "rows": manifest.rows,
        "dropped": table.dropped,
        "reproducible": manifest.reproducible,
        "method": made.method.name,
        "basis": manifest.basis,
        "one_row_per_person": table.schema.one_row_per_person,
        "made": [
            *([] if choice is None else [choice.sentence]),
            *ready.how,
            *([] if drawn is None else [drawn_so_far(drawn, policy.budget), *drawn["sentences"]]),
        ],
        "spent": drawn,
        "figures": made.private,
        "audit": made.audit.to_dict(),
        **({} if table.bundles is None else {"facts": table.bundles.facts}),
        **({} if table.schema.people_rule.unit is None else {"unit": table.schema.people_rule.unit}),
        "baseline": None if made.audit.exposure is None else table.prior_exposure(made.audit.exposed),
        "earlier": [release.to_dict() for release in earlier],
        "warnings": [
            *policy.warnings,
            *warnings_of(earlier),
            *([NO_REGISTER] if home is None else []),
            *remarks(made.bounds, made.audit),
        ],
    }


def sizes_in(release: Release) -> Integers:
    """Return how many people each group of a release has; nothing where there are no groups."""
    return release.sizes if release.shown_as.has_groups else release.sizes[:0]


def made_of(manifest: Manifest, sizes: Integers, figures: Mapping[str, Any]) -> str:
    """Return how records were grouped: "Near people together, by safe cuts: 321 buckets of 100 to 1,900 people."."""
    from sfumato.exact import percent
    from sfumato.explanation.cost import range_text
    from sfumato.explanation.tightness import FEW

    if not manifest.shown_as.of_people:
        together = counted(len(manifest.parameters["measured"]), "noisy table", "noisy tables")
        return f"Synthetic records, drawn from {together}; no claim is made about what a reader believes."
    if manifest.shown_as.by_coin:
        # Nothing of how the coins fell, so that nobody draws again for it: retention and parts are those of the plan.
        parts = counted(len(figures["parts"]), "part", "parts")
        return f"Values are kept with probability {percent(figures['retention'], 1)} on average, else replaced by coin: {parts}."
    group, more = manifest.shown_as.group, manifest.shown_as.groups
    groups = f"{counted(len(sizes), group, more)} of {range_text((int(sizes.min()), int(sizes.max())))}"
    parameters = manifest.parameters
    if "matches" in parameters and "weaker_claim" in parameters:
        people = counted(int(parameters["matches"]), "person", "people")
        return f"Every record has ranges of its own, which hold {people} or more; no claim is made about what a reader believes."
    if "weaker_claim" in parameters:
        return f"Groups as published, scattered over quasi space: {groups}; no claim is made about what a reader believes."
    if len(sizes) == 1:
        return f"Everybody is in one {group} of {counted(int(sizes[0]), 'person', 'people')}: it tells how frequent values are."
    floor = figures.get("share_in_boxes_at_the_floor", 0.0) if manifest.rests_on.values_decide else 0.0
    stopped = f"; {percent(floor, 1)} of people are in boxes smaller than twice the floor" if floor else ""
    few = " That tells hardly more than how frequent values are." if len(sizes) < FEW else ""
    return f"{manifest.rests_on.grouped.format(group)}: {groups}{stopped}.{few}"


def drawn_so_far(drawn: Mapping[str, Any], budget: Fraction | None) -> str:
    """Return what the draws of whoever is in most come to, and what is left of a budget."""
    limit = "" if budget is None else f" of a budget of {float(budget):g}"
    free = f", and {counted(len(drawn['unlimited']), 'release that nothing bounds', 'releases that nothing bounds')}"
    whom = f" at most, for {counted(drawn['people'])} of them" if drawn["identified"] else ""
    said = f"Drawn about these people so far: {counted(drawn['draws'], 'draw', 'draws')}, ε = {drawn['epsilon']:.4g}{limit}{whom}"
    return f"{said}{free if drawn['unlimited'] else ''}."


NO_REGISTER = (
    "your register of receipts cannot be written, so the private receipt lies beside the release, and a later publication from "
    "elsewhere does not find it; --receipts DIR names another place"
)


def show_published(document: dict[str, Any], audit: Audit, *, every: bool = False) -> None:
    """Print what was published, where it lies and what it promises."""
    from sfumato.cli.audit import claim_lines

    screen = console()
    rows = document["rows"]
    what = counted(rows) if document["one_row_per_person"] else counted(rows, "row", "rows")
    what = counted(rows, "household", "households") if document.get("unit") else what
    screen.print(f"Published [bold]{what}[/bold] to [bold]{shown(document['release'])}[/bold]", soft_wrap=True)
    lines = [f"{'Made' if number == 0 else ''}: {shown(line)}" for number, line in enumerate(document["made"])]
    lines += claim_lines(audit, document["baseline"], several=document.get("facts") is not None, every=every)
    screen.print(labelled([*lines, f"Receipt: {shown(near(document['receipt']))}, private: do not publish it."]))
