"""Draw the pictures of the pages on choosing a code, a learner and a decoder, from docs/published/defaults.jsonl.

python docs/choosing.py

The experiment measures every learner, code and decoder with their defaults on the papers' data sets; `make reproduce
ARGS=defaults` repeats it.
"""

import json
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

HERE = Path(__file__).parent
CODES = ["one-vs-all", "all-pairs", "dense", "sparse"]
DECODERS = {"hamming": "Hamming", "loss": "loss of the learner", "linear": "linear", "likelihood": "likelihood"}
COLOURS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7"]
MARKERS = "osD^"


def measured():
    """Return the units of the experiment: data set, learner, and errors in % by code and decoder."""
    lines = [json.loads(line) for line in (HERE / "published" / "defaults.jsonl").read_text().splitlines()[1:]]
    return [
        (
            line["unit"]["learner"],
            {
                code: {decoder: 100 * wrong / line["found"]["tested"] for decoder, wrong in own.items()}
                for code, own in line["found"]["wrong"].items()
            },
            line["found"]["fit_seconds"],
        )
        for line in lines
        if "unit" in line
    ]


def means(units, value):
    """Return the learners, by their mean, and the mean of a value of each."""
    learners = list(dict.fromkeys(learner for learner, _, _ in units))
    found = {one: np.mean([value(*unit) for unit in units if unit[0] == one], axis=0) for one in learners}
    return sorted(learners, key=lambda one: -np.min(found[one])), found


def dots(units, value, names, xlabel):
    """Draw a row of dots per learner."""
    learners, found = means(units, value)
    figure, ax = plt.subplots(figsize=(7.5, 4.2), layout="constrained")
    for at, (name, colour, marker) in enumerate(zip(names, COLOURS, MARKERS, strict=True)):
        # Beside each other, as equal ones would hide each other.
        heights = np.arange(len(learners)) + 0.18 * ((len(names) - 1) / 2 - at)
        ax.plot([found[one][at] for one in learners], heights, marker, color=colour, label=name, markersize=8)
    ax.grid(axis="y", color="0.9")
    ax.set(xlabel=xlabel, yticks=range(len(learners)), yticklabels=learners)
    ax.legend()
    return figure


def draw():
    """Return the three pictures by their names."""
    units = measured()
    figure, ax = plt.subplots(figsize=(7.5, 4.2), layout="constrained")
    learners, error = means(units, lambda _, wrong, seconds: wrong["all-pairs"]["loss"])
    seconds = means(units, lambda _, wrong, seconds: seconds["all-pairs"])[1]
    for one in learners:
        ax.scatter(seconds[one], error[one], color=COLOURS[0])
        ax.annotate(one, (seconds[one], error[one]), xytext=(6, 4), textcoords="offset points")
    ax.set(xscale="log", xlabel="mean seconds of training, all pairs", ylabel="mean test error, %")
    ax.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    ax.xaxis.set_major_formatter(FuncFormatter(lambda seconds, _: f"{seconds:g}"))
    ax.xaxis.set_minor_formatter(NullFormatter())
    ax.margins(0.15)
    return {
        "choose-a-code": dots(
            units,
            lambda _, wrong, seconds: [wrong[code]["loss"] for code in CODES],
            CODES,
            "mean test error over the data sets, %, decoded by the loss of the learner",
        ),
        "choose-a-learner": figure,
        "choose-a-decoder": dots(
            units,
            lambda _, wrong, seconds: [wrong["dense"][decoder] for decoder in DECODERS],
            DECODERS.values(),
            "mean test error over the data sets, %, under a dense code",
        ),
    }


if __name__ == "__main__":
    plt.rcParams["svg.hashsalt"] = "outputcodes"
    for name, picture in draw().items():
        picture.savefig(HERE / f"{name}.svg", metadata={"Date": None})
        print(f"{name}.svg")
