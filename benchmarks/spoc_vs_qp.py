"""The published timing experiment of SPOC: four quadrants, m examples, β = 1, against general QP solvers.

    python benchmarks/spoc_vs_qp.py

Crammer & Singer, On the learnability and design of output codes, figure 5: h(x) = x uniform on [−1, 1]², the label is
the quadrant, m from 10 to 250, three draws each. Clarabel (interior points) gets the dense dual (the comparison
of the paper) and the sparse primal, both set up before the clock starts; all three reach the same objective. The floor
is the matrix product of all scores, the certificate itself. The plot goes to results/spoc_vs_qp.svg.
"""

from __future__ import annotations

import statistics
from typing import Any

import clarabel
import matplotlib.pyplot as plt
import numpy as np
from common import RESULTS, exponent, interleaved, print_table, save
from scipy import sparse

from outputcodes._spoc import solve

K = 4
SIZES = (10, 25, 50, 100, 150, 200, 250)
DRAWS = 3
REPEATS = 3
TOL = 1e-5
# Relative; ours may exceed the others' objective by no more.
SAME = 1e-6


def quadrants(m: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    H = np.random.default_rng(seed).uniform(-1, 1, size=(m, 2))
    return H, (H[:, 0] > 0) * 2 + (H[:, 1] > 0)


def clarabel_solver(P: Any, q: np.ndarray, A: Any, b: np.ndarray, cones: list[Any]) -> Any:
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    upper, A = sparse.csc_matrix(sparse.triu(P)), sparse.csc_matrix(A)
    return lambda: clarabel.DefaultSolver(upper, q, A, b, cones, settings).solve()


def primal(H: np.ndarray, y: np.ndarray) -> Any:
    """Variables M (k·L) and ξ (m); ξ_i + h_i·M_{y_i} − h_i·M_r ≥ b_ir for all r."""
    m, L = H.shape
    rows = []
    for r in range(K):
        blocks = [sparse.csr_matrix(H * ((s == r) * 1.0 - (y == s))[:, None]) for s in range(K)]
        rows.append(sparse.hstack([*blocks, -sparse.eye(m)]))
    P = sparse.diags(np.r_[np.ones(K * L), np.zeros(m)])
    q, b = np.r_[np.zeros(K * L), np.ones(m)], np.concatenate([-1.0 * (y != r) for r in range(K)])
    return clarabel_solver(P, q, sparse.vstack(rows), b, [clarabel.NonnegativeConeT(K * m)])


def dual(H: np.ndarray, y: np.ndarray) -> Any:
    """Variables τ, class by class: ½ Σ K_ij τ_i·τ_j + Σ τ·b is smallest with τ ≤ 1_y and rows of sum 0."""
    m = len(y)
    P = sparse.block_diag([sparse.csc_matrix(H @ H.T)] * K)
    own = np.concatenate([(y == r) * 1.0 for r in range(K)])
    A = sparse.vstack([sparse.hstack([sparse.eye(m)] * K), sparse.eye(K * m)])
    cones = [clarabel.ZeroConeT(m), clarabel.NonnegativeConeT(K * m)]
    return clarabel_solver(P, 1 - own, A, np.r_[np.zeros(m), own], cones)


def measure(m: int) -> dict[str, object]:
    seconds: dict[str, list[float]] = {"SPOC": [], "dense dual": [], "sparse primal": []}
    worst = 0.0
    for seed in range(DRAWS):
        H, y = quadrants(m, seed)
        contenders = {
            "SPOC": lambda H=H, y=y: solve(H, y, K, tol=TOL),
            "dense dual": dual(H, y),
            "sparse primal": primal(H, y),
        }
        times, answers = interleaved(contenders, REPEATS)
        ours, largest = answers["SPOC"].certificate.value, -answers["dense dual"].obj_val
        for other in (largest, answers["sparse primal"].obj_val):
            worst = max(worst, abs(ours - other) / other)
        for name, value in times.items():
            seconds[name].append(value)
    assert worst <= SAME, f"m = {m}: objectives differ by {worst:.1e}"
    M = answers["SPOC"].M
    floor = interleaved({"floor": lambda: H @ M.T}, 5)[0]["floor"]
    median = {name: statistics.median(values) for name, values in seconds.items()}
    return {
        "m": m,
        **{f"{name} ms": 1e3 * value for name, value in median.items()},
        "dense dual / SPOC": median["dense dual"] / median["SPOC"],
        "sparse primal / SPOC": median["sparse primal"] / median["SPOC"],
        "difference": worst,
        "floor ms": 1e3 * floor,
    }


def plot(rows: list[dict[str, Any]]) -> None:
    fig, axis = plt.subplots(figsize=(6, 4), layout="constrained")
    for name, style in (("dense dual", "s--"), ("sparse primal", "^-."), ("SPOC", "o-")):
        axis.semilogy([row["m"] for row in rows], [row[f"{name} ms"] for row in rows], style, label=name)
    axis.set(xlabel="examples", ylabel="milliseconds", title="Four quadrants, β = 1, equal objective")
    axis.legend()
    RESULTS.mkdir(exist_ok=True)
    fig.savefig(RESULTS / "spoc_vs_qp.svg")


def main() -> None:
    solve(*quadrants(10, 0), K)  # compiled, or loaded, before the clock starts
    rows = [measure(m) for m in SIZES]
    print_table(rows)
    growth = []
    for name in ("SPOC", "dense dual", "sparse primal"):
        times: list[Any] = [row[f"{name} ms"] for row in rows]
        growth.append({"solver": name, "exponent in m": exponent(list(SIZES), times)})
    print()
    print_table(growth)
    save("spoc_vs_qp", [*rows, *growth])
    plot(rows)


if __name__ == "__main__":
    main()
