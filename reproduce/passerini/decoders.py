"""Figures 2 and 3 of Passerini, Pontil & Frasconi: which decoder has the smallest error, and how much γ matters."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from reproduce.experiment import Claim, Findings, Observation, Picture, TextTable
from reproduce.judging import Agreement, lower_claim, signed_ranks, verdict
from reproduce.passerini.curves import (
    CODES,
    DECODERS,
    as_cells,
    by_data_set,
    codes_in,
    curves_of,
    legend,
    panels,
    power_of_two,
    with_bias,
    with_reach,
)

RIVALS = [name for name in DECODERS if name != "likelihood"]
AFTERTHOUGHT = (
    "The planned measure of sensitivity to γ was the largest minus the smallest error. The mean minus the smallest was "
    "added after a quick trial, because errors near chance at one end of the grid decide the former. Both are shown."
)
# Linear and soft-margin decoding often coincide: a small marker within a larger, empty one shows both.
STYLES: dict[str, dict[str, Any]] = {
    "hamming": {"fmt": "C7+-"},
    "hinge": {"fmt": "C1s-", "markersize": 7, "linewidth": 2.5, "markerfacecolor": "none", "alpha": 0.7},
    "linear": {"fmt": "C2x-"},
    "likelihood": {"fmt": "C0o-"},
}


def present_decoders(observations: list[Observation], stem: str) -> Findings:
    """Present the errors of the decoders over γ, with a free bias if it was measured."""
    observations = next((chosen for bias in ("free", "folded") if (chosen := with_bias(observations, bias))), [])
    if not observations:
        return Findings()
    cells = as_cells(observations)
    caption = "Test error against γ of the four decoders, by data set and code"
    return Findings(
        tables=[_smallest(cells), _over_gamma(cells), _overall(cells)],
        claims=[*_likelihood_claims(cells), *_hamming_claims(cells), *_code_claims(cells)],
        pictures=[Picture(stem, caption, lambda figure: _draw(figure, cells))],
        remarks=["The paper prints no numbers to compare with; its claims are tested above.", AFTERTHOUGHT],
    )


def _excess(cells: pd.DataFrame) -> pd.DataFrame:
    """Return the error of each decoder minus that of the best one of the cell."""
    errors = cells[list(DECODERS)]
    return errors.sub(errors.min(axis=1), axis=0)


def _smallest(cells: pd.DataFrame) -> TextTable:
    rows = []
    for (data_set, code), curve in curves_of(cells):
        tested, best = curve["tested"].iloc[0], curve[list(DECODERS)].idxmin()
        found = (f"{with_reach(curve[d].min(), tested)} ({power_of_two(best[d][-1])})" for d in DECODERS)
        rows.append((data_set, CODES[code], *found))
    remark = "± two standard errors of a proportion. The smallest error over γ is chosen in hindsight."
    return TextTable("Smallest test error, %, and its γ", ("data", "code", *DECODERS.values()), rows, (remark,))


def _over_gamma(cells: pd.DataFrame) -> TextTable:
    rows = [
        (data_set, CODES[code], *(f"{curve[d].mean():.1f} ({np.ptp(curve[d]):.1f})" for d in DECODERS))
        for (data_set, code), curve in curves_of(cells)
    ]
    title = "Test error, %: mean over γ, and (largest minus smallest)"
    return TextTable(title, ("data", "code", *DECODERS.values()), rows)


def _overall(cells: pd.DataFrame) -> TextTable:
    excess = _excess(cells)
    best = excess <= 0
    spread = curves_of(cells[list(DECODERS)]).agg(np.ptp).mean()
    by_code = best.groupby("code").mean().loc[codes_in(cells)]
    rows = [
        (
            DECODERS[d],
            f"{best[d].mean():.0%}",
            *(f"{share:.0%}" for share in by_code[d]),
            f"{excess[d].mean():.2f}",
            f"{spread[d]:.1f}",
        )
        for d in DECODERS
    ]
    header = ("decoder", "best or tied", *(f"with {CODES[code]}" for code in by_code.index))
    header += ("mean excess over the best", "mean of largest minus smallest over γ")
    remark = "The excess is the error, in points, minus that of the best decoder on the same data set, code and γ."
    return TextTable(
        "Share of the cells (data set, code, γ) in which a decoder is best or tied", header, rows, (remark,)
    )


def _likelihood_claims(cells: pd.DataFrame) -> list[Claim]:
    shares = by_data_set(_excess(cells)["likelihood"] <= 0)
    beyond = [share - 0.5 for share in shares.values()]
    listed = ", ".join(f"{name} {share:.0%}" for name, share in shares.items())
    claims = [
        Claim(
            "Likelihood decoding is best or tied for most γ",
            verdict(signed_ranks(beyond, "greater"), signed_ranks(beyond, "less")),
            f"share of the cells of each data set: {listed}; against a half, p = {signed_ranks(beyond, 'greater'):.2g} "
            "(signed ranks)",
        )
    ]
    for rival in RIVALS:
        statement = f"Likelihood decoding has a smaller error than {DECODERS[rival]} decoding (mean over codes and γ)"
        claims.append(lower_claim(statement, by_data_set(cells["likelihood"]), by_data_set(cells[rival])))
    curves = curves_of(cells[list(DECODERS)])
    rises = {
        "largest minus smallest error": curves.agg(np.ptp),
        "mean minus smallest error": curves.mean() - curves.min(),
    }
    for measure, rise in rises.items():
        statement = f"Likelihood decoding is less sensitive to γ than the least sensitive of the others ({measure})"
        claims.append(lower_claim(statement, by_data_set(rise["likelihood"]), by_data_set(rise[RIVALS].min(axis=1))))
    return claims


def _hamming_claims(cells: pd.DataFrame) -> list[Claim]:
    if not {"one-vs-all", "all-pairs"} <= set(codes_in(cells)):
        return []
    excess = _excess(cells)["hamming"]
    one, pairs = (by_data_set(excess.xs(code, level="code")) for code in ("one-vs-all", "all-pairs"))
    losses = cells[["linear", "hinge"]].min(axis=1)
    by_loss, by_hamming = (by_data_set(e.xs("one-vs-all", level="code")) for e in (losses, cells["hamming"]))
    return [
        lower_claim("Hamming decoding is nearer to the best decoder with all-pairs than with one-vs-all", pairs, one),
        lower_claim(
            "Hamming decoding is poor for one-vs-all: linear or soft-margin has a smaller error", by_loss, by_hamming
        ),
    ]


def _code_claims(cells: pd.DataFrame) -> list[Claim]:
    if codes_in(cells) != list(CODES):
        return []
    least = curves_of(cells)["likelihood"].min().unstack().dropna()
    tested = cells.groupby("data_set")["tested"].first()
    pairs = {name: Agreement.of(row["one-vs-all"], row.min(), tested[name]) for name, row in least.iterrows()}
    worse = [f"{name} ({own.ours:.1f} against {own.published:.1f})" for name, own in pairs.items() if not own.within]
    # How much of the two standard errors is left: positive where one-vs-all is within them.
    spare = [2 * own.standard_error - own.difference for own in pairs.values()]
    near, far = (signed_ranks(spare, side) for side in ("greater", "less"))
    gap = np.mean([own.difference for own in pairs.values()])
    return [
        Claim(
            "One-vs-all performs well beside the other codes: its error exceeds that of the best code by less than two "
            "standard errors (likelihood decoding, best γ)",
            verdict(near, far),
            f"p = {near:.2g} for, {far:.2g} against (signed ranks over data sets); {gap:.1f} above the best code on "
            f"average; beyond two standard errors: {', '.join(worse) or 'none'}",
        )
    ]


def _draw(figure: Any, cells: pd.DataFrame) -> None:
    axes = panels(figure, cells)
    for place, curve in curves_of(cells):
        gamma = curve.index.get_level_values("gamma")
        for decoder, style in STYLES.items():
            look = {"markersize": 4, "linewidth": 1.1} | style
            axes[place].plot(gamma, curve[decoder], look.pop("fmt"), label=DECODERS[decoder], **look)
    legend(figure)
