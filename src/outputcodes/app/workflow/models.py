"""The models that are compared, by name: binary learners under a code, and systems that need none."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from outputcodes._ground.validation import unknown_name
from outputcodes.app import persistence
from outputcodes.app.tables import Schema, Table, categorical_features, preprocessing
from outputcodes.boosting import AdaBoostMH, AdaBoostMO, AdaBoostMR, AdaBoostOC, SmoothBoost
from outputcodes.bounds import hamming_error_bound
from outputcodes.classifier import OutputCodeClassifier
from outputcodes.codes import min_distance
from outputcodes.diagnostics import column_errors
from outputcodes.direct.multiclass_svm import MulticlassSVC
from outputcodes.learners import LEARNERS

# Classifiers that output codes are measured against.
SYSTEMS: dict[str, Callable[[], Any]] = {
    "maxent": lambda: LogisticRegression(max_iter=1000),
    "decision-tree": DecisionTreeClassifier,
    "svc": SVC,
    "gradient-boosting": HistGradientBoostingClassifier,
    "multiclass-svc": MulticlassSVC,
    "adaboost-mh": AdaBoostMH,
    "adaboost-mo": AdaBoostMO,
    "adaboost-mr": AdaBoostMR,
    "adaboost-oc": AdaBoostOC,
    "smoothboost": SmoothBoost,
}
# From so many rows on, thresholds of stumps are looked for among quantiles.
EXACT_UP_TO, BINS = 5_000, 128
# Errors of a saved model are counted on about so many of its training rows.
SUMMARISED_ROWS = 100_000


def build(
    schema: Schema,
    learner: str,
    code: Any = None,
    decoder: Any = "loss",
    *,
    rows: int = 0,
    probability: Any = None,
    seed: int = 0,
    n_jobs: int | None = None,
) -> Pipeline:
    """A model that takes raw tables: preprocessing for the learner, then the classifier.

    Parameters
    ----------
    schema : Schema
        Of the training table.
    learner : str
        A name in `outputcodes.learners.LEARNERS`, for which `code`, `decoder` and `probability` are those of
        `OutputCodeClassifier`; or one in `SYSTEMS`, which takes none of them.
    rows : int
        How many rows there will be: many of them are binned before stumps see them.

    Examples
    --------
    >>> from outputcodes.app.tables import Column
    >>> build(Schema((Column("x", "number"),)), "stumps", "dense")[-1]
    OutputCodeClassifier(code='dense', estimator=BoostedStumps(...), random_state=0)
    """
    estimator = _estimator(schema, learner, rows)
    model = estimator
    if learner in LEARNERS:
        model = OutputCodeClassifier(
            estimator, code=code or "all-pairs", decoder=decoder, probability=probability, random_state=seed
        )
    elif code is not None:
        raise ValueError(f"learner={learner!r} is a classifier by itself and takes no code; codes need a binary one.")
    known = model.get_params(deep=False)
    # The n_jobs of scikit-learn's own does nothing, or is about to.
    ours = {"n_jobs": n_jobs} if _is_ours(model) else {}
    model.set_params(**{name: value for name, value in {"random_state": seed, **ours}.items() if name in known})
    return Pipeline([("table", preprocessing(schema, estimator)), ("classifier", model)])


def is_ours(name: str) -> bool:
    """Whether a learner or a system is this library's own, and so compiled when it is first used.

    >>> is_ours("ridge"), is_ours("svc")
    (True, False)
    """
    return _is_ours({**LEARNERS, **SYSTEMS}[name]())


def _is_ours(model: Any) -> bool:
    return type(model).__module__.startswith("outputcodes.")


def _estimator(schema: Schema, name: str, rows: int) -> Any:
    table: dict[str, Callable[[], Any]] = {**LEARNERS, **SYSTEMS}
    if name not in table:
        raise unknown_name("learner", name, table)
    estimator = table[name]()
    known = estimator.get_params(deep=False)
    if "categorical_features" in known and "bins" in known:
        estimator.set_params(categorical_features=categorical_features(schema).tolist())
        if rows > EXACT_UP_TO:
            estimator.set_params(bins=BINS)
    return estimator


def save_model(model: Pipeline, table: Table, path: str | Path, **facts: Any) -> dict[str, Any]:
    """Save a model that was fitted to a table, with a summary of how it learned it, which is returned.

    Of an output code the summary has the error of each column on the training rows, and the bound on the training
    error under Hamming decoding that follows (Allwein, Schapire & Singer, JMLR 1, 2000).
    """
    final, summary = model[-1], {"rows": len(table.target), **facts}
    some = slice(None, None, max(1, len(table.target) // SUMMARISED_ROWS))
    frame, labels = table.frame.iloc[some], table.target.to_numpy()[some]
    if all(hasattr(final, name) for name in ("code_matrix_", "margins", "decoder_")):
        y, M = np.searchsorted(final.classes_, labels), final.code_matrix_
        F = final.margins(model[:-1].transform(frame))
        summary["training_error"] = float(np.mean(final.decoder_.predict(F, M) != y))
        summary["column_errors"] = column_errors(F, y, M).round(6).tolist()
        if min_distance(M) > 0:
            summary["hamming_bound"] = float(hamming_error_bound(F, y, M))
    else:
        summary["training_error"] = float(np.mean(model.predict(frame) != labels))
    persistence.save(model, path, schema=table.schema, summary=summary)
    return summary
