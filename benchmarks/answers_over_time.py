"""What the race says of itself, and how its answer improves with time: uses and adds to the files of answers.py.

    OUTPUTCODES_DATA=<folder> python benchmarks/answers_over_time.py [honest] [anytime] [--seconds 60] [--quick]

- honest: ten sets, a third of each drawn for the test, whatever their given split; the error that the winner reports
  beside that of the test rows, and their difference in standard errors of the difference. About ten minutes.
- anytime: the test error of what the race and FLAML return after 5, 10, 30, 60 and 120 seconds, each a run of its own,
  on six sets; drawn into docs/anytime.svg. About 45 minutes, less what answers.py has run already.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
from answers import AT_RANDOM, SHORT_SETS, known, run_all
from common import QUICK, ROOT, WORDS, print_table, save

HONEST_SETS = (
    *("satimage", "segmentation", "pendigits", "yeast", "vowel", "letter", "anneal", "optdigits", "vehicle"),
    "shuttle",
)
LIMITS = (5.0, 10.0, 30.0, 60.0, 120.0)
DRAWN = {"ours": ("#0072B2", "-", "o"), "FLAML": ("#D55E00", (0, (4, 3)), "s")}


def honest(sets: tuple[str, ...], seconds: float) -> list[dict[str, Any]]:
    """Return the reported error and that of the test rows; in the last row, how often they agree."""
    named = [name + AT_RANDOM for name in sets]
    run_all(named, ["ours"], seconds)
    rows: list[dict[str, Any]] = []
    for name in named:
        found = known(name, "ours", seconds)
        if found is None or found["error"] is None:
            continue
        low, high = found["interval"]
        # Of the test error, that of a share; of the reported one, what its interval says.
        own = np.sqrt(max(found["error"] * (1 - found["error"]), 1e-12) / found["tested"])
        reported = max(high - found["reported"], found["reported"] - low) / 1.96
        away = (found["reported"] - found["error"]) / np.hypot(own, reported)
        rows.append(
            {
                "data": name.removesuffix(AT_RANDOM),
                "rows": found["rows"],
                "s": found["seconds"],
                "reported %": 100 * found["reported"],
                "test %": 100 * found["error"],
                "standard error": 100 * float(np.hypot(own, reported)),
                "away": float(away),
                "within two": bool(abs(away) <= 2),
            }
        )
    return rows


def anytime(sets: tuple[str, ...], limits: tuple[float, ...]) -> list[dict[str, Any]]:
    """Return the test errors after each limit."""
    for limit in limits:
        run_all(sets, list(DRAWN), limit)
    rows = []
    for name in sets:
        for system in DRAWN:
            row: dict[str, Any] = {"data": name, "system": system}
            for limit in limits:
                found = known(name, system, limit)
                row[f"{limit:g} s"] = None if found is None or found["error"] is None else 100 * found["error"]
            rows.append(row)
    return rows


def draw(rows: list[dict[str, Any]], path: Any) -> None:
    """Draw a panel for each data set: errors over seconds, both on log scales."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
    from matplotlib.ticker import MaxNLocator, NullFormatter, ScalarFormatter

    plt.rcParams.update({"svg.hashsalt": "outputcodes", "svg.fonttype": "path", "font.size": 9})
    sets = list(dict.fromkeys(row["data"] for row in rows))
    across = min(3, len(sets))
    down = -(-len(sets) // across)
    figure, axes = plt.subplots(down, across, figsize=(3.1 * across, 2.6 * down), layout="constrained", squeeze=False)
    for ax, name in zip(axes.ravel(), sets, strict=False):
        for row in (row for row in rows if row["data"] == name):
            colour, dashes, marker = DRAWN[row["system"]]
            points = [(float(key[:-2]), row[key]) for key in row if key.endswith(" s") and row[key] is not None]
            if points:
                ax.plot(*zip(*points, strict=True), color=colour, ls=dashes, marker=marker, ms=4, label=row["system"])
        ax.set(title=name, xscale="log", yscale="log")
        ax.xaxis.set_major_locator(plt.FixedLocator([5, 10, 30, 60, 120]))
        ax.yaxis.set_major_locator(MaxNLocator(6, steps=(1, 2, 5, 10)))
        for axis in (ax.xaxis, ax.yaxis):
            axis.set_major_formatter(ScalarFormatter())
            axis.set_minor_formatter(NullFormatter())
        ax.spines[["top", "right"]].set_visible(False)
    for ax in axes[-1]:
        ax.set_xlabel("seconds")
    for ax in axes[:, 0]:
        ax.set_ylabel("test error, %")
    axes[0, 0].legend(frameon=False)
    figure.savefig(path, metadata={"Date": None, "Creator": None})
    plt.close(figure)


def main() -> None:
    words, seconds = list(WORDS), 60.0
    if "--seconds" in words:
        at = words.index("--seconds")
        seconds = float(words[at + 1])
        del words[at : at + 2]
    if unknown := [word for word in words if word not in ("honest", "anytime")]:
        sys.exit(f"Unknown: {', '.join(unknown)}. The parts are honest and anytime.")
    few = ("vehicle",)
    if not words or "honest" in words:
        rows = honest(few if QUICK else HONEST_SETS, 5.0 if QUICK else seconds)
        print_table(rows)
        save("answers_honest", rows)
    if not words or "anytime" in words:
        rows = anytime(few if QUICK else SHORT_SETS, (5.0,) if QUICK else LIMITS)
        print_table(rows)
        save("answers_anytime", rows)
        draw(rows, ROOT / ("build/anytime.svg" if QUICK else "docs/anytime.svg"))


if __name__ == "__main__":
    main()
