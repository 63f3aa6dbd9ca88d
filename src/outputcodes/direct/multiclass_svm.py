"""MulticlassSVC: a support vector machine that solves one problem for all classes."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from outputcodes._ground import progress
from outputcodes._ground.blocks import threads
from outputcodes._ground.sizes import linear_scores, refuse_huge
from outputcodes._ground.validation import as_seed, check_classes, check_n_jobs, check_targets, check_weight, validated
from outputcodes._ground.whole_fits import whole_or_nothing
from outputcodes._kernel_machines.expansion import expand_new
from outputcodes._kernel_machines.parameters import KernelParameters, check_kernel_parameters, gram_of
from outputcodes._kernel_machines.spoc import SpocSolution, solve

Array = NDArray[np.float64]

FORMULATIONS = ("crammer-singer", "weston-watkins")


class MulticlassSVC(KernelParameters, ClassifierMixin, BaseEstimator):
    """Multiclass support vector machine: one score function per class, trained jointly, without a bias.

    With the scores f_r(x) = w_r·x (or their kernel form), it minimises ½ Σ_r ‖w_r‖² + C Σ_i ξ_i, where ξ_i is

    - max(0, 1 + max_{r ≠ y_i} f_r(x_i) − f_{y_i}(x_i)) in the formulation of Crammer & Singer (2001),
    - Σ_{r ≠ y_i} max(0, 1 + f_r(x_i) − f_{y_i}(x_i)) in the formulation of Weston & Watkins (1998). They use a
      margin of 2 instead of 1, which doubles the scores at twice the C.

    It predicts the class with the largest score. With two classes, both formulations are the binary SVM without a bias
    at 2C.

    Parameters
    ----------
    kernel : {"rbf", "poly", "linear", "sigmoid", "precomputed"} or callable, default="rbf"
        A callable kernel(A, B) returns an array of shape (len(A), len(B)). With "precomputed", X holds kernel values:
        between all pairs of training examples in `fit`, and between new and training examples in prediction; they must
        be positive semidefinite, and an indefinite matrix is an error. "linear" stores the w_r and needs no kernel
        values.
    C : float, default=1.0
        The cost of a unit of loss; 1/β in Crammer & Singer.
    gamma : {"scale", "auto"} or float, default="scale"
        The γ of rbf exp(−γ‖x − z‖²), poly (γ x·z + coef0)^degree and sigmoid tanh(γ x·z + coef0). "scale" is
        1 / (n_features · X.var()), "auto" is 1 / n_features. As in scikit-learn, X.var() ignores sample weights: if
        weights represent repeated rows, set γ to a number.
    degree, coef0 : float, default=3 and 0.0
        Parameters of the poly and sigmoid kernels; sigmoid ignores `degree`.
    formulation : {"crammer-singer", "weston-watkins"}, default="crammer-singer"
    tol : float, default=1e-3
        Training stops when no example violates its optimality conditions by more than this, in units of the score.
        With a thousand classes or more, set it to 0.1: predictions hardly change, while every visit to an example
        computes the scores of all classes, and each further digit takes several times as many visits.
    cache_size : float, default=2000
        Size of the Gram matrix cache in megabytes. Rows that do not fit are recomputed when needed.
    max_iter : int, default=10_000
        The maximum number of epochs (linear) or working sets (kernels).
    warm_start : bool, default=False
        Start from the dual variables of the previous fit, if it had as many examples and the same classes.
    n_jobs : int, optional
        Number of threads for kernels. The result does not depend on it.
    random_state : int, RandomState or None, default=0
        Seeds the order in which the linear solver visits the examples.
    verbose : int, default=0
        1 shows the largest violation on its way to `tol` and the time left, as `OutputCodeClassifier(verbose=1)` does.

    Attributes
    ----------
    classes_ : ndarray of shape (k,)
    coef_ : ndarray of shape (k, d)
        The w_r, for the linear kernel only. With two classes there are also two rows: coef_[1] − coef_[0] = 2 coef_[1]
        is the vector that scikit-learn's binary SVMs call `coef_`, and the weights of `decision_function`.
    intercept_ : ndarray of shape (k,)
        Zeros, for the linear kernel only: there is no bias.
    support_ : ndarray of shape (S,)
        The support patterns: rows of X with a nonzero coefficient for at least one class.
    n_support_ : ndarray of shape (k,)
        The number of support patterns of each class.
    dual_coef_ : ndarray of shape (k, S)
        Coefficients of the support patterns for each class, w_r = Σ_i dual_coef_[r, i] x_i; each column sums to 0.
    objective_, dual_gap_ : float
        The objective, and an upper bound on its distance from the minimum.
    n_iter_ : int
        The number of epochs or working sets.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = MulticlassSVC(C=10, gamma=0.5).fit(X, y)
    >>> model.predict(X[[0, 60, 120]])
    array([0, 1, 2])
    >>> model.decision_function(X[:2]).shape
    (2, 3)
    """

    def __init__(
        self,
        kernel: str | Callable[[Any, Any], Any] = "rbf",
        C: float = 1.0,
        gamma: float | Literal["scale", "auto"] = "scale",
        degree: float = 3,
        coef0: float = 0.0,
        formulation: Literal["crammer-singer", "weston-watkins"] = "crammer-singer",
        tol: float = 1e-3,
        cache_size: float = 2000,
        max_iter: int = 10_000,
        warm_start: bool = False,
        n_jobs: int | None = None,
        random_state: Any = 0,
        verbose: int = 0,
    ) -> None:
        self.kernel = kernel
        self.C = C
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.formulation = formulation
        self.tol = tol
        self.cache_size = cache_size
        self.max_iter = max_iter
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    @whole_or_nothing
    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the SVM. A sample weight multiplies C for its row."""
        self._check_parameters()
        X = validated(self, X, **self._checks())
        refuse_huge(X)
        labels = check_targets(self, X, y)
        weight = check_weight(sample_weight, len(labels))
        cost = np.full(len(labels), float(self.C)) if weight is None else self.C * weight
        classes = check_classes(labels[cost > 0])
        start = self._start(len(labels), classes)
        # Rows with weight zero may have a label that no other row has; their class number is never read.
        numbers = np.minimum(np.searchsorted(classes, labels), len(classes) - 1)
        problem: dict[str, Any] = {
            "y": numbers,
            "k": len(classes),
            "weight": cost,
            "paired": self.formulation == "weston-watkins",
            "start": start,
            "tol": self.tol,
            "max_iter": int(self.max_iter),
        }
        with progress.showing(self.verbose), progress.phase("MulticlassSVC", 100, "%"):
            if self.kernel == "linear":
                solution = solve(X, **problem, seed=as_seed(self.random_state))
            else:
                gram = gram_of(self, X, centred=self.kernel == "rbf")
                with threads(self.n_jobs) as run:
                    solution = solve(gram, **problem, run=run)
        self.classes_ = classes
        self._keep(solution)
        for name in ("coef_", "intercept_"):
            self.__dict__.pop(name, None)
        if solution.M is not None:
            self.coef_, self.intercept_ = solution.M, np.zeros(len(classes))
        else:
            self._kernel_, self._anchors_ = gram.kernel, gram.kernel.anchors(gram.X, self.support_)
        return self

    def decision_function(self, X: Any) -> Array:
        """Return the (n, k) scores; with two classes, the score of the second minus that of the first, (n,)."""
        D = self._scores(X)
        return D if len(self.classes_) > 2 else D[:, 1] - D[:, 0]

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class with the largest score; ties go to the first class."""
        D = self.decision_function(X)
        predicted: NDArray[Any] = self.classes_[D.argmax(axis=1) if D.ndim == 2 else (D > 0).astype(np.intp)]
        return predicted

    def expansion(self) -> tuple[Any, Any, Array]:
        """Return the kernel, the support patterns as it takes them, and their coefficients (S, k); not for "linear"."""
        check_is_fitted(self)
        return self._kernel_, self._anchors_, self.dual_coef_.T

    def _keep(self, solution: SpocSolution) -> None:
        """Store the fitted attributes of a solution."""
        certificate = solution.certificate
        self.support_ = np.flatnonzero(solution.tau.any(axis=1))
        self.dual_coef_ = solution.tau.T[:, self.support_]
        self.n_support_ = np.count_nonzero(self.dual_coef_, axis=1)
        self.objective_, self.dual_gap_ = certificate.value, certificate.gap
        self.n_iter_ = max(1, certificate.iterations)
        self._n_rows_ = len(solution.tau)
        if not certificate.converged:
            warnings.warn(
                f"MulticlassSVC did not converge: an example violates its optimality conditions by "
                f"{certificate.violation:.2g}, and the duality gap is {certificate.gap:.2g} of an objective of "
                f"{certificate.value:.3g}. Raise max_iter, scale the features, or lower C.",
                ConvergenceWarning,
                stacklevel=4,
            )

    def _start(self, n: int, classes: NDArray[Any]) -> Array | None:
        """Return the dual variables of the previous fit if they can be reused, else None."""
        fitted = self.warm_start and hasattr(self, "dual_coef_")
        if not fitted or self._n_rows_ != n or not np.array_equal(self.classes_, classes):
            return None
        tau = np.zeros((n, len(classes)))
        tau[self.support_] = self.dual_coef_.T
        return tau

    def _scores(self, X: Any) -> Array:
        check_is_fitted(self)
        X = validated(self, X, reset=False, **self._checks())
        if hasattr(self, "coef_"):
            return linear_scores(X, self.coef_.T, self.intercept_)
        k = len(self.classes_)
        kernel, anchors, beta = self.expansion()
        return expand_new(X, kernel, anchors, [(slice(None), np.arange(k), beta)], np.zeros(k), self.n_jobs)

    def _check_parameters(self) -> None:
        check_kernel_parameters(self)
        check_n_jobs(self.n_jobs)
        if self.formulation not in FORMULATIONS:
            raise ValueError(f"formulation={self.formulation!r} must be one of {', '.join(FORMULATIONS)}.")
