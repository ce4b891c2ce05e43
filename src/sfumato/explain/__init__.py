"""What a policy means for a table, before anything is published."""

import sys
from types import ModuleType
from typing import Any

from sfumato.explain.coarser import Step
from sfumato.explain.cost import Obstacle, StrategyLoss
from sfumato.explain.explanation import Cut, Explanation, ValueBound, explain
from sfumato.explain.risk import ColumnRisk, Risk
from sfumato.explain.room import NoRoom, no_room
from sfumato.explain.study import Measured, Study

__all__ = [
    "ColumnRisk",
    "Cut",
    "Explanation",
    "Measured",
    "NoRoom",
    "Obstacle",
    "Risk",
    "Step",
    "StrategyLoss",
    "Study",
    "ValueBound",
    "explain",
    "no_room",
]


class _Verb(ModuleType):
    """This package, callable: it has the name of the verb `sfumato.explain(…)`, which would hide behind it otherwise."""

    def __call__(self, *given: Any, **options: Any) -> Explanation:
        """Return what a requirement means for a table or a frame; see `sfumato.api.explain`."""
        from sfumato.api import explain

        return explain(*given, **options)


sys.modules[__name__].__class__ = _Verb
