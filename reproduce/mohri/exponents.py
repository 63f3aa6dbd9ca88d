"""How the times of one-vs-all and one-vs-one grow: exponents, beside those that Mohri's lecture predicts."""

from __future__ import annotations

from typing import Any

import numpy as np

from reproduce.experiment import Claim, Findings, Observation, Picture, TextTable, Verdict
from reproduce.judging import Slope, slope

APPROACHES = ("one-vs-all", "one-vs-one")
# Engines, and their names on the page.
ENGINES = {"alone": "a separate SVM per column (SVC)", "together": "all columns together (KernelSVM)"}
# An exponent is as predicted if it differs by no more: constant costs and caches bend the lines.
MARGIN = 0.25
REMARKS = (
    "With α the exponent of one binary SVM, the lecture predicts training times of m^α·k for one-vs-all and "
    "m^α·k^(2−α) for one-vs-one, and k and k² binary predictions in testing. Each SVM of one-vs-one has fewer support "
    "vectors, so its testing time grows by less than k². What columns share when they are trained together is not in "
    "the lecture's model.",
    f"An exponent is as predicted if it differs by at most {MARGIN}: supported if that holds in the whole interval of "
    "the difference (± two standard errors), not supported if it holds nowhere in it.",
)


def present(observations: list[Observation]) -> Findings:
    """Present the exponents and whether those of separately trained SVMs are as predicted."""
    rows, claims = [], []
    for engine, name in ENGINES.items():
        alpha = _exponent(observations, engine, "binary", "m", "training")
        if alpha is None:
            continue
        rows.append((name, "one binary SVM", "training", "m", "α", str(alpha)))
        for (approach, what, along), (letters, expected) in _predicted(alpha).items():
            found = _exponent(observations, engine, approach, along, what)
            if found is None:
                continue
            number = "" if letters == f"{expected.exponent:g}" else f" = {expected.exponent:.2f}"
            rows.append((name, approach, what, along, letters + number, str(found)))
            if engine == "alone" and what == "training":
                statement = f"The time to train {approach} grows as {along}^({letters}), SVMs trained separately"
                claims.append(exponent_claim(statement.replace("^(1)", "").replace("(α)", "α"), found, expected))
    header = ("engine", "approach", "time of", "grows with", "predicted exponent", "measured exponent")
    caption = "Seconds to train, against examples and classes; dotted: as predicted for SVMs trained separately"
    pictures = [Picture("mohri-comparison", caption, lambda figure: _draw(figure, observations))]
    table = TextTable("Exponents ± two standard errors", header, rows, REMARKS)
    return Findings([table], claims, pictures, _why(observations))


def exponent_claim(statement: str, found: Slope, expected: Slope) -> Claim:
    """Claim that two exponents differ by at most the margin, judged by the interval of their difference."""
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


def _series(
    observations: list[Observation], engine: str, approach: str, along: str, what: str
) -> tuple[list[int], list[float]]:
    """Return sizes and seconds of the points that differ in m only, or in k only."""
    here = [r for r in observations if (r.unit["engine"], r.unit["approach"]) == (engine, approach)]
    other = "k" if along == "m" else "m"
    counts = [r.unit[other] for r in here]
    # The value that most points share is the one that is fixed while the other grows.
    fixed = max(set(counts), key=counts.count) if counts else None
    points = sorted((r.unit[along], float(r.found[what])) for r in here if r.unit[other] == fixed)
    return [size for size, _ in points], [seconds for _, seconds in points]


def _exponent(observations: list[Observation], engine: str, approach: str, along: str, what: str) -> Slope | None:
    sizes, seconds = _series(observations, engine, approach, along, what)
    return slope(sizes, seconds) if len(sizes) > 1 else None


def _predicted(alpha: Slope) -> dict[tuple[str, str, str], tuple[str, Slope]]:
    """Map (approach, time of, grows with) to the lecture's prediction, in letters and as a number."""
    once, twice = Slope(1.0, 0.0), Slope(2.0, 0.0)
    return {
        ("one-vs-all", "training", "m"): ("α", alpha),
        ("one-vs-all", "training", "k"): ("1", once),
        ("one-vs-one", "training", "m"): ("α", alpha),
        ("one-vs-one", "training", "k"): ("2−α", Slope(2 - alpha.exponent, alpha.standard_error)),
        ("one-vs-all", "testing", "k"): ("1", once),
        ("one-vs-one", "testing", "k"): ("2", twice),
    }


def _why(observations: list[Observation]) -> list[str]:
    """Report the support vectors of a column; the model assumes that their share of its rows does not change."""
    counts = []
    for approach in APPROACHES:
        classes, support = _series(observations, "alone", approach, "k", "support")
        if len(classes) > 1:
            listed = ", ".join(f"{s:.0f}" for s in support)
            counts.append(f"{approach} {listed} with k = {', '.join(map(str, classes))}")
    if not counts:
        return []
    return [
        f"Mean number of support vectors per column: {'; '.join(counts)}. In the lecture's model the time of an SVM "
        "depends on its number of rows only, but it depends on its support vectors too. A column of one-vs-all keeps "
        "all rows while one side shrinks as 1/k, and the number of support vectors with it, so k classes cost less "
        "than k times as much.",
        *_fixed_costs(observations),
    ]


def _fixed_costs(observations: list[Observation]) -> list[str]:
    """Report the time of one SVM of one-vs-one by its number of rows."""
    pairs = [r for r in observations if (r.unit["engine"], r.unit["approach"]) == ("alone", "one-vs-one")]
    sizes, seconds = _series(observations, "alone", "one-vs-one", "m", "training")
    if len(sizes) < 2:
        return []
    classes = [r.unit["k"] for r in pairs]
    k = max(set(classes), key=classes.count)
    each = ", ".join(
        f"{1e3 * taken / (k * (k - 1) / 2):.2g} ms on {2 * m // k} rows"
        for m, taken in zip(sizes, seconds, strict=True)
    )
    return [
        "The SVMs of one-vs-one are small, 2m/k rows each, and an SVM has fixed costs that the model leaves out. "
        f"Trained separately, k = {k}, one takes {each}. Fixed costs flatten its growth with m, and are paid k²/2 "
        "times, so that its time grows faster with k than k^(2−α)."
    ]


def _draw(figure: Any, observations: list[Observation]) -> None:
    figure.set_size_inches(8, 3.6)
    alpha = _exponent(observations, "alone", "binary", "m", "training")
    for axis, along in zip(figure.subplots(1, 2), "mk", strict=True):
        ticks: set[int] = set()
        for colour, approach in zip(("tab:blue", "tab:orange"), APPROACHES, strict=True):
            for style, (engine, name) in zip(("o--", "o-"), ENGINES.items(), strict=True):
                sizes, seconds = _series(observations, engine, approach, along, "training")
                label = f"{approach}, {name.split(' (')[0]}"
                axis.loglog(sizes, seconds, style, color=colour, markersize=4, label=label)
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
