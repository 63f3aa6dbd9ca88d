"""Decoders: they compare margins with the rows of a code and return class scores; larger is better."""

from outputcodes.decoders.auto import Auto
from outputcodes.decoders.base import Decoder
from outputcodes.decoders.beam import Beam
from outputcodes.decoders.classifier import TopK
from outputcodes.decoders.continuous import Continuous
from outputcodes.decoders.counting import BetaDensity, InverseHamming, Laplacian
from outputcodes.decoders.coupling import Coupling
from outputcodes.decoders.distance import AttenuatedEuclidean, Euclidean
from outputcodes.decoders.likelihood import Likelihood
from outputcodes.decoders.loss import AccuracyWeighted, LossBased
from outputcodes.decoders.names import DECODERS, as_decoder
from outputcodes.decoders.pairwise import Dag, Vote
from outputcodes.decoders.path_probabilities import PathProbabilities
from outputcodes.decoders.softmax import Softmax

__all__ = [
    "DECODERS",
    "AccuracyWeighted",
    "AttenuatedEuclidean",
    "Auto",
    "Beam",
    "BetaDensity",
    "Continuous",
    "Coupling",
    "Dag",
    "Decoder",
    "Euclidean",
    "InverseHamming",
    "Laplacian",
    "Likelihood",
    "LossBased",
    "PathProbabilities",
    "Softmax",
    "TopK",
    "Vote",
    "as_decoder",
]
