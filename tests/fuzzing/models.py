"""Random combinations of estimator, code, decoder, probabilities, weights and kinds of X and y.

A case either is refused by a ValueError that says why, or it trains, and then: every score is finite, `predict` is the
class of the largest score and of the largest probability, probabilities are probabilities, and two jobs give the model
that one gives.
"""

from __future__ import annotations

import warnings
from collections import Counter
from dataclasses import dataclass
from typing import Any

import joblib
import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

import outputcodes as oc
from fuzzing.cases import check, check_message, generator, one_of
from outputcodes import codes, decoders, learners

ESTIMATORS: dict[str, Any] = {
    **{name: name for name in learners.LEARNERS if name not in ("stumps", "kernel-svm")},
    "default": None,
    # What does not converge, at 1e200 for example, need not take its time here.
    "kernel-svm": learners.KernelSVM(max_iter=1000),
    "kernel-svm, linear": learners.KernelSVM(kernel="linear", max_iter=1000),
    "kernel-svm, folded bias": learners.KernelSVM(bias="folded", gamma=1.0, max_iter=1000),
    "linear-svm, hinge": learners.LinearSVM(loss="hinge", max_iter=100),
    "stumps": learners.BoostedStumps(n_rounds=5),
    "boosted-trees": learners.BoostedTrees(n_rounds=5),
    "SVC": SVC(max_iter=1000),
    "RidgeClassifier": RidgeClassifier(),
    "LogisticRegression": LogisticRegression(),
    "tree of scikit-learn": DecisionTreeClassifier(max_depth=3, random_state=0),
    "GaussianNB": GaussianNB(),
    "neighbours": KNeighborsClassifier(2),
}
ALONE: dict[str, Any] = {
    "AdaBoostMH": oc.AdaBoostMH(n_rounds=5),
    "AdaBoostMR": oc.AdaBoostMR(n_rounds=5),
    "AdaBoostMO": oc.AdaBoostMO(n_rounds=5),
    "AdaBoostOC": oc.AdaBoostOC(n_rounds=5, random_state=0),
    "SmoothBoost": oc.SmoothBoost(n_rounds=5, random_state=0),
    "GradientBoost": oc.GradientBoost(10, random_state=0),
    "MulticlassSVC": oc.MulticlassSVC(max_iter=1000),
    "MulticlassSVC, linear": oc.MulticlassSVC("linear", max_iter=1000),
    "DecisionTree": oc.DecisionTree(),
}
# Their columns are trained by other packages: equal predictions, margins within 1e-8. LIBLINEAR is not among them: one
# of its solvers draws from one generator for all threads, and the other one never ends at 1e200.
FOREIGN = {
    "SVC",
    "RidgeClassifier",
    "LogisticRegression",
    "tree of scikit-learn",
    "GaussianNB",
    "neighbours",
}


@dataclass
class Case:
    """A model, what it is trained on, and the rows to predict."""

    model: Any
    X: Any
    y: Any
    fit_parameters: dict[str, Any]
    X_new: Any
    foreign: bool
    words: str


def draw(number: int) -> Case:
    """Return the case with this number."""
    rng = generator(1, number)
    k = int(rng.integers(2, 7))
    n = int(one_of(rng, k, k + 1, 3 * k, 40, 60))
    d = int(one_of(rng, 1, 2, 5, 30))
    y = np.concatenate([np.arange(min(n, k)), rng.integers(k, size=max(n - k, 0))])
    X, oddity = _features(rng, n, d, y)
    new, _ = _features(rng, 15, d, rng.integers(k, size=15))
    X_new = np.where(rng.random() < 0.5, np.tile(X, (15 // n + 1, 1))[:15], new)
    if rng.random() < 0.15:
        X_new[0, 0], oddity = 1e300, f"{oddity}, 1e300 in a row to predict"
    kind = one_of(rng, "array", "array", "float32", "Fortran", "list", "frame", "csr", "csc")
    labels, named = _labels(rng, y, k)
    model, foreign, words = _model(rng, k)
    fit_parameters = {}
    weight = one_of(rng, None, None, "ones", "random", "zeros", "far apart")
    if weight is not None:
        fit_parameters["sample_weight"] = _weights(rng, weight, n)
    return Case(
        model,
        _as(kind, X),
        labels,
        fit_parameters,
        _as(kind, X_new),
        foreign,
        f"{words}; n={n}, k={k}, d={d}; X: {kind}, {oddity}; y: {named}; weights: {weight}",
    )


def run(number: int) -> str:
    """Run a case; return "trained", or the words of the refusal; raise a `FaultError` or whatever else it raised."""
    case = draw(number)
    # Processes would take seconds to start.
    with warnings.catch_warnings(), joblib.parallel_config(backend="threading"):
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.simplefilter("ignore", UserWarning)
        if case.foreign:  # what happens inside of others at 1e200 is theirs
            warnings.simplefilter("ignore", RuntimeWarning)
            warnings.simplefilter("ignore", FutureWarning)
        try:
            model = clone(case.model).fit(case.X, case.y, **case.fit_parameters)
        except (ValueError, TypeError) as refusal:
            check_message(str(refusal))
            # scikit-learn refuses sparse X by a TypeError, and so do we; any other is a fault.
            sparse = "X is sparse" in str(refusal) or "Sparse data was passed" in str(refusal)
            check(isinstance(refusal, ValueError) or sparse, repr(refusal))
            return str(refusal)
        try:
            predicted, numbers = answers(model, case.X_new)
        except ValueError as refusal:
            # Estimators of others may return NaN at 1e200, which we refuse by name; ours predict every row.
            check(case.foreign and "returned NaN for row" in str(refusal), f"a row is refused: {refusal}")
            check_message(str(refusal))
            return f"predict: {refusal}"
        again = clone(case.model).set_params(**_two_jobs(case.model)).fit(case.X, case.y, **case.fit_parameters)
        predicted_again, numbers_again = answers(again, case.X_new)
        check((predicted_again == predicted).all(), "two jobs predict otherwise")
        for name, values in numbers.items():
            near = np.allclose(values, numbers_again[name], rtol=1e-8, atol=1e-8)
            check(near if case.foreign else np.array_equal(values, numbers_again[name]), f"two jobs, another {name}")
    return "trained"


def answers(model: Any, X: Any) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """Return the predictions, and the scores and probabilities where there are some, after checking them."""
    predicted, known, numbers = model.predict(X), model.classes_, {}
    n, k = len(predicted), len(known)
    check(np.isin(predicted, known).all(), "predicted what is no class")
    if hasattr(model, "decision_function"):
        scores = numbers["score"] = model.decision_function(X)
        check(scores.shape == ((n,) if k == 2 else (n, k)), f"scores of shape {scores.shape} for {k} classes")
        check(np.isfinite(scores).all(), "a score is not finite")
        best = (scores > 0).astype(int) if k == 2 else scores.argmax(axis=1)
        check((known[best] == predicted).all(), "predict is not the class of the largest score")
    if hasattr(model, "predict_proba"):
        P = numbers["probability"] = model.predict_proba(X)
        check(P.shape == (n, k) and np.isfinite(P).all() and P.min() >= 0, "not probabilities")
        check(np.allclose(P.sum(axis=1), 1, atol=1e-9), "probabilities do not sum to 1")
        check((known[P.argmax(axis=1)] == predicted).all(), "predict is not the most probable class")
    check(len(numbers) > 0, "neither scores nor probabilities")
    return predicted, numbers


def _two_jobs(model: Any) -> dict[str, int]:
    return {"n_jobs": 2} if "n_jobs" in model.get_params(deep=False) else {}


def _features(rng: np.random.Generator, n: int, d: int, y: np.ndarray) -> tuple[np.ndarray, str]:
    X = rng.normal(size=(n, d)) + y[:, None]
    oddity = one_of(
        rng, "plain", "plain", "whole numbers", "constant", "repeated rows", "tiny", "huge", "1e200", "zeros"
    )
    if oddity == "whole numbers":
        X = np.round(X)
    elif oddity == "constant":
        X[:, 0] = 3.0
    elif oddity == "repeated rows":
        X = X[rng.integers(n, size=n)]
    elif oddity in ("tiny", "huge", "1e200"):
        X[:, -1] *= {"tiny": 1e-200, "huge": 1e9, "1e200": 1e200}[oddity]
    elif oddity == "zeros":
        X[:] = 0
    return X, oddity


def _as(kind: str, X: np.ndarray) -> Any:
    with np.errstate(over="ignore"):
        small = np.nan_to_num(X.astype(np.float32))
    return {
        "array": X,
        "float32": small,
        "Fortran": np.asfortranarray(X),
        "list": X.tolist(),
        "frame": pd.DataFrame(X, columns=[f"<b>{j}</b>" for j in range(X.shape[1])]),
        "csr": sparse.csr_array(X),
        "csc": sparse.csc_matrix(X),
    }[kind]


def _labels(rng: np.random.Generator, y: np.ndarray, k: int) -> tuple[Any, str]:
    named = one_of(rng, "numbers", "numbers", "negative", "texts", "objects", "odd texts", "categories", "series")
    texts = np.array(["b", "a", "<script>", "", "long " * 40, "ä\n"][:k])
    values: dict[str, Any] = {
        "numbers": y,
        "negative": y * 10 - 7,
        "texts": np.array([f"class {label}" for label in y]),
        "objects": np.array([f"class {label}" for label in y], dtype=object),
        "odd texts": texts[y],
        "categories": pd.Categorical.from_codes(y, [f"c{j}" for j in range(k)]),
        "series": pd.Series(y, index=np.arange(len(y))[::-1]),
    }
    return values[named], named


def _weights(rng: np.random.Generator, kind: str, n: int) -> np.ndarray:
    weight = {
        "ones": np.ones(n),
        "random": rng.random(n) + 0.01,
        "zeros": (rng.random(n) < 0.7).astype(float),
        "far apart": 10.0 ** rng.integers(-6, 6, size=n),
    }
    return weight[kind]


def _model(rng: np.random.Generator, k: int) -> tuple[Any, bool, str]:
    if rng.random() < 0.25:
        name = one_of(rng, *ALONE)
        return ALONE[name], False, name
    name = one_of(rng, *ESTIMATORS)
    code = one_of(rng, *codes.CODES, "a matrix", "an object")
    given = {"a matrix": rng.integers(-1, 2, size=(k, int(rng.integers(1, 9)))), "an object": codes.Dense(7)}
    parameters = {
        "code": given.get(code, code),
        "decoder": one_of(rng, "loss", *decoders.DECODERS),
        "probability": one_of(rng, None, None, "likelihood", "coupling", "softmax"),
        "variant": one_of(rng, *["multi-call"] * 5, "single-call"),
        "class_weight": one_of(rng, None, None, "balanced"),
        "column_weight": one_of(rng, "none", "none", "balanced"),
    }
    model = oc.OutputCodeClassifier(ESTIMATORS[name], random_state=0, **parameters)
    foreign = name in FOREIGN or parameters["variant"] == "single-call"
    return model, foreign, f"{name}, {', '.join(f'{key}={value!r}' for key, value in parameters.items())}"


def summary(outcomes: list[str]) -> str:
    """Return how many cases trained, and the most frequent refusals."""
    counted = Counter(outcome[:110] for outcome in outcomes)
    return "\n".join(f"{count:7}  {outcome}" for outcome, count in counted.most_common(25))
