"""The leave-one-out error of a trained classifier without training again: exact, bounded or estimated."""

from __future__ import annotations

import copy
import warnings
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from outputcodes.bounds.leave_one_out import loo_errors_in_place
from outputcodes.classifier import OutputCodeClassifier
from outputcodes.learners import KernelSVM, as_learner
from outputcodes.training import Columns, Problem, alone_on_its_side

FREE_BIAS = (
    "KernelSVM(bias='free'): the leave-one-out bound holds without a bias or with a folded one; with a free bias it "
    "is an estimate. Use bias='folded' for a bound."
)
INDEFINITE = (
    "The leave-one-out bound holds for positive semi-definite kernels; with kernel='sigmoid', and with 'poly' of a "
    "negative coef0 or a degree that is not whole, it is an estimate. Use another kernel for a bound."
)


@dataclass(frozen=True)
class LeaveOneOut:
    """What is known of the leave-one-out error.

    Attributes
    ----------
    error : float
        The share, by weight, of the examples that are, or may be, wrong when left out.
    kind : {"exact", "bound", "estimate"}
        The error itself; never below it; or near it, without a guarantee.
    wrong : ndarray of bool, shape (n,)
        Which examples those are, among those of positive weight.
    """

    error: float
    kind: Literal["exact", "bound", "estimate"]
    wrong: NDArray[np.bool_]


def leave_one_out(
    model: OutputCodeClassifier,
    X: Any,
    y: ArrayLike,
    sample_weight: ArrayLike | None = None,
    *,
    ties_as_errors: bool = True,
) -> LeaveOneOut:
    """The leave-one-out error of a fitted classifier on the sample it was fitted on.

    Exact for learners that answer `leave_one_out_margins` (Ridge); for KernelSVM the bound of
    `outputcodes.bounds.loo_error_bound`, or with a free bias or an indefinite kernel an estimate, which is said with a
    warning. A kernel that you give, as a function or as a matrix, must be positive semi-definite. The code and what the
    decoder has learned are the same with and without the example, and so are balanced weights.

    Parameters
    ----------
    model : OutputCodeClassifier
        Fitted, with a KernelSVM or Ridge.
    X, y, sample_weight : what it was fitted on
    ties_as_errors : bool, default=True
        Whether the bound counts a tie with a wrong class, which the decoder may break in its favour. The theorem does
        not; but where all columns say no, Hamming decoding ties everywhere and its bound without ties would be 0.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from outputcodes import OutputCodeClassifier
    >>> from outputcodes.learners import KernelSVM
    >>> X, y = load_iris(return_X_y=True)
    >>> model = OutputCodeClassifier(KernelSVM(gamma=0.1, C=10, bias="folded"), code="one-vs-all").fit(X, y)
    >>> judged = leave_one_out(model, X, y)
    >>> judged.kind, round(judged.error, 3)
    ('bound', 0.167)
    """
    check_is_fitted(model)
    learner = as_judged(model)
    refuse_several_labels(model)
    if doubt := doubt_about(learner):
        warnings.warn(doubt, UserWarning, stacklevel=2)
    model._check_features(X, reset=False)
    # The sample is checked by a copy, which takes its classes from it; what it would draw is of no use here.
    other = copy.copy(model).set_params(random_state=0)
    problem = other._problem(X, y, sample_weight, {})[0]
    if not np.array_equal(other.classes_, model.classes_):
        raise ValueError(f"y has the classes {other.classes_}; the model was fitted on {model.classes_}.")
    return judge(model, problem, ties_as_errors)


def as_judged(model: Any) -> Any:
    """The learner of a classifier whose leave-one-out error is known after one training; an error if it isn't."""
    if isinstance(model, OutputCodeClassifier):
        learner = as_learner(model.estimator, model.variant)
        if isinstance(learner, KernelSVM) or hasattr(learner, "leave_one_out_margins"):
            return learner
    raise ValueError(
        f"{model!r} has no leave-one-out error after one training; give an OutputCodeClassifier over KernelSVM or "
        "Ridge (and put other steps of a pipeline around the search)."
    )


def refuse_several_labels(model: OutputCodeClassifier) -> None:
    """An error for a classifier that has seen a y with several labels a row."""
    if model.multilabel_:
        raise ValueError("y indicates several labels a row; leave-one-out errors are known for one label a row.")


def doubt_about(learner: Any) -> str | None:
    """Why what is known of its leave-one-out error is an estimate; None if it is a bound, or exact."""
    if hasattr(learner, "leave_one_out_margins"):
        return None
    if learner.bias == "free":
        return FREE_BIAS
    odd_power = learner.kernel == "poly" and (learner.coef0 < 0 or learner.degree < 0 or learner.degree % 1 != 0)
    return INDEFINITE if odd_power or learner.kernel == "sigmoid" else None


def judge(model: OutputCodeClassifier, problem: Problem, ties_as_errors: bool = True) -> LeaveOneOut:
    """`leave_one_out` of a classifier and the problem that it was trained on."""
    learner: Any = problem.learner
    M, columns, labels = model.code_matrix_, model.columns_, problem.y[problem.rows]
    at, column = alone_on_its_side(M, labels)
    # Without the only example of a side, a column answers the other one; without the only one of both, 0.
    answer = np.where(columns.live[column], -M[labels[at], column], 0.0)
    if hasattr(learner, "leave_one_out_margins"):
        F = problem.margins_for_decoder(M, 2, columns)  # any number of folds: it answers the closed form
        F[at, column] = answer
        return _of(model.decoder_.predict(F, M) != labels, "exact", problem)
    alpha = _dual(columns, len(labels))
    F = columns.margins(problem.data, problem.rows)
    F[at, column], alpha[at, column] = answer, 0.0
    diag = problem.data.gram.diag[problem.rows] + float(learner.bias == "folded")
    if doubt := doubt_about(learner):
        diag = np.maximum(diag, 0.0)  # which of an indefinite kernel may be negative
    wrong = loo_errors_in_place(F, labels, M, alpha, diag, model.decoder_, ties_as_errors)
    return _of(wrong, "estimate" if doubt else "bound", problem)


def _dual(columns: Columns, n: int) -> NDArray[np.float64]:
    """(n, L) dual variables, 0 in columns that were not trained."""
    dual = np.zeros((n, 0)) if columns.fitted is None else columns.fitted.dual()  # type: ignore[attr-defined]
    if len(dual) != n:
        raise ValueError(f"X and y have {n} rows of positive weight; the model was fitted on {len(dual)}.")
    if columns.live.all():
        return dual
    alpha = np.zeros((n, len(columns.live)))
    alpha[:, columns.live] = dual
    return alpha


def _of(wrong: NDArray[np.bool_], kind: Literal["exact", "bound", "estimate"], problem: Problem) -> LeaveOneOut:
    weight = None if problem.weight is None else problem.weight[problem.rows]
    return LeaveOneOut(float(np.average(wrong, weights=weight)), kind, wrong)
