"""(α, β)-privacy: a bound on the belief that a person is in the table at all, beside the bounds on her values."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from sfumato.errors import PolicyError, did_you_mean
from sfumato.exact import Number, exact
from sfumato.parameters import EXACT_TEXT, REQUIRED, Json, Takes, parameter, rational
from sfumato.privacy.requirement import Against, Requirement, round_up

_BETA = 'such as "0.2", or a model with bounds of its own: { model = "f-privacy", theta = 8, offset = "0.02" }'


_ALPHA = rational(
    "a number above 0 and at most 1",
    hint="1 means that presence need not be hidden; nothing can be bounded by 0",
    above=0,
    most=1,
)


_TAKEN: Json = {"anyOf": [{"type": "number", "exclusiveMinimum": 0, "maximum": 1}, EXACT_TEXT, {"$ref": "#/definitions/Model"}]}
"""What a policy may write for beta; the schema of policies defines Model."""


@dataclass(frozen=True, init=False)
class PresenceAssociation(Requirement):
    """At most `alpha` sure that a person is in the table; given that she is, bound(x) = β for every value, or a model's bound.

    `beta` is a number, or another requirement, or a mapping with its `model` and parameters. A bound on presence can only be
    kept against a stranger, who does not know who else is in the table; `against` says who the bounds on values hold against.
    It rules over that of a requirement given as `beta`: one that is against an engineer, as every requirement is unless it says
    otherwise, becomes one against whom is named here; one that is against somebody else must name the same.
    """

    alpha: Fraction = parameter(REQUIRED, _ALPHA)
    beta: Fraction | Requirement = parameter(REQUIRED, Takes(lambda where, value: value, _TAKEN))

    model: ClassVar[str] = "presence-association"

    def __init__(
        self,
        alpha: Number,
        beta: Number | Requirement | Mapping[str, Any],
        *,
        sets: Mapping[str, Any] | None = None,
        columns: Mapping[str, Requirement] | None = None,
        against: Against = "engineer",
    ) -> None:
        self._set(alpha=alpha, beta=beta, sets=sets, columns=columns, against=against)
        object.__setattr__(self, "beta", _association(beta, self.against))

    def of(self, column: str) -> Requirement:
        """Return the same bound on presence with a column's own bounds on values."""
        own = super().of(column)
        return own if own.presence is not None else self._changed(beta=own._changed(sets=()), sets=own.sets, columns=())

    @property
    def presence(self) -> Fraction:
        """α: how sure a stranger may become that a person is in the table."""
        return self.alpha

    def limits(self, shares: Mapping[str, Fraction]) -> dict[str, Fraction]:
        """Return β for every value, or the bounds of the model that stands for it."""
        if isinstance(self.beta, Requirement):
            return self.beta.limits(shares)
        return dict.fromkeys(shares, self.beta)

    def nearest(self, shares: Mapping[str, Fraction]) -> dict[str, object]:
        """Return a β that no share exceeds, or the model with parameters that are feasible."""
        if isinstance(self.beta, Requirement):
            nearest = self.beta.nearest(shares)
            if "model" not in nearest:  # else the model itself would have to change, and a number does as well
                return {"beta": _changed(self.to_dict()["beta"], nearest)}
        return {"beta": round_up(max(shares.values()))}

    def to_dict(self) -> dict[str, Any]:
        """Return the parameters under the names of the policy file; a model that stands for β without its `against`."""
        document = super().to_dict()
        if isinstance(self.beta, Requirement):
            inner = self.beta.to_dict()
            del inner["against"]
            document["beta"] = inner
        return document


def _changed(document: Mapping[str, Any], changes: Mapping[str, object]) -> dict[str, object]:
    """Return a model's parameters with those that were found in their places; without those that say nothing."""
    given = {name: value for name, value in document.items() if value not in ("0", {}, False)}
    merged = {name: {**given.get(name, {}), **value} if isinstance(value, Mapping) else value for name, value in changes.items()}
    return {**given, **merged}


def _association(beta: Number | Requirement | Mapping[str, Any], against: Against) -> Fraction | Requirement:
    """Return what bounds the belief in values, made against the same adversary."""
    if isinstance(beta, Requirement):
        parameters = beta.to_dict()
        if beta.against == "engineer":
            parameters["against"] = against  # the default: it was not chosen
        return _inner(parameters, against)
    if isinstance(beta, Mapping):
        return _inner(beta, against)
    try:
        number = exact(beta, "beta")
    except PolicyError as error:
        raise PolicyError(error.message, hint=_BETA) from None
    if not 0 < number <= 1:
        raise PolicyError(f"PresenceAssociation(beta=…): expected a number above 0 and at most 1, got {number}", hint=_BETA)
    return number


def _inner(given: Mapping[str, Any], against: Against) -> Requirement:
    from sfumato.privacy import MODELS

    for name, what in (("sets", "sets of values"), ("columns", "rules of single columns")):
        if given.get(name):
            raise PolicyError(f"PresenceAssociation(beta=…): {what} belong beside alpha", hint=f"move {name} out of beta")
    parameters = {name: value for name, value in given.items() if name not in ("package", "sets", "columns")}
    known = {name: kind for name, kind in MODELS.items() if not issubclass(kind, PresenceAssociation)}
    model = parameters.pop("model", None)
    if model not in known:
        raise PolicyError(
            f"PresenceAssociation(beta=…): expected a model that bounds belief in values, got {model!r}",
            hint=did_you_mean(str(model), known),
        )
    if parameters.setdefault("against", against) != against:
        raise PolicyError(
            f"PresenceAssociation(beta=…): it is against {parameters['against']!r}, the whole requirement against {against!r}",
            hint="give against once, beside alpha",
        )
    takes = inspect.signature(known[model]).parameters
    for name in parameters:
        if name not in takes:
            raise PolicyError(f"PresenceAssociation(beta=…): {model} has no parameter {name!r}", hint=did_you_mean(name, takes))
    for name, taken in takes.items():
        if taken.default is taken.empty and name not in parameters:
            raise PolicyError(f"PresenceAssociation(beta=…): {model} needs {name}", hint=f"add {name} = …")
    return known[model](**parameters)
