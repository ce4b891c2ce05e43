"""A report for whoever answers for a release: one HTML file that loads nothing, prints, and reads aloud."""

import sys
from types import ModuleType
from typing import Any

from sfumato.report.making import report

__all__ = ["report"]


class _Verb(ModuleType):
    """This package, callable: it has the name of the verb `sfumato.report(…)`, which would hide behind it otherwise."""

    def __call__(self, *given: Any, **options: Any) -> Any:
        """Write the report of a release and return its path; see `sfumato.report.making.report`."""
        return report(*given, **options)


sys.modules[__name__].__class__ = _Verb
