"""Plots of margins over rounds with matplotlib."""

from __future__ import annotations

from typing import Any

import numpy as np

from outputcodes.diagnostics import MarginDistribution


def plot_margins(distribution: MarginDistribution, ax: Any = None) -> Any:
    """Draw the cumulative curves of the margins after each of the rounds, later ones darker, and return the Axes.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> stages = MarginDistribution(np.array([1, 10]), np.array([[-1.0, 1.0], [0.5, 2.0]]))
    >>> plot_margins(stages).get_legend_handles_labels()[1]
    ['1', '10']
    """
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError(
            'plot_margins needs matplotlib, which is not installed; run pip install "outputcodes[plot]"'
        ) from error
    if ax is None:
        ax = plt.figure(figsize=(6, 4), layout="constrained").add_subplot()
    n_curves, n = distribution.margins.shape
    colours = plt.get_cmap("viridis_r")(np.linspace(0.1, 1.0, n_curves))
    for t, margins, colour in zip(distribution.rounds, distribution.margins, colours, strict=True):
        # Start at 0 below the smallest margin, with a step of 1/n at each margin.
        ax.step(np.append(margins[0], margins), np.arange(n + 1) / n, where="post", color=colour, label=str(t))
    ax.axvline(0.0, color="0.7", linewidth=0.8, zorder=0, label="_zero")
    ax.set(xlabel="margin", ylabel="share of examples with at most this margin", ylim=(0, 1.02))
    if n_curves <= 12:
        ax.legend(title="rounds", frameon=False)
    return ax
