"""Where tree codes lose, and what other learners need with many classes.

    OUTPUTCODES_DATA=... python benchmarks/where_trees_lose.py [dense] [learners] [--quick]

`dense`: tree codes on few features with dense values, against one-vs-all and nearest centroids. Drawn characters are
made here: a class is a prototype of a few strokes, its rows are drawn with shaking hands. `learners`: Ridge, logistic
regression and a multiclass SVM with the classes of icd10, each in a process of its own on one core, with C and alpha as
given below.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from common import QUICK, WORDS, print_table, read, save
from many_classes import texts, write
from scipy.ndimage import gaussian_filter
from sklearn.preprocessing import StandardScaler

from outputcodes import MulticlassSVC, OutputCodeClassifier
from outputcodes.codes import Tree
from outputcodes.direct import NearestCentroids
from outputcodes.learners import LinearSVM, Logistic, Ridge

SIDE, STROKES = 20, 7
SETS = ("letter", "isolet", "mnist", "characters")
MOST_ROWS = 10_000
LEARNERS: dict[str, Any] = {
    "Ridge, one-vs-all": lambda: OutputCodeClassifier(Ridge(alpha=1.0), code="one-vs-all", random_state=0),
    "Logistic, one-vs-all": lambda: OutputCodeClassifier(Logistic(C=10.0), code="one-vs-all", random_state=0),
    # Solved more closely, it takes longer and predicts the same.
    "MulticlassSVC, linear, tol=0.1": lambda: MulticlassSVC("linear", C=1.0, tol=0.1),
    "LinearSVM, one-vs-all": lambda: OutputCodeClassifier(LinearSVM(C=10.0), code="one-vs-all", random_state=0),
    "NearestCentroids": NearestCentroids,
}


def characters(k: int, rows: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Return images (k·rows, SIDE²) of k made-up characters, and their classes.

    A character is STROKES straight strokes; a row shifts it, shakes the ends of its strokes, and adds noise.
    """
    rng = np.random.default_rng(seed)
    ends = rng.uniform(2, SIDE - 3, (k, 1, STROKES, 2, 2))
    hands = ends + rng.normal(scale=0.6, size=(k, rows, STROKES, 2, 2)) + rng.normal(scale=0.5, size=(k, rows, 1, 1, 2))
    along = np.linspace(0, 1, 2 * SIDE)[:, None]
    images = np.zeros((k * rows, SIDE, SIDE))
    for image, strokes in zip(images, hands.reshape(k * rows, STROKES, 2, 2), strict=True):
        for first, last in strokes:
            at = np.clip(np.rint(first + along * (last - first)), 0, SIDE - 1).astype(int)
            image[at[:, 0], at[:, 1]] = 1
    blurred = gaussian_filter(images, sigma=(0, 0.7, 0.7)) + rng.normal(scale=0.05, size=images.shape)
    return blurred.reshape(k * rows, -1), np.repeat(np.arange(k), rows)


def dense_set(name: str) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return training rows and test rows with numbers as features, and their classes; the features are standardised."""
    if name == "characters":
        X, y = characters(50 if QUICK else 600, 15)
        train = np.arange(len(y)) % 15 < 10
    else:
        frame = read(name)
        y = np.unique(frame.target, return_inverse=True)[1]
        train = (frame.split == "train").to_numpy()
        X = frame.drop(columns=["target", "split"]).to_numpy(dtype=np.float64)
        kept = np.random.default_rng(0).permutation(np.flatnonzero(train))[: 500 if QUICK else MOST_ROWS]
        train, tested = np.zeros(len(y), dtype=bool), ~train
        train[kept] = True
        X, y, train = X[train | tested], y[train | tested], train[train | tested]
    scaler = StandardScaler().fit(X[train])
    return scaler.transform(X[train]), y[train], scaler.transform(X[~train]), y[~train]


def measure_dense() -> None:
    """Compare tree codes with one-vs-all and nearest centroids on dense rows of few features."""
    rows = []
    for name in SETS:
        X, y, X_test, truth = dense_set(name)
        k = len(np.unique(y))
        # A tree over few classes needs small nodes to be a tree at all.
        tree = Tree() if k > 200 else Tree(arity=5, leaf_size=6)
        systems = {
            "tree, LinearSVM": OutputCodeClassifier(LinearSVM(), code=tree, random_state=0),
            "tree, Ridge": OutputCodeClassifier(Ridge(), code=tree, random_state=0),
            "one-vs-all, LinearSVM": OutputCodeClassifier(LinearSVM(), code="one-vs-all", random_state=0),
            "one-vs-all, Ridge": OutputCodeClassifier(Ridge(), code="one-vs-all", random_state=0),
            "nearest centroid": NearestCentroids(),
        }
        row: dict[str, Any] = {"data": name, "classes": k, "features": X.shape[1], "training rows": len(y)}
        if k > 200:
            del systems["one-vs-all, LinearSVM"]  # minutes on dense rows, a column per class
        for system, model in systems.items():
            start = time.process_time()
            accuracy = 100 * float(np.mean(model.fit(X, y).predict(X_test) == truth))
            row[system] = accuracy
            print(name, system, f"{accuracy:.1f} %, {time.process_time() - start:.1f} CPU s", flush=True)
        rows.append(row)
    print_table(rows)
    save("where_trees_lose_dense", rows)


def measure_one(system: str, folder: Path) -> dict[str, Any]:
    """Fit and predict on one core, and return what a row of the table says about it."""
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    X, X_test = (sp.load_npz(folder / f"{part}.npz") for part in ("train", "test"))
    labels = np.load(folder / "labels.npz")
    few = np.flatnonzero(labels["train"] < 8)
    LEARNERS[system]().fit(X[few], labels["train"][few]).predict(X_test[:50])  # compile or load before timing
    start, busy = time.perf_counter(), time.process_time()
    model = LEARNERS[system]().fit(X, labels["train"])
    trained, busy = time.perf_counter(), time.process_time() - busy
    accuracy = 100 * float(np.mean(model.predict(X_test) == labels["test"]))
    done = time.perf_counter()
    return {
        "accuracy %": accuracy,
        "fit s": trained - start,
        "fit CPU s": busy,
        "µs per row": 1e6 * (done - trained) / len(labels["test"]),
        "peak GB": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6,
    }


def measure_learners() -> None:
    """Measure learners that had no way to so many classes before."""
    rows = []
    with tempfile.TemporaryDirectory() as place:
        write(Path(place), *texts("icd10"))
        for system in LEARNERS:
            single = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
            command = [sys.executable, __file__, "measure", system, place]
            done = subprocess.run(command, env=os.environ | single, capture_output=True, text=True, check=False)
            if done.returncode:
                raise SystemExit(f"{system} failed: {done.stderr[-2000:]}")
            rows.append({"system": system, **json.loads(done.stdout.splitlines()[-1])})
            print(rows[-1], flush=True)
    print_table(rows)
    save("where_trees_lose_learners", rows)


def main() -> None:
    if WORDS[:1] == ["measure"]:
        print(json.dumps(measure_one(WORDS[1], Path(WORDS[2]))))
        return
    for part in WORDS or ["dense", "learners"]:
        {"dense": measure_dense, "learners": measure_learners}[part]()


if __name__ == "__main__":
    main()
