"""imbalanced-learn: resampling before a code is trained, in a pipeline.

pip install imbalanced-learn
python examples/neighbours/resampling.py
"""

from __future__ import annotations

import numpy as np
from imblearn.over_sampling import RandomOverSampler
from imblearn.pipeline import make_pipeline
from sklearn.datasets import make_classification
from sklearn.metrics import balanced_accuracy_score
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.preprocessing import StandardScaler

from outputcodes import OutputCodeClassifier


def balanced_errors() -> dict[str, float]:
    """Return the balanced error with the classes as they are, resampled in each fold, and weighted."""
    X, y = make_classification(
        2000, 12, n_informative=6, n_classes=4, weights=[0.85, 0.07, 0.05, 0.03], class_sep=0.8, random_state=0
    )
    folds = StratifiedKFold(3, shuffle=True, random_state=0)
    models = {
        "as they are": make_pipeline(StandardScaler(), OutputCodeClassifier("logistic", code="one-vs-all")),
        "resampled": make_pipeline(
            StandardScaler(), RandomOverSampler(random_state=0), OutputCodeClassifier("logistic", code="one-vs-all")
        ),
        "weighted": make_pipeline(
            StandardScaler(), OutputCodeClassifier("logistic", code="one-vs-all", class_weight="balanced")
        ),
    }
    return {
        name: float(1 - balanced_accuracy_score(y, np.asarray(cross_val_predict(model, X, y, cv=folds))))
        for name, model in models.items()
    }


def main() -> None:
    for name, error in balanced_errors().items():
        print(f"{name:<12} balanced error {error:.1%}")


if __name__ == "__main__":
    main()
