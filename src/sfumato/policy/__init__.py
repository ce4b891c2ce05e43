"""The policy file: how to read the table, what each column is, what is promised and how it is kept."""

from sfumato.policy.difference import differences
from sfumato.policy.draft import draft_policy, review
from sfumato.policy.policy import Policy
from sfumato.policy.roles import Decision

__all__ = ["Decision", "Policy", "differences", "draft_policy", "review"]
