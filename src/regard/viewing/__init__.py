"""Looking at weights: figures."""

from regard.viewing.alignment import draw_alignment
from regard.viewing.figures import heatmap, regression, save
from regard.viewing.growth import comparison
from regard.viewing.heatmaps import draw_heatmaps, show_heatmaps

__all__ = [
    "comparison",
    "draw_alignment",
    "draw_heatmaps",
    "heatmap",
    "regression",
    "save",
    "show_heatmaps",
]
