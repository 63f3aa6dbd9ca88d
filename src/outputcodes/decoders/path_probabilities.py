"""Probabilities along the paths of a tree code: the product of the shares that the nodes give their children."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import minimize_scalar
from sklearn.utils.validation import check_is_fitted

from outputcodes._ground.blocks import row_blocks
from outputcodes._ground.drawn_code import AnyCode
from outputcodes._ground.margins_on_demand import MarginsOnDemand
from outputcodes._ground.tree_code import TreeCode
from outputcodes._ground.validation import check_labels, check_weight
from outputcodes.decoders._beam_kernels import join_trees, log_shares, shares_of
from outputcodes.decoders.base import Array, Decoder
from outputcodes.decoders.beam import Beam, written
from outputcodes.decoders.softmax import Softmax

# Below and above, shares are those of one child, or of equal children.
COLDEST, WARMEST = 1e-3, 1e3


class PathProbabilities(Beam):
    """A beam search for the most probable class of a tree code.

    At a node, the softmax of the margins, divided by a temperature of its level, gives each child its share; the
    probability of a class is the product of the shares along its path, so that the probabilities of all classes sum to
    1. With several trees it is the mean of those of the trees. The temperatures maximise the likelihood of held-out
    rows. Scores are logarithms of probabilities.

    Parameters
    ----------
    width : int, default=10
        The number of paths that are continued.
    loss : str, callable or None, default=None
        Not used: probabilities decide.

    Attributes
    ----------
    temperature_ : ndarray of shape (levels,)

    Notes
    -----
    The temperature of a level minimises the mean of u/((n + 2) T) - log P over its n held-out rows, where u is the mean
    distance of the margins from the largest: T thus stays above 0 if the margins separate all children. A class that
    the beam of one of several trees lacks has probability 0 there.

    Examples
    --------
    >>> from outputcodes._ground.tree_code import grown
    >>> halves = lambda classes, _: None if len(classes) < 3 else [(classes[:2], None), (classes[2:], None)]
    >>> code = grown(4, [(np.arange(4), None)], halves)
    >>> F = np.array([[1.0, -1, 1, -1, 0, 0], [0.5, -0.5, -1, 1, 0, 0], [-1, 1, 0, 0, 0.2, 0.1], [-0.1, 0, 0, 0, 0, 1]])
    >>> decoder = PathProbabilities().fit(F, [0, 1, 3, 3], code)
    >>> decoder.probabilities(F[:1], code).sum().round(12)
    np.float64(1.0)
    """

    needs = "held-out"
    scores_are_logarithms = True
    reads_loss = False

    def __init__(self, width: int = 10, loss: str | Callable[[Any], Any] | None = None) -> None:
        super().__init__(width, loss)

    def fit(self, F: ArrayLike, y: ArrayLike, M: Any, weight: ArrayLike | None = None) -> Self:
        """Fit the temperatures to held-out margins F."""
        return self.fit_on_demand(written(F), y, M, weight)

    def fit_on_demand(
        self, margins: MarginsOnDemand, y: ArrayLike, code: AnyCode, weight: ArrayLike | None = None
    ) -> Self:
        """Fit the temperatures to held-out margins, of which those along the paths of the true classes are read."""
        assert isinstance(code, TreeCode)  # checked by `objection`
        labels = check_labels(y, code.shape[0])
        mass = check_weight(weight, len(labels))
        mass = np.ones(len(labels)) if mass is None else mass
        paths = np.concatenate([code.paths(labels, tree) for tree in range(code.n_trees)])
        self.temperature_ = np.ones(code.depth)
        for level in range(code.depth):
            at = np.flatnonzero(paths[:, level] >= 0)
            # All trees of a row together: margins are read in the order of the rows.
            at = at[np.argsort(at % len(labels), kind="stable")]
            if at.size:
                column = paths[at, level]
                first = code.first[code.node_of[column]]
                count = code.first[code.node_of[column] + 1] - first
                f = margins.of(at % len(labels), first, count)
                self.temperature_[level] = _temperature(f, count, column - first, mass[at % len(labels)])
        return self

    def _gains(self, f: NDArray[Any], count: NDArray[np.int64], level: int) -> Array:
        check_is_fitted(self, "temperature_")
        gains: Array = log_shares(f, count, self.temperature_[level])
        return gains

    def _join(self, scores: Array, items: NDArray[np.int64], n: int) -> tuple[NDArray[np.int64], Array]:
        best, total = join_trees(np.exp(scores) / len(scores), items, n, False)
        with np.errstate(divide="ignore"):
            return best, np.log(total)

    def probabilities(self, F: ArrayLike, M: Any) -> Array:
        """Return class probabilities (n, k) of all classes, inside the beam or not."""
        return self.all_probabilities(written(F), M)

    def all_probabilities(self, margins: MarginsOnDemand, code: AnyCode) -> Array:
        """Return class probabilities (n, k) of margins on demand."""
        check_is_fitted(self, "temperature_")
        assert isinstance(code, TreeCode)  # checked by `objection`
        k, L = code.shape
        P = np.zeros((margins.n_rows, k))
        level_of = np.repeat(np.arange(code.depth), np.diff(code.levels))
        temperature = self.temperature_[level_of]
        for rows in row_blocks(margins.n_rows, 2 * L):
            n = rows.stop - rows.start
            f = margins.of(np.arange(rows.start, rows.stop), np.zeros(n, np.intp), np.full(n, L))
            log_p = shares_of(np.asarray(f, dtype=np.float64).reshape(n, L), code.first, code.parent, temperature)
            for tree in range(code.n_trees):
                P[rows] += np.exp(log_p[:, code.above[tree]])
        P /= code.n_trees
        return P

    def contributions(self, F: ArrayLike, M: Any) -> Array | None:
        """Return None: probabilities are not sums over columns."""
        return None


def with_softmax(decoder: Decoder) -> Decoder:
    """Return a decoder with probabilities by softmax: of the scores, or of the nodes of a tree code."""
    return PathProbabilities(decoder.width, decoder.loss) if isinstance(decoder, Beam) else Softmax(decoder)


def _temperature(f: NDArray[Any], count: NDArray[np.intp], own: NDArray[np.intp], mass: Array) -> float:
    """Return the temperature of largest likelihood for nodes with `count` children each, of which `own` is right."""
    begin = np.cumsum(count) - count
    f = np.asarray(f, dtype=np.float64)
    unit = float(np.average(np.maximum.reduceat(f, begin) - np.add.reduceat(f, begin) / count, weights=mass))
    if unit <= 0:
        return WARMEST
    least = 1 / (float(mass.sum()) + 2)

    def loss(log_temperature: float) -> float:
        temperature = float(np.exp(log_temperature))
        return float(
            least * unit / temperature - np.average(log_shares(f, count, temperature)[begin + own], weights=mass)
        )

    bounds = np.log(COLDEST * unit), np.log(WARMEST * unit)
    return float(np.exp(minimize_scalar(loss, bounds=bounds, method="bounded", options={"xatol": 1e-6}).x))
