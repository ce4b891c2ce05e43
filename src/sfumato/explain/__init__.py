"""What a policy means for a table, before anything is published."""

from sfumato.explain.cost import Obstacle, StrategyLoss
from sfumato.explain.explanation import Explanation, ValueBound, explain

__all__ = ["Explanation", "Obstacle", "StrategyLoss", "ValueBound", "explain"]
