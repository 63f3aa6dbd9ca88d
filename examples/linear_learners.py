"""Where do codes help? Test errors on digits of weak and strong learners with four codes.

python examples/linear_learners.py

Expect large differences between codes for linear learners and small trees, and hardly any for an RBF SVM.
"""

import time

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
    "RBF SVM, C=10": SVC(C=10),
}
CODES = ("one-vs-all", "all-pairs", "dense", "sparse")


def main() -> None:
    X, y = load_digits(return_X_y=True)
    X_train, X_test, y_train, y_test = train_test_split(X / 16, y, test_size=0.4, stratify=y, random_state=0)
    print("Test error on digits: Hamming decoding / loss-based decoding\n")
    print(f"{'':<16}" + "".join(f"{code:>16}" for code in CODES) + f"{'seconds':>10}")
    for name, estimator in LEARNERS.items():
        start = time.perf_counter()
        cells = []
        for code in CODES:
            model = OutputCodeClassifier(estimator, code=code, random_state=0).fit(X_train, y_train)
            hamming, loss = (1 - model.with_decoder(d).score(X_test, y_test) for d in ("hamming", "loss"))
            cells.append(f"{100 * hamming:.1f} / {100 * loss:.1f}")
        seconds = time.perf_counter() - start
        print(f"{name:<16}" + "".join(f"{cell:>16}" for cell in cells) + f"{seconds:>10.1f}", flush=True)


if __name__ == "__main__":
    main()
