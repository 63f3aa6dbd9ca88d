"""Test errors by data set, decoder and code, beside the published ones."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from reproduce.allwein.published import CODES, Cell, Errors, cells
from reproduce.experiment import Observation, TextTable
from reproduce.judging import Agreement, signed


class Proportion(NamedTuple):
    """The number of wrong predictions among the rows tested."""

    wrong: int
    tested: int

    @property
    def error(self) -> float:
        """The error in percent."""
        return 100 * self.wrong / self.tested

    @property
    def variance(self) -> float:
        """The variance of the error, with one more right and one more wrong row so that it is never 0."""
        p = (self.wrong + 1) / (self.tested + 2)
        return 1e4 * p * (1 - p) / self.tested


Ours = dict[Cell, Proportion]


def errors_by_cell(observations: Iterable[Observation]) -> Ours:
    """Collect the cells of units {"data_set", "code", ...} that found {"wrong": {decoder: per fold}, "tested"}."""
    return {
        (own.unit["data_set"], decoder, own.unit["code"]): Proportion(sum(wrong), sum(own.found["tested"]))
        for own in observations
        for decoder, wrong in own.found["wrong"].items()
    }


def agreements(ours: Ours, published: Errors, excluded: Iterable[Cell] = ()) -> dict[Cell, Agreement]:
    """Return the agreement of every cell that was measured and published and is not excluded."""
    shared = {cell: error for cell, error in cells(published).items() if cell in ours and cell not in set(excluded)}
    return {cell: Agreement.of(ours[cell].error, error, ours[cell].tested) for cell, error in shared.items()}


def side_by_side(ours: Ours, published: Errors, decoder: str, title: str, excluded: Iterable[Cell] = ()) -> TextTable:
    """Return a table of our errors with one decoder, each with two standard errors and the published one."""
    judged = agreements(ours, published, excluded)
    shown = agreements(ours, published)

    def text(cell: Cell) -> str:
        if cell not in shown:
            return "–"
        own = shown[cell]
        mark = "" if cell not in judged or own.within else " ↓" if own.lower else " ↑"
        brackets = "()" if cell in judged else "[]"
        return (
            f"{own.ours:.1f} ± {2 * np.sqrt(ours[cell].variance):.1f} "
            f"{brackets[0]}{own.published:.1f}, {signed(own.difference)}{brackets[1]}{mark}"
        )

    names = [name for name in published if any(own[:2] == (name, decoder) for own in ours)]
    rows = [(name, *(text((name, decoder, code)) for code in CODES)) for name in names]
    remarks = (
        "Ours ± two standard errors (published, difference); ↑ higher and ↓ lower by more than two standard errors at "
        "the mean of both, assuming independent rows"
        + ("; cells in square brackets are not judged." if set(excluded) & set(shown) else "."),
    )
    return TextTable(title, ("data set", *CODES), rows, remarks)


def agreement_table(judged: Mapping[Cell, Agreement], title: str) -> TextTable:
    """Count the cells that agree with the published ones, by decoder, by code and over all."""

    def row(name: str, chosen: Sequence[Agreement]) -> tuple[str, ...]:
        n = len(chosen)
        counts = (
            sum(own.within for own in chosen),
            sum(own.lower for own in chosen),
            sum(own.higher for own in chosen),
        )
        mean = np.mean([own.difference for own in chosen])
        return (name, str(n), *(f"{count} ({100 * count / n:.0f} %)" for count in counts), signed(float(mean)))

    groups = {
        **{decoder: [own for cell, own in judged.items() if cell[1] == decoder] for _, decoder, _ in judged},
        **{code: [own for cell, own in judged.items() if cell[2] == code] for code in CODES},
        "**all**": list(judged.values()),
    }
    header = ("cells", "compared", "within two standard errors", "lower", "higher", "mean difference")
    return TextTable(title, header, [row(name, chosen) for name, chosen in groups.items() if chosen])


def headline(judged: Mapping[Cell, Agreement], what: str) -> list[str]:
    """Summarise the agreement in one sentence; empty if nothing is judged."""
    n, within = len(judged), sum(own.within for own in judged.values())
    lower, higher = (sum(getattr(own, side) for own in judged.values()) for side in ("lower", "higher"))
    share = f"{within} of {n} errors ({100 * within / max(n, 1):.0f} %)"
    sentence = f"{what}: {share} are within two standard errors of the published ones, {lower} lower, {higher} higher."
    return [sentence] if judged else []


def higher_cells(judged: Mapping[Cell, Agreement], why: Mapping[Cell, str], title: str) -> TextTable:
    """List the cells where ours is higher by more than two standard errors, and why."""
    rows = [
        (
            *cell,
            f"{own.ours:.1f}",
            f"{own.published:.1f}",
            f"{own.difference / own.standard_error:.1f}",
            why.get(cell, "not examined"),
        )
        for cell, own in judged.items()
        if own.higher
    ]
    return TextTable(title, ("data set", "decoder", "code", "ours", "published", "standard errors", "why"), rows)
