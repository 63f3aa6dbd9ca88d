"""Where do codes help? Test errors on digits of weak and strong learners with four codes.

python examples/linear_learners.py

Expect large differences between codes for linear learners and small trees, and hardly any for an RBF SVM.
"""

import time
from functools import cache

import numpy as np
from sklearn.datasets import load_digits
from sklearn.linear_model import Perceptron, RidgeClassifier
from sklearn.model_selection import train_test_split
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier

from outputcodes import OutputCodeClassifier

LEARNERS = {
    "ridge": RidgeClassifier(),
    "linear SVM": LinearSVC(),
    "perceptron": Perceptron(),
    "tree of depth 4": DecisionTreeClassifier(max_depth=4),
    "RBF SVM, C = 10": SVC(C=10),
}
CODES = ("one-vs-all", "all-pairs", "dense", "sparse")


@cache
def digits() -> list[np.ndarray]:
    """Return training and test rows of digits, and their labels."""
    X, y = load_digits(return_X_y=True)
    return train_test_split(X / 16, y, test_size=0.4, stratify=y, random_state=0)


def errors(name: str) -> dict[str, object]:
    """Return the test errors of a learner in percent, by code and decoder."""
    X_train, X_test, y_train, y_test = digits()
    found: dict[str, object] = {"learner": name, "training rows": len(y_train), "test rows": len(y_test)}
    for code in CODES:
        model = OutputCodeClassifier(LEARNERS[name], code=code, random_state=0).fit(X_train, y_train)
        for decoder in ("hamming", "loss"):
            found[f"{code}, {decoder}"] = 100 * (1 - model.with_decoder(decoder).score(X_test, y_test))
    return found


def main() -> None:
    print("Test error on digits in %: Hamming decoding / loss-based decoding\n")
    print(f"{'':<16}" + "".join(f"{code:>16}" for code in CODES) + f"{'seconds':>10}")
    for name in LEARNERS:
        start = time.perf_counter()
        found = errors(name)
        cells = [f"{found[f'{code}, hamming']:.1f} / {found[f'{code}, loss']:.1f}" for code in CODES]
        seconds = time.perf_counter() - start
        print(f"{name:<16}" + "".join(f"{cell:>16}" for cell in cells) + f"{seconds:>10.1f}", flush=True)


if __name__ == "__main__":
    main()
