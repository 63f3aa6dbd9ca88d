"""Plots of trees with matplotlib."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from outputcodes._histograms.questions import LEAF
from outputcodes.direct.trees.export import names_of_features, question_text


def plot(model: Any, ax: Any = None, feature_names: Sequence[str] | None = None, decimals: int = 2) -> Any:
    """Draw a fitted `DecisionTree`, "yes" to the left, leaves coloured by their class; return the matplotlib Axes.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> from outputcodes.direct.trees import DecisionTree
    >>> ax = plot(DecisionTree().fit([[0], [1], [2]], ["ash", "oak", "elm"]))
    >>> [text.get_text() for text in ax.texts]
    ['x0 <= 0.50', 'ash\\n1', 'x0 <= 1.50', 'oak\\n1', 'elm\\n1']
    """
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError('plot needs matplotlib, which is not installed: pip install "outputcodes[plot]"') from error
    check_is_fitted(model)
    tree, names = model.tree_, names_of_features(model, feature_names)
    nodes, depths = tree.nodes, tree.depths
    across = _places(nodes.kind, nodes.left)
    if ax is None:
        size = (min(24, max(4, 0.9 * tree.n_leaves)), min(14, max(3, 0.9 * (depths.max() + 1))))
        ax = plt.figure(figsize=size, layout="constrained").add_subplot()
    shares, labels = tree.probabilities, tree.labels
    colours = plt.get_cmap("tab20")(np.arange(shares.shape[1]) % 20)
    for node in np.flatnonzero(nodes.kind != LEAF):
        for child in nodes.left[node] + np.arange(2):
            ax.plot(across[[node, child]], -depths[[node, child]], color="0.7", linewidth=0.8, zorder=0)
    for place in range(len(shares)):
        box: dict[str, Any] = {"boxstyle": "round", "facecolor": "white", "edgecolor": "0.6"}
        if nodes.kind[place] == LEAF:
            best = labels[place]
            text = f"{model.classes_[best]}\n{tree.counts[place].sum():g}"
            # Purer leaves have stronger colours.
            box["facecolor"] = (*colours[best, :3], 0.15 + 0.6 * shares[place, best])
        else:
            text = question_text(tree, place, names, decimals, most=3)
        ax.text(across[place], -depths[place], text, ha="center", va="center", fontsize=8, bbox=box)
    ax.set(xlim=(across.min() - 0.7, across.max() + 0.7), ylim=(-depths.max() - 0.6, 0.6))
    ax.axis("off")
    return ax


def _places(kind: Any, left: Any) -> Any:
    """Return horizontal positions: leaves from left to right, other nodes halfway between their children."""
    across = np.zeros(len(kind))
    stack, n_leaves = [0], 0
    while stack:
        node = stack.pop()
        if kind[node] == LEAF:
            across[node] = n_leaves
            n_leaves += 1
        else:
            stack += [left[node] + 1, left[node]]
    for node in np.flatnonzero(kind != LEAF)[::-1]:
        across[node] = across[left[node] + np.arange(2)].mean()
    return across
