"""
What do codes do to the regions of classes?
===========================================

A linear learner draws one line per column. One-vs-all must cut each class from all others with one line, which fails
for a class in the middle; all pairs cut every pair by its own line; a dense code adds up the lines of many groupings.
"""

import matplotlib.pyplot as plt
import numpy as np

from outputcodes import OutputCodeClassifier

rng = np.random.default_rng(0)
centres = np.array([[0, 0], [3, 0], [-3, 0], [0, 3], [0, -3]])
y = np.repeat(np.arange(5), 60)
X = centres[y] + 0.7 * rng.standard_normal((300, 2))

grid = np.linspace(-5, 5, 200)
points = np.column_stack([part.ravel() for part in np.meshgrid(grid, grid)])
figure, axes = plt.subplots(1, 3, figsize=(11, 3.8), layout="constrained")
for ax, code in zip(axes, ["one-vs-all", "all-pairs", "dense"], strict=True):
    model = OutputCodeClassifier("logistic", code=code, random_state=0).fit(X, y)
    ax.contourf(grid, grid, model.predict(points).reshape(200, 200), levels=np.arange(6) - 0.5, cmap="Pastel1")
    ax.scatter(*X.T, c=y, cmap="Set1", vmax=8, s=8)
    ax.set(title=f"{code}: {1 - model.score(X, y):.0%} wrong", xticks=[], yticks=[])

# %%
# The class in the middle has no region of its own under one-vs-all: no line separates it from the rest.
