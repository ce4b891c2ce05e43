"""`sfumato publish` beyond memory: the same document, from what an engine tells of a release that stays on disk."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from sfumato.cli._show import counted, progress_bar
from sfumato.cli._state import STATE

if TYPE_CHECKING:
    from sfumato.auditor import Audit
    from sfumato.policy import Policy
    from sfumato.register import Kept
    from sfumato.scale.choice import EngineName
    from sfumato.scale.publish import Published
    from sfumato.table import Table


def deliver_large(
    data: list[Path],
    policy: Path,
    out: Path,
    *,
    engine: EngineName | None,
    seed: int | None,
    receipts: Path | None,
    memory: str | None,
    workers: int | None,
) -> tuple[dict[str, Any], Audit]:
    """Publish files by an engine to a directory, with a receipt, and return what there is to tell about it."""
    from sfumato.cli.publish import Written, document_of
    from sfumato.policy import Policy
    from sfumato.receipt import place_receipt, receipt_text
    from sfumato.register import earlier_publications, open_register, places_of
    from sfumato.scale.engine import Limits
    from sfumato.scale.verb import publish_source

    limits = Limits.of(memory, workers)
    chosen = Policy.load(policy, data=data[0] if data[0].is_file() else None)
    chosen.require_reviewed(data[0], named=str(policy))
    home = open_register() if receipts is None else receipts
    written: list[Written] = []

    def keep(made: Published, target: Path) -> None:
        assert made.fingerprints is not None
        places = places_of(out, [data[0].absolute().parent, *([] if home is None else [home])])
        earlier = earlier_publications(made.fingerprints[0], places)
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
        receipt = place_receipt(text, out.absolute().parent if home is None else home, out.name)
        written.append(Written(out, receipt, home, made.fingerprints[1], earlier))

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
            engine=engine,
            fingerprinted=True,
            receipt=keep,
        )
    STATE.written = str(out)
    sizes = made.sizes
    how = f"{counted(len(sizes), 'bucket', 'buckets')} of {int(sizes.min()):,} to {int(sizes.max()):,} people."
    return document_of(made, made.manifest, made.table, chosen, written[0], [how], None), made.audit


def audit_large(
    release: Path,
    table: Path | None,
    policy: Policy | None,
    kept: Kept | None,
    *,
    engine: EngineName | None,
    memory: str | None,
    named: str,
) -> tuple[Audit, str, Table | None]:
    """Return the audit of a release a file at a time, how the table was read, and the table without its rows."""
    from sfumato.cli.audit import require_choice
    from sfumato.policy import Policy
    from sfumato.scale.engine import Limits
    from sfumato.scale.verb import audit_directory

    remembered = Policy.parse(kept.policy) if kept is not None and kept.same else None
    chosen, how = policy or remembered, ""
    coins = None if remembered is None else remembered.coins
    if table is not None:
        how = "read as the manifest says"
        if remembered is not None and kept is not None:
            how = f"read as the policy in {kept.path} says"
        if policy is not None:
            how = f"read as {named} says"
    schema, options = (None, None) if chosen is None else (chosen.schema, chosen.options)
    report, original = audit_directory(
        release, table, schema, options=options, random=coins, limits=Limits.of(memory), engine=engine
    )
    if original is not None:
        original.require_people()
        require_choice(original, remembered)
    return report, how, original
