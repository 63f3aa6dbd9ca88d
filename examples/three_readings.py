"""Does loss-based decoding beat Hamming decoding? The synthetic experiment of Allwein, Schapire & Singer (2000).

python examples/three_readings.py [--reading literal | signed | inside] [--repetitions 10]

Class j contains the points x ~ N(0, 1) with θ_{j-1} <= |x| < θ_j, with 100 points per class in the training set. Each
column is trained with ten rounds of AdaBoost. It is not known which weak hypotheses the authors used for figure 3: no
table has its numbers, and the description, "+1 iff |x| < t", can be read in three ways. None of the three results is
claimed to be the published figure.

literal   a threshold on |x|, predictions and coefficients of either sign: everything is learned, the decoders agree
signed    a threshold on x, of either sign: an interval of |x| needs two of them
inside    a threshold on |x|, +1 only inside, coefficients of at least 0: most columns cannot be learned

Expect equal errors of both decoders in the literal reading, and much larger errors of Hamming decoding in the other two
when there are many classes.
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
ROUNDS, POINTS_PER_CLASS = 10, 100


class InsideBooster(ClassifierMixin, BaseEstimator):
    """AdaBoost with hypotheses that return +1 iff x < t, and coefficients of at least 0."""

    def fit(self, X: np.ndarray, y: np.ndarray) -> "InsideBooster":
        """Fit two classes; the second is the inside."""
        self.classes_, labels = np.unique(y, return_inverse=True)
        order = np.argsort(X[:, 0])
        x, sign = X[order, 0], (2 * labels - 1)[order]
        cuts = np.concatenate([[-np.inf], (x[1:] + x[:-1]) / 2, [np.inf]])
        D = np.full(len(x), 1 / len(x))
        self.thresholds_, self.coefficients_ = [], []
        for _ in range(ROUNDS):
            # Weight of the negatives inside plus the positives outside, for all cuts at once.
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
        """Return the weighted sum of the hypotheses."""
        inside = X < np.array(self.thresholds_).reshape(1, -1)
        return np.where(inside, 1, -1) @ np.array(self.coefficients_)

    def predict(self, X: np.ndarray) -> np.ndarray:
        """Return the class given by its sign."""
        return self.classes_[(self.decision_function(X) > 0).astype(int)]


def draw(k: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return a training set with classes of equal size, and a test set with the same thresholds."""
    train, test = rng.normal(size=(2, k * POINTS_PER_CLASS))
    # Thresholds lie on training points: between them the learner would find the same ones and make no errors.
    thresholds = np.sort(np.abs(train))[POINTS_PER_CLASS::POINTS_PER_CLASS]
    return train, *(np.searchsorted(thresholds, np.abs(x), side="right") for x in (train, test)), test


def errors(k: int, code: str, reading: str, repetitions: int = 10, seed: int = 0) -> np.ndarray:
    """Return test errors: mean over columns, Hamming decoding (random ties), and decoding with the exponential loss."""
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
    parser = argparse.ArgumentParser(description="Compare Hamming and loss-based decoding on synthetic data.")
    parser.add_argument("--reading", choices=READINGS, default="literal")
    parser.add_argument("--repetitions", type=int, default=10)
    options = parser.parse_args()
    print(f"reading: {options.reading}; test error in %: per column / Hamming decoding / exponential decoding\n")
    print(f"{'classes':<10}{'complete':>24}{'one-vs-all':>24}")
    for k in range(3, 9):
        cells = [100 * errors(k, code, options.reading, options.repetitions) for code in ("complete", "one-vs-all")]
        print(f"{k:<10}" + "".join(f"{' / '.join(f'{v:.2f}' for v in cell):>24}" for cell in cells), flush=True)


if __name__ == "__main__":
    main()
