"""
What if mistakes have different costs?
======================================

Costs change the decision, not the model: the class of least expected cost is predicted from the same probabilities.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_wine
from sklearn.model_selection import cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from outputcodes import OutputCodeClassifier
from outputcodes.decisions import decide

X, y = load_wine(return_X_y=True)
X = X[:, :3]  # three features alone leave doubts
model = make_pipeline(StandardScaler(), OutputCodeClassifier("logistic", probability="softmax", random_state=0))
P = cross_val_predict(model, X, y, method="predict_proba")

factors = np.arange(1, 11)
missed, falsely, paid, without = [], [], [], []
for factor in factors:
    cost = 1.0 - np.eye(3)
    cost[0] *= factor  # to miss a wine of the first kind costs more
    decided = decide(P, cost=cost)
    missed.append((decided[y == 0] != 0).mean())
    falsely.append((decided[y != 0] == 0).mean())
    paid.append(cost[y, decided].mean())
    without.append(cost[y, P.argmax(axis=1)].mean())

figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
left.plot(factors, 100 * np.array(missed), marker="o", label="first kind missed")
left.plot(factors, 100 * np.array(falsely), marker="o", label="falsely called the first kind")
left.set(xlabel="cost of missing the first kind", ylabel="%")
left.legend()
right.plot(factors, without, marker="o", label="most probable class")
right.plot(factors, paid, marker="o", label="class of least expected cost")
right.set(xlabel="cost of missing the first kind", ylabel="mean cost per row")
right.legend()
