"""Repeat the published timing experiment of SPOC and general QP solvers: four quadrants, m examples, β = 1.

    python benchmarks/spoc_vs_qp.py [--quick]

The experiment is figure 5 of Crammer & Singer, On the learnability and design of output codes, measured as in `make
reproduce ARGS=crammer-figure5`: Clarabel (interior points) solves the dense dual (the comparison of the paper) and the
sparse primal. All stop at 1e-5 and reach the same objective. The times include the set-up of the solver, but not the
construction of the matrices. The floor is the matrix product of all scores, which is the certificate itself. The plot
is written to results/spoc_vs_qp.svg.
"""

from __future__ import annotations

import statistics
from typing import Any

import matplotlib.pyplot as plt
from common import QUICK, RESULTS, exponent, interleaved, print_table, save

from outputcodes.decoders.continuous import solve_spoc
from reproduce.crammer.figure5 import DRAWS, EQUAL, QUICK_SIZES, STYLES, K, measure
from reproduce.crammer.figure5 import SIZES as ALL_SIZES
from reproduce.crammer.general_solver import quadrants

REPEATS = 3
SIZES = QUICK_SIZES if QUICK else ALL_SIZES


def row(m: int) -> dict[str, Any]:
    draws = [measure(m, draw, REPEATS) for draw in range(DRAWS)]
    worst = max(
        abs(found["objective"]["SPOC"] - other) / other for found in draws for other in found["objective"].values()
    )
    assert worst <= EQUAL, f"m = {m}: objectives differ by {worst:.1e}"
    median = {name: statistics.median(found["seconds"][name] for found in draws) for name in STYLES}
    H, y = quadrants(m, 0)
    M = solve_spoc(H, y, K).M
    return {
        "m": m,
        **{f"{name} ms": 1e3 * value for name, value in median.items()},
        "dense dual / SPOC": median["dense dual"] / median["SPOC"],
        "sparse primal / SPOC": median["sparse primal"] / median["SPOC"],
        "difference": worst,
        "floor ms": 1e3 * interleaved({"floor": lambda: H @ M.T}, 5)[0]["floor"],
    }


def plot(rows: list[dict[str, Any]]) -> None:
    fig, axis = plt.subplots(figsize=(6, 4), layout="constrained")
    for name, style in STYLES.items():
        axis.semilogy([row["m"] for row in rows], [row[f"{name} ms"] for row in rows], style, label=name)
    axis.set(xlabel="examples", ylabel="milliseconds", title="Four quadrants, β = 1, equal objective")
    axis.legend()
    RESULTS.mkdir(exist_ok=True, parents=True)
    fig.savefig(RESULTS / "spoc_vs_qp.svg")


def main() -> None:
    rows = [row(m) for m in sorted(SIZES)]
    print_table(rows)
    growth: list[dict[str, Any]] = [
        {"solver": name, "exponent in m": exponent(sorted(SIZES), [row[f"{name} ms"] for row in rows])}
        for name in STYLES
    ]
    print()
    print_table(growth)
    save("spoc_vs_qp", [*rows, *growth])
    plot(rows)


if __name__ == "__main__":
    main()
