"""
Why this class?
===============

A prediction is a sum over the columns of the code: each column speaks for the predicted class or for its rival.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from outputcodes import OutputCodeClassifier
from outputcodes.app.report import explain

X, y = load_digits(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X / 16, y, stratify=y, random_state=0)
model = OutputCodeClassifier("linear-svm", code="dense", decoder="hinge", random_state=0).fit(X_train, y_train)
missed = np.flatnonzero(model.predict(X_test) != y_test)[0]
told = explain(model, X_test[missed], truth=y_test[missed])
print(told)

# %%
# The same as a picture: columns to the right speak for the prediction, those to the left for the true class.

order = np.argsort(told.lead)
figure, (left, right) = plt.subplots(1, 2, figsize=(9, 4.5), width_ratios=[1, 2], layout="constrained")
left.imshow(X_test[missed].reshape(8, 8), cmap="gray_r")
left.set(title=f"a {told.classes[told.truth]}, taken for a {told.classes[told.predicted]}", xticks=[], yticks=[])
right.barh(np.arange(len(order)), told.lead[order], color=np.where(told.lead[order] > 0, "tab:red", "tab:green"))
right.set(xlabel=f"what a column adds for {told.classes[told.predicted]} over {told.classes[told.rival]}")
right.set(yticks=np.arange(len(order)), yticklabels=[f"{s}" for s in order], ylabel="column")
right.tick_params(axis="y", labelsize=6)
