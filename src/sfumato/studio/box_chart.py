"""The boxes of a release over two of its columns, as a chart: a rectangle a group, from its least to its largest value."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import numpy as np

from sfumato.charts.look import BETWEEN
from sfumato.studio.frame import TEXT

if TYPE_CHECKING:
    from sfumato.release import Release

MOST = 400


def box_chart(release: Release, across: str, up: str) -> dict[str, Any]:
    """Return the options of an ECharts chart; of very many boxes the largest are drawn."""
    from sfumato.release.boxes import extents
    from sfumato.release.buckets import BucketsRelease

    shown = cast("BucketsRelease", release)
    columns = {column.name: column for column in shown.quasi}
    x, y = columns[across], columns[up]
    sizes = shown.sizes
    ends = {name: extents(column, shown.group, len(sizes)) for name, column in (("x", x), ("y", y))}
    drawn = np.argsort(-sizes, kind="stable")[:MOST]
    areas = [
        [
            {
                "coord": [int(ends["x"][0][k]), int(ends["y"][0][k])],
                "name": f"{int(sizes[k])} people",
                "label": {"show": False},
                "itemStyle": {
                    "color": BETWEEN[0],
                    "borderColor": BETWEEN[0],
                    "borderWidth": 1,
                    "opacity": round(min(0.5, 4.0 / len(drawn) + 0.02), 3),
                },
            },
            {"coord": [int(ends["x"][1][k]) + 1, int(ends["y"][1][k]) + 1]},
        ]
        for k in drawn.tolist()
    ]
    return {
        "animation": False,
        "tooltip": {},
        "grid": {"left": 110, "right": 20, "top": 20, "bottom": 50},
        "xAxis": _axis(across, x),
        "yAxis": _axis(up, y),
        "series": [{"type": "scatter", "data": [], "markArea": {"data": areas, "silent": False}}],
    }


def _axis(name: str, column: Any) -> dict[str, Any]:
    labels = [*column.labels(), ""]
    return {
        "type": "category",
        "data": [text if len(text) <= 16 else text[:15] + "…" for text in labels],
        "name": name,
        "nameLocation": "middle",
        "nameGap": 32,
        "axisLabel": TEXT,
        "nameTextStyle": TEXT,
        "boundaryGap": False,
    }
