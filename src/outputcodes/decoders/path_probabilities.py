"""Probabilities along the paths of a tree code: the product of the shares that the nodes give their children."""

from __future__ import annotations

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
from outputcodes.decoders._path_kernels import log_means, log_probabilities, log_shares
from outputcodes.decoders._path_search import PathSearch
from outputcodes.decoders.base import Array, Decoder, Found
from outputcodes.decoders.beam import TreeSearch, written
from outputcodes.decoders.softmax import Softmax

# Below and above, shares are those of one child, or of equal children.
COLDEST, WARMEST = 1e-3, 1e3


class PathProbabilities(TreeSearch):
    """The most probable class of a tree code.

    At a node, the softmax of the margins, divided by a temperature of its level, gives each child its share; the
    probability of a class is the product of the shares along its path, so that the probabilities of all classes sum to
    1. With several trees it is the mean of those of the trees. The temperatures maximise the likelihood of held-out
    rows. Scores are logarithms of probabilities.

    The search is exact. As probabilities only shrink along a path, it opens the nodes that are as probable as the best
    class, or the n best, and no others: few if the row is clear, and all if nothing is known about it.

    Attributes
    ----------
    temperature_ : ndarray of shape (levels,)

    Notes
    -----
    The temperature of a level minimises the mean of u/((n + 2) T) - log P over its n held-out rows, where u is the mean
    distance of the margins from the largest: T thus stays above 0 if the margins separate all children. Ties go to
    the first class.

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

    def search(self, margins: MarginsOnDemand, code: Any, n: int = 1) -> Found:
        """Return the n most probable classes of each row, the best first, and the logarithms of their probabilities."""
        self._check(code)
        search, size = PathSearch(margins, code, self.temperature_), min(10 * int(np.diff(code.first).max()), len(code))
        found = [search.best(rows, n) for rows in row_blocks(margins.n_rows, max(n, size))]
        if not found:
            return Found(np.empty((0, n), dtype=np.intp), np.empty((0, n)))
        return Found(*(np.concatenate(parts) for parts in zip(*found, strict=True)))

    def all_scores(self, margins: MarginsOnDemand, code: Any) -> Array:
        """Return the logarithms (n, k) of the probabilities of all classes."""
        D = self._logarithms(margins, code)
        _raise_best(D, self.search(margins, code).classes[:, 0])
        return D

    def probabilities(self, F: ArrayLike, M: Any) -> Array:
        """Return class probabilities (n, k) of all classes."""
        return self.all_probabilities(written(F), M)

    def all_probabilities(self, margins: MarginsOnDemand, code: Any) -> Array:
        """Return class probabilities (n, k) of margins on demand."""
        P = self._logarithms(margins, code)
        np.exp(P, out=P)
        _raise_best(P, self.search(margins, code).classes[:, 0])
        return P

    def _logarithms(self, margins: MarginsOnDemand, code: Any) -> Array:
        self._check(code)
        k, L = code.shape
        temperature = self.temperature_[np.repeat(np.arange(code.depth), np.diff(code.levels))]
        D = np.empty((margins.n_rows, k))
        for rows in row_blocks(margins.n_rows, 2 * L):
            n = rows.stop - rows.start
            f = margins.of(np.arange(rows.start, rows.stop), np.zeros(n, np.intp), np.full(n, L))
            log_p = log_probabilities(f.reshape(n, L), code.first, code.parent, temperature)
            D[rows] = log_means(log_p[:, code.above].transpose(1, 0, 2).reshape(code.n_trees, n * k)).reshape(n, k)
        return D

    def _check(self, code: Any) -> None:
        check_is_fitted(self, "temperature_")
        if (reason := self.objection(code)) is not None:
            raise ValueError(reason)
        if len(self.temperature_) != code.depth:
            raise ValueError(
                f"PathProbabilities was fitted on {len(self.temperature_)} levels, and this tree has {code.depth}."
            )

    def contributions(self, F: ArrayLike, M: Any) -> Array | None:
        """Return None: probabilities are not sums over columns."""
        return None


def with_softmax(decoder: Decoder) -> Decoder:
    """Return a decoder with probabilities by softmax: of the scores, or of the nodes of a tree code."""
    return PathProbabilities() if isinstance(decoder, TreeSearch) else Softmax(decoder)


def _raise_best(D: Array, best: NDArray[np.intp]) -> None:
    """Make the prediction the largest entry of its row: rounding may have made another one equal."""
    rows = np.flatnonzero(D.argmax(axis=1) != best)
    D[rows, best[rows]] = np.nextafter(D[rows].max(axis=1), np.inf)


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
