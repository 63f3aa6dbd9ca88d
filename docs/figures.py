"""Draw the figures of the documentation, docs/losses.svg and docs/codes.svg, with identical bytes on every run.

python docs/figures.py
"""

from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

from outputcodes import codes, losses

HERE = Path(__file__).parent

# Colours of Okabe and Ito, distinguishable for colour-blind readers: name -> (colour, dashes, position of the label).
# Drawn in this order: squared and squared hinge are equal up to z = 1, so the second is drawn dashed over the first.
STYLE = {
    "squared": ("#D55E00", "-", (1.7, 1.6)),
    "squared-hinge": ("#0072B2", (0, (4, 3)), (-0.92, 4.05)),
    "exponential": ("#009E73", "-", (0.58, 0.68)),
    "logistic": ("#CC79A7", "-", (-2.45, 3.86)),
    "hinge": ("#000000", "-", (-2.45, 2.92)),
    "linear": ("#56B4E9", "-", (-2.45, 1.76)),
    "randomised": ("#E69F00", "-", (-2.45, 0.6)),
    "hamming": ("#6E6E6E", (0, (1, 1)), (-2.45, 1.1)),
}


def draw_losses() -> plt.Figure:
    """Draw all margin losses as functions of the margin z, with labels at the curves."""
    assert STYLE.keys() == losses.LOSSES.keys()
    figure, ax = plt.subplots(figsize=(7.5, 5), layout="constrained")
    z = np.linspace(-2.5, 2.5, 1001)
    for name, (colour, dashes, place) in STYLE.items():
        loss = losses.as_loss(name)
        value = loss(z)
        if name == "hamming":  # a step function: leave a gap at the jump and mark L(0)
            value[z == 0] = np.nan
            ax.plot(0, loss.at_zero, "o", color=colour, markersize=4)
        ax.plot(z, value, color=colour, linestyle=dashes, linewidth=2)
        ax.annotate(name.replace("-", " "), place, color=colour, fontweight="bold")
    ax.axvline(0, color="0.85", linewidth=1, zorder=0)
    ax.axhline(0, color="0.85", linewidth=1, zorder=0)
    ax.set(xlim=(-2.5, 2.5), ylim=(-2.6, 5.6), xlabel="margin  z = y f(x)", ylabel="loss  L(z)")
    ax.spines[["top", "right"]].set_visible(False)
    return figure


def draw_codes() -> plt.Figure:
    """Draw three codes for ten classes."""
    named = {
        "one-vs-all": codes.OneVsAll(),
        "all-pairs": codes.AllPairs(),
        "dense": codes.Dense(),
    }
    figure, axes = plt.subplots(3, 1, figsize=(9, 7), layout="constrained")
    for ax, (name, code) in zip(axes, named.items(), strict=True):
        M = code.draw(10, random_state=0).matrix()
        codes.plot(M, ax=ax)
        ax.set_aspect("equal")
        ax.set_anchor("W")
        ax.set_title(f"{name}: {M.shape[1]} columns, rho = {codes.min_distance(M):g}", loc="left", fontsize=11)
    return figure


def main() -> None:
    """Write both figures next to this file."""
    plt.rcParams.update({"svg.hashsalt": "outputcodes", "svg.fonttype": "path", "font.size": 10})
    for name, figure in (("losses", draw_losses()), ("codes", draw_codes())):
        figure.savefig(HERE / f"{name}.svg", metadata={"Date": None, "Creator": None})
        plt.close(figure)


if __name__ == "__main__":
    main()
