"""Shared helpers of the benchmarks: interleaved runs, medians, quick trials, and the results files behind the tables.

Every script takes `--quick`: a trial on a few rows, whose results go to build/benchmarks and leave the others alone.
"""

from __future__ import annotations

import json
import os
import platform
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import sklearn

from outputcodes.app import in_place_of

ROOT = Path(__file__).parents[1]
# The published experiments are not part of the installed package: benchmarks import `reproduce` from the repository.
sys.path.append(str(ROOT))

QUICK = "--quick" in sys.argv
# What was given on the command line besides --quick.
WORDS = [word for word in sys.argv[1:] if word != "--quick"]
RESULTS = ROOT / "build" / "benchmarks" if QUICK else ROOT / "benchmarks" / "results"
QUICK_TRAIN, QUICK_TEST = 400, 200
# Read before the work begins: afterwards the load is that of the benchmark itself.
STARTED, LOAD = time.perf_counter(), os.getloadavg()[0]


def interleaved(contenders: dict[str, Callable[[], Any]], repeats: int) -> tuple[dict[str, float], dict[str, Any]]:
    """Return median seconds and last result of each contender, run in turn `repeats` times."""
    seconds: dict[str, list[float]] = {name: [] for name in contenders}
    answers: dict[str, Any] = {}
    for _ in range(1 if QUICK else repeats):
        for name, run in contenders.items():
            start = time.perf_counter()
            answers[name] = run()
            seconds[name].append(time.perf_counter() - start)
    return {name: statistics.median(times) for name, times in seconds.items()}, answers


def code_version(script: Path) -> str:
    """Return the commit that last changed the library or this script, with a + if there are uncommitted changes.

    Set OUTPUTCODES_COMMIT for a copy of the files without the repository.
    """
    if told := os.environ.get("OUTPUTCODES_COMMIT"):
        return told
    paths = ["src", "benchmarks/common.py", str(script)]

    def git(*words: str) -> str:
        return subprocess.check_output(["git", *words, "--", *paths], cwd=ROOT, text=True, stderr=subprocess.DEVNULL)

    try:
        return git("log", "-1", "--format=%h").strip() + ("+" if git("status", "--porcelain").strip() else "")
    except (OSError, subprocess.CalledProcessError):
        return "unknown"


def commit_of(folder: Path) -> str:
    """Return the commit that is checked out in a folder, or the folder's name if it is no checkout."""
    try:
        return subprocess.check_output(["git", "rev-parse", "--short", "HEAD"], cwd=folder, text=True).strip()
    except (OSError, subprocess.CalledProcessError):
        return folder.name


def save(name: str, rows: list[dict[str, Any]]) -> None:
    """Write the rows, the machine, and when and from which commit they come, first to a temporary file."""
    RESULTS.mkdir(exist_ok=True, parents=True)
    machine = {
        "cores": os.cpu_count(),
        "machine": platform.machine(),
        "python": platform.python_version(),
        "numpy": np.__version__,
        "scikit-learn": sklearn.__version__,
    }
    run = {
        "commit": code_version(Path(sys.argv[0]).resolve()),
        "date": datetime.now(UTC).strftime("%Y-%m-%d"),
        "load average before": round(LOAD, 2),
        "minutes": round((time.perf_counter() - STARTED) / 60, 2),
    }
    with in_place_of(RESULTS / f"{name}.json") as part:
        part.write_text(json.dumps({"machine": machine, "run": run, "rows": rows}, indent=1) + "\n")


def print_table(rows: list[dict[str, Any]]) -> None:
    """Print rows as a Markdown table."""
    names = list(rows[0])
    print("| " + " | ".join(names) + " |")
    print("| " + " | ".join("---" for _ in names) + " |")
    for row in rows:
        print("| " + " | ".join(f"{v:.3g}" if isinstance(v, float) else str(v) for v in row.values()) + " |")


def load(name: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Load a data set from the directory OUTPUTCODES_DATA: features, labels 0..k-1, and the mask of training rows."""
    frame = read(name)
    train = frame["split"].to_numpy() == "train" if "split" in frame else np.ones(len(frame), dtype=bool)
    features = frame.drop(columns=["split", "target"], errors="ignore")
    X, y = features.to_numpy(), np.unique(frame["target"], return_inverse=True)[1]
    if QUICK:
        kept = np.concatenate([_few(y, train, QUICK_TRAIN), _few(y, ~train, QUICK_TEST)])
        X, y, train = X[kept], y[kept], train[kept]
    return X, y, train


def read(name: str) -> Any:
    """Read a data set of OUTPUTCODES_DATA as a data frame, with the labels as text."""
    import pandas as pd

    folder = os.environ.get("OUTPUTCODES_DATA")
    if not folder:
        raise SystemExit("Set OUTPUTCODES_DATA to the directory of the data sets to run this benchmark.")
    return pd.read_csv(Path(folder) / f"{name}.csv.gz", dtype={"target": str})


def _few(y: np.ndarray, among: np.ndarray, most: int) -> np.ndarray:
    """Return at most so many rows of a mask, the classes taking turns."""
    rows = np.flatnonzero(among)
    turn = np.empty(len(rows), dtype=int)
    for r in np.unique(y[rows]):
        own = y[rows] == r
        turn[own] = np.arange(np.count_nonzero(own))
    return np.sort(rows[np.argsort(turn, kind="stable")[:most]])


def exponent(sizes: list[int], seconds: list[float]) -> float:
    """Return the slope of time over size on log axes."""
    return float(np.polyfit(np.log(sizes), np.log(seconds), 1)[0])


def exponents(
    seconds: Callable[..., float], sizes: dict[str, list[int]], middle: dict[str, int]
) -> list[dict[str, float]]:
    """Return the exponent of each size, with the others at their middle."""
    return [
        {
            f"exponent of {name}": exponent(values, [seconds(**middle | {name: value}) for value in values])
            for name, values in sizes.items()
        }
    ]
