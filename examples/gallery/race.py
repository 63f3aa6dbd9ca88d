"""
Who wins the race?
==================

`selection.Race` starts one contestant of every family on a few rows and gives the best of them more: rows, codes,
parameters. Here a few families run, and every finalist is measured on held-out rows. Without a time limit, the race
ends when there is nothing left to try.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from outputcodes.selection import Race

X, y = load_digits(return_X_y=True)
# The rows are in the order of their writers: shuffled, new rows are like those of the race.
X, X_test, y, y_test = train_test_split(X, y, stratify=y, random_state=0)
race = Race(time_limit=None, contestants=["ridge", "linear-svm", "kernel-svm", "decision-tree"], random_state=0)
race.fit(X, y)

finalists = race.standings_[::-1]
figure, ax = plt.subplots(figsize=(9, 4.5), layout="constrained")
names = [one["name"].replace(", decoder ", " · ") for one in finalists]
ax.barh(range(len(finalists)), [100 * one["loss"] for one in finalists])
ax.set(xlabel="held-out error, %", yticks=range(len(finalists)), yticklabels=names)
low, high = race.interval_
title = f"expected error of the winner: {100 * race.loss_:.1f} % ({100 * low:.1f} to {100 * high:.1f})"
ax.set_title(title, loc="right")
print("The winner:", "; ".join(race.winner_))
print(f"On the other rows it is {100 * (1 - race.score(X_test, y_test)):.1f} %.")
