"""
Which probabilities can be trusted?
===================================

A reliability curve compares what a model says with what happens: of the rows that it gives a probability of 0.8,
eight in ten should belong to the class.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from outputcodes import OutputCodeClassifier

X, y = load_digits(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X / 16, y, test_size=0.5, stratify=y, random_state=0)
# Few rows and noisy pixels, so that there is something to doubt.
rng = np.random.default_rng(0)
X_train, X_test = X_train + 0.35 * rng.standard_normal(X_train.shape), X_test + 0.35 * rng.standard_normal(X_test.shape)

edges = np.linspace(0, 1, 11)
figure, axes = plt.subplots(1, 2, figsize=(10, 4.8), sharey=True, layout="constrained")
for ax, code in zip(axes, ["all-pairs", "dense"], strict=True):
    for probability in ("softmax", "likelihood", "coupling"):
        model = OutputCodeClassifier("linear-svm", code=code, probability=probability, random_state=0)
        P = model.fit(X_train, y_train).predict_proba(X_test)
        sure, right = P.max(axis=1), P.argmax(axis=1) == y_test
        bins = np.digitize(sure, edges[1:-1])
        full = [b for b in range(10) if (bins == b).sum() >= 15]
        log_loss = -np.log(P[np.arange(len(y_test)), y_test]).mean()
        said, happened = ([part[bins == b].mean() for b in full] for part in (sure, right))
        ax.plot(said, happened, marker="o", label=f"{probability}, log-loss {log_loss:.2f}")
    ax.plot([0, 1], [0, 1], color="0.7", zorder=0)
    ax.set(title=code, xlabel="probability of the predicted class", xlim=(0, 1), ylim=(0, 1.02))
    ax.legend(loc="lower right")
axes[0].set(ylabel="share of right predictions")

# %%
# A softmax of the scores is fitted to the classes, and close to what happens under both codes. Likelihood and coupling
# are fitted column by column. With the many columns of a dense code they are far too careful: likelihood leaves nearly
# all probability to codewords that no class has, and spreads it evenly.
