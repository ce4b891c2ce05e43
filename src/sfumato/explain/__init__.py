"""What a policy means for a table, before anything is published."""

from sfumato.explain.cost import Obstacle, StrategyLoss
from sfumato.explain.explanation import Cut, Explanation, ValueBound, explain
from sfumato.explain.room import NoRoom, no_room
from sfumato.explain.study import Measured, Study

__all__ = [
    "Cut",
    "Explanation",
    "Measured",
    "NoRoom",
    "Obstacle",
    "StrategyLoss",
    "Study",
    "ValueBound",
    "explain",
    "no_room",
]
