"""Methods and bounds side by side on one table, so that an owner can choose with evidence."""

import sys
from types import ModuleType
from typing import Any

from sfumato.compare.result import Run, Study

__all__ = ["Run", "Study"]


class _Verb(ModuleType):
    """This package, callable: it has the name of the verb `sfumato.compare(…)`, which would hide behind it otherwise."""

    def __call__(self, *given: Any, **options: Any) -> Study:
        """Return the study of a table under a requirement; see `sfumato.api.compare`."""
        from sfumato.api import compare

        return compare(*given, **options)


sys.modules[__name__].__class__ = _Verb
