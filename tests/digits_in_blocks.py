"""Digits with missing values and categories, in blocks some of which lack classes or rows: what trees are tested on."""

import numpy as np
from sklearn.datasets import load_digits

X, y = load_digits(return_X_y=True)
X, y = X[:600, :30].copy(), y[:600]
X[::7, 3] = np.nan
X[:, 5] = np.arange(600) % 4
# The block of one row, and that without rows, lack classes; so does the third block.
y[251:400][y[251:400] > 6] = 0
SIZES = (250, 1, 0, 149, 200)
WEIGHT = np.random.default_rng(0).integers(0, 3, 600) * 0.3


def dask_rows(features=X, sizes=SIZES):
    """Return some features as a Dask array with these blocks."""
    import dask.array as da

    return da.from_array(features, chunks=(sizes, features.shape[1]))
