"""Attacks on releases: one adversary a file, one shape of result. See docs/attacks.md."""

from sfumato.attacks.result import AttackResult
from sfumato.attacks.suite import ATTACKS, Attack, attack

__all__ = ["ATTACKS", "Attack", "AttackResult", "attack"]
