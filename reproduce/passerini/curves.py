"""Observations of Passerini, Pontil & Frasconi's figures as curves over γ, one per data set and code."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from reproduce.experiment import Observation

# Codes and decoders, and their names on the page.
CODES = {"one-vs-all": "one-vs-all", "all-pairs": "all-pairs", "bch": "dense (BCH)"}
DECODERS = {"hamming": "Hamming", "linear": "linear", "hinge": "soft-margin", "likelihood": "likelihood"}


def with_bias(observations: list[Observation], bias: str) -> list[Observation]:
    """Return the observations with this bias."""
    return [own for own in observations if own.unit["bias"] == bias]


def as_cells(observations: list[Observation]) -> pd.DataFrame:
    """Return a frame with a row per data set, code and γ, in the order of the figures: errors and bound in percent."""

    def order(own: Observation) -> tuple[str, int, float]:
        return own.unit["data_set"], list(CODES).index(own.unit["code"]), own.unit["gamma"]

    rows = [
        own.unit
        | {name: 100 * own.found["wrong"][name] / own.found["tested"] for name in DECODERS}
        | {"tested": own.found["tested"], "bound": 100 * own.found.get("bound", np.nan)}
        for own in sorted(observations, key=order)
    ]
    return pd.DataFrame(rows).set_index(["data_set", "code", "gamma"])


def curves_of(cells: pd.DataFrame) -> Any:
    """Group the cells by data set and code."""
    return cells.groupby(["data_set", "code"], sort=False)


def codes_in(cells: pd.DataFrame) -> list[str]:
    """Return the codes of the cells, in the order of the figures."""
    return [code for code in CODES if code in cells.index.unique("code")]


def by_data_set(values: pd.Series) -> dict[str, float]:
    """Return the mean of each data set."""
    means: dict[str, float] = values.groupby("data_set").mean().to_dict()
    return means


def power_of_two(gamma: float) -> str:
    """Format γ as a power of two.

    >>> power_of_two(0.25)
    '2^−2'
    """
    return f"2^{round(np.log2(gamma))}".replace("-", "−")


def with_reach(error: float, tested: int) -> str:
    """Format an error in percent with two standard errors of a proportion.

    >>> with_reach(10.0, 900)
    '10.0 ± 2.0'
    """
    return f"{error:.1f} ± {2 * np.sqrt(error * (100 - error) / tested):.1f}"


def panels(figure: Any, cells: pd.DataFrame) -> dict[tuple[str, str], Any]:
    """Make axes for each data set (a row) and code (a column)."""
    data_sets, codes = list(cells.index.unique("data_set")), codes_in(cells)
    figure.set_size_inches(8.5, 1.0 + 1.75 * len(data_sets))
    axes = figure.subplots(len(data_sets), len(codes), sharex=True, sharey="row", squeeze=False)
    for axis, code in zip(axes[0], codes, strict=True):
        axis.set_title(CODES[code], fontsize=10)
    for axis, data_set in zip(axes[:, 0], data_sets, strict=True):
        axis.set_ylabel(f"{data_set}\nerror, %")
    for axis in axes[-1]:
        axis.set_xlabel("γ")
    for axis in axes.flat:
        axis.set_xscale("log", base=2)
        axis.grid(alpha=0.25)
        axis.spines[["top", "right"]].set_visible(False)
    return {(name, code): axes[i, j] for i, name in enumerate(data_sets) for j, code in enumerate(codes)}


def legend(figure: Any) -> None:
    """Add one legend for all panels."""
    lines = {line.get_label(): line for axis in figure.axes for line in axis.get_lines() if line.get_label()[0] != "_"}
    figure.legend(lines.values(), lines.keys(), loc="outside upper center", ncols=len(lines), frameon=False, fontsize=9)
