"""`sfumato publish` beyond memory: the same document, from what an engine tells of a release that stays on disk."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sfumato.cli._show import near, progress_bar
from sfumato.cli._state import writing
from sfumato.errors import OneBox, PeopleNotIdentified

if TYPE_CHECKING:
    from sfumato.auditor import Audit
    from sfumato.policy import Policy
    from sfumato.register import NamedReceipt
    from sfumato.scale.choice import EngineName
    from sfumato.scale.engine import ResourceLimits
    from sfumato.scale.publish import Published
    from sfumato.table import Table


def by_engine(
    data: list[Path],
    policy: Path,
    out: Path,
    *,
    engine: EngineName | None,
    limits: ResourceLimits,
    seed: int | None,
    receipts: Path | None,
) -> tuple[dict[str, Any], Audit]:
    """Publish files by an engine to a directory, with a receipt, and return what there is to tell about it."""
    from sfumato.cli.publish import Ready, deliver, made_of
    from sfumato.policy import Policy
    from sfumato.register import open_register
    from sfumato.scale.verb import publish_source

    chosen = Policy.load(policy, data=data[0] if data[0].is_file() else None)
    chosen.require_reviewed(data[0], named=str(policy))
    home = open_register() if receipts is None else receipts
    delivered: list[tuple[dict[str, Any], Audit]] = []

    def put(made: Published, draft: Path) -> None:
        assert made.fingerprints is not None
        how, beside = [made_of(made.manifest, made.sizes, made.private)], [data[0].absolute().parent]
        ready = Ready(draft, made, made.manifest, made.table, made.fingerprints, how, beside)
        delivered.append(deliver(ready, chosen, out, home))

    warnings.simplefilter("ignore", OneBox)  # `made_of` says it
    warnings.simplefilter("ignore", PeopleNotIdentified)  # so does what is said of the draw
    with progress_bar() as tell, writing(out):
        publish_source(
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
            deliver=put,
        )
    return delivered[0]


def audit_large(
    release: Path,
    table: Path | None,
    policy: Policy | None,
    kept: NamedReceipt | None,
    *,
    engine: EngineName | None,
    memory: str | None,
    named: str,
) -> tuple[Audit, str, Table | None]:
    """Return the audit of a release a file at a time, how the table was read, and the table without its rows."""
    from sfumato.cli.audit import require_choice
    from sfumato.policy import Policy
    from sfumato.scale.engine import ResourceLimits
    from sfumato.scale.verb import audit_directory

    remembered = Policy.parse(kept.policy) if kept is not None and kept.same else None
    chosen, how = policy or remembered, ""
    coins = None if remembered is None else remembered.coins
    if table is not None:
        how = "read as the manifest says"
        if remembered is not None and kept is not None:
            how = f"read as the policy in {near(str(kept.path))} says"
        if policy is not None:
            how = f"read as {named} says"
    schema, options = (None, None) if chosen is None else (chosen.schema, chosen.options)
    report, original = audit_directory(
        release, table, schema, options=options, random=coins, limits=ResourceLimits.of(memory), engine=engine
    )
    if original is not None:
        original.require_people()
        require_choice(original, remembered)
    return report, how, original
