"""Does loss-based decoding beat Hamming decoding? The synthetic experiment of Allwein, Schapire & Singer (2000).

python examples/three_readings.py [--reading literal | signed | inside] [--repetitions 10]

Class j holds the points x ~ N(0, 1) with θ_{j-1} <= |x| < θ_j, 100 of each class in the training set; AdaBoost, ten
rounds a column. Which weak hypotheses their figure 3 used can't be told: its numbers are in no table, and the
description, "+1 iff |x| < t", has three readings. None of them is presented as the published figure.

literal   a threshold on |x|, answers and coefficients of either sign: everything is learned, decoders agree
signed    a threshold on x, of either sign: intervals of |x| need two
inside    a threshold on |x|, +1 inside only, coefficients at least 0: most columns can't be learned

Expect both decoders alike in the literal reading, and Hamming decoding far behind in the other two at many classes.
"""

import argparse

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin

from outputcodes import OutputCodeClassifier
from outputcodes.bounds import expected_error
from outputcodes.decoders import as_decoder
from outputcodes.diagnostics import column_errors
from outputcodes.learners import BoostedStumps

READINGS = ("literal", "signed", "inside")
ROUNDS, POINTS_A_CLASS = 10, 100


class InsideBooster(ClassifierMixin, BaseEstimator):
    """AdaBoost whose hypotheses answer +1 iff x < t, with coefficients of at least 0."""

    def fit(self, X: np.ndarray, y: np.ndarray) -> "InsideBooster":
        """Two classes; the second is the inside."""
        self.classes_, labels = np.unique(y, return_inverse=True)
        order = np.argsort(X[:, 0])
        x, sign = X[order, 0], (2 * labels - 1)[order]
        cuts = np.concatenate([[-np.inf], (x[1:] + x[:-1]) / 2, [np.inf]])
        D = np.full(len(x), 1 / len(x))
        self.thresholds_, self.coefficients_ = [], []
        for _ in range(ROUNDS):
            # The weight of negatives inside and of positives outside, for every cut at once.
            error = np.append(0, np.cumsum(D * (sign < 0))) + np.append(np.cumsum((D * (sign > 0))[::-1])[::-1], 0)
            best = int(error.argmin())
            if error[best] >= 0.5 - 1e-10:
                break
            e = max(error[best], 1e-10)
            self.thresholds_.append(cuts[best])
            self.coefficients_.append(np.log((1 - e) / e) / 2)
            D *= np.exp(-self.coefficients_[-1] * sign * np.where(np.arange(len(x)) < best, 1, -1))
            D /= D.sum()
        return self

    def decision_function(self, X: np.ndarray) -> np.ndarray:
        """The sum of the hypotheses."""
        inside = X < np.array(self.thresholds_).reshape(1, -1)
        return np.where(inside, 1, -1) @ np.array(self.coefficients_)

    def predict(self, X: np.ndarray) -> np.ndarray:
        """The class of its sign."""
        return self.classes_[(self.decision_function(X) > 0).astype(int)]


def draw(k: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """A training set with equal classes, and a test set under the same thresholds."""
    train, test = rng.normal(size=(2, k * POINTS_A_CLASS))
    # On training points, not between them: there the learner puts its own thresholds, and would make no error at all.
    thresholds = np.sort(np.abs(train))[POINTS_A_CLASS::POINTS_A_CLASS]
    return train, *(np.searchsorted(thresholds, np.abs(x), side="right") for x in (train, test)), test


def errors(k: int, code: str, reading: str, repetitions: int = 10, seed: int = 0) -> np.ndarray:
    """Test errors: of a column on average, of Hamming decoding (ties at random), of decoding by exponential loss."""
    if reading not in READINGS:
        raise ValueError(f"reading={reading!r} must be one of {', '.join(READINGS)}.")
    learner = InsideBooster() if reading == "inside" else BoostedStumps(ROUNDS, "discrete")
    found = []
    for repetition in range(repetitions):
        x, y, y_test, x_test = draw(k, np.random.default_rng((seed, repetition)))
        X, X_test = (z.reshape(-1, 1) if reading == "signed" else np.abs(z).reshape(-1, 1) for z in (x, x_test))
        model = OutputCodeClassifier(learner, code=code).fit(X, y)
        F, M = model.margins(X_test), model.code_matrix_
        decoded = [expected_error(as_decoder(name).scores(F, M), y_test) for name in ("hamming", "exponential")]
        found.append([column_errors(F, y_test, M).mean(), *decoded])
    return np.mean(found, axis=0)


def main() -> None:
    parser = argparse.ArgumentParser(description="Hamming and loss-based decoding on the synthetic data.")
    parser.add_argument("--reading", choices=READINGS, default="literal")
    parser.add_argument("--repetitions", type=int, default=10)
    options = parser.parse_args()
    print(f"reading: {options.reading}; test error in %: a column / Hamming decoding / exponential decoding\n")
    print(f"{'classes':<10}{'complete':>24}{'one-vs-all':>24}")
    for k in range(3, 9):
        cells = [100 * errors(k, code, options.reading, options.repetitions) for code in ("complete", "one-vs-all")]
        print(f"{k:<10}" + "".join(f"{' / '.join(f'{v:.2f}' for v in cell):>24}" for cell in cells), flush=True)


if __name__ == "__main__":
    main()
