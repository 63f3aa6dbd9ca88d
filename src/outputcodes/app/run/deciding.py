"""Decisions by costs, priors and rejection, for predictions of a saved model: those of `outputcodes.decisions`."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from outputcodes._ground.words import quoted
from outputcodes.app.report import Answers
from outputcodes.app.run.labels import by_label
from outputcodes.app.tables import Schema, TableError
from outputcodes.decisions import REJECTED, code_distance, decide, with_priors

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Decisions:
    """How to decide on the basis of probabilities, see `outputcodes.decisions.DecisionClassifier`.

    Attributes
    ----------
    cost : path of a csv file, optional
        Its first column has the true classes, its header the decisions: every class and, if rows can be rejected, the
        label of rejected rows.
    priors : mapping from labels to numbers, optional
        The class frequencies to expect.
    reject_below, reject_beyond : float, optional
    rejected : str, optional
        The label of rejected rows: by default -1 for numeric labels and "rejected" for others.
    """

    cost: str | Path | None = None
    priors: Mapping[str, float] | None = None
    reject_below: float | None = None
    reject_beyond: float | None = None
    rejected: str | None = None

    def __bool__(self) -> bool:
        return any(choice is not None for choice in (self.cost, self.priors, self.reject_below, self.reject_beyond))

    def for_model(self, schema: Schema, shares: Sequence[float] | None) -> Decider:
        """Check everything against the classes of a model and their shares in its training."""
        classes = schema.classes
        numeric = all(isinstance(label, int) for label in classes)
        rejected = (str(REJECTED) if numeric else "rejected") if self.rejected is None else self.rejected
        if rejected in map(str, classes):
            raise ValueError(f"rejected={rejected!r} is one of the classes: give another label (--rejected).")
        priors = None
        if self.priors is not None:
            if shares is None:
                raise ValueError("The model file has no class frequencies, which priors (--priors) need: fit it again.")
            given = by_label(self.priors, classes, "priors")
            if absent := [str(label) for label in classes if label not in given]:
                raise ValueError(f"priors (--priors) must have a number for every class; it lacks {', '.join(absent)}.")
            priors = np.array([given[label] for label in classes], dtype=np.float64)
        cost = None if self.cost is None else read_costs(self.cost, [str(label) for label in classes], rejected)
        decider = Decider(self, [*map(str, classes), rejected], cost, priors, shares)
        k = len(classes)
        decider.decided(np.full((1, k), 1 / k))
        if self.reject_beyond is not None and not 0 <= self.reject_beyond <= 1:
            raise ValueError(f"reject_beyond={self.reject_beyond} must be a number between 0 and 1.")
        return decider


@dataclass(frozen=True, eq=False)
class Decider:
    """Decisions for the classes of one model; `labels` are those of the classes and, last, of rejected rows."""

    how: Decisions
    labels: list[str]
    cost: Array | None
    priors: Array | None
    shares: Sequence[float] | None

    def decided(self, P: Array) -> NDArray[np.intp]:
        """Return class numbers, or −1 for rejected rows."""
        return decide(
            P, cost=self.cost, priors=self.priors, training_priors=self.shares, reject_below=self.how.reject_below
        )

    def probabilities(self, P: Array) -> Array:
        """Return the probabilities under the priors."""
        return P if self.priors is None else with_priors(P, self.priors, self.shares)

    def __call__(self, asked: Answers) -> NDArray[np.intp]:
        """Return class numbers, or −1, for the output of a model."""
        assert asked.probabilities is not None
        chosen = self.decided(asked.probabilities)
        if self.how.reject_beyond is not None:
            if asked.margins is None or asked.code is None:
                raise ValueError(
                    "reject_beyond (--reject-beyond) needs the margins of an output code; the model has none."
                )
            chosen[code_distance(asked.margins, asked.code, chosen.clip(0)) > self.how.reject_beyond] = REJECTED
        return chosen


def read_costs(path: str | Path, classes: Sequence[str], rejected: str) -> Array:
    """Return the costs in a csv file as a matrix: true classes × decisions, the rejection last."""
    try:
        with Path(path).open(newline="", encoding="utf-8-sig") as file:
            header, *rows = [[cell.strip() for cell in row] for row in csv.reader(file) if row] or [[]]
    except (OSError, UnicodeError) as reason:
        raise TableError(f"{path} (--cost) can't be read: {reason}") from reason
    decisions, found = header[1:], {row[0]: row[1:] for row in rows}
    expected = [*classes, rejected] if rejected in decisions else list(classes)
    if sorted(found) != sorted(classes) or len(rows) != len(classes) or sorted(decisions) != sorted(expected):
        raise TableError(
            f"{path} (--cost) must have a row for each true class, {', '.join(classes)}, and a column for each "
            f"decision: the same and, to reject rows, {rejected!r}. It has the rows "
            f"{quoted(row[0] for row in rows) or 'none'} and the columns {quoted(decisions) or 'none'}."
        )
    return np.array(
        [[_cost(path, true, found[true], decisions.index(one), one) for one in expected] for true in classes]
    )


def _cost(path: str | Path, true: str, cells: Sequence[str], place: int, decision: str) -> float:
    cell: Any = cells[place] if place < len(cells) else ""
    try:
        cost = float(cell)
    except ValueError:
        cost = np.nan
    if np.isfinite(cost):
        return cost
    raise TableError(
        f"{path} (--cost): the cost of deciding {decision!r} where {true!r} is true must be a number, not {cell!r}."
    )
