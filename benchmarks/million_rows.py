"""Read a csv file of 1,000,000 rows × 20 columns, train stumps with a dense code and predict, within 6 GB.

python benchmarks/million_rows.py [rows] [--quick]
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd
from common import QUICK, WORDS, print_table, save

FEATURES, CLASSES, CHUNK, LIMIT_GB = 20, 6, 100_000, 6.0
COMMAND = [sys.executable, "-c", "from outputcodes.app.cli import main; main()"]


def write(path: Path, rows: int) -> None:
    """Write classes around random centres, chunk by chunk."""
    rng = np.random.default_rng(0)
    centres = rng.standard_normal((CLASSES, FEATURES))
    names = [f"x{f}" for f in range(FEATURES)]
    for first in range(0, rows, CHUNK):
        y = rng.integers(CLASSES, size=min(CHUNK, rows - first))
        frame = pd.DataFrame(centres[y] + 2 * rng.standard_normal((len(y), FEATURES)), columns=names)
        frame["class"] = np.array(list("abcdef"))[y]
        frame.to_csv(path, mode="w" if first == 0 else "a", header=first == 0, index=False, float_format="%.5g")


def measured(step: str, words: list[str]) -> dict[str, object]:
    start = time.perf_counter()
    process = subprocess.Popen([*COMMAND, *words])
    _, status, usage = os.wait4(process.pid, 0)
    seconds, peak = time.perf_counter() - start, usage.ru_maxrss / 2**20
    assert status == 0, f"{step} ended with status {status}"
    assert peak < LIMIT_GB, f"{step} used {peak:.2f} GB"
    return {"step": step, "seconds": round(seconds, 1), "peak, GB": round(peak, 2)}


def main(rows: int) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        data, model, out = (str(folder / file) for file in ("data.csv", "model.skops", "predictions.csv"))
        write(Path(data), rows)
        fit = [
            "fit",
            data,
            "--target",
            "class",
            "--learner",
            "stumps",
            "--code",
            "dense",
            "--jobs",
            "2",
            "--out",
            model,
        ]
        table = [measured("fit", fit), measured("predict", ["predict", model, data, "--out", out])]
        truth = pd.read_csv(data, usecols=["class"])["class"]
        wrong = float(np.mean(pd.read_csv(out)["prediction"] != truth))
        size = Path(data).stat().st_size / 2**20
    print_table(table)
    whole = {"rows": rows, "columns": FEATURES, "csv MB": round(size), "training error %": 100 * wrong}
    print_table([whole])
    save("million_rows", [*table, whole])


if __name__ == "__main__":
    main(int(WORDS[0]) if WORDS else 20_000 if QUICK else 1_000_000)
