"""sfumato: publish a table about people once, with a proof.

The public names load when they are first used, so that `import sfumato` and `sfumato --help` stay quick.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

_HOMES = {
    "Ambiguity": "sfumato.methods",
    "Anatomy": "sfumato.methods",
    "Audit": "sfumato.auditor",
    "BetaLikeness": "sfumato.privacy",
    "BuReL": "sfumato.methods",
    "BuReLPerturbation": "sfumato.methods",
    "Boxes": "sfumato.methods",
    "Decoys": "sfumato.methods",
    "Differential": "sfumato.privacy",
    "FPrivacy": "sfumato.privacy",
    "Heterogeneous": "sfumato.methods",
    "LDiversity": "sfumato.privacy",
    "Mondrian": "sfumato.methods",
    "MultiSize": "sfumato.methods",
    "NearGroups": "sfumato.methods",
    "NoisyBoxes": "sfumato.methods",
    "Policy": "sfumato.policy",
    "PresenceAssociation": "sfumato.privacy",
    "PriView": "sfumato.methods",
    "Publication": "sfumato.methods",
    "Query": "sfumato.query",
    "Release": "sfumato.release",
    "RhoPrivacy": "sfumato.privacy",
    "Ring": "sfumato.methods",
    "Schema": "sfumato.table",
    "SmallDomain": "sfumato.methods",
    "Table": "sfumato.table",
    "UniformPerturbation": "sfumato.methods",
    "audit": "sfumato.api",
    "publication": "sfumato.api",
    "publish": "sfumato.api",
}

if TYPE_CHECKING:
    from sfumato.api import audit, publication, publish
    from sfumato.auditor import Audit
    from sfumato.methods import (
        Ambiguity,
        Anatomy,
        Boxes,
        BuReL,
        BuReLPerturbation,
        Decoys,
        Heterogeneous,
        Mondrian,
        MultiSize,
        NearGroups,
        NoisyBoxes,
        PriView,
        Publication,
        Ring,
        SmallDomain,
        UniformPerturbation,
    )
    from sfumato.policy import Policy
    from sfumato.privacy import BetaLikeness, Differential, FPrivacy, LDiversity, PresenceAssociation, RhoPrivacy
    from sfumato.query import Query
    from sfumato.release import Release
    from sfumato.table import Schema, Table

__all__ = [
    "Ambiguity",
    "Anatomy",
    "Audit",
    "BetaLikeness",
    "Boxes",
    "BuReL",
    "BuReLPerturbation",
    "Decoys",
    "Differential",
    "FPrivacy",
    "Heterogeneous",
    "LDiversity",
    "Mondrian",
    "MultiSize",
    "NearGroups",
    "NoisyBoxes",
    "Policy",
    "PresenceAssociation",
    "PriView",
    "Publication",
    "Query",
    "Release",
    "RhoPrivacy",
    "Ring",
    "Schema",
    "SmallDomain",
    "Table",
    "UniformPerturbation",
    "audit",
    "publication",
    "publish",
]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'sfumato' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
