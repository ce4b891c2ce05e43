"""Conformance suites: run them on your own method, model or estimator as we do on ours (docs/extending.md).

    from sfumato.testing import check_estimator, check_method, check_model
    check_method(MyMethod())
    check_model(MyModel(…))
    check_estimator("my-estimator")

The first promise that is broken raises `ConformanceError` with its name.
"""

from sfumato.testing.designs import balanced_designs, example_tables, one_small_side
from sfumato.testing.estimator import check_estimator
from sfumato.testing.method import CHECKS, ConformanceError, check_method
from sfumato.testing.model import check_model

__all__ = [
    "CHECKS",
    "ConformanceError",
    "balanced_designs",
    "check_estimator",
    "check_method",
    "check_model",
    "example_tables",
    "one_small_side",
]
