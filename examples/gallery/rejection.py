"""
What if the model may say "I don't know"?
=========================================

With probabilities, the rows that a model is least sure of can be left to somebody else.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from outputcodes import OutputCodeClassifier
from outputcodes.decisions import decide

X, y = load_digits(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X / 16, y, train_size=300, stratify=y, random_state=0)

figure, ax = plt.subplots(figsize=(7, 4.2), layout="constrained")
for learner in ("ridge", "linear-svm", "kernel-svm", "tree"):
    model = OutputCodeClassifier(learner, code="dense", probability="softmax", random_state=0).fit(X_train, y_train)
    P = model.predict_proba(X_test)
    kept, wrong = [], []
    for limit in np.quantile(P.max(axis=1), np.linspace(0, 0.5, 21)):
        decided = decide(P, reject_below=limit)
        answered = decided >= 0
        kept.append(100 * (1 - answered.mean()))
        wrong.append(100 * (decided[answered] != y_test[answered]).mean())
    ax.plot(kept, wrong, marker=".", label=learner)
ax.set(xlabel="rows rejected, %", ylabel="error on the others, %")
ax.legend(title="learner")
