"""Methods: one public class a file."""

from sfumato.methods.ambiguity import Ambiguity
from sfumato.methods.anatomy import Anatomy
from sfumato.methods.base import Method, Outcome
from sfumato.methods.buckets import Buckets
from sfumato.methods.burel import BuReL
from sfumato.methods.burel_perturbation import BuReLPerturbation
from sfumato.methods.heterogeneous import Heterogeneous
from sfumato.methods.mondrian import Mondrian
from sfumato.methods.near_groups import NearGroups
from sfumato.methods.priview import PriView
from sfumato.methods.ring import Ring
from sfumato.methods.small_domain import SmallDomain
from sfumato.methods.uniform import UniformPerturbation
from sfumato.privacy.requirement import Requirement

METHODS: dict[str, type[Method]] = {
    method.name: method
    for method in (
        Buckets,
        NearGroups,
        Anatomy,
        Mondrian,
        BuReL,
        Heterogeneous,
        Ring,
        SmallDomain,
        UniformPerturbation,
        BuReLPerturbation,
        Ambiguity,
        PriView,
    )
}
"""The methods by the name they have in a policy file."""


def default_method(requirement: Requirement) -> Method:
    """Return the method used when a policy names none: near people together in buckets, which keep any per-value bounds.

    Where presence is bounded too: quasi columns apart, on disjoint boxes.
    """
    return Buckets() if requirement.presence is None else Ambiguity()


__all__ = [
    "METHODS",
    "Ambiguity",
    "Anatomy",
    "BuReL",
    "BuReLPerturbation",
    "Buckets",
    "Heterogeneous",
    "Method",
    "Mondrian",
    "NearGroups",
    "Outcome",
    "PriView",
    "Ring",
    "SmallDomain",
    "UniformPerturbation",
    "default_method",
]
