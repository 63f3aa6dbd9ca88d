"""Leave-one-out error of a trained classifier, exact, bounded or estimated, without retraining."""

from __future__ import annotations

import copy
import warnings
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from outputcodes._ground.drawn_code import alone_on_its_side
from outputcodes._ground.targets import indicates_labels
from outputcodes.bounds.leave_one_out import loo_errors_in_place
from outputcodes.classifier import OutputCodeClassifier
from outputcodes.decoders import Decoder
from outputcodes.learners import Learner, as_learner
from outputcodes.training import Problem, TrainedCode


@dataclass(frozen=True)
class LeaveOneOut:
    """Leave-one-out error of a classifier: the exact value, a bound or an estimate.

    Attributes
    ----------
    error : float
        The weighted share of the examples that are, or may be, misclassified when left out.
    kind : {"exact", "bound", "estimate"}
        Whether `error` is the exact error, an upper bound on it, or an estimate without a guarantee.
    wrong : ndarray of bool, shape (n,)
        Mask of the misclassified examples, among the examples with positive weight.
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
    """Return the leave-one-out error of a fitted classifier on its training sample.

    The error is exact for learners that implement `leave_one_out_margins` (Ridge). For KernelSVM it is the bound of
    `outputcodes.bounds.loo_error_bound`, or, with a free bias or an indefinite kernel, an estimate, with a
    warning. A kernel passed as a function or as a matrix must be positive semi-definite. The code, the fitted decoder
    and balanced weights are kept the same with and without the example.

    Parameters
    ----------
    model : OutputCodeClassifier
        A fitted classifier based on KernelSVM or Ridge.
    X, y, sample_weight : the training sample of the model
    ties_as_errors : bool, default=True
        Whether the bound counts a tie with a wrong class as an error, because the decoder may choose that class. The
        theorem does not count ties. However, where all columns predict −1, Hamming decoding ties everywhere and the
        bound without ties would be 0.

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
    refuse_multilabel(y)
    if doubt := learner.leave_one_out_doubt():
        warnings.warn(doubt, UserWarning, stacklevel=2)
    # A copy validates the sample and takes its classes from it; its random code is not used here.
    other = copy.copy(model).set_params(random_state=0)
    posed = other.pose(X, y, sample_weight)
    if other.n_features_in_ != model.n_features_in_:
        raise ValueError(f"X has {other.n_features_in_} features, but the model was fitted on {model.n_features_in_}.")
    if not np.array_equal(posed.targets.classes, model.classes_):
        raise ValueError(f"y has the classes {posed.targets.classes}, but the model was fitted on {model.classes_}.")
    return judge(TrainedCode(posed.problem, model.code_, model.columns_), model.decoder_, ties_as_errors)


def as_judged(model: Any) -> Learner:
    """Return the learner of a classifier whose leave-one-out error is known after one training, or raise ValueError."""
    if isinstance(model, OutputCodeClassifier):
        learner = as_learner(model.estimator, model.variant)
        if learner.leave_one_out is not None:
            return learner
    raise ValueError(
        f"{model!r} has no leave-one-out error after one training; use an OutputCodeClassifier based on KernelSVM "
        "or Ridge (and put the other steps of a pipeline around the search)."
    )


def refuse_multilabel(y: Any) -> None:
    """Raise ValueError for a multilabel y."""
    if indicates_labels(y):
        raise ValueError("y is multilabel; leave-one-out errors need one label per row.")


def judge(trained: TrainedCode, decoder: Decoder, ties_as_errors: bool = True) -> LeaveOneOut:
    """Return the leave-one-out error of a trained code under a fitted decoder."""
    problem, columns = trained.problem, trained.columns
    learner, M, labels = problem.learner, trained.code.matrix(), problem.labels
    at, column = alone_on_its_side(M, labels)
    # Without the only example of one side, a column returns the other side; without the only example of both, 0.
    alone = np.where(columns.live[column], -M[labels[at], column], 0.0)
    if learner.leave_one_out == "exact":
        F = trained.leave_one_out_margins()
        F[at, column] = alone
        return _of(decoder.predict(F, M) != labels, "exact", problem)
    alpha = np.zeros((len(labels), M.shape[1])) if columns.fitted is None else columns.dual()
    if len(alpha) != len(labels):
        raise ValueError(
            f"X and y have {len(labels)} rows of positive weight, but the model was fitted on {len(alpha)}."
        )
    F = trained.training_margins()
    F[at, column], alpha[at, column] = alone, 0.0
    diag = learner.self_kernel(problem.data, problem.rows)
    doubt = learner.leave_one_out_doubt()
    if doubt:
        diag = np.maximum(diag, 0.0)  # an indefinite kernel may have negative diagonal values
    wrong = loo_errors_in_place(F, labels, M, alpha, diag, decoder, ties_as_errors)
    return _of(wrong, "estimate" if doubt else "bound", problem)


def _of(wrong: NDArray[np.bool_], kind: Literal["exact", "bound", "estimate"], problem: Problem) -> LeaveOneOut:
    weight = None if problem.weight is None else problem.weight[problem.rows]
    return LeaveOneOut(float(np.average(wrong, weights=weight)), kind, wrong)
