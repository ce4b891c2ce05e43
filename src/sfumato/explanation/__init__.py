"""What a policy means for a table, before anything is published."""

from sfumato.explanation.coarser import CoarserColumn
from sfumato.explanation.cost import Obstacle, StrategyLoss
from sfumato.explanation.explanation import Explanation, explain
from sfumato.explanation.risk import ColumnRisk, Risk
from sfumato.explanation.room import NoRoom, no_room
from sfumato.explanation.sections import AboutMethod, AboutRule, AboutTable, BoxSizes, Cost, GroupCost, ValueBound
from sfumato.explanation.study import GroupingStudy, MeasuredGrouping

__all__ = [
    "AboutMethod",
    "AboutRule",
    "AboutTable",
    "BoxSizes",
    "CoarserColumn",
    "ColumnRisk",
    "Cost",
    "Explanation",
    "GroupCost",
    "GroupingStudy",
    "MeasuredGrouping",
    "NoRoom",
    "Obstacle",
    "Risk",
    "StrategyLoss",
    "ValueBound",
    "explain",
    "no_room",
]
