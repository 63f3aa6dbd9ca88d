"""Train KernelSVM on a GPU: OutputCodeClassifier.fit as a user calls it, from float32 X in the host's memory.

    OUTPUTCODES_DATA=<folder> python benchmarks/gpu.py [part ...] [--quick]

The parts are sets, grid, large, shares and objectives. Seconds are the medians of the calls after the first; what the
first takes longer is compilation and the allocation of memory. `shares` has the time of each step beside its floor:
bytes at 4.3 TB/s, the copy bandwidth of an H200, and operations at 60 TFLOP/s in float64 and 400 in TF32.
"""

from __future__ import annotations

import statistics
import time
from collections import defaultdict

import cupy as cp
import numpy as np
from common import QUICK, WORDS, load, print_table, save
from sklearn.multiclass import OneVsRestClassifier
from sklearn.svm import SVC

from outputcodes import OutputCodeClassifier

# Private names: the steps are timed one by one.
from outputcodes._kernel_machines.device import backend, cuda
from outputcodes.learners import KernelSVM

REPEATS = 2 if QUICK else 5
COPY, DOUBLE, SINGLE = 4.3e12, 60e12, 400e12


def split(name):
    X, y, train = load(name)
    X = (X / 255 if name == "mnist" else (X - X.min(axis=0)) / np.maximum(np.ptp(X, axis=0), 1e-9)).astype(np.float32)
    return X[train], y[train], X[~train], y[~train]


def model(code, gamma, C=10, device="cuda"):
    return OutputCodeClassifier(KernelSVM(C=C, gamma=gamma, device=device), code=code, random_state=0)


def timed(work):
    start = time.perf_counter()
    answer = work()
    return time.perf_counter() - start, answer


def dense(k, L):
    signs = np.where(np.random.default_rng(0).random((k, L)) < 0.5, -1, 1)
    signs[:2] = [[1], [-1]]
    return signs


def measure(name, code, gamma, wanted):
    X, y, X_test, y_test = split(name)
    first, _ = timed(lambda: model(code, gamma).fit(X, y).predict(X_test))
    runs = [timed(lambda: model(code, gamma).fit(X, y)) for _ in range(REPEATS)]
    fitted = runs[-1][1]
    fitted.predict(X_test)
    predicting = [timed(lambda: fitted.predict(X_test)) for _ in range(REPEATS)]
    certificate = fitted.columns_.fitted.certificate
    assert certificate.converged.all()
    return {
        "data": name,
        "n": len(y),
        "L": fitted.code_matrix_.shape[1],
        "code": code if isinstance(code, str) else "random signs",
        "first call s": first,
        "fit s": statistics.median(seconds for seconds, _ in runs),
        "wanted s": wanted,
        "predict s": statistics.median(seconds for seconds, _ in predicting),
        "predicted rows": len(y_test),
        "test error %": 100 * float(np.mean(predicting[-1][1] != y_test)),
        "steps": int(certificate.iterations.sum()),
        "largest gap": float(certificate.gap.max()),
        "support vectors": len(fitted.columns_.fitted.support),
    }


def sets():
    """Whole data sets in the memory of the GPU, and the seconds that were wanted."""
    work = [
        ("mnist", "one-vs-all", 0.02, 0.4),
        ("mnist", "dense", 0.02, 0.9),
        ("mnist", "all-pairs", 0.02, 0.4),
        ("letter", "one-vs-all", 16, None),
        ("letter", dense(26, 48), 16, 0.3),
    ]
    rows = [measure(*one) for one in work]
    print_table(rows)
    return rows


def grid():
    """A grid of 5 gamma × 3 C on MNIST, one-vs-all: C goes down, and its largest value starts from the gamma before."""
    X, y, _, _ = split("mnist")
    model("one-vs-all", 0.02).fit(X, y)
    rows = []
    for shared in (False, True):

        def path(shared=shared):
            first = None
            for gamma in (0.005, 0.01, 0.02, 0.04, 0.08):
                like = first = model("one-vs-all", gamma, 100).train(X, y, like=first if shared else None)
                for C in (10, 1):
                    like = model("one-vs-all", gamma, C).train(X, y, like=like if shared else None)

        rows.append(
            {
                "shared": shared,
                "fits": 15,
                "s": statistics.median(timed(path)[0] for _ in range(REPEATS)),
                "wanted s": 3,
            }
        )
    print_table(rows)
    return rows


def deformed(X, copies, seed=0):
    """Return the digits and copies of them: turned, scaled, slanted and shifted a little, bilinearly.

    How much was chosen by the errors on twice 10,000 training rows that were held out.
    """
    rng, pictures = np.random.default_rng(seed), cp.asarray(X).reshape(-1, 28, 28)
    n, centre, parts = len(X), 13.5, [X]
    at = cp.asarray(np.stack(np.meshgrid(np.arange(28.0), np.arange(28.0), indexing="ij")).reshape(2, -1) - centre)
    for _ in range(copies - 1):
        turn, slant = rng.uniform(-0.3, 0.3, n), rng.uniform(-0.25, 0.25, n)
        scale, shift = rng.uniform(0.85, 1.15, (2, n)), rng.uniform(-2, 2, (2, n))
        turned = np.array([[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]])
        slanted = np.array([[scale[0], np.zeros(n)], [slant, scale[1]]])
        A = np.einsum("abn,bcn->acn", turned, slanted)
        where = cp.einsum("abn,bp->nap", cp.asarray(A), at) + cp.asarray(shift.T)[:, :, None] + centre
        low = cp.floor(where).astype(int)
        part = where - low
        sums = cp.zeros((n, 784))
        for down in (0, 1):
            for right in (0, 1):
                r, c = low[:, 0] + down, low[:, 1] + right
                inside = (r >= 0) & (r < 28) & (c >= 0) & (c < 28)
                share = (part[:, 0] if down else 1 - part[:, 0]) * (part[:, 1] if right else 1 - part[:, 1])
                values = pictures[cp.arange(n)[:, None], r.clip(0, 27), c.clip(0, 27)]
                sums += cp.where(inside, values, 0) * share
        parts.append(sums.astype(np.float32).get())
    cp.get_default_memory_pool().free_all_blocks()
    return np.concatenate(parts)


def large():
    """Deformed digits, one-vs-all: more rows than a Gram matrix in memory has."""
    X, y, X_test, y_test = split("mnist")
    rows = []
    for copies, wanted in ((2, None),) if QUICK else ((4, None), (8, 30), (17, 120)):
        more, labels = deformed(X, copies), np.tile(y, copies)
        model("one-vs-all", 0.03).fit(X[:3000], y[:3000]).predict(X_test)
        seconds, fitted = timed(lambda more=more, labels=labels: model("one-vs-all", 0.03).fit(more, labels))
        certificate = fitted.columns_.fitted.certificate
        rows.append(
            {
                "n": len(labels),
                "fit s": seconds,
                "wanted s": wanted,
                "test error %": 100 * float(np.mean(fitted.predict(X_test) != y_test)),
                "steps": int(certificate.iterations.sum()),
                "largest gap": float(certificate.gap.max()),
                "support vectors": len(fitted.columns_.fitted.support),
            }
        )
        del fitted
    print_table(rows)
    return rows


def shares():
    """The steps of MNIST, one-vs-all, each waited for, beside their floors."""
    X, y, _, _ = split("mnist")
    model("one-vs-all", 0.02).fit(X, y)
    device, spent, calls = backend.as_device("cuda"), defaultdict(float), defaultdict(int)
    launch, fill, refresh, features = (
        device.launch,
        cuda.CudaGram._fill,
        cuda.CudaColumns.refresh,
        cuda.Features.__init__,
    )

    def waited(name, work):
        def step(*arguments):
            cp.cuda.Device().synchronize()
            start = time.perf_counter()
            work(*arguments)
            cp.cuda.Device().synchronize()
            spent[name] += time.perf_counter() - start
            calls[name] += 1

        return step

    def launch_waited(name, *arguments):
        own = "other" if name == "finish_tile" else name
        waited(own, launch)(name, *arguments) if own != "other" else launch(name, *arguments)

    device.launch = launch_waited
    cuda.CudaGram._fill, cuda.CudaColumns.refresh = waited("Gram matrix", fill), waited("refresh", refresh)
    cuda.Features.__init__ = waited("copy of X", features)
    try:
        whole, fitted = timed(lambda: model("one-vs-all", 0.02).fit(X, y))
    finally:
        device.launch, cuda.CudaGram._fill = launch, fill
        cuda.CudaColumns.refresh, cuda.Features.__init__ = refresh, features
    n, d = X.shape
    S, L = len(fitted.columns_.fitted.support), 10
    floors = {
        "copy of X": ("bytes over the bus at 50 GB/s", X.nbytes / 50e9),
        "Gram matrix": ("3 n² d operations, n² values written", 3 * n * n * d / SINGLE + 4 * n * n / COPY),
        "refresh": ("2 S n d operations", 2 * S * n * d / DOUBLE),
        "subtract": ("at most 1,024 rows per column read", calls["subtract"] * L * 1024 * n * 4 / COPY),
        "gather_sets": ("1,024² sectors of 32 bytes per column", calls["gather_sets"] * L * 1024 * 1024 * 32 / COPY),
    }
    rows = [
        {
            "step": name,
            "calls": calls[name],
            "ms": 1e3 * s,
            "floor ms": 1e3 * floors[name][1] if name in floors else None,
        }
        for name, s in spent.items()
    ]
    rows.append({"step": "all, waiting for each", "calls": 1, "ms": 1e3 * whole, "floor ms": None})
    print_table(rows)
    return rows


def objectives():
    """Dual objectives on letter, one-vs-all: ours on the CPU and on the GPU, and SVC's."""
    X, y, _, _ = split("letter")
    if QUICK:
        X, y = X[:400], y[:400]
    X = X.astype(np.float64)
    M = 2 * np.eye(len(np.unique(y))) - 1

    def value(beta, support, t):
        """Σ|β| − ½ βᵀKβ of a column."""
        A = X[support]
        squares = (A * A).sum(axis=1)
        K = np.exp(-16 * np.maximum(squares[:, None] + squares - 2 * A @ A.T, 0))
        return float(np.abs(beta).sum() - 0.5 * beta @ K @ beta)

    found = {}
    for device in ("cpu", "cuda"):
        fitted = model("one-vs-all", 16, device=device).fit(X, y).columns_.fitted
        alpha = fitted.dual()
        rows = [np.flatnonzero(column) for column in alpha.T]
        found[device] = [value(alpha[r, j] * M[y[r], j], r, j) for j, r in enumerate(rows)]
    peer = OneVsRestClassifier(SVC(C=10, gamma=16, cache_size=2000), n_jobs=-1).fit(X, y)
    found["SVC"] = [value(one.dual_coef_[0], one.support_, j) for j, one in enumerate(peer.estimators_)]
    ours = np.array(found["cuda"])
    row = {
        f"largest relative difference from {who}": float(np.max(np.abs(ours - found[who]) / np.abs(found[who])))
        for who in ("cpu", "SVC")
    }
    print_table([row])
    return [row]


def main() -> None:
    parts = {"sets": sets, "grid": grid, "large": large, "shares": shares, "objectives": objectives}
    for name in WORDS or parts:
        print(f"\n{parts[name].__doc__}\n", flush=True)
        save(f"gpu_{name}", parts[name]())


if __name__ == "__main__":
    main()
