"""
How long must a code be?
========================

More columns correct more errors, and cost more time. A code that is designed from the data needs fewer of them than a
random one.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from outputcodes import OutputCodeClassifier
from outputcodes.codes import Dense, Designed

X, y = load_digits(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X / 16, y, test_size=0.5, stratify=y, random_state=0)


def error(code, seed):
    model = OutputCodeClassifier("ridge", code=code, random_state=seed).fit(X_train, y_train)
    return 100 * (1 - model.score(X_test, y_test))


figure, ax = plt.subplots(figsize=(7, 4.2), layout="constrained")
lengths = [6, 10, 15, 25]
for name, make in {"random": Dense, "designed": Designed}.items():
    errors = np.array([[error(make(L), seed) for seed in range(3)] for L in lengths])
    ax.plot(lengths, errors.mean(axis=1), marker="o", label=name)
    ax.fill_between(lengths, errors.min(axis=1), errors.max(axis=1), alpha=0.2)
ax.axhline(error("one-vs-all", 0), color="0.6", linestyle="--", label="one-vs-all, 10 columns")
ax.axhline(error("all-pairs", 0), color="0.6", linestyle=":", label="all-pairs, 45 columns")
ax.set(xlabel="columns", ylabel="test error of ridge, %")
ax.legend()
