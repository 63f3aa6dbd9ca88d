"""Compare tree codes and one-vs-all of many classes with napkinXC and omikuji, on one core.

    OUTPUTCODES_DATA=... OUTPUTCODES_PEERS=... python benchmarks/many_classes.py [part ...] [--quick]

Parts are icd10, debian-paths, k1e3, k1e4, k1e5, k1e5_5rows, k1e6, growth and choose; all by default.
OUTPUTCODES_PEERS is the Python of an environment with napkinxc, omikuji, numpy and scipy; without it the peers are left
out. Every measurement is a process of its own on one core. All systems get the same tf-idf matrix, which is not timed;
building the tree is. C, and the nodes of three trees, were chosen on held-out tenths of the training rows: `choose`
shows the accuracies there. The synthetic data of hidden_tree.py, beside the data sets, have a hidden tree of classes.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from common import QUICK, RESULTS, WORDS, exponent, print_table, read, save
from sklearn.feature_extraction.text import TfidfVectorizer

from outputcodes import OutputCodeClassifier
from outputcodes.app.persistence import save as save_model
from outputcodes.codes import Tree
from outputcodes.decoders import Beam
from outputcodes.learners import LinearSVM

HERE = Path(__file__).parent
TOKENS = {
    "icd10": {"ngram_range": (1, 2)},
    "debian-paths": {"token_pattern": r"[^/._\-\s]+", "min_df": 2},
}
CHOSEN_C = {"icd10": 10.0, "debian-paths": 3.0, "synthetic": 10.0}
# Tenths of the training rows that are held out, one after the other, to choose.
SPLITS = 3
BEAM = {"icd10": 5, "debian-paths": 5, "synthetic": 10}
# Classes and rows per class of the synthetic data.
SYNTHETIC = {
    "k1e3": (1000, 3),
    "k1e4": (10_000, 3),
    "k1e5": (100_000, 3),
    "k1e5_5rows": (100_000, 5),
    "k1e6": (10**6, 3),
}
CODES = {
    "tree": lambda: Tree(),
    # Chosen as C was: several trees gain from smaller nodes, and are trained faster.
    "3 trees": lambda: Tree(arity=48, leaf_size=50, n_trees=3),
    "one-vs-all": lambda: "one-vs-all",
    # On held-out rows of 100,000 classes, random trees of this arity were better than k-means and than smaller ones.
    "random tree, arity 100": lambda: Tree(arity=100, method="random"),
}


def texts(name: str) -> tuple[Any, np.ndarray, Any, np.ndarray]:
    """Return tf-idf features and class numbers of the training and the test rows."""
    frame = read(name)
    if QUICK:
        frame = frame[frame.target.isin(np.unique(frame.target)[:40])]
    train = (frame.split == "train").to_numpy()
    words = TfidfVectorizer(sublinear_tf=True, dtype=np.float32, **TOKENS[name])
    text = frame.text.fillna("")
    X, X_test = words.fit_transform(text[train]), words.transform(text[~train])
    y = np.unique(frame.target, return_inverse=True)[1]
    return sp.csr_matrix(X), y[train], sp.csr_matrix(X_test), y[~train]


def synthetic(k: int, rows: int) -> tuple[Any, np.ndarray, Any, np.ndarray]:
    """Return the data of hidden_tree.py."""
    sys.path.append(os.environ["OUTPUTCODES_DATA"])
    made: tuple[Any, np.ndarray, Any, np.ndarray] = import_module("hidden_tree").make(k, rows)
    return made


def measure(data: str, code: str, folder: Path) -> dict[str, Any]:
    """Fit and predict on one core, and return what a row of the table says about it."""
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    X, X_test = (sp.load_npz(folder / f"{part}.npz") for part in ("train", "test"))
    labels = np.load(folder / "labels.npz")
    y, truth = labels["train"], labels["test"]

    def model() -> OutputCodeClassifier:
        learner, decoder = LinearSVM(C=CHOSEN_C[data]), Beam(BEAM[data])
        return OutputCodeClassifier(learner, code=CODES[code](), decoder=decoder, random_state=0)

    few = np.flatnonzero(y < 1200) if code == "one-vs-all" else np.arange(min(len(y), 3000))
    model().fit(X[few], y[few]).predict(X_test[:50])  # compile or load before timing
    start, busy = time.perf_counter(), time.process_time()
    fitted = model().fit(X, y)
    trained, busy = time.perf_counter(), time.process_time() - busy
    best = fitted.predict(X_test)
    done = time.perf_counter()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    columns, drawn = fitted.columns_.fitted, fitted.code_
    arrays = (columns.weights.data, columns.weights.indices, columns.weights.indptr, columns.intercept)
    row = {
        "accuracy %": 100 * float(np.mean(best == truth)),
        "fit s": trained - start,
        "fit CPU s": busy,
        "model MB": sum(array.nbytes for array in (*arrays, drawn.first, drawn.child)) / 1e6,
        "µs per row": 1e6 * (done - trained) / len(best),
        "peak GB": peak,
        "columns": drawn.shape[1],
        "median gap": float(np.median(columns.certificate.gap)),
        "weights dropped %": 100 * columns.pruned.dropped / (columns.pruned.dropped + columns.pruned.left),
    }
    if data != "synthetic":
        save_model(fitted, folder / "model.skops")
        row["file MB"] = (folder / "model.skops").stat().st_size / 1e6
    return row


def in_own_process(data: str, system: str, folder: Path) -> dict[str, Any] | None:
    """Measure one system in a new process; None if it is a peer that is not there."""
    single = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
    if system in CODES:
        command = [sys.executable, __file__, "measure", data, system, str(folder)]
    elif peers := os.environ.get("OUTPUTCODES_PEERS"):
        command = [peers, str(HERE / "many_classes_peers.py"), system, str(folder)]
    else:
        return None
    done = subprocess.run(command, env=os.environ | single, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{system} failed: {done.stderr[-2000:]}")
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def write(folder: Path, X: Any, y: np.ndarray, X_test: Any, truth: np.ndarray) -> None:
    """Write a sample for the processes that measure."""
    sp.save_npz(folder / "train.npz", X, compressed=False)
    sp.save_npz(folder / "test.npz", X_test, compressed=False)
    np.savez(folder / "labels.npz", train=y, test=truth)


def table_of(data: str, name: str, sample: Any, systems: list[str], **about: Any) -> list[dict[str, Any]]:
    """Measure some systems on the same sample."""
    rows = []
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        write(folder, *sample)
        for system in systems:
            found = in_own_process(data, system, folder)
            if found is not None:
                own = {"data": name, "k": len(np.unique(sample[1])), "system": system, **about}
                rows.append(own | {"C": CHOSEN_C[data] if system in CODES else None} | found)
                print(rows[-1], flush=True)
    return rows


def measure_texts(name: str) -> None:
    systems = ["tree", "3 trees", "one-vs-all", "napkinXC HSM", "omikuji"]
    rows = table_of(name, name, texts(name), ["tree", "3 trees"] if QUICK else systems)
    peer = [row["fit s"] for row in rows if row["system"] == "napkinXC HSM"]
    for row in rows:
        row["napkinXC fit / this"] = peer[0] / row["fit s"] if peer else None
    print_table([{key: row.get(key) for key in rows[0]} for row in rows])
    save(f"many_classes_{name.replace('-', '_')}", rows)


def measure_synthetic(part: str) -> None:
    k, per_class = SYNTHETIC[part]
    sample, about = synthetic(k // 100 if QUICK else k, per_class), {"rows per class": per_class}
    rows = table_of("synthetic", "synthetic", sample, ["random tree, arity 100"], **about)
    print_table(rows)
    save(f"many_classes_{part}", rows)


def measure_growth() -> None:
    """Write the exponents of growth in k, from the results with three rows per class."""
    files = [RESULTS / f"many_classes_{part}.json" for part, (_, rows) in SYNTHETIC.items() if rows == 3]
    rows = [json.loads(file.read_text())["rows"][0] for file in files]
    growth = [
        {"growth in k of": column, "exponent": exponent([row["k"] for row in rows], [row[column] for row in rows])}
        for column in ("fit s", "model MB", "µs per row", "peak GB")
    ]
    print_table(growth)
    save("many_classes_growth", growth)


def choose() -> None:
    """Write the mean accuracies of each C and of sizes of nodes on tenths of the training rows, which were held out."""
    rows = []
    for name in TOKENS:
        X, y, *_ = texts(name)
        tenths = [np.random.default_rng(seed).random(len(y)) < 0.1 for seed in range(SPLITS)]
        tried = [(C, Tree()) for C in (1.0, 3.0, 10.0)]
        tried += [(CHOSEN_C[name], Tree(*nodes, 3)) for nodes in ((64, 100), (64, 64), (48, 64), (48, 50), (32, 48))]
        for C, code in tried:
            start, found = time.process_time(), []
            for held_out in tenths:
                model = OutputCodeClassifier(LinearSVM(C=C), code=code, decoder=Beam(BEAM[name]), random_state=0)
                found.append(model.fit(X[~held_out], y[~held_out]).score(X[held_out], y[held_out]))
            row = {"data": name, "trees": code.n_trees, "arity": code.arity, "leaf size": code.leaf_size, "C": C}
            busy = (time.process_time() - start) / SPLITS
            rows.append(row | {"held-out accuracy %": 100 * float(np.mean(found)), "fit and score, CPU s": busy})
            print(rows[-1], flush=True)
    print_table(rows)
    save("many_classes_choose", rows)


def main() -> None:
    if WORDS[:1] == ["measure"]:
        data, code, folder = WORDS[1:]
        print(json.dumps(measure(data, code, Path(folder))))
        return
    for part in WORDS or [*TOKENS, *SYNTHETIC, "growth", "choose"]:
        if part in TOKENS:
            measure_texts(part)
        elif part in SYNTHETIC:
            measure_synthetic(part)
        else:
            {"growth": measure_growth, "choose": choose}[part]()


if __name__ == "__main__":
    main()
