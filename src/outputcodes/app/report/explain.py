"""Why a classifier predicts what it does for one row: its margins against every codeword, as data and as text."""

from __future__ import annotations

from dataclasses import dataclass, field
from html import escape
from typing import Any

import numpy as np
from numpy.typing import NDArray

from outputcodes._ground.words import shorten
from outputcodes.app.report.answers import Answers, answers
from outputcodes.app.report.plain import plain
from outputcodes.app.report.values import row_values
from outputcodes.selection.html_table import html_table

Array = NDArray[np.float64]

# Letters of a label in sentences and tables.
LONGEST_NAME = 40


@dataclass(frozen=True, eq=False, repr=False)
class Explanation:
    """One row explained; `print` shows it as text, `data()` is plain.

    Attributes
    ----------
    classes : ndarray of shape (k,)
    predicted : int
        A class number, as are `truth` and `rival`.
    truth : int or None
        Where it is known.
    rival : int or None
        The class that the prediction is compared with: the true one where it was missed, else the second best.
    scores, probabilities : ndarrays of shape (k,) or None
    margins, code : ndarrays of shape (L,) and (k, L), or None
    lead : ndarray of shape (L,) or None
        What each column adds to the score of the prediction less what it adds to the rival's, by the decoder's
        `contributions`; None where there is no rival, or the code is too large.
    name : the name of the row
    values : list of (feature, value)
        The row as the model was given it, in words; the first of many features.
    features : list of (feature, number)
        The features that moved the prediction, with their values, and what each adds to the margins in favour of the
        prediction over the rival; empty where the model is neither linear nor made of trees.
    """

    classes: NDArray[Any]
    predicted: int
    truth: int | None
    rival: int | None
    scores: Array | None
    probabilities: Array | None
    margins: Array | None
    code: NDArray[np.int8] | None
    lead: Array | None
    name: Any = None
    values: list[tuple[str, str]] = field(default_factory=list)
    features: list[tuple[str, float]] = field(default_factory=list)

    @property
    def wrong(self) -> NDArray[np.intp]:
        """The columns that contradict the codeword of the truth or, where it is not known, of the prediction."""
        own = self.predicted if self.truth is None else self.truth
        if self.code is None or self.margins is None:
            return np.empty(0, dtype=np.intp)
        return np.flatnonzero(self.code[own] * self.margins < 0)

    def data(self, *, shared: bool = True) -> dict[str, Any]:
        """Return plain data: lists, numbers and strings; with what all rows share, the classes and the code, or not."""
        names = ["name", "predicted", "truth", "rival", "scores", "probabilities", "margins", "lead", "wrong", "values"]
        names += ["features", *(["classes", "code"] if shared else [])]
        facts: dict[str, Any] = plain({name: getattr(self, name) for name in names} | {"summary": self.summary()})
        return facts

    def _label(self, c: int) -> str:
        return shorten(self.classes[c], LONGEST_NAME)

    def summary(self) -> str:
        """Return sentences on the prediction, the columns that erred, and how far the decoder was right or wrong."""
        label = {c: self._label(c) for c in (self.predicted, self.truth, self.rival) if c is not None}
        verdict = {None: "", self.predicted: ", which is right"}.get(
            self.truth, f"; the truth is {label.get(self.truth or 0)}"
        )
        parts = [f"Predicted {label[self.predicted]}{verdict}."]
        if self.code is not None and self.margins is not None:
            own = self.predicted if self.truth is None else self.truth
            seen, wrong = np.count_nonzero(self.code[own]), len(self.wrong)
            number = {0: "None", seen: "All"}.get(wrong, str(wrong))
            verb = "contradicts" if wrong == 1 else "contradict"
            columns = f"{number} of the {seen} columns that see {label[own]} {verb}"
            if seen == 1:
                columns = f"The one column that sees {label[own]} {'contradicts' if wrong else 'agrees with'}"
            parts.append(f"{columns} its codeword.")
        if self.scores is not None and self.rival is not None:
            ahead = float(self.scores[self.predicted] - self.scores[self.rival])
            parts.append(
                f"The {self._score} of {label[self.predicted]} is {ahead:.3g} above that of "
                f"{label[self.rival]}{self._turn()}."
            )
        if self.features and self.rival is not None:
            parts.append(self._moved(label[self.predicted], label[self.rival]))
        return " ".join(parts)

    @property
    def _score(self) -> str:
        """What a score is."""
        if self.scores is None or self.probabilities is None:
            return "score"
        return "probability" if np.array_equal(self.scores, self.probabilities) else "score"

    def _moved(self, predicted: str, rival: str) -> str:
        """Which features speak for the prediction, and which against it."""
        pro = ", ".join(f"{name} ({_signed(part)})" for name, part in self.features if part > 0)
        contra = ", ".join(f"{name} ({_signed(part)})" for name, part in self.features if part < 0)
        told = [f"for {predicted} over {rival}: {pro}"] if pro else []
        told += [f"against it: {contra}" if pro else f"against {predicted}: {contra}"] if contra else []
        return f"Features {'; '.join(told)}."

    def _turn(self) -> str:
        """How the decoder got there, where the columns alone do not say so."""
        if self.truth is None or self.code is None:
            return ""
        right, them = self.truth == self.predicted, "it" if len(self.wrong) == 1 else "them"
        if len(self.wrong):
            return f": the decoder {'corrects' if right else 'does not correct'} {them}"
        return "" if right else ": columns that do not see the truth decide"

    def _table(self) -> tuple[list[str], list[list[str]], list[bool]]:
        """Headings, a row for each of the best classes, the true one and the rival, and which is the true one."""
        assert self.scores is not None
        order: list[int] = np.argsort(-self.scores, kind="stable")[:5].tolist()
        order += [c for c in (self.truth, self.rival) if c is not None and c not in order]
        headings, rows = ["class", self._score], [[self._label(c), f"{self.scores[c]:.4g}"] for c in order]
        if self.margins is not None and self.code is not None:
            headings += ["agree", "contradict"]
            for row, product in zip(rows, self.code[order] * self.margins, strict=True):
                row += [str(np.count_nonzero(product > 0)), str(np.count_nonzero(product < 0))]
        return headings, rows, [c == self.truth for c in order]

    def _repr_html_(self) -> str:
        parts = [f"<p>{escape(self.summary())}</p>"]
        if self.scores is not None:
            headings, rows, true = self._table()
            parts.append(html_table(headings, rows, bold=true))
        if self.values:
            parts.append(html_table(["feature", "value"], self.values))
        return f"<div>{''.join(parts)}</div>"

    def __str__(self) -> str:
        lines = [self.summary()]
        if self.scores is None:
            return lines[0]
        headings, rows, true = self._table()
        width = max(len(name) for name, *_ in [headings, *rows])
        lines.append("")
        widths = (max(10, len(self._score)), 6, 10)
        for (name, *cells), mark in zip([headings, *rows], [False, *true], strict=True):
            numbers = "".join(f"  {cell:>{w}}" for cell, w in zip(cells, widths, strict=False))
            lines.append(f"{name:<{width}}{numbers}" + ("  ← truth" if mark else ""))
        if self.lead is not None and self.rival is not None:
            top = [s for s in np.argsort(-np.abs(self.lead), kind="stable")[:5] if self.lead[s]]
            lines.append(
                f"\nColumns that tell {self._label(self.predicted)} from {self._label(self.rival)} most: "
                + ", ".join(f"{s} ({self.lead[s]:+.3g})" for s in top)
            )
        return "\n".join(lines)

    __repr__ = __str__


def _signed(part: float) -> str:
    """Two digits of a number with its sign; whole numbers are written out.

    >>> [_signed(part) for part in (0.0123, -1.26, 34.56, 12345.6, 2e9)]
    ['+0.012', '-1.3', '+35', '+12346', '+2e+09']
    """
    return f"{part:+.0f}" if 10 <= abs(part) < 1e6 else f"{part:+.2g}"


def explain(model: Any, x: Any, truth: Any = None) -> Explanation:
    """Explain the prediction of a fitted classifier for one row.

    Parameters
    ----------
    model : a fitted classifier, as for `answers`
    x : one row
        A vector, a sparse or dense row, a row of a data frame (a Series or a frame of one row), or a text.
    truth : label, optional
        The true class, if it is known.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from outputcodes import OutputCodeClassifier
    >>> from outputcodes.learners import Ridge
    >>> iris = load_iris()
    >>> model = OutputCodeClassifier(Ridge(), code="all-pairs").fit(iris.data, iris.target_names[iris.target])
    >>> print(explain(model, iris.data[70], truth="versicolor"))
    Predicted virginica; the truth is versicolor. 1 of the 2 columns that see versicolor contradicts its codeword. The
    score of virginica is 0.133 above that of versicolor: the decoder does not correct it. Features for virginica over
    versicolor: x2 = 4.8 (+3.6), x3 = 1.8 (+2.1); against it: x0 = 5.9 (-2.5), x1 = 3.2 (-1.3).
    <BLANKLINE>
    class            score   agree  contradict
    virginica       -2.019       2           0
    versicolor      -2.152       1           1  ← truth
    setosa          -9.017       0           2
    <BLANKLINE>
    Columns that tell virginica from versicolor most: 0 (-0.927), 1 (+0.905), 2 (+0.155)
    """
    return explain_row(answers(model, _one_row(x), None if truth is None else [truth]), 0)


def explain_row(asked: Answers, i: int, *, brief: bool = False, values: bool = True) -> Explanation:
    """Return the explanation of row i; a brief one lacks what its summary does not need: leads and values."""
    predicted = int(asked.predicted[i])
    truth = None if asked.truth is None else int(asked.truth[i])
    scores = None if asked.scores is None else asked.scores[i]
    rival = None
    if truth not in (None, predicted):
        rival = truth
    elif scores is not None and len(scores) > 1:
        rival = int(np.where(np.arange(len(scores)) == predicted, -np.inf, scores).argmax())
    margins = None if asked.margins is None else asked.margins[i]
    lead = None
    if not brief and rival is not None and not (margins is None or asked.code is None or asked.decoder is None):
        parts = asked.decoder.contributions(margins[None], asked.code)
        lead = None if parts is None else parts[0, predicted] - parts[0, rival]
    return Explanation(
        asked.classes,
        predicted,
        truth,
        rival,
        scores,
        None if asked.probabilities is None else asked.probabilities[i],
        margins,
        asked.code,
        lead,
        asked.names[i],
        row_values(asked.inputs, i) if values and not brief else [],
        [] if asked.parts is None or rival is None else asked.parts.of_row(i, predicted, rival),
    )


def _one_row(x: Any) -> Any:
    if hasattr(x, "to_frame") and hasattr(x, "name"):  # a row of a data frame, on its side
        return x.to_frame().T.infer_objects()
    if isinstance(x, str):
        return [x]
    rows = x if hasattr(x, "shape") else np.asarray(x)
    rows = rows.reshape(1, -1) if len(rows.shape) == 1 else rows
    if rows.shape[0] != 1:
        raise ValueError(f"x has {rows.shape[0]} rows; explain takes one.")
    return rows
