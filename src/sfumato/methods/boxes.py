"""`Boxes`: near people share a group, by cuts of quasi space; the default."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal

from sfumato.errors import OneBox
from sfumato.groups.boxes import cut_into_boxes
from sfumato.groups.grouping import Grouping
from sfumato.methods.base import Method, Task
from sfumato.parameters import choice, parameter, weights, whole
from sfumato.privacy.requirement import Against

_ONE_BOX = (
    "not even one cut keeps the bounds, so everybody is in one box; NearGroups() or MultiSize() would tell more, and "
    "`sfumato explain` says what would leave room for cuts"
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
        more coarsely.
    weights
        Columns with larger weights are cut first, 1 being usual. Fixed in advance they tell nobody anything; ``"association"``
        weighs columns by what they tell about the sensitive values in this table, which an engineer could rerun, so it holds
        against a reader only.

    Notes
    -----
    The requirement's adversary decides how boxes are cut. Against an engineer cuts are *safe*, decided by quasi values and by
    counts that the release shows anyway, so that rerunning the program tells nothing; against a reader they are *tight*, decided
    by where values fell, so that boxes are smaller, but a refused cut would tell an engineer something. Where not even one cut is
    made there is one box, and a warning (`OneBox`) names what would tell more.
    """

    form: Literal["buckets", "ranges"] = parameter("buckets", choice("buckets", "ranges"))
    floor: int = parameter(100, whole(1))
    weights: Mapping[str, float] | Literal["association"] | None = parameter(None, weights("association"))

    name: ClassVar[str] = "boxes"

    def proves(self) -> tuple[Against, ...]:
        """Return reader and engineer; only reader where weights come from the sensitive values."""
        return ("reader",) if self.weights == "association" else ("reader", "engineer")

    def group(self, task: Task) -> Grouping:
        """Return tight boxes against a reader, else safe ones."""
        task.progress("cutting quasi space into boxes", 0.0)
        tight = task.against == "reader"
        boxes = cut_into_boxes(task.quasi, task.codes, task.bounds, tight=tight, floor=self.floor, weights=self.weights)
        if boxes.groups == 1:
            warnings.warn(f"Boxes(floor={self.floor}): {_ONE_BOX}", OneBox, stacklevel=2)
        return boxes
