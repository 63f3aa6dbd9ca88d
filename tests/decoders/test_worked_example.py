"""Figure 2 of Allwein, Schapire & Singer: distances and predictions of seven losses."""

import numpy as np
import pytest

from outputcodes.decoders import as_decoder

M = np.array(
    [
        [-1, 0, -1, -1, 1, -1, -1],
        [1, -1, 0, 1, 1, 1, -1],
        [1, 0, -1, -1, -1, 1, 1],
        [-1, -1, 1, 0, -1, -1, 1],
    ]
)
f = [[0.5, -7, -1, -2, -10, -12, 9]]

TABLE = {
    "hamming": ([3.5, 4.5, 1.5, 2.5], 3, 1e-12),
    "exponential": ([30132.70, 192893.34, 162756.90, 5.3681], 4, 1e-5),
    "hinge": ([23.5, 38.5, 14.5, 4.5], 4, 1e-12),
    "logistic": ([40.1515, 67.0246, 25.1515, 4.1333], 4, 1e-5),
    "squared": ([346.25, 436.25, 316.25, 309.25], 4, 1e-12),
    "linear": ([4.5, 25.5, -10.5, -36.5], 4, 1e-12),
    "randomised": ([3.3682, 4.7510, 1.9061, 2.1119], 3, 1e-4),
}


@pytest.mark.parametrize("loss", TABLE)
def test_distances_and_prediction(loss):
    distances, prediction, precision = TABLE[loss]
    scores = as_decoder(loss).scores(f, M)[0]
    found = np.exp(-scores) if loss == "exponential" else -scores
    assert np.allclose(found, distances, rtol=precision)
    assert as_decoder(loss).predict(f, M)[0] == prediction - 1
