"""Decoders: margins compared with the rows of a code, class scores out, larger is better."""

from outputcodes.decoders.base import Decoder
from outputcodes.decoders.counting import BetaDensity, InverseHamming, Laplacian
from outputcodes.decoders.distance import AttenuatedEuclidean, Euclidean
from outputcodes.decoders.loss import AccuracyWeighted, LossBased
from outputcodes.decoders.names import DECODERS, as_decoder
from outputcodes.decoders.pairwise import Dag, Vote

__all__ = [
    "DECODERS",
    "AccuracyWeighted",
    "AttenuatedEuclidean",
    "BetaDensity",
    "Dag",
    "Decoder",
    "Euclidean",
    "InverseHamming",
    "Laplacian",
    "LossBased",
    "Vote",
    "as_decoder",
]
