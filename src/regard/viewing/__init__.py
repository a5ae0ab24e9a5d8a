"""Looking at weights: figures."""

from regard.viewing.alignment import draw_alignment
from regard.viewing.capturing import capture
from regard.viewing.figures import heatmap, regression, save
from regard.viewing.growth import comparison
from regard.viewing.heatmaps import draw_heatmaps, show_heatmaps
from regard.viewing.looking import look
from regard.viewing.view import View

__all__ = [
    "View",
    "capture",
    "comparison",
    "draw_alignment",
    "draw_heatmaps",
    "heatmap",
    "look",
    "regression",
    "save",
    "show_heatmaps",
]
