"""Crammer & Singer (2002), Figure 5: SPOC against a general solver of quadratic programs."""

from __future__ import annotations

import statistics
import time
from typing import Any

import numpy as np

from outputcodes.decoders.continuous import solve_spoc
from reproduce.crammer.general_solver import SOURCE, Solve, dual, primal, quadrants
from reproduce.experiment import Claim, Experiment, Findings, Observation, Picture, TextTable, Unit
from reproduce.judging import slope

K, DRAWS, TOL = 4, 3, 1e-5
# Objectives with a larger relative difference are not equal.
EQUAL = 1e-4
SIZES, QUICK_SIZES = (250, 200, 150, 100, 50, 25, 10), (100, 50, 25)
STYLES = {"dense dual": "s--", "sparse primal": "^-.", "SPOC": "o-"}


def measure(m: int, draw: int, repeats: int) -> dict[str, Any]:
    """Return the median seconds of each solver, run in turn, and the objectives that they reach."""
    H, y = quadrants(m, draw)
    solve_spoc(H, y, K, tol=TOL)  # Compiled before the clock starts.
    solvers: dict[str, Solve] = {
        "SPOC": lambda: float(solve_spoc(H, y, K, tol=TOL).certificate.value),
        "dense dual": dual(H, y, K, TOL),
        "sparse primal": primal(H, y, K, TOL),
    }
    seconds: dict[str, list[float]] = {name: [] for name in solvers}
    objective: dict[str, float] = {}
    for _ in range(repeats):
        for name, run in solvers.items():
            start = time.perf_counter()
            objective[name] = run()
            seconds[name].append(time.perf_counter() - start)
    return {"seconds": {name: statistics.median(taken) for name, taken in seconds.items()}, "objective": objective}


def _units(data_sets: tuple[str, ...], quick: bool, repeats: int) -> list[Unit]:
    return [
        {"m": m, "draw": draw, "repeats": repeats} for m in (QUICK_SIZES if quick else SIZES) for draw in range(DRAWS)
    ]


def _present(observations: list[Observation]) -> Findings:
    if not observations:
        return Findings()
    sizes = sorted({r.unit["m"] for r in observations})
    taken = {
        name: [statistics.median(r.found["seconds"][name] for r in observations if r.unit["m"] == m) for m in sizes]
        for name in STYLES
    }
    apart = [max(_difference(r) for r in observations if r.unit["m"] == m) for m in sizes]
    ratios = {name: [other / ours for other, ours in zip(taken[name], taken["SPOC"], strict=True)] for name in STYLES}
    rows = [
        (
            str(m),
            *(f"{1e3 * taken[name][at]:.3g}" for name in ("SPOC", "dense dual", "sparse primal")),
            *(f"{ratios[name][at]:.3g}" for name in ("dense dual", "sparse primal")),
            f"{apart[at]:.1e}",
        )
        for at, m in enumerate(sizes)
    ]
    header = ("m", *(f"{n} ms" for n in ("SPOC", "dense dual", "sparse primal")))
    header += ("dense dual / SPOC", "sparse primal / SPOC", "objectives differ by")
    claims = [_faster(f"at m = {sizes[-1]}", "dense dual", 100, ratios["dense dual"][-1:], apart[-1])]
    if large := [at for at, m in enumerate(sizes) if m >= 100]:
        for name in ("dense dual", "sparse primal"):
            found = [ratios[name][at] for at in large]
            claims.append(_faster("from m = 100 on", name, 1, found, max(apart[at] for at in large)))
    remarks = []
    if len(sizes) > 1:
        grown = ", ".join(f"{name} {slope(sizes, taken[name])}" for name in STYLES)
        remarks.append(f"The time grows as a power of m, with exponent ± two standard errors: {grown}.")

    def draw(figure: Any) -> None:
        figure.set_size_inches(6, 3.6)
        axis = figure.subplots()
        for name, style in STYLES.items():
            axis.semilogy(sizes, 1e3 * np.array(taken[name]), style, label=name)
        axis.set(xlabel="examples m", ylabel="milliseconds")
        axis.grid(alpha=0.25)
        axis.spines[["top", "right"]].set_visible(False)
        axis.legend(frameon=False)

    caption = "Time to the same objective, four quadrants, β = 1: SPOC and Clarabel on two forms of the problem"
    return Findings(
        [TextTable("Time to the same objective", header, rows)],
        claims,
        [Picture("crammer-figure5", caption, draw)],
        remarks,
    )


def _faster(where: str, other: str, times: int, ratios: list[float], apart: float) -> Claim:
    """Claim that SPOC is `times` times faster; the smallest ratio decides, and nothing does if objectives differ."""
    how = f"{times} times faster than" if times > 1 else "faster than"
    statement = f"{where.capitalize()} SPOC is {how} a general solver on the {other}"
    if apart > EQUAL:
        return Claim(statement, "undecided", f"objectives differ by {apart:.1e}")
    least = min(ratios)
    evidence = f"{'at least ' * (len(ratios) > 1)}{least:.3g} times, objectives equal to {apart:.0e}"
    return Claim(statement, "supported" if least > times else "not supported", evidence)


def _difference(observation: Observation) -> float:
    smallest, *_, largest = sorted(map(float, observation.found["objective"].values()))
    return (largest - smallest) / smallest


FIGURE5_EXPERIMENT = Experiment(
    name="crammer-figure5",
    title="Crammer & Singer, Figure 5: SPOC against a general solver",
    source=SOURCE,
    protocol=f"""
h(x) = x is uniform on [−1, 1]², the label is the quadrant, k = {K}, β = 1, {DRAWS} draws of each size. The general
solver is Clarabel (interior points), on the dense dual, which is the paper's comparison, and on the sparse primal,
which a user would choose today. SPOC stops when no optimality condition is violated by more than 10⁻⁵, Clarabel at a
gap and infeasibility of 10⁻⁵. Matrices are made before the clock starts; the solver's own set-up is timed. Times are
medians of `repeats` runs in turn, then of the draws. The paper prints a plot without numbers and claims that SPOC is up
to two orders of magnitude faster.
""",
    data_sets=(),
    units=_units,
    measure=measure,
    present=_present,
    options={"repeats": 3},
    timed=True,
)
