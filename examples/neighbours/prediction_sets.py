"""MAPIE: sets of classes that contain the true one with a chosen probability, from our probabilities.

pip install mapie
python examples/neighbours/prediction_sets.py
"""

from __future__ import annotations

from typing import Any

import numpy as np
from mapie.classification import SplitConformalClassifier
from sklearn.datasets import load_digits, load_iris, load_wine
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from outputcodes import OutputCodeClassifier


def measure(X: Any, y: Any, confidence: float = 0.9, seeds: int = 20) -> tuple[float, float, float]:
    """Return the mean coverage of the sets on test rows, their mean size, and the error of the single predictions."""
    covered, sizes, wrong = [], [], []
    for seed in range(seeds):
        X_train, X_rest, y_train, y_rest = train_test_split(X, y, train_size=0.4, stratify=y, random_state=seed)
        X_held, X_test, y_held, y_test = train_test_split(X_rest, y_rest, train_size=0.5, random_state=seed)
        model = make_pipeline(StandardScaler(), OutputCodeClassifier("ridge", probability="softmax", random_state=0))
        model.fit(X_train, y_train)
        sets = SplitConformalClassifier(model, confidence_level=confidence, prefit=True).conformalize(X_held, y_held)
        predicted, within = sets.predict_set(X_test)
        number = np.searchsorted(model.classes_, y_test)
        covered.append(within[np.arange(len(y_test)), number, 0].mean())
        sizes.append(within[:, :, 0].sum(axis=1).mean())
        wrong.append((predicted != y_test).mean())
    return float(np.mean(covered)), float(np.mean(sizes)), float(np.mean(wrong))


def main() -> None:
    # A set may be empty. Where single predictions are right more often than the sets have to be, some of them are, and
    # there is less than one class per set; a higher confidence leaves none empty.
    for load in (load_iris, load_wine, load_digits):
        coverage, size, error = measure(*load(return_X_y=True))
        print(f"{load.__name__[5:]:<8} coverage {coverage:.1%} of 90%, {size:.2f} classes per set, error {error:.1%}")


if __name__ == "__main__":
    main()
