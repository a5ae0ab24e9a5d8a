"""How well a key answers a query: the scores, and what distance adds to them."""

from regard.scores.additive import Additive
from regard.scores.base import Biased, Form, Score
from regard.scores.bias import Bias, Distances, Slope
from regard.scores.bilinear import Bilinear
from regard.scores.cauchy import Cauchy
from regard.scores.compact import (
    Biweight,
    Boxcar,
    CosineKernel,
    Epanechnikov,
    Triangular,
    Tricube,
)
from regard.scores.cosine import Cosine
from regard.scores.dot import Dot
from regard.scores.elementwise import Elementwise
from regard.scores.gaussian import Gaussian
from regard.scores.laplacian import Laplacian
from regard.scores.uniform import Uniform

__all__ = [
    "Additive",
    "Bias",
    "Biased",
    "Bilinear",
    "Biweight",
    "Boxcar",
    "Cauchy",
    "Cosine",
    "CosineKernel",
    "Distances",
    "Dot",
    "Elementwise",
    "Epanechnikov",
    "Form",
    "Gaussian",
    "Laplacian",
    "Score",
    "Slope",
    "Triangular",
    "Tricube",
    "Uniform",
]
