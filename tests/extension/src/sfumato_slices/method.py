"""`Slices`: people in the order of one column, cut into slices of equal size."""

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from sfumato.errors import PolicyError, did_you_mean
from sfumato.groups.boxes import least_side
from sfumato.groups.grouping import Grouping
from sfumato.methods.base import Method, Task
from sfumato.parameters import choice, parameter
from sfumato.privacy.requirement import Against


@dataclass(frozen=True, kw_only=True)
class Slices(Method):
    """Cut people, in the order of `column` (the first quasi column by default), into slices of equal size.

    A slice is large enough to hold everybody with any one value within its bound, wherever they are. So how people are cut
    follows from one quasi column, from the counts of the table, which the release shows, and from coins where values are equal:
    every way of placing a slice's values on its people stays equally likely, also to a reader who reruns the program.
    """

    column: str | None = parameter(None, lambda where, value: str(value))
    form: Literal["buckets", "ranges"] = parameter("buckets", choice("buckets", "ranges"))

    name: ClassVar[str] = "slices"

    def proves(self) -> tuple[Against, ...]:
        return ("reader", "engineer")

    def sets_refused(self, against: Against) -> str:
        return ""  # sets are events of the bounds, and a slice could hold everybody of any one event

    def each_refused(self, against: Against) -> str:
        return ""  # so are the values of every column

    def group(self, task: Task) -> Grouping:
        names = [column.name for column in task.quasi]
        if self.column is not None and self.column not in names:
            raise PolicyError(f"Slices(column=…): {self.column!r} is no quasi column", hint=did_you_mean(self.column, names))
        column = task.quasi[0 if self.column is None else names.index(self.column)]
        number = max(task.bounds.people // least_side(task.bounds)[1], 1)
        order = np.argsort(column.codes, kind="stable")  # people stand in an order of coins, which decides among equals
        group = np.empty(len(order), np.int32)
        group[order] = np.arange(len(order)) * number // len(order)
        return Grouping(group, number, "safe")
