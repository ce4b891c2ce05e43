"""Methods and bounds side by side on one table, so that an owner can choose with evidence."""

from sfumato.comparison.result import Run, Study

__all__ = ["Run", "Study"]
