"""What showing groups as columns and as views have in common: free names, and what the release says of itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from sfumato import __version__
from sfumato.errors import InputError
from sfumato.groups.grouping import Grouping
from sfumato.methods.base import Method
from sfumato.methods.forms import described_values, public_schema
from sfumato.privacy.bounds import Bounds
from sfumato.privacy.requirement import Requirement
from sfumato.randomness import Randomness
from sfumato.release.fragments import COUNT, GROUP
from sfumato.release.manifest import Claim, Manifest
from sfumato.table.table import Table


@dataclass(frozen=True, eq=False)
class Terms:
    """By which method and for which requirement a release is made, with which coins, and what it says of itself.

    It claims presence against a stranger, who may know the `program` or not, and association against the requirement's adversary;
    with `weaker_claim` these words stand in place of both. `parameters` are public ones of the making: an engineer's claim needs
    ``locality="safe"``.
    """

    bounds: Bounds
    requirement: Requirement
    method: Method
    random: Randomness
    weaker_claim: str | None = None
    parameters: Mapping[str, Any] = field(default_factory=dict)
    program: bool = False

    def manifest(self, form: str, table: Table, grouping: Grouping, **more: Any) -> Manifest:
        """Return the manifest of these groups; bounds and counts only where `st` shows the counts of everybody."""
        one_row = table.schema.one_row_per_person
        left_out = int((grouping.group < 0).sum())
        public: dict[str, Any] = {"groups": grouping.groups, "one_row_per_person": one_row}
        if left_out:
            public["suppression"] = {"option": "suppress", "people": left_out}
        if self.weaker_claim is not None:
            public["weaker_claim"] = self.weaker_claim
        claims = (
            Claim.presence("stranger", form=form, program=self.program, one_row_per_person=one_row),
            Claim.association(self.requirement.against, one_row_per_person=one_row),
        )
        return Manifest(
            form=form,
            schema=public_schema(table),
            rows=table.rows - left_out,
            requirement=self.requirement.to_dict(),
            method=self.method.to_dict(),
            claims=() if self.weaker_claim is not None else claims,
            values=None if left_out else tuple(described_values(self.bounds)),
            parameters={**public, **more, **self.parameters},
            seeded=self.random.reproducible,
            reproducible=self.random.reproducible,
            software=f"sfumato {__version__}",
        )


def require_free_fragment_names(table: Table) -> None:
    """Raise `InputError` where a column has the name of one that the forms columns and views add."""
    for name in [*(column.name for column in table.quasi), *table.sensitive.domain.names]:
        if name in (GROUP, COUNT):
            raise InputError(
                f"the column {name!r} has the name of a column that the form adds", hint=f"rename it, to {name}_ for example"
            )
