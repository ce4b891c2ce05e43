"""`Boxes`: near people share a group, by cuts of quasi space; the default."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import ClassVar, Literal, Self

from sfumato.errors import OneBox, PolicyError
from sfumato.groups.cuts import Cuts
from sfumato.groups.grouping import Grouping
from sfumato.groups.soft import MOST_PATIENCE, WHOLE
from sfumato.methods.base import Method, Task, Way
from sfumato.parameters import choice, parameter, weights, whole
from sfumato.privacy.requirement import Against
from sfumato.table.classes import usual_floor

REFUSED = (
    "every cut that was tested was refused, so everybody is in one box; publish that: choosing another release "
    "because of the refusals tells something that no account covers"
)
"""What is said where tests left one box: another method in its place would be chosen by where values fell."""

_ONE_BOX = (
    "not even one cut keeps the bounds, so everybody is in one box; `sfumato explain` says what would leave room for cuts, and "
    "`sfumato compare` measures whether another method tells more"
)


@dataclass(frozen=True, kw_only=True)
class Boxes(Method):
    """Cut quasi space into boxes, each one group in which no value exceeds its bound.

    Parameters
    ----------
    form
        ``"buckets"``: exact quasi values, and a histogram a box. ``"ranges"``: every box by its smallest ranges and value sets.
    floor
        No box holds fewer people. The bound holds for any floor, against either adversary; larger boxes expose less and answer
        more coarsely. None: by a public rule of the number of people, see `usual_floor`; a release states the number.
    patience
        κ of soft cuts, against an engineer. A refused test in a box of n people takes κ/n, at most 3/10, off the box's account.
        With a larger κ a good cut is refused by chance less often, and every refusal costs more. None: by a fixed rule from the
        bounds and counts. 0: safe cuts only.
    weights
        Columns with larger weights are cut first, 1 being usual. Fixed in advance they tell nobody anything; ``"association"``
        weighs columns by what they tell about the sensitive values in this table, which an engineer could rerun, so it holds
        against a reader only.

    Notes
    -----
    The requirement's adversary decides how boxes are cut. Against an engineer cuts are *soft*: safe where quasi values and counts
    that the release shows decide, else tested with coins. Every box keeps account of what refused tests may have told, so that an
    engineer who reruns the program stays within the bounds. Against a reader they are *tight*, decided by where values fell:
    boxes are smaller, but a refused cut would tell an engineer something. Where not even one cut is made there is one box, and
    a warning (`OneBox`) says how to look for what tells more.
    """

    form: Literal["buckets", "ranges"] = parameter("buckets", choice("buckets", "ranges"))
    floor: int | None = parameter(None, whole(1))
    weights: Mapping[str, float] | Literal["association"] | None = parameter(None, weights("association"))
    patience: int | None = parameter(None, whole(0, MOST_PATIENCE))

    name: ClassVar[str] = "boxes"
    way: ClassVar[Way] = "boxes"
    by_counts: ClassVar[bool] = True
    tosses_when_tight: ClassVar[bool] = False

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.patience is not None and self.weights == "association":
            raise PolicyError(
                "Boxes(patience=…): with weights = 'association' cuts look at sensitive values openly, and use no patience",
                hint="leave one of the two out",
            )

    def settled(self, people: int) -> Self:
        """Return the same method with a floor: the one given, else by the public rule."""
        return self if self.floor is not None else replace(self, floor=usual_floor(people))

    def floor_for(self, people: int) -> int:
        """Return the floor for a table of so many people."""
        return usual_floor(people) if self.floor is None else self.floor

    def sets_refused(self, against: Against) -> str:
        """Return "": the counts of sets are checked like those of values."""
        return ""

    def each_refused(self, against: Against) -> str:
        """Return "": the values of every column are counted and checked."""
        return ""

    def bundles_refused(self, against: Against) -> str:
        """Return why several values a person are refused: by association there is one value to go by."""
        return "columns are weighed by their association with one value a person" if self.weights == "association" else ""

    def proves(self) -> tuple[Against, ...]:
        """Return reader and engineer; only reader where weights come from the sensitive values, only engineer with patience."""
        if self.weights == "association":
            return ("reader",)
        return ("reader", "engineer") if self.patience is None else ("engineer",)

    def group(self, task: Task) -> Grouping:
        """Return tight boxes against a reader, else soft ones, or safe ones where patience is 0."""
        task.progress("cutting quasi space into boxes", 0.0)
        floor = self.floor_for(task.table.rows)
        how = Cuts.against(task.against, task.bounds, floor=floor, weights=self.weights, patience=self.patience)
        boxes = task.people.cut(task, how)
        sizes = boxes.sizes
        stopped = sizes[sizes < 2 * floor].sum() / max(int(sizes.sum()), 1)
        boxes = replace(boxes, figures={"share_in_boxes_at_the_floor": float(stopped)})
        if boxes.groups == 1:
            refused = boxes.account is not None and boxes.account[0] < WHOLE
            warnings.warn(f"Boxes(floor={floor}): {REFUSED if refused else _ONE_BOX}", OneBox, stacklevel=2)
        return boxes

    def engines_refused(self, against: Against) -> None:
        """Return nothing: boxes are cut by counting."""
