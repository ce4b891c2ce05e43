"""Release forms: what is published, how it is written and read back."""

from sfumato.release.base import Release
from sfumato.release.buckets import BucketsRelease
from sfumato.release.manifest import Claim, Manifest
from sfumato.release.randomized import RandomizedRelease
from sfumato.release.ranges import RangesRelease

__all__ = ["BucketsRelease", "Claim", "Manifest", "RandomizedRelease", "RangesRelease", "Release"]
