"""Plots of codes with matplotlib."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from outputcodes.codes._picture import MINUS_COLOUR, PLUS_COLOUR
from outputcodes.codes.base import as_entries


def plot(M: ArrayLike, ax: Any = None, class_names: Sequence[Any] | None = None) -> Any:
    """Plot the code, with one row per class and one column per binary problem; return the matplotlib Axes.

    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> plot([[1, -1], [-1, 1], [0, -1]], class_names=["cat", "dog", "owl"]).get_ylabel()
    'class'
    """
    try:
        import matplotlib.pyplot as plt
        from matplotlib.colors import ListedColormap
        from matplotlib.patches import Patch
        from matplotlib.ticker import MaxNLocator
    except ImportError as error:
        raise ImportError('plot needs matplotlib, which is not installed: pip install "outputcodes[plot]"') from error
    entries = as_entries(M)
    k, L = entries.shape
    names = range(k) if class_names is None else class_names
    if len(names) != k:
        raise ValueError(f"class_names must have {k} names, one per row, got {len(names)}.")
    if ax is None:
        size = (min(14, max(4, 0.22 * L + 1.5)), min(10, max(2, 0.22 * k + 1)))
        ax = plt.figure(figsize=size, layout="constrained").add_subplot()
    colours = {-1: MINUS_COLOUR, 0: "white", 1: PLUS_COLOUR}
    palette = ListedColormap(list(colours.values()))
    ax.imshow(entries, cmap=palette, vmin=-1, vmax=1, aspect="auto", interpolation="none")
    if k <= 60 and L <= 200:  # thin lines between the cells, while there is room for them
        ax.set_xticks(np.arange(L - 1) + 0.5, minor=True)
        ax.set_yticks(np.arange(k - 1) + 0.5, minor=True)
        ax.grid(which="minor", color="0.85", linewidth=0.4)
        ax.tick_params(which="minor", length=0)
    if k <= 40:
        ax.set_yticks(np.arange(k), labels=[str(name) for name in names])
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    ax.set(xlabel="column", ylabel="class")
    handles = [
        Patch(facecolor=colours[entry], edgecolor="0.6", label=f"{entry:+d}" if entry else "0")
        for entry in (1, 0, -1)
        if entry in entries
    ]
    ax.legend(handles=handles, loc="upper left", bbox_to_anchor=(1.01, 1), frameon=False, borderaxespad=0)
    return ax
