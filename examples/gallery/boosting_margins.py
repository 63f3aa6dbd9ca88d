"""
What happens after the training error is zero?
==============================================

A booster keeps raising the margins of the rows that are close to a mistake, long after the last training error is
gone.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_wine

from outputcodes import AdaBoostMO
from outputcodes.boosting import plot_margins
from outputcodes.diagnostics import margin_distribution

X, y = load_wine(return_X_y=True)
model = AdaBoostMO(n_rounds=100, code="one-vs-all", decoder="linear").fit(X, y)
scale = 2 * np.cumsum(model.history_["coefficient"])
distribution = margin_distribution(model.staged_decision_function(X), y, scale, rounds=[1, 5, 10, 30, 100])
wrong = distribution.share_at_most(0)

figure, ax = plt.subplots(figsize=(7, 4.2), layout="constrained")
plot_margins(distribution, ax)
told = [f"{100 * share:.0f} % after {t}" for t, share in zip(distribution.rounds, wrong, strict=True)]
ax.set_title("training error, by rounds:\n" + ", ".join(told))
