"""Privacy requirements: every model is a bound on belief, one exact rational per sensitive value."""

from sfumato.plugins import Registry
from sfumato.privacy.beta_likeness import BetaLikeness
from sfumato.privacy.bounds import Bounds
from sfumato.privacy.differential import Differential
from sfumato.privacy.f_privacy import FPrivacy
from sfumato.privacy.l_diversity import LDiversity
from sfumato.privacy.presence_association import PresenceAssociation
from sfumato.privacy.requirement import Against, Requirement
from sfumato.privacy.rho_privacy import RhoPrivacy

_OWN: tuple[type[Requirement], ...] = (FPrivacy, LDiversity, BetaLikeness, RhoPrivacy, PresenceAssociation, Differential)

MODELS: Registry[Requirement] = Registry({kind.model: kind for kind in _OWN}, "sfumato.models", Requirement)
"""The models by the name they have in a policy file, those of installed packages too."""

__all__ = [
    "MODELS",
    "Against",
    "BetaLikeness",
    "Bounds",
    "Differential",
    "FPrivacy",
    "LDiversity",
    "PresenceAssociation",
    "Requirement",
    "RhoPrivacy",
]
