"""Mohri's lecture, the computational comparison: time of one-vs-all and one-vs-one against m and k, measured."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import make_blobs
from sklearn.svm import SVC

from outputcodes import OutputCodeClassifier
from outputcodes.learners import KernelSVM
from outputcodes.learners.kernel.fitted import FittedKernelColumns
from reproduce.comparing import Slope, slope
from reproduce.experiment import Claim, Experiment, Findings, Picture, Result, Table, Unit, Verdict

CODES = {"one-vs-all": "one-vs-all", "one-vs-one": "all-pairs"}
ENGINES = {"a machine alone for each column (SVC)": "alone", "all columns together (KernelSVM)": "together"}
# m at k = FIXED_K, and k at m = FIXED_M.
SIZES, FIXED_K = (1500, 2250, 3000, 4500, 6000, 9000, 12000), 8
CLASSES, FIXED_M = (4, 6, 8, 12, 16, 24, 32), 6000
QUICK_SIZES, QUICK_CLASSES, QUICK_M = (500, 1000, 2000), (4, 8, 16), 1000
FEATURES, SPREAD, TESTED, C = 10, 2.5, 1000, 1.0
# An exponent is as predicted if it differs by no more: constant costs and caches bend the lines.
MARGIN = 0.25
SOURCE = "Mohri, Foundations of Machine Learning, lecture on multi-class classification"
REMARKS = (
    "With α the exponent of one binary machine, the lecture predicts m^α·k for one-vs-all and m^α·k^(2−α) for "
    "one-vs-one in training, and k and k² binary answers in testing; each of one-vs-one's machines has fewer support "
    "vectors, and so its testing grows by less than k². What columns share when they are trained together is not in "
    "the lecture's model.",
    f"An exponent is as predicted where it differs by at most {MARGIN}: supported if that holds of the whole interval "
    "of the difference (± two standard errors), not supported if it holds nowhere in it.",
)
# Found once, by hand: OutputCodeClassifier(SVC(…), code="all-pairs") on 80 to 6,000 rows of the same clouds.
FIXED_COSTS = (
    "One-vs-one's machines are small, 2m/k rows each, and a machine has fixed costs that the model leaves out: trained "
    "alone, k = 8, one took 3.3 ms on 20 rows, 5.9 on 375, 25 on 1,500. They flatten its growth with m, and are paid "
    "k²/2 times, so that its time grows faster with k than k^(2−α)."
)


def blobs(m: int, k: int) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
    """Overlapping clouds of equal size, so that the share of support vectors does not depend on m."""
    centres = np.random.default_rng(k).uniform(-4, 4, size=(k, FEATURES))
    X, y = make_blobs(m, centers=centres, cluster_std=SPREAD, random_state=0)
    return X, y.astype(np.intp)


def measure(engine: str, approach: str, m: int, k: int, repeats: int) -> dict[str, float]:
    """The least seconds to train on m examples and to test 1,000; the mean number of support vectors of a column."""
    X, y = blobs(m + TESTED, k)
    gamma = 1 / (FEATURES * float(X.var()))
    learner: Any = SVC(C=C, gamma=gamma) if engine == "alone" else KernelSVM(C=C, gamma=gamma)
    if approach == "binary":
        y = y % 2
    code = np.array([[-1], [1]]) if approach == "binary" else CODES[approach]
    model = OutputCodeClassifier(learner, code=code, decoder="hinge")
    model.fit(X[:200], y[:200])  # Compiled before the clock starts.
    training, testing = [], []
    for _ in range(repeats):
        start = time.perf_counter()
        model.fit(X[:m], y[:m])
        training.append(time.perf_counter() - start)
        start = time.perf_counter()
        model.predict(X[m:])
        testing.append(time.perf_counter() - start)
    return {"training": min(training), "testing": min(testing), "support": _support(model.columns_.fitted)}


def _support(columns: Any) -> float:
    """The mean number of support vectors of a column."""
    if isinstance(columns, FittedKernelColumns):
        return float(np.count_nonzero(columns.dual(), axis=0).mean())
    return float(np.mean([machine.n_support_.sum() for machine in columns.estimators]))


def _units(data_sets: tuple[str, ...], quick: bool, repeats: int) -> list[Unit]:
    sizes, classes, m = (QUICK_SIZES, QUICK_CLASSES, QUICK_M) if quick else (SIZES, CLASSES, FIXED_M)
    points = dict.fromkeys([*((size, FIXED_K) for size in sizes), *((m, k) for k in classes)])
    units = [
        {"engine": engine, "approach": approach, "m": m, "k": k, "repeats": repeats}
        for engine in ENGINES.values()
        for approach in CODES
        for m, k in points
    ]
    alone = [
        {"engine": engine, "approach": "binary", "m": size, "k": FIXED_K, "repeats": repeats}
        for engine in ENGINES.values()
        for size in sizes
    ]
    return [*alone, *units]


def _series(results: list[Result], engine: str, approach: str, along: str, what: str) -> tuple[list[int], list[float]]:
    """Sizes and seconds of the points that differ in m alone, or in k alone."""
    here = [r for r in results if (r.unit["engine"], r.unit["approach"]) == (engine, approach)]
    other = "k" if along == "m" else "m"
    counts = [r.unit[other] for r in here]
    # The value that most points share is the one that is kept while the other grows.
    fixed = max(set(counts), key=counts.count) if counts else None
    points = sorted((r.unit[along], float(r.found[what])) for r in here if r.unit[other] == fixed)
    return [size for size, _ in points], [seconds for _, seconds in points]


def _exponent(results: list[Result], engine: str, approach: str, along: str, what: str) -> Slope | None:
    sizes, seconds = _series(results, engine, approach, along, what)
    return slope(sizes, seconds) if len(sizes) > 1 else None


def _predicted(alpha: Slope) -> dict[tuple[str, str, str], tuple[str, Slope]]:
    """(approach, time of, grows with) → what the lecture predicts, in letters and as a number."""
    once, twice = Slope(1.0, 0.0), Slope(2.0, 0.0)
    return {
        ("one-vs-all", "training", "m"): ("α", alpha),
        ("one-vs-all", "training", "k"): ("1", once),
        ("one-vs-one", "training", "m"): ("α", alpha),
        ("one-vs-one", "training", "k"): ("2−α", Slope(2 - alpha.exponent, alpha.standard_error)),
        ("one-vs-all", "testing", "k"): ("1", once),
        ("one-vs-one", "testing", "k"): ("2", twice),
    }


def _claim(statement: str, found: Slope, expected: Slope) -> Claim:
    """That two exponents differ by no more than the margin: decided where the interval of their difference decides."""
    apart = found.exponent - expected.exponent
    reach = 2 * float(np.hypot(found.standard_error, expected.standard_error))
    verdict: Verdict = "undecided"
    if abs(apart) + reach <= MARGIN:
        verdict = "supported"
    elif abs(apart) - reach > MARGIN:
        verdict = "not supported"
    evidence = (
        f"predicted {expected.exponent:.2f}, measured {found.exponent:.2f}, difference {apart:+.2f} ± {reach:.2f}"
    )
    return Claim(statement, verdict, evidence.replace("-", "−"))


def _present(results: list[Result]) -> Findings:
    rows, claims = [], []
    for told, engine in ENGINES.items():
        alpha = _exponent(results, engine, "binary", "m", "training")
        if alpha is None:
            continue
        rows.append((told, "one binary machine", "training", "m", "α", str(alpha)))
        for (approach, what, along), (letters, expected) in _predicted(alpha).items():
            found = _exponent(results, engine, approach, along, what)
            if found is None:
                continue
            number = "" if letters == f"{expected.exponent:g}" else f" = {expected.exponent:.2f}"
            rows.append((told, approach, what, along, letters + number, str(found)))
            if engine == "alone" and what == "training":
                statement = f"The time to train {approach} grows as {along}^({letters}), machines trained alone"
                claims.append(_claim(statement.replace("^(1)", "").replace("(α)", "α"), found, expected))
    header = ("engine", "approach", "time of", "grows with", "predicted exponent", "measured exponent")
    caption = "Seconds to train, against examples and classes; dotted: as predicted for machines trained alone"
    pictures = [Picture("mohri-comparison", caption, lambda figure: _draw(figure, results))]
    return Findings([Table("Exponents ± two standard errors", header, rows, REMARKS)], claims, pictures, _why(results))


def _why(results: list[Result]) -> list[str]:
    """How many support vectors a column has, where the model supposes a share of its rows that does not change."""
    told = []
    for approach in CODES:
        classes, support = _series(results, "alone", approach, "k", "support")
        if len(classes) > 1:
            told.append(f"{approach} {', '.join(f'{s:.0f}' for s in support)} with k = {', '.join(map(str, classes))}")
    if not told:
        return []
    return [
        f"Mean number of support vectors of a column, {'; '.join(told)}. The lecture's model has a machine's time "
        "depend on its number of rows alone; but it depends on its support vectors, too. A column of one-vs-all keeps "
        "all rows while one side shrinks as 1/k, and with it the support vectors: more classes cost less than k times.",
        FIXED_COSTS,
    ]


def _draw(figure: Any, results: list[Result]) -> None:
    figure.set_size_inches(8, 3.6)
    alpha = _exponent(results, "alone", "binary", "m", "training")
    for axis, along in zip(figure.subplots(1, 2), "mk", strict=True):
        ticks: set[int] = set()
        for colour, approach in zip(("tab:blue", "tab:orange"), CODES, strict=True):
            for style, (told, engine) in zip(("o--", "o-"), ENGINES.items(), strict=True):
                sizes, seconds = _series(results, engine, approach, along, "training")
                axis.loglog(
                    sizes, seconds, style, color=colour, markersize=4, label=f"{approach}, {told.split(' (')[0]}"
                )
                ticks.update(sizes)
                if engine == "alone" and alpha is not None and len(sizes) > 1:
                    expected = _predicted(alpha)[approach, "training", along][1].exponent
                    x = np.array(sizes)
                    middle = np.exp(np.mean(np.log(seconds)) - expected * np.mean(np.log(x)))
                    axis.loglog(x, middle * x**expected, ":", color=colour, linewidth=1)
        axis.set(xlabel={"m": "examples m", "k": "classes k"}[along], ylabel="seconds to train")
        axis.minorticks_off()
        axis.yaxis.get_major_locator().set_params(subs=(1, 2, 5))
        axis.yaxis.set_major_formatter("{x:g}")
        shown = sorted(ticks)[::2]
        axis.set_xticks(shown, [str(size) for size in shown])
        axis.grid(alpha=0.25)
        axis.spines[["top", "right"]].set_visible(False)
    handles, labels = figure.axes[-1].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=2, frameon=False, fontsize=9)


MOHRI_COMPARISON = Experiment(
    name="mohri-comparison",
    title="Mohri, the computational comparison of one-vs-all and one-vs-one",
    source=SOURCE,
    protocol=f"""
Gaussian clouds in {FEATURES} dimensions, support vector machines with a Gaussian kernel, C = {C}; m grows at k =
{FIXED_K}, k grows at m = {FIXED_M}. Exponents are slopes on logarithmic axes. Once every column is a machine alone
(scikit-learn's SVC, as the lecture's model has it), once all columns share their kernel values. The least of `repeats`
runs, on one core.
""",
    data_sets=(),
    units=_units,
    measure=measure,
    present=_present,
    options={"repeats": 3},
    timed=True,
)
