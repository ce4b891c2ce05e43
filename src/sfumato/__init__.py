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
    "AttackResult": "sfumato.attacks",
    "Audit": "sfumato.auditor",
    "BetaLikeness": "sfumato.privacy",
    "Boxes": "sfumato.methods",
    "BuReL": "sfumato.methods",
    "BuReLPerturbation": "sfumato.methods",
    "Claim": "sfumato.release.manifest",
    "ClaimBroken": "sfumato.errors",
    "Database": "sfumato.table",
    "Decoys": "sfumato.methods",
    "Differential": "sfumato.privacy",
    "Estimate": "sfumato.query",
    "Explanation": "sfumato.explain",
    "FPrivacy": "sfumato.privacy",
    "FormatError": "sfumato.errors",
    "GroupedAnswer": "sfumato.query",
    "Heterogeneous": "sfumato.methods",
    "Hierarchy": "sfumato.table",
    "Infeasible": "sfumato.errors",
    "InputError": "sfumato.errors",
    "LDiversity": "sfumato.privacy",
    "Mondrian": "sfumato.methods",
    "MultiSize": "sfumato.methods",
    "NearGroups": "sfumato.methods",
    "NoisyBoxes": "sfumato.methods",
    "NoisyTables": "sfumato.methods",
    "PrivBayes": "sfumato.methods",
    "NotProvable": "sfumato.errors",
    "OutputError": "sfumato.errors",
    "People": "sfumato.table",
    "Policy": "sfumato.policy",
    "PolicyError": "sfumato.errors",
    "PresenceAssociation": "sfumato.privacy",
    "PriView": "sfumato.methods",
    "Publication": "sfumato.methods",
    "Query": "sfumato.query",
    "QueryError": "sfumato.errors",
    "Release": "sfumato.release",
    "RhoPrivacy": "sfumato.privacy",
    "Ring": "sfumato.methods",
    "Schema": "sfumato.table",
    "SfumatoError": "sfumato.errors",
    "SmallDomain": "sfumato.methods",
    "Table": "sfumato.table",
    "UniformPerturbation": "sfumato.methods",
    "attack": "sfumato.attacks",
    "audit": "sfumato.api",
    "combine": "sfumato.query.rubin",
    "compare": "sfumato.compare",
    "draft": "sfumato.api",
    "explain": "sfumato.explain",
    "publication": "sfumato.api",
    "publish": "sfumato.api",
    "report": "sfumato.report",
}

if TYPE_CHECKING:
    from sfumato.api import audit, compare, draft, explain, publication, publish
    from sfumato.attacks import AttackResult, attack
    from sfumato.auditor import Audit
    from sfumato.errors import (
        ClaimBroken,
        FormatError,
        Infeasible,
        InputError,
        NotProvable,
        OutputError,
        PolicyError,
        QueryError,
        SfumatoError,
    )
    from sfumato.explain import Explanation
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
        NoisyTables,
        PrivBayes,
        PriView,
        Publication,
        Ring,
        SmallDomain,
        UniformPerturbation,
    )
    from sfumato.policy import Policy
    from sfumato.privacy import BetaLikeness, Differential, FPrivacy, LDiversity, PresenceAssociation, RhoPrivacy
    from sfumato.query import Estimate, GroupedAnswer, Query
    from sfumato.query.rubin import combine
    from sfumato.release import Release
    from sfumato.release.manifest import Claim
    from sfumato.report import report
    from sfumato.table import Database, Hierarchy, People, Schema, Table

__all__ = [
    "Ambiguity",
    "Anatomy",
    "AttackResult",
    "Audit",
    "BetaLikeness",
    "Boxes",
    "BuReL",
    "BuReLPerturbation",
    "Claim",
    "ClaimBroken",
    "Database",
    "Decoys",
    "Differential",
    "Estimate",
    "Explanation",
    "FPrivacy",
    "FormatError",
    "GroupedAnswer",
    "Heterogeneous",
    "Hierarchy",
    "Infeasible",
    "InputError",
    "LDiversity",
    "Mondrian",
    "MultiSize",
    "NearGroups",
    "NoisyBoxes",
    "NoisyTables",
    "NotProvable",
    "OutputError",
    "People",
    "Policy",
    "PolicyError",
    "PresenceAssociation",
    "PriView",
    "PrivBayes",
    "Publication",
    "Query",
    "QueryError",
    "Release",
    "RhoPrivacy",
    "Ring",
    "Schema",
    "SfumatoError",
    "SmallDomain",
    "Table",
    "UniformPerturbation",
    "attack",
    "audit",
    "combine",
    "compare",
    "draft",
    "explain",
    "publication",
    "publish",
    "report",
]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        home = import_module(_HOMES[name])
        return home if home.__name__ == f"{__name__}.{name}" else getattr(home, name)  # a package that is the verb itself
    raise AttributeError(f"module 'sfumato' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
