"""What a way of putting near people together returns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sfumato.groups.grouping import Grouping


@dataclass(frozen=True, eq=False)
class Near:
    """Groups of near people, and figures about their making that only the publisher may see."""

    grouping: Grouping
    figures: Mapping[str, Any]
