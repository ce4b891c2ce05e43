"""Release forms: what is published, how it is written and read back."""

from sfumato.release.base import Release
from sfumato.release.buckets import BucketsRelease
from sfumato.release.columns import ColumnsRelease
from sfumato.release.manifest import Claim, Manifest
from sfumato.release.randomized import RandomizedRelease
from sfumato.release.ranges import RangesRelease
from sfumato.release.synthetic import SyntheticRelease
from sfumato.release.views import ViewsRelease

__all__ = [
    "BucketsRelease",
    "Claim",
    "ColumnsRelease",
    "Manifest",
    "RandomizedRelease",
    "RangesRelease",
    "Release",
    "SyntheticRelease",
    "ViewsRelease",
]
