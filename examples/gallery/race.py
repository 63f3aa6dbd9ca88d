"""
Who wins the race?
==================

`selection.Race` starts one contestant of every family on a few rows and gives the best of them more: rows, codes,
parameters. Here a few families run, and every finalist is measured on held-out rows.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_digits

from outputcodes.selection import Race

X, y = load_digits(return_X_y=True)
race = Race(time_limit=8, contestants=["ridge", "linear-svm", "kernel-svm", "decision-tree"], random_state=0)
race.fit(X[:800], y[:800])

finalists = race.standings_[::-1]
figure, ax = plt.subplots(figsize=(8, 4.2), layout="constrained")
names = [" · ".join(part for part in (one["contestant"], one["code"], one["decoder"]) if part) for one in finalists]
ax.barh(range(len(finalists)), [100 * one["loss"] for one in finalists])
ax.set(xlabel="held-out error, %", yticks=range(len(finalists)), yticklabels=names)
low, high = race.interval_
ax.set_title(f"expected error of the winner: {100 * race.loss_:.1f} % ({100 * low:.1f} to {100 * high:.1f})")
print("The winner:", "; ".join(race.winner_))
print(f"On the other rows it is {100 * (1 - race.score(X[800:], y[800:])):.1f} %.")
