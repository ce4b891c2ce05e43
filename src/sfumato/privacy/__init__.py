"""Privacy requirements: every model is a bound on belief, one exact rational per sensitive value."""

from sfumato.privacy.beta_likeness import BetaLikeness
from sfumato.privacy.bounds import Bounds
from sfumato.privacy.f_privacy import FPrivacy
from sfumato.privacy.l_diversity import LDiversity
from sfumato.privacy.presence_association import PresenceAssociation
from sfumato.privacy.requirement import Against, Requirement
from sfumato.privacy.rho_privacy import RhoPrivacy

MODELS: dict[str, type[Requirement]] = {
    kind.model: kind for kind in (FPrivacy, LDiversity, BetaLikeness, RhoPrivacy, PresenceAssociation)
}
"""The models by the name they have in a policy file."""

__all__ = [
    "MODELS",
    "Against",
    "BetaLikeness",
    "Bounds",
    "FPrivacy",
    "LDiversity",
    "PresenceAssociation",
    "Requirement",
    "RhoPrivacy",
]
