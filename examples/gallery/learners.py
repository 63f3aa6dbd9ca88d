"""
Which learner for how much time?
================================

Every learner of the package with all pairs on the same rows: its error, and the seconds of its training.
"""

import time
import warnings

import matplotlib.pyplot as plt
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from outputcodes import OutputCodeClassifier
from outputcodes.learners import LEARNERS

X, y = load_digits(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X / 16, y, stratify=y, random_state=0)

figure, ax = plt.subplots(figsize=(7, 4.2), layout="constrained")
for name in LEARNERS:
    model = OutputCodeClassifier(name, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(X_train[:200], y_train[:200])  # compiles
    start = time.perf_counter()
    model.fit(X_train, y_train)
    seconds = time.perf_counter() - start
    error = 100 * (1 - model.score(X_test, y_test))
    ax.scatter(seconds, error, label=name)
ax.set(xscale="log", xlabel="seconds of training", ylabel="test error, %")
ax.legend(title="learner")
