"""The policy file: how to read the table, what each column is, what is promised and how it is kept."""

from sfumato.policy.draft import draft_policy
from sfumato.policy.policy import Policy

__all__ = ["Policy", "draft_policy"]
