"""Kernel regression: attention whose keys are data.

``NadarayaWatson`` is the estimator, with the manners of scikit-learn.
"""

from regard.regression.nadaraya_watson import NadarayaWatson

__all__ = ["NadarayaWatson"]
