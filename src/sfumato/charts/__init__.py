"""Charts: made with altair, drawn as SVG without a browser or a network, in colours that follow light and dark."""

from sfumato.charts.library import Chart, altair, chart_library
from sfumato.charts.svg import picture_page, picture_svg, save_picture

__all__ = ["Chart", "altair", "chart_library", "picture_page", "picture_svg", "save_picture"]
