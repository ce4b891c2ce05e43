"""`sfumato publish` beyond memory: the same document, from what an engine tells of a release that stays on disk."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from sfumato.cli._show import counted, progress_bar
from sfumato.cli._state import STATE

if TYPE_CHECKING:
    from sfumato.auditor import Audit
    from sfumato.register import Earlier
    from sfumato.scale.verb import Published


def deliver_large(
    data: list[Path], policy: Path, out: Path, *, seed: int | None, receipts: Path | None, memory: str | None, workers: int | None
) -> tuple[dict[str, Any], Audit]:
    """Publish files by DuckDB to a directory, with a receipt, and return what there is to tell about it."""
    from sfumato.cli.publish import NO_REGISTER, OPEN, unbounded
    from sfumato.policy import Policy
    from sfumato.receipt import place_receipt, receipt_text
    from sfumato.register import earlier_publications, open_register, places_of, warnings_of
    from sfumato.scale.engine import Limits
    from sfumato.scale.verb import publish_source

    limits = Limits.of(memory, workers)
    chosen = Policy.load(policy, data=data[0] if data[0].is_file() else None)
    chosen.require_reviewed(data[0], named=str(policy))
    home = open_register() if receipts is None else receipts
    written: list[Path] = []
    earlier: list[Earlier] = []

    def keep(made: Published, target: Path) -> None:
        assert made.fingerprints is not None
        places = places_of(out, [data[0].absolute().parent, *([] if home is None else [home])])
        earlier.extend(earlier_publications(made.fingerprints[0], places))
        text = receipt_text(
            out.absolute(),
            target,
            fingerprint=made.fingerprints[0],
            policy=chosen.kept_text(made.table),
            figures=made.private,
            audit=made.audit.to_dict(),
            people=made.fingerprints[1],
            gamma=made.manifest.parameters.get("gamma"),
        )
        written.append(place_receipt(text, out.absolute().parent if home is None else home, out.name))

    with progress_bar() as tell:
        made = publish_source(
            data if len(data) > 1 else data[0],
            chosen.schema,
            chosen.requirement,
            out,
            method=chosen.method,
            random=seed,
            progress=tell,
            register=home,
            budget=chosen.budget,
            options=chosen.options,
            limits=limits,
            fingerprinted=True,
            receipt=keep,
        )
    STATE.written = str(out)
    figures = made.private
    how = f"{counted(figures['groups'], 'bucket', 'buckets')} of {figures['smallest']:,} to {figures['largest']:,} people."
    document = {
        "private": "figures about the original table; do not publish",
        "release": str(out),
        "receipt": str(written[0]),
        "rows": made.rows,
        "dropped": made.table.dropped,
        "reproducible": made.manifest.reproducible,
        "method": made.method.name,
        "basis": made.manifest.basis,
        "one_row_per_person": made.table.schema.one_row_per_person,
        "made": [*([] if made.table.choice is None else [made.table.choice.sentence]), how],
        "spent": None,
        "figures": figures,
        "audit": made.audit.to_dict(),
        "baseline": None,
        "earlier": [found.to_dict() for found in earlier],
        "warnings": [
            *chosen.warnings,
            *warnings_of(earlier),
            *([NO_REGISTER] if home is None else []),
            *unbounded(made.bounds),
            *(w for w in made.audit.warnings if OPEN not in w),
        ],
    }
    return document, made.audit
