"""Compare loss-based decoding with its floor: the matrix products and one pass of the loss over F.

    python benchmarks/decoding.py [--quick]

The goal is that `predict` from margins takes at most twice the floor, in blocks of rows, and below 1 GB at k = 10,000.
The floor uses the same blocks: L(F) and L(-F) are written to a buffer, followed by one product with the stacked code,
4·n·L·k flops. The peer is the decoding of scikit-learn's OutputCodeClassifier: the nearest row in Euclidean distance,
which on these codes without zeros equals our "linear" decoder.
"""

from __future__ import annotations

import resource

import numpy as np
from common import QUICK, interleaved, print_table, save
from sklearn.metrics import pairwise_distances_argmin

# A private name: the floor works on the blocks of rows that the implementation uses.
from outputcodes._ground.blocks import row_blocks
from outputcodes.decoders import as_decoder
from outputcodes.losses import as_loss

SIZES = [(1000, 48, 26)] if QUICK else [(100_000, 48, 26), (20_000, 166, 10_000)]
LOSSES = ["linear", "hinge", "exponential", "logistic", "hamming"]


def floor(F: np.ndarray, M: np.ndarray, loss: str) -> None:
    """Compute only what cannot be avoided: the loss of each margin for both signs, and the products."""
    value, L = as_loss(loss), M.shape[1]
    stacked = np.hstack([M > 0, M < 0]).astype(np.float64).T
    for rows in row_blocks(F.shape[0], M.shape[0] + 2 * L):
        both = np.empty((rows.stop - rows.start, 2 * L))
        both[:, :L] = value(F[rows])
        both[:, L:] = value(-F[rows])
        both @ stacked


def measure(n: int, L: int, k: int, loss: str) -> dict[str, object]:
    rng = np.random.default_rng(0)
    M, F = rng.choice([-1, 1], size=(k, L)), rng.normal(size=(n, L))
    decoder = as_decoder(loss)
    contenders = {"ours": lambda: decoder.predict(F, M), "floor": lambda: floor(F, M, loss)}
    if loss == "linear":
        contenders["scikit-learn"] = lambda: pairwise_distances_argmin(F, M, metric="euclidean")
    seconds, answers = interleaved(contenders, repeats=15 if k < 1000 else 3)
    if loss == "linear":
        assert np.array_equal(answers["ours"], answers["scikit-learn"])
    return {
        "n": n,
        "L": L,
        "k": k,
        "loss": loss,
        "ours s": seconds["ours"],
        "floor s": seconds["floor"],
        "ours / floor": seconds["ours"] / seconds["floor"],
        "floor GFlop/s": 4e-9 * n * L * k / seconds["floor"],
        "scikit-learn / ours": seconds["scikit-learn"] / seconds["ours"] if loss == "linear" else "",
        "peak RSS MB": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
    }


def main() -> None:
    table = [measure(*size, loss) for size in SIZES for loss in LOSSES]
    print_table(table)
    save("decoding", table)


if __name__ == "__main__":
    main()
