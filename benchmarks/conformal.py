"""The coverage of prediction sets that MAPIE makes of our probabilities, on five data sets.

    python benchmarks/conformal.py [--quick]

The sets should contain the true class of 90 % of the rows. 40 % of up to 2,000 rows train a ridge regression under all
pairs with softmax probabilities, 30 % are for the sets, 30 % are tested; means of 20 random splits.
"""

from __future__ import annotations

import sys

import numpy as np
from common import QUICK, ROOT, print_table, save

sys.path.append(str(ROOT / "examples" / "neighbours"))

import prediction_sets as example

from outputcodes.app import datasets

SETS = ["vehicle", "vowel", "yeast", "segmentation", "satimage"]
MOST_ROWS = 2000


def main() -> None:
    table = []
    for name in SETS[:1] if QUICK else SETS:
        found = datasets.load(name)
        X, y = found.data.to_numpy(np.float64), found.target.to_numpy()
        some = np.random.default_rng(0).permutation(len(y))[:MOST_ROWS]
        # A class needs two rows to be in both parts.
        labels, counts = np.unique(y[some], return_counts=True)
        some = some[np.isin(y[some], labels[counts > 1])]
        coverage, size, error = example.measure(X[some], y[some], seeds=3 if QUICK else 20)
        table.append(
            {
                "data": name,
                "k": len(np.unique(y[some])),
                "rows": len(some),
                "coverage %": 100 * coverage,
                "classes per set": size,
                "error %": 100 * error,
            }
        )
    print_table(table)
    save("conformal", table)


if __name__ == "__main__":
    main()
