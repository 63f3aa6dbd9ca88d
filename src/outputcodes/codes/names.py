"""The names of the codes."""

from outputcodes.codes.algebraic import BCH, Hadamard
from outputcodes.codes.confusion_guided import ConfusionGuided
from outputcodes.codes.designed import Designed
from outputcodes.codes.elementary import AllPairs, Complete, OneVsAll, Ordinal, TernaryComplete
from outputcodes.codes.resolve import CODES
from outputcodes.codes.sampled import Dense, Sparse
from outputcodes.codes.tree import Tree
from outputcodes.codes.trees import DiscriminantTree, Forest

__all__ = ["CODES"]

CODES |= {
    "one-vs-all": OneVsAll,
    "all-pairs": AllPairs,
    "complete": Complete,
    "ternary-complete": TernaryComplete,
    "dense": Dense,
    "sparse": Sparse,
    "ordinal": Ordinal,
    "hadamard": Hadamard,
    "bch": BCH,
    "designed": Designed,
    "decoc": DiscriminantTree,
    "forest": Forest,
    "ecoc-one": ConfusionGuided,
    "tree": Tree,
}
