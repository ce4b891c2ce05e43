"""What a release is still good for: the papers' loss, and the error of count queries."""

from sfumato.utility.loss import BucketLoss, bucket_loss, setting_loss
from sfumato.utility.query_error import ErrorClass, WorkloadError, independence, query_error

__all__ = ["BucketLoss", "ErrorClass", "WorkloadError", "bucket_loss", "independence", "query_error", "setting_loss"]
