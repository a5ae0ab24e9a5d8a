"""Looking at weights: figures."""

from regard.viewing.figures import heatmap, regression, save

__all__ = ["heatmap", "regression", "save"]
