"""
How does time grow with the number of classes?
==============================================

Texts of many topics, as counts of words. One-vs-all trains a column per class on all rows, and all pairs train one for
every two classes. A tree code trains each column on the rows below its node, and asks a few of them on the way from
the root to a class.
"""

import time

import matplotlib.pyplot as plt
import numpy as np
from scipy.sparse import csr_matrix

from outputcodes import OutputCodeClassifier

WORDS = 5000


def texts(k, rows_of_a_class, rng):
    """Return rows of 15 words: six of ten that belong to the class, and nine of any kind."""
    y = np.repeat(np.arange(k), rows_of_a_class)
    of_class = rng.integers(WORDS, size=(k, 10))
    own = of_class[y[:, None], rng.integers(10, size=(len(y), 6))]
    words = np.hstack([own, rng.integers(WORDS, size=(len(y), 9))])
    rows = np.repeat(np.arange(len(y)), words.shape[1])
    counts = csr_matrix((np.ones(words.size, np.float32), (rows, words.ravel())), shape=(len(y), WORDS))
    counts.sum_duplicates()
    return counts, y


sizes = [30, 100, 300, 1000, 3000]
largest = {"one-vs-all": 1000, "all-pairs": 100, "tree": 3000}
figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
for code, most in largest.items():
    model = OutputCodeClassifier("linear-svm", code=code, random_state=0)
    X, y = texts(30, 8, np.random.default_rng(1))
    model.fit(X, y).predict(X)  # compiles
    seconds, errors = [], []
    for k in (k for k in sizes if k <= most):
        X, y = texts(k, 10, np.random.default_rng(0))
        test = np.arange(len(y)) % 5 == 0
        start = time.perf_counter()
        wrong = model.fit(X[~test], y[~test]).predict(X[test]) != y[test]
        seconds.append(time.perf_counter() - start)
        errors.append(100 * wrong.mean())
    left.loglog(sizes[: len(seconds)], seconds, marker="o", label=code)
    right.semilogx(sizes[: len(errors)], errors, marker="o", label=code)
left.set(xlabel="classes, with 8 training rows each", ylabel="seconds to fit and predict")
right.set(xlabel="classes", ylabel="test error, %")
left.legend(title="code")

# %%
# The tree pays for its speed where a row takes a wrong turn near the root. A wider beam (`decoders.Beam`) or several
# trees (`codes.Tree`) make up for part of it.
