"""
Can a bound choose γ without test rows?
=======================================

The leave-one-out bound of a kernel SVM is computed from the training itself. It is far above the error, and yet its
smallest value is close to that of the test error.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from outputcodes import OutputCodeClassifier
from outputcodes.learners import KernelSVM
from outputcodes.selection import BoundSearch

X, y = load_digits(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X / 16, y, train_size=500, stratify=y, random_state=0)
gammas = np.logspace(-3, 1, 13)
model = OutputCodeClassifier(KernelSVM(C=1.0, bias="folded"), code="one-vs-all")
search = BoundSearch(model, {"estimator__gamma": gammas}).fit(X_train, y_train)
test = [1 - model.set_params(estimator__gamma=g).fit(X_train, y_train).score(X_test, y_test) for g in gammas]

figure, ax = plt.subplots(figsize=(7, 4.2), layout="constrained")
ax.semilogx(gammas, 100 * search.cv_results_["loo_error"], marker="o", label="leave-one-out bound")
ax.semilogx(gammas, 100 * np.array(test), marker="o", label="test error")
ax.axvline(search.best_params_["estimator__gamma"], color="0.7", label="chosen by the bound")
ax.set(xlabel="γ", ylabel="%", yscale="log")
ax.legend()
