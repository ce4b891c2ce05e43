"""What a policy means for a table, before anything is published."""

from sfumato.explain.cost import Obstacle, StrategyLoss
from sfumato.explain.explanation import Cut, Explanation, ValueBound, explain
from sfumato.explain.coarser import Step
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
