"""`BuReL`: the classical baseline of β-likeness by generalization."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from sfumato.errors import PolicyError
from sfumato.groups.burel import Fill, Packing, burel_groups, plan_burel
from sfumato.methods.base import Method, Outcome, require_choice, require_whole
from sfumato.methods.grouped import FORMS, Form, group_figures, require_names_for, require_something_to_keep, show_groups
from sfumato.privacy.requirement import Against, Requirement
from sfumato.progress import Progress
from sfumato.randomness import Randomness
from sfumato.table.table import Table

_CANDIDATES = 200


@dataclass(frozen=True, kw_only=True)
class BuReL(Method):
    """Pack values into buckets, draw every group from all buckets in proportion, nearest people first (Cao and Karras, 2012).

    Parameters
    ----------
    packing
        ``"roomy"``: value buckets with room to halve groups further, the best of several tries on counts. ``"fewest"``: the
        paper's, as few buckets as possible.
    fill
        ``"near"``: people whose joining widens a group least, among `candidates`. ``"hilbert"``: the paper's, those nearest to
        a random person on a Hilbert curve.
    candidates
        How many people of a bucket `fill="near"` looks at for each place; 200 by default. More is slower and narrower.
    form
        ``"ranges"``, or ``"buckets"`` with exact quasi values.

    Notes
    -----
    Made for β-likeness, basic and enhanced, but any per-value bounds are kept: values are packed by bound instead of share. All
    is decided in integers, and every group is checked against the definition in the end. Groups depend on who has which value,
    which tells something to a reader who reruns the program, so the claim is a reader's.
    """

    packing: Packing = "roomy"
    fill: Fill = "near"
    candidates: int | None = None
    form: Form = "ranges"

    name: ClassVar[str] = "burel"

    def __post_init__(self) -> None:
        require_choice("BuReL", "packing", self.packing, ("fewest", "roomy"))
        require_choice("BuReL", "fill", self.fill, ("hilbert", "near"))
        require_choice("BuReL", "form", self.form, FORMS)
        if self.fill == "near":
            object.__setattr__(self, "candidates", _CANDIDATES if self.candidates is None else self.candidates)
            require_whole("BuReL", "candidates", self.candidates, 1)
        elif self.candidates is not None:
            raise PolicyError("BuReL(candidates=…): fill 'hilbert' does not use it", hint="leave it out, or set fill = 'near'")

    def proves(self) -> tuple[Against, ...]:
        """Return reader: who is put together depends on who has which value."""
        return ("reader",)

    def make(self, table: Table, requirement: Requirement, *, random: Randomness, progress: Progress) -> Outcome:
        """Return the release; the private figures are numbers of value buckets and groups, and sizes of groups."""
        require_names_for(table, self.form)
        bounds = requirement.bounds(table.sensitive.histogram())
        require_something_to_keep(bounds)
        progress("packing values", 0.0)
        plan = plan_burel(bounds, self.packing)
        grouping = burel_groups(
            table.quasi,
            table.sensitive.codes,
            plan,
            fill=self.fill,
            candidates=self.candidates or 0,
            random=random,
            progress=lambda stage, done: progress(stage, 0.1 + 0.8 * done),
        )
        progress("checking every group", 0.9)
        release = show_groups(table, grouping, self.form, bounds=bounds, requirement=requirement, method=self, random=random)
        progress("done", 1.0)
        return Outcome(release, {"value_buckets": len(plan.buckets), **group_figures(grouping)})
