"""A report for whoever answers for a release: one HTML file that loads nothing, prints, and reads aloud."""

from sfumato.reports.making import report

__all__ = ["report"]
