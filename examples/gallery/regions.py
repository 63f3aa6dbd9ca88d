"""
What do codes do to the regions of classes?
===========================================

A linear learner draws one line per column. All pairs cut every two classes by a line of their own; one-vs-all must cut
each class from all others; a dense code adds up the lines of many groupings.
"""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.colors import ListedColormap

from outputcodes import OutputCodeClassifier

rng = np.random.default_rng(0)
centres = np.array([[0, 0], [3, 0], [-3, 0], [0, 3], [0, -3]])
y = np.repeat(np.arange(5), 60)
X = centres[y] + 0.7 * rng.standard_normal((300, 2))

grid = np.linspace(-5.5, 5.5, 221)
points = np.column_stack([part.ravel() for part in np.meshgrid(grid, grid)])
colours = ListedColormap(["tab:red", "tab:blue", "tab:green", "tab:purple", "tab:orange"])
figure, axes = plt.subplots(2, 3, figsize=(11, 7.6), layout="constrained")
for row, decoder in zip(axes, ["loss", "hamming"], strict=True):
    for ax, code in zip(row, ["all-pairs", "one-vs-all", "dense"], strict=True):
        model = OutputCodeClassifier("logistic", code=code, decoder=decoder, random_state=0).fit(X, y)
        region = model.predict(points).reshape(len(grid), len(grid))
        ax.pcolormesh(grid, grid, region, cmap=colours, vmin=-0.5, vmax=4.5, alpha=0.3)
        ax.scatter(*X.T, c=y, cmap=colours, vmin=-0.5, vmax=4.5, s=8)
        ax.set(title=f"{code}, {decoder}: {1 - model.score(X, y):.0%} wrong", xticks=[], yticks=[])

# %%
# No line separates the class in the middle from the rest: its column of one-vs-all is negative for almost all rows.

middle = OutputCodeClassifier("logistic", code="one-vs-all").fit(X, y).margins(X)[:, 0]
print(f"It is positive for {(middle > 0).sum()} of {len(X)} rows.")

# %%
# The class still has a region, where the columns of the others are more negative, or, with Hamming decoding, where all
# columns are negative and margins break the tie. All pairs have a line for it against each of the others.
