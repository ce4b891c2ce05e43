"""sfumato: publish a table about people once, with a proof.

The public names load when they are first used, so that `import sfumato` and `sfumato --help` stay quick.
"""

from __future__ import annotations

import logging
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

logging.getLogger(__name__).addHandler(logging.NullHandler())  # what is logged is said only where somebody listens

_NAMES = {
    "sfumato.admission": "GateResult gate",
    "sfumato.api": "audit compare draft explain publication publish",
    "sfumato.attacks": "AttackResult attack",
    "sfumato.auditor": "Audit",
    "sfumato.errors": (
        "ClaimBroken FormatError Infeasible InputError NotProvable OutputError PolicyError PublicationWarning QueryError "
        "SfumatoError SignatureError"
    ),
    "sfumato.explanation": "Explanation",
    "sfumato.methods": (
        "Ambiguity Anatomy Boxes BuReL BuReLPerturbation Mondrian MultiSize NearGroups NoisyBoxes PriView Publication "
        "SmallDomain UniformPerturbation"
    ),
    "sfumato.policy": "Policy",
    "sfumato.privacy": "BetaLikeness Differential FPrivacy LDiversity PresenceAssociation RhoPrivacy",
    "sfumato.query": "Estimate GroupedAnswer Query",
    "sfumato.query.rubin": "combine",
    "sfumato.release": "Release",
    "sfumato.release.manifest": "Claim",
    "sfumato.reports": "report",
    "sfumato.signature": "keygen sign verify",
    "sfumato.table": "Database Hierarchy People Schema Table",
}
_GUESTS = {
    "Decoys": "sfumato.papers.decoys.method",
    "Heterogeneous": "sfumato.papers.heterogeneous.method",
    "NoisyTables": "sfumato.synthetic.noisy_tables",
    "PrivBayes": "sfumato.synthetic.privbayes",
    "Ring": "sfumato.papers.heterogeneous.ring_method",
}
"""Names from parts that an installation may leave out."""
_HOMES = {name: home for home, names in _NAMES.items() for name in names.split()} | _GUESTS

if TYPE_CHECKING:
    from sfumato.admission import GateResult, gate
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
        PublicationWarning,
        QueryError,
        SfumatoError,
        SignatureError,
    )
    from sfumato.explanation import Explanation
    from sfumato.methods import (
        Ambiguity,
        Anatomy,
        Boxes,
        BuReL,
        BuReLPerturbation,
        Mondrian,
        MultiSize,
        NearGroups,
        NoisyBoxes,
        PriView,
        Publication,
        SmallDomain,
        UniformPerturbation,
    )
    from sfumato.papers.decoys.method import Decoys
    from sfumato.papers.heterogeneous.method import Heterogeneous
    from sfumato.papers.heterogeneous.ring_method import Ring
    from sfumato.policy import Policy
    from sfumato.privacy import BetaLikeness, Differential, FPrivacy, LDiversity, PresenceAssociation, RhoPrivacy
    from sfumato.query import Estimate, GroupedAnswer, Query
    from sfumato.query.rubin import combine
    from sfumato.release import Release
    from sfumato.release.manifest import Claim
    from sfumato.reports import report
    from sfumato.signature import keygen, sign, verify
    from sfumato.synthetic.noisy_tables import NoisyTables
    from sfumato.synthetic.privbayes import PrivBayes
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
    "GateResult",
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
    "PublicationWarning",
    "Query",
    "QueryError",
    "Release",
    "RhoPrivacy",
    "Ring",
    "Schema",
    "SfumatoError",
    "SignatureError",
    "SmallDomain",
    "Table",
    "UniformPerturbation",
    "attack",
    "audit",
    "combine",
    "compare",
    "draft",
    "explain",
    "gate",
    "keygen",
    "publication",
    "publish",
    "report",
    "sign",
    "verify",
]


for _name, _home in _GUESTS.items():
    if not Path(__file__).with_name(_home.split(".")[1]).is_dir():
        __all__.remove(_name)


def __getattr__(name: str) -> Any:
    if name in _GUESTS and name not in __all__:
        from sfumato.plugins import LeftOutError, part_of

        raise LeftOutError(f"sfumato.{name}", part_of(_GUESTS[name]), "install all of sfumato, or choose another")
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'sfumato' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
