"""Passerini, Pontil & Frasconi (2004), Figures 2 to 4: decoding kernel SVMs, and their leave-one-out bound.

trial       one observation: a code and a γ, by folds or on a partition
curves      observations as curves over γ
decoders    Figures 2 and 3: which decoder has the smallest error
bound       Figure 4: whether the bound chooses a good γ
figures     the three experiments
"""

from reproduce.passerini.figures import EXPERIMENTS

__all__ = ["EXPERIMENTS"]
