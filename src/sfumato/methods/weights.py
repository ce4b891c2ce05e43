"""Which claims a weight may stand beside."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from sfumato.errors import NotProvable
from sfumato.table.weight import Weight

if TYPE_CHECKING:
    from sfumato.methods.base import Method
    from sfumato.privacy.requirement import Requirement
    from sfumato.table.table import Table


def require_weight(table: Table, requirement: Requirement, method: Method) -> None:
    """Raise `NotProvable` where a weight would tell what a claim promises to hide.

    A weight that was calibrated on a secret, or adjusted for non-response by one, carries it. Claims about groups name that;
    those about odds and presence, and a paper's own words, leave no room for it.
    """
    weight = cast("Weight | None", table.schema.weight)
    if weight is None:
        return
    insider = requirement.against == "insider" or requirement.bounds_odds or method.bounds_odds
    hides = requirement.presence is not None
    if not weight.made_without_secrets and (insider or hides or not method.proves()):
        what = "presence" if hides else "what an insider learns" if insider else "what the paper says"
        raise NotProvable(
            f"nothing states that no secret went into making the weight {weight.column!r}, and a claim about {what} leaves no "
            "room for what the weight tells by itself",
            hint="[weight] made_without_secrets = true if it was neither calibrated nor adjusted for non-response on a secret; "
            'or leave the weight out; or against = "engineer" on boxes, whose claim then names it',
            against=requirement.against,
        )
    if hides and weight.from_table:
        raise NotProvable(
            f"the bins of the weight {weight.column!r} would follow from who is in the table, which the claim hides",
            hint='[weight] bins = [0, 50, 100, 500] and values = "middle", or a number for each bin',
            against=requirement.against,
        )
