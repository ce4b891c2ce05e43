"""The audit: beliefs recomputed from what is published, by code that shares nothing with the code that publishes."""

from sfumato.auditor.audit import audit_release, audit_stored, audit_tables
from sfumato.auditor.result import Audit, ClaimResult, Finding

__all__ = ["Audit", "ClaimResult", "Finding", "audit_release", "audit_stored", "audit_tables"]
