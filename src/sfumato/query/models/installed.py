"""Estimators of other packages, found by their entry points: asked by name, never a default, their intervals their own word."""

from __future__ import annotations

import threading
from typing import Any

from sfumato import plugins
from sfumato.query.models.protocol import Estimating, FittedModel
from sfumato.query.rows import Asked, Buckets

GROUP = "sfumato.estimators"
OWN = ("paper", "likelihood")
"""Sfumato's own estimators, whose models the engine of a form chooses: no package can take their names."""

INSTALLED: plugins.Registry[FittedModel[Any, Any]] = plugins.Registry({}, GROUP, FittedModel)

_fitted = "_installed_estimators"
_lock = threading.RLock()


def fitted_by(name: str, groups: Buckets) -> Estimating[Asked]:
    """Return the model that an installed estimator fits to the groups of a release, once for as long as they are kept."""
    with _lock:
        models = vars(groups).setdefault(_fitted, {})
        if name not in models:
            models[name] = INSTALLED[name].fit(groups)
        model: Estimating[Asked] = models[name]
        return model


def vouched(name: str) -> str:
    """Return on whose word the interval of an estimator rests; empty for sfumato's own."""
    if name in OWN:
        return ""
    package = plugins.package_of_entry(plugins.installed(GROUP)[name])
    return f"the interval rests on the estimator {name!r} of the package {package!r}"
