"""
How does time grow with the number of classes?
==============================================

One-vs-all trains one column per class on all rows; all pairs train k²/2 small ones; a tree code asks a few questions
on the way from the root to a class.
"""

import time

import matplotlib.pyplot as plt
import numpy as np

from outputcodes import OutputCodeClassifier

rng = np.random.default_rng(0)
sizes = [10, 30, 100, 300]
codes = ["one-vs-all", "all-pairs", "dense", "tree"]
seconds = {code: [] for code in codes}
for k in sizes:
    y = np.repeat(np.arange(k), 12)
    X = rng.standard_normal((k, 40))[y] + 0.8 * rng.standard_normal((len(y), 40))
    for code in codes:
        if code == "all-pairs" and k > 100:
            continue
        model = OutputCodeClassifier("linear-svm", code=code, random_state=0)
        if k == sizes[0]:
            model.fit(X, y)  # compiles
        start = time.perf_counter()
        model.fit(X, y).predict(X)
        seconds[code].append(time.perf_counter() - start)

figure, ax = plt.subplots(figsize=(7, 4.2), layout="constrained")
for code, times in seconds.items():
    ax.loglog(sizes[: len(times)], times, marker="o", label=code)
ax.set(xlabel="classes, with 12 rows each", ylabel="seconds to fit and predict")
ax.legend(title="code")
