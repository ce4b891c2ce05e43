"""What a release is still good for: the papers' loss, generalization cost, and the error of count queries."""

from sfumato.utility.gcp import Gcp, gcp, gcp_of_groups
from sfumato.utility.loss import BucketLoss, bucket_loss, setting_loss
from sfumato.utility.query_error import (
    ErrorClass,
    TrueAnswers,
    WorkloadError,
    asked_of,
    error_of,
    independence,
    marginals,
    query_error,
)

__all__ = [
    "BucketLoss",
    "ErrorClass",
    "Gcp",
    "TrueAnswers",
    "WorkloadError",
    "asked_of",
    "bucket_loss",
    "error_of",
    "gcp",
    "gcp_of_groups",
    "independence",
    "marginals",
    "query_error",
    "setting_loss",
]
