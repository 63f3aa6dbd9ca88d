"""
What if the classes have an order?
==================================

"low", "middle" and "high" are not just different: the ordinal code asks "above low?" and "above middle?", so that its
mistakes are more often between neighbours.
"""

import matplotlib.pyplot as plt
import numpy as np

from outputcodes import OutputCodeClassifier

rng = np.random.default_rng(0)
X = rng.standard_normal((1200, 6))
z = X @ [1.0, -0.7, 0.5, 0.3, 0, 0] + 0.6 * rng.standard_normal(1200)
y = np.digitize(z, np.quantile(z, [0.2, 0.4, 0.6, 0.8]))
train, test = slice(0, 400), slice(400, None)

codes = ["ordinal", "one-vs-all", "all-pairs"]
figure, axes = plt.subplots(1, 3, figsize=(11, 4.5), layout="constrained")
for ax, code in zip(axes, codes, strict=True):
    predicted = OutputCodeClassifier("logistic", code=code).fit(X[train], y[train]).predict(X[test])
    confusion = np.zeros((5, 5))
    np.add.at(confusion, (y[test], predicted), 1)
    ax.imshow(confusion / confusion.sum(axis=1, keepdims=True), cmap="Blues", vmin=0, vmax=1)
    far = np.abs(predicted - y[test]).mean()
    ax.set(title=f"{code}: {(predicted != y[test]).mean():.0%} wrong,\nmean distance {far:.2f}")
    ax.set(xlabel="predicted", ylabel="true")
