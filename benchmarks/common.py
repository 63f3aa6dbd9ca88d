"""Shared helpers of the benchmarks: interleaved runs, medians, and the data files behind the tables."""

from __future__ import annotations

import json
import os
import platform
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import sklearn

from outputcodes.app import in_place_of

RESULTS = Path(__file__).parent / "results"
# The published experiments are not part of the installed package: benchmarks import `reproduce` from the repository.
sys.path.append(str(Path(__file__).parents[1]))


def interleaved(contenders: dict[str, Callable[[], Any]], repeats: int) -> tuple[dict[str, float], dict[str, Any]]:
    """Return median seconds and last result of each contender, run in turn `repeats` times."""
    seconds: dict[str, list[float]] = {name: [] for name in contenders}
    answers: dict[str, Any] = {}
    for _ in range(repeats):
        for name, run in contenders.items():
            start = time.perf_counter()
            answers[name] = run()
            seconds[name].append(time.perf_counter() - start)
    return {name: statistics.median(times) for name, times in seconds.items()}, answers


def save(name: str, rows: list[dict[str, Any]]) -> None:
    """Write the rows and a description of the machine, first to a temporary file."""
    RESULTS.mkdir(exist_ok=True)
    machine = {
        "cores": os.cpu_count(),
        "machine": platform.machine(),
        "python": platform.python_version(),
        "numpy": np.__version__,
        "scikit-learn": sklearn.__version__,
    }
    with in_place_of(RESULTS / f"{name}.json") as part:
        part.write_text(json.dumps({"machine": machine, "rows": rows}, indent=1) + "\n")


def print_table(rows: list[dict[str, Any]]) -> None:
    """Print rows as a Markdown table, ready for RESULTS.md."""
    names = list(rows[0])
    print("| " + " | ".join(names) + " |")
    print("| " + " | ".join("---" for _ in names) + " |")
    for row in rows:
        print("| " + " | ".join(f"{v:.3g}" if isinstance(v, float) else str(v) for v in row.values()) + " |")


def load(name: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Load a data set from the directory OUTPUTCODES_DATA: features, labels 0..k-1, and the mask of training rows."""
    import pandas as pd

    folder = os.environ.get("OUTPUTCODES_DATA")
    if not folder:
        raise SystemExit("Set OUTPUTCODES_DATA to the directory of the data sets to run this benchmark.")
    frame = pd.read_csv(Path(folder) / f"{name}.csv.gz", dtype={"target": str})
    train = frame["split"].to_numpy() == "train" if "split" in frame else np.ones(len(frame), dtype=bool)
    features = frame.drop(columns=["split", "target"], errors="ignore")
    return features.to_numpy(), np.unique(frame["target"], return_inverse=True)[1], train


def exponent(sizes: list[int], seconds: list[float]) -> float:
    """Return the slope of time over size on log axes."""
    return float(np.polyfit(np.log(sizes), np.log(seconds), 1)[0])
