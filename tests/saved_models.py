"""Models of every kind, as they are kept in tests/app/saved_models for the releases to come.

    PYTHONPATH=tests python -m saved_models

saves those that are not there yet, with what they return on a few rows. A file that a release has written is never
written again: delete it only if the format changes, and say so in the changelog.
"""

from __future__ import annotations

import json
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import Pipeline
from sklearn.tree import DecisionTreeClassifier

import outputcodes
from outputcodes import AdaBoostMO, DecisionTree, MulticlassSVC, OutputCodeClassifier
from outputcodes.app import persistence
from outputcodes.app.run import build
from outputcodes.app.run.race.winner import view_of
from outputcodes.app.tables import Column, Schema, infer
from outputcodes.codes import CODES, Tree
from outputcodes.decisions import DecisionClassifier
from outputcodes.decoders import DECODERS, Continuous, Coupling
from outputcodes.direct import NearestCentroids
from outputcodes.learners import LEARNERS
from outputcodes.selection import CONTESTANTS, Race
from outputcodes.selection.probable import ScoresAsProbabilities
from outputcodes.selection.race import contestants
from outputcodes.selection.race.blend import Blend
from outputcodes.selection.race.contestants import Entry
from outputcodes.selection.race.views import kinds_of, plain_table

FOLDER = Path(__file__).parent / "app" / "saved_models"
EXPECTED = FOLDER / "expected.json"
# scikit-learn's own classifiers, which `outputcodes fit --learner` and races know by these names. Its boosting is left
# out: the types of its losses have other names from one version of scikit-learn to another.
FOREIGN_SYSTEMS = {
    "maxent": {},
    "decision-tree": {},
    "svc": {},
    "random-forest": {"n_estimators": 4},
    "extra-trees": {"n_estimators": 4},
    "neighbours": {},
}
# A code for four classes, given as it is.
MATRIX = np.array([[1, 1, 0], [1, -1, 1], [-1, 0, 1], [-1, 1, -1]])


def sample():
    """Return 60 rows of 3 features, some of them equal to one another, in four classes, and eight rows to predict."""
    rng = np.random.default_rng(21)
    y = np.arange(60) % 4
    X = np.round(rng.standard_normal((60, 3)) + 2 * rng.standard_normal((4, 3))[y], 2)
    return X, y, X[:8] + 0.25


def table():
    """Return a table with a number, a category and a date, its classes, and eight rows to predict."""
    X, y, _ = sample()
    frame = pd.DataFrame(
        {
            "size": X[:, 0],
            "colour": np.array(["red", "green", "blue", None], dtype=object)[(y + (X[:, 1] > 0)) % 4],
            "day": pd.to_datetime("2026-01-01") + pd.to_timedelta(np.arange(60), "D"),
        }
    )
    return frame, np.array(["a", "b", "c", "d"])[y], frame[:8]


def notes():
    """Return a table of sentences, its classes, and eight rows to predict."""
    _, y, _ = sample()
    words = np.array(["red rose", "blue tulip", "a tree", "the red house"], dtype=object)
    frame = pd.DataFrame({"note": [f"{words[c]} and {words[i % 3]}" for i, c in enumerate(y)]})
    return frame, np.array(["a", "b", "c", "d"])[y], frame[:8]


def winner_of_a_race(schema, frame, y):
    """Return an average of two models behind the step of a race, as `outputcodes fit` saves it."""
    classes, numbers = np.unique(y, return_inverse=True)
    plain = plain_table(view_of(schema).transform(frame))
    members = []
    for name, parameters in (("logistic", {}), ("gradient-boost", {"classifier__n_rounds": 4})):
        entry = Entry(name, "all-pairs" if name == "logistic" else "", tuple(parameters.items()))
        members.append(contestants.build(CONTESTANTS[name], entry, plain, kinds_of(plain), 0).fit(plain, numbers))
    blend = Blend(members, [1.5, 0.7], [0.0, 0.01], [0.25, 0.75], classes.tolist())
    return Pipeline([("table", view_of(schema)), ("classifier", blend)])


def rows_of(name):
    """Return the rows that a kind of model predicts."""
    return notes()[2] if name == "table-words" else table()[2] if name.startswith("table-") else sample()[2]


def kinds():
    """Return a function for each kind of model, by name: those of the tables of names, and some more."""
    made = {f"learner-{name}": lambda name=name: OutputCodeClassifier(name, random_state=0) for name in LEARNERS}
    for name in CODES:
        made[f"code-{name}"] = lambda name=name: OutputCodeClassifier("ridge", code=name, random_state=0)
    for name in DECODERS:
        if name != "beam":  # that of the code "tree"
            made[f"decoder-{name}"] = lambda name=name: OutputCodeClassifier("ridge", decoder=name, random_state=0)
    boosters = [name for name in outputcodes.boosting.__all__ if hasattr(outputcodes, name)]
    for name in boosters:
        made[f"booster-{name}"] = lambda name=name: getattr(outputcodes, name)(n_rounds=4, random_state=0)
    return made | {
        "probability-softmax": lambda: OutputCodeClassifier("ridge", probability="softmax", random_state=0),
        "probability-path": lambda: OutputCodeClassifier("ridge", code="tree", probability="softmax", random_state=0),
        "coupling-wu-lin-weng": lambda: OutputCodeClassifier("ridge", decoder=Coupling("wu-lin-weng")),
        "continuous-rbf": lambda: OutputCodeClassifier("ridge", decoder=Continuous(kernel="rbf"), random_state=0),
        "direct-multiclass-svc": MulticlassSVC,
        "direct-nearest-centroids": NearestCentroids,
        "direct-multiclass-svc-linear": lambda: MulticlassSVC("linear"),
        "direct-tree-oblique": lambda: DecisionTree(("axis", "oblique", "sphere"), min_region=8),
        "code-matrix": lambda: OutputCodeClassifier("ridge", code=MATRIX),
        "code-mapping": lambda: OutputCodeClassifier("ridge", code=dict(enumerate(MATRIX))),
        "booster-foreign": lambda: AdaBoostMO(
            n_rounds=4, estimator=DecisionTreeClassifier(max_depth=1), random_state=0
        ),
        "race": lambda: Race(time_limit=3, random_state=0),
        "foreign-learner": lambda: OutputCodeClassifier(LogisticRegression()),
        "single-call": lambda: OutputCodeClassifier(LogisticRegression(), variant="single-call"),
        "multilabel": lambda: OutputCodeClassifier("ridge", code="one-vs-all"),
        "decisions": lambda: DecisionClassifier(
            OutputCodeClassifier("ridge", probability="softmax", random_state=0), reject_below=0.6
        ),
        **{f"table-{name}": lambda name=name: name for name in FOREIGN_SYSTEMS},
        "table-linear-svm": lambda: "linear-svm",
        "table-stumps": lambda: "stumps",
        "table-words": lambda: "ridge",
        "table-race": lambda: "race",
        "scores-as-probabilities": lambda: ScoresAsProbabilities(MulticlassSVC()),
        **{f"stream-{name}": make for name, make in streams().items()},
    }


def streams():
    """Return models that learn from batches, by name."""
    return {
        "ridge": lambda: OutputCodeClassifier("ridge", code="one-vs-all"),
        "ridge-all-pairs": lambda: OutputCodeClassifier("ridge", code="all-pairs"),
        "ridge-tree": lambda: OutputCodeClassifier("ridge", code=Tree(arity=2, leaf_size=2), random_state=0),
        "logistic": lambda: OutputCodeClassifier("logistic", code="one-vs-all", random_state=0),
        "linear-svm": lambda: OutputCodeClassifier("linear-svm", code="all-pairs", random_state=0),
        "foreign-learner": lambda: OutputCodeClassifier(GaussianNB(), code="all-pairs"),
    }


def fitted(name, make):
    """Return a fitted model, and rows to predict."""
    model = make()
    if name == "table-words":
        frame, y, rows = notes()
        schema = Schema((Column("note", "words"),), "class", ("a", "b", "c", "d"))
        return build(schema, model).fit(schema.conform(frame), y), rows, schema
    if name.startswith("table-"):
        frame, y, rows = table()
        schema = infer(frame, "class", ("a", "b", "c", "d"))
        if model == "race":
            return winner_of_a_race(schema, schema.conform(frame), y), schema.conform(rows), schema
        return build(schema, model, params=FOREIGN_SYSTEMS.get(model)).fit(schema.conform(frame), y), rows, schema
    X, y, rows = sample()
    if name == "multilabel":
        return model.fit(X, np.column_stack([y == 0, y > 1, X[:, 0] > 0]).astype(int)), rows, None
    if name.startswith("stream-"):
        # Nothing is predicted before the model is saved, and one class comes late.
        early = y[:30] < 3
        return model.partial_fit(X[:30][early], y[:30][early]).partial_fit(X[30:], y[30:]), rows, None
    if name in ("learner-stumps", "learner-boosted-trees"):
        model.set_params(estimator__n_rounds=4)
    return model.fit(X, y), rows, None


def returned(model, rows):
    """Return the classes and scores, or probabilities, of rows."""
    method = "decision_function" if hasattr(model, "decision_function") else "predict_proba"
    return {"label": model.predict(rows).tolist(), "scores": getattr(model, method)(rows).tolist()}


def main():
    """Save what is not there yet."""
    FOLDER.mkdir(exist_ok=True)
    expected = json.loads(EXPECTED.read_text()) if EXPECTED.exists() else {}
    for name, make in kinds().items():
        path = FOLDER / f"{name}.skops"
        if not path.exists():
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                model, rows, schema = fitted(name, make)
            persistence.save(model, path, schema=schema)
            expected[name] = returned(model, rows)
    EXPECTED.write_text(json.dumps(expected, indent=0, sort_keys=True) + "\n")


if __name__ == "__main__":
    main()
