"""napkinXC and omikuji for many_classes.py, in a Python of their own: outputcodes is not imported here.

python benchmarks/many_classes_peers.py system folder

Reads train.npz, test.npz and labels.npz of the folder, and prints a JSON object.
"""

from __future__ import annotations

import json
import os
import resource
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp


def napkinxc(folder: Path, X: Any, y: np.ndarray, X_test: Any) -> tuple[Callable[[], Any], Callable[[], Any], Path]:
    from napkinxc.models import HSM

    # Its own defaults, with as many classes in a leaf as ours.
    model = HSM(str(folder / "napkinxc"), threads=1, seed=0, max_leaves=100)
    labels = y.tolist()

    def predict() -> np.ndarray:
        return np.array([found[0] if len(found) else -1 for found in model.predict(X_test, top_k=1)])

    return lambda: model.fit(X, labels), predict, folder / "napkinxc"


def omikuji(folder: Path, X: Any, y: np.ndarray, X_test: Any) -> tuple[Callable[[], Any], Callable[[], Any], Path]:
    import omikuji as package

    with (folder / "train.txt").open("w") as file:
        file.write(f"{X.shape[0]} {X.shape[1]} {y.max() + 1}\n")
        for i in range(X.shape[0]):
            own = slice(X.indptr[i], X.indptr[i + 1])
            pairs = " ".join(f"{j}:{v:.6g}" for j, v in zip(X.indices[own], X.data[own], strict=True))
            file.write(f"{y[i]} {pairs}\n")
    parameters = package.Model.default_hyper_param()
    kept: dict[str, Any] = {}

    def fit() -> None:
        # Reading the text is part of the call; it takes a small part of the time.
        kept["model"] = package.Model.train_on_data(str(folder / "train.txt"), parameters, n_threads=1)

    def predict() -> np.ndarray:
        best = []
        for i in range(X_test.shape[0]):
            own = slice(X_test.indptr[i], X_test.indptr[i + 1])
            pairs = list(zip(X_test.indices[own].tolist(), X_test.data[own].tolist(), strict=True))
            found = kept["model"].predict(pairs, top_k=1)
            best.append(found[0][0] if found else -1)
        kept["model"].save(str(folder / "omikuji"))
        return np.array(best)

    return fit, predict, folder / "omikuji"


def size_of(path: Path) -> int:
    return sum(file.stat().st_size for file in path.rglob("*") if file.is_file())


def main() -> None:
    system, folder = sys.argv[1], Path(sys.argv[2])
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    X, X_test = (sp.csr_matrix(sp.load_npz(folder / f"{part}.npz")) for part in ("train", "test"))
    labels = np.load(folder / "labels.npz")
    fit, predict, files = {"napkinXC HSM": napkinxc, "omikuji": omikuji}[system](folder, X, labels["train"], X_test)
    start, busy = time.perf_counter(), time.process_time()
    fit()
    fitted, busy = time.perf_counter(), time.process_time() - busy
    best = predict()
    done = time.perf_counter()
    print(
        json.dumps(
            {
                "accuracy %": 100 * float(np.mean(best == labels["test"])),
                "fit s": fitted - start,
                "fit CPU s": busy,
                "model MB": size_of(files) / 1e6,
                "µs per row": 1e6 * (done - fitted) / len(best),
                "peak GB": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6,
            }
        )
    )


if __name__ == "__main__":
    main()
