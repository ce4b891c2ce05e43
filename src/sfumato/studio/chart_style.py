"""Colours of charts that can be read on a light and on a dark ground."""

from __future__ import annotations

TEXT = {"color": "#767676"}
LINES = {"lineStyle": {"color": "rgba(128,128,128,.35)"}}
COLORS = ("#5b86ab", "#c9773a", "#6a994e", "#a0648c", "#8d7b4f", "#c2544d", "#4f9d96")
