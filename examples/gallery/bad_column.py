"""
Which column is bad?
====================

Errors of columns and margins of classes, on rows that were held out, show where a code fails: a column whose two
sides cannot be told apart by the learner, and the classes that suffer.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from outputcodes import OutputCodeClassifier
from outputcodes.diagnostics import class_margins, column_errors

X, y = load_digits(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X / 16, y, stratify=y, random_state=0)
model = OutputCodeClassifier("ridge", code="dense", random_state=0).fit(X_train, y_train)
M, F = model.code_matrix_, model.margins(X_test)
errors = column_errors(F, y_test, M)
order = np.argsort(errors)

figure, (top, below) = plt.subplots(2, 1, figsize=(9, 5.5), sharex=True, height_ratios=[1, 2], layout="constrained")
top.bar(np.arange(len(order)), 100 * errors[order])
top.set(ylabel="error of the column, %")
picture = below.imshow(class_margins(F, y_test, M)[:, order], cmap="RdBu", vmin=-1, vmax=1, aspect="auto")
below.set(xlabel="columns, by their error", ylabel="class", xticks=[], yticks=range(10))
figure.colorbar(picture, ax=below, label="mean margin for the class")
print("The worst column separates", np.flatnonzero(M[:, order[-1]] > 0), "from", np.flatnonzero(M[:, order[-1]] < 0))
