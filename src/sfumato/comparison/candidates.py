"""Who takes part in a study: every method that can keep the requirement, under every variation of it."""

from __future__ import annotations

import contextlib
import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

from sfumato.comparison.translate import declared_from, translated
from sfumato.comparison.vary import Variation, is_policy
from sfumato.errors import Infeasible, NotProvable, PolicyError, SfumatoError
from sfumato.explanation.room import variant
from sfumato.methods import METHODS, Method
from sfumato.plugins import unknown
from sfumato.privacy import Requirement
from sfumato.table import Table
from sfumato.table.column import labels
from sfumato.table.schema import Schema


@dataclass(frozen=True)
class Candidate:
    """A method under one variation of the requirement; `translated` says what differs from what the owner asked for.

    `own` marks the policy's own method and `policy` the requirement as the policy has it.
    """

    method: Method
    requirement: Requirement
    variation: Variation
    translated: tuple[str, ...] = ()
    own: bool = False
    policy: bool = False

    @property
    def task(self) -> dict[str, Any]:
        """What is run, as plain values."""
        return {
            "method": self.method.to_dict(),
            "requirement": self.requirement.to_dict(),
            "recode": dict(self.variation.recode),
        }

    def key(self, study: str) -> str:
        """Return the name under which the result is kept, for a study of this identity."""
        return hashlib.sha256(json.dumps([study, self.task], sort_keys=True, default=str).encode()).hexdigest()[:24]


def candidates(
    table: Table,
    requirement: Requirement,
    own: Method,
    *,
    methods: Sequence[str | Method] | None = None,
    vary: Sequence[Variation] = (Variation(),),
    translate: bool = False,
) -> tuple[list[Candidate], dict[str, str]]:
    """Return who takes part, and by name why others do not.

    A method takes part where it proves its claim against the requirement's adversary; with `translate` also under the nearest
    requirement that it can keep. What the table's counts make impossible takes part, and its result says so.
    """
    taking_part: dict[str, Candidate] = {}
    left_out: dict[str, str] = {}
    for variation in vary:
        asked = variant(requirement, **variation.requirement)
        for chosen in _chosen(methods):
            name = chosen if isinstance(chosen, str) else chosen.name
            try:
                method = _made(chosen, own, variation.method, table if translate else None)
                method, kept, words = _fitting(method, asked, table, translate=translate or method.baseline)
            except SfumatoError as error:
                left_out.setdefault(name, error.message)
                continue
            candidate = Candidate(
                method,
                kept,
                variation,
                words,
                own=method.name == own.name,
                policy=is_policy(variation, requirement, own),
            )
            taking_part.setdefault(candidate.key(""), candidate)
    for candidate in taking_part.values():
        left_out.pop(candidate.method.name, None)
    return list(taking_part.values()), left_out


def _chosen(methods: Sequence[str | Method] | None) -> Sequence[str | Method]:
    if methods is None:
        return list(METHODS)
    for method in methods:
        if not isinstance(method, Method) and method not in METHODS:
            raise unknown("methods", str(method), METHODS)
    return methods


def _made(chosen: str | Method, own: Method, changes: Mapping[str, Any], table: Table | None) -> Method:
    """Return a method with those changes that it has a parameter for; declared shares are the policy's, or the table's."""
    base = own if chosen == own.name else chosen
    kind = METHODS[base] if isinstance(base, str) else type(base)
    names = {field.name for field in fields(kind)}
    mine = {name: value for name, value in changes.items() if name in names}
    if not isinstance(base, str):
        return replace(base, **mine)
    declared = getattr(own, "declared", {})
    if declared and "shares" in names:
        return kind(parameters="declared", shares=declared, otherwise=getattr(own, "otherwise", None), **mine)
    if table is not None and kind.bounds_declared:
        return kind(**declared_from(table), **mine)
    return kind(**mine)


def _fitting(method: Method, asked: Requirement, table: Table, *, translate: bool) -> tuple[Method, Requirement, tuple[str, ...]]:
    """Return the method with a requirement that it can keep, and what was translated; or raise why it cannot."""
    try:
        method.require_provable(table, asked)
    except (NotProvable, PolicyError):
        if not translate:
            raise
        method, asked, words = translated(method, asked, table)
        method.require_provable(table, asked)
    else:
        words = ()
    with contextlib.suppress(Infeasible):  # a result of the study
        method.require_something_to_keep(method.bounds(closed(table, method), asked), asked)
    return method, asked, words


def closed(table: Table, method: Method) -> Table:
    """Return the table as if it had been read with the values that the method declares, where it was not.

    Synthetic records need all domains declared; those that are not are taken as they are seen, for a comparison only.
    """
    schema = table.schema
    if not method.shown_as.of_people:
        schema = _with_domains(table, values=getattr(method, "values", None) is None and schema.closed is None)
    schema = method.close(schema)
    return table if schema == table.schema else replace(table, schema=schema)


def _with_domains(table: Table, *, values: bool) -> Schema:
    """Return the schema in which columns without a declared domain have the values that were seen, sensitive ones if asked."""
    seen = {column.name: list(labels(column.values)) for column in table.quasi}
    kinds: dict[str, Any] = {column.name: column.kind for column in table.quasi}
    missing: dict[str, Any] = {column.name: "value" for column in table.quasi if column.has_missing}
    domain, schema = table.sensitive.domain, table.schema
    if values:
        parts = {name: domain.table.column(name).combine_chunks() for name in domain.names if name not in schema.bins}
        seen |= {name: list(labels(part.drop_null().unique())) for name, part in parts.items()}
        kinds |= {name: kind for name, kind in zip(domain.names, domain.kinds, strict=True) if name in parts}
    return replace(
        schema,
        types={**{name: kind for name, kind in kinds.items() if name not in schema.domains}, **schema.types},
        domains={**seen, **schema.domains},
        missing={**schema.missing, **missing},
    )
