"""Beam search: the best paths through the trees of a code, of which only the most promising nodes are read."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone

from outputcodes._ground.blocks import row_blocks
from outputcodes._ground.margins_on_demand import MarginsByBlock, MarginsOnDemand
from outputcodes._ground.planning import Planning
from outputcodes._ground.tree_code import TreeCode
from outputcodes.decoders._beam_kernels import NOWHERE, extend, join_trees, open_nodes
from outputcodes.decoders.base import MOST_STEPS, Array, Decoder, Found
from outputcodes.losses import LOSSES, as_loss

# What each child adds to the score of a path: from the margins of the children of nodes, how many children each node
# has, and the level of the nodes.
Gains = Callable[[NDArray[Any], NDArray[np.int64], int], Array]


class TreeSearch(Decoder):
    """Base of the decoders that search the nodes of a tree code, of which they read the margins that they need.

    A subclass writes `search` and `all_scores`.
    """

    reads_drawn = True
    searches = True
    reads_sizes = True
    breaks_ties = False
    planning = Planning(tried=False)

    def for_labels(self) -> None:
        """Return None: labels are not the classes of a tree."""

    def objection(self, M: Any) -> str | None:
        """Object to a code that has no nodes."""
        if not isinstance(M, TreeCode):
            own = "decoder='beam'" if isinstance(self, Beam) else type(self).__name__
            return f"{own} searches the nodes of a tree code: use code='tree', or another decoder."
        return None

    def predict(self, F: ArrayLike, M: Any) -> NDArray[np.intp]:
        """Return the class of each row, given all margins."""
        return self.search(written(F), M).classes[:, 0]

    def scores(self, F: ArrayLike, M: Any) -> Array:
        """Return class scores (n, k), given all margins; see `all_scores`."""
        return self.all_scores(written(F), M)

    def ties(self, F: ArrayLike, M: Any, tolerance: float = 1e-12) -> NDArray[np.bool_]:
        """Return the tied classes of each row before any tie is broken, as a mask (n, k)."""
        D = self.scores(F, M)
        best = D.max(axis=1, keepdims=True)
        return np.asarray(D >= best - tolerance * (1.0 if self.scores_are_logarithms else np.abs(best)))


class Beam(TreeSearch):
    """The class at the end of the best path: the decoder of tree codes.

    The score of a path is the sum of −L(f) over its columns, where f is the margin of the child that it takes at a
    node; with several trees, the scores of a class are added. Level by level, the `width` best paths are continued. The
    search is exact if `width` is at least the number of classes. It computes only the margins that it needs.

    Parameters
    ----------
    width : int, default=10
        The number of paths that are continued.
    loss : str, callable or None, default=None
        A name from `outputcodes.losses` or a function of the margin. None means the loss that the learner minimises;
        the classifier fills it in.

    Notes
    -----
    Ties of scores go to the path with the larger sum of margins, then to the first. A class that the beam of one of
    several trees lacks has the lowest score of this beam there.

    Examples
    --------
    >>> from outputcodes._ground.tree_code import grown
    >>> halves = lambda classes, _: None if len(classes) < 3 else [(classes[:2], None), (classes[2:], None)]
    >>> code = grown(4, [(np.arange(4), None)], halves)
    >>> F = [[0.5, -0.2, -1.0, 0.1, 1.0, -1.0]]
    >>> Beam(width=4, loss="hinge").scores(F, code)
    array([[-2.5, -1.4, -1.2, -3.2]])
    >>> Beam(width=1, loss="hinge").predict(F, code)
    array([1])
    """

    def __init__(self, width: int = 10, loss: str | Callable[[Any], Any] | None = None) -> None:
        self.width = width
        self.loss = loss

    def for_loss(self, loss: Any) -> Decoder:
        """Return the decoder with `loss` filled in if it was left open."""
        return self if self.loss is not None else clone(self).set_params(loss=loss)

    def objection(self, M: Any) -> str | None:
        """Object to a code that has no nodes, to a width below 1, and to a loss that was left open."""
        if isinstance(self.width, bool) or not isinstance(self.width, Integral) or self.width < 1:
            return f"width={self.width!r} must be an integer of at least 1: so many paths are continued."
        if (reason := super().objection(M)) is not None:
            return reason
        if self.loss is None:
            return f"decoder='beam' needs a loss, which this learner doesn't have; name one of {', '.join(LOSSES)}."
        as_loss(self.loss)  # raises an error for an unknown name
        return None

    def search(self, margins: MarginsOnDemand, code: Any, n: int = 1) -> Found:
        """Return the n best classes of each row, the best first, and their scores."""
        if (reason := self.objection(code)) is not None:
            raise ValueError(reason)
        width = min(max(int(self.width), n), code.shape[0])
        classes, scores = np.empty((margins.n_rows, n), dtype=np.intp), np.empty((margins.n_rows, n))
        for rows in row_blocks(margins.n_rows, min(width * int(np.diff(code.first).max()), code.shape[1])):
            found = [search_tree(margins, code, tree, rows, width, self._gains) for tree in range(code.n_trees)]
            if code.n_trees == 1:
                score, item = found[0]
            else:
                item, score = join_trees(np.stack([s for s, _ in found]), np.stack([c for _, c in found]), n)
            classes[rows], scores[rows] = -1 - item[:, :n], score[:, :n]
        return Found(classes, scores)

    def _gains(self, f: NDArray[Any], count: NDArray[np.int64], level: int) -> Array:
        """Return what each child adds to the score of a path."""
        assert self.loss is not None  # checked by `objection`
        loss = as_loss(self.loss)(f)
        return np.negative(loss, out=loss)

    def all_scores(self, margins: MarginsOnDemand, code: Any) -> Array:
        """Return class scores (n, k) of margins on demand; classes outside the beam have less than all inside."""
        found = self.search(margins, code, n=min(int(self.width), code.shape[0]))
        D = np.repeat(found.scores[:, -1:] - 1, code.shape[0], axis=1)
        if found.scores.shape[1] > 1:
            # Increased by one unit in the last place, so that the argmax of the scores is the prediction.
            tied = found.scores[:, 0] == found.scores[:, 1]
            found.scores[tied, 0] = np.nextafter(found.scores[tied, 0], np.inf)
        np.put_along_axis(D, found.classes, found.scores, axis=1)
        return D

    def contributions(self, F: ArrayLike, M: Any) -> Array | None:
        """Return −L(f) of the columns on the path of each class, 0 elsewhere; None if the code is large or a matrix."""
        F, (k, L) = np.asarray(F, dtype=np.float64), M.shape
        if not isinstance(M, TreeCode) or len(F) * k * L > MOST_STEPS:
            return None
        parts, gains = np.zeros((len(F), k, L)), -as_loss(self.loss or "squared-hinge")(F)
        for tree in range(M.n_trees):
            paths = M.paths(np.arange(k), tree)
            row, step = np.nonzero(paths >= 0)
            parts[:, row, paths[row, step]] = gains[:, paths[row, step]]
        return parts


def search_tree(
    margins: MarginsOnDemand, code: TreeCode, tree: int, rows: slice, width: int, gains: Gains
) -> tuple[Array, NDArray[np.int64]]:
    """Return the scores and the ends, -1 - r for the class r, of the best paths through one tree."""
    paths = _no_paths(rows.stop - rows.start, width)
    paths[0][:, 0], paths[1][:, 0], paths[2][:, 0] = 0, 0, tree
    for level in range(code.depth):
        row, first, count = open_nodes(paths[2], code.first)
        if not row.size:
            break
        f = margins.of(row + rows.start, first, count)
        longer = _no_paths(rows.stop - rows.start, width)
        extend(paths, code.child, code.first, f, gains(f, count, level), longer)
        paths = longer
    return paths[0], paths[2]


def _no_paths(n: int, width: int) -> tuple[Array, Array, NDArray[np.int64], NDArray[np.int64]]:
    """Return scores, sums of margins, ends and last columns of paths that are worse than any."""
    return (
        np.full((n, width), -np.inf),
        np.full((n, width), -np.inf),
        np.full((n, width), NOWHERE),
        np.full((n, width), -1),
    )


def written(F: ArrayLike) -> MarginsOnDemand:
    """Return margins that are there as margins on demand."""
    margins = np.asarray(F, dtype=np.float64)
    return MarginsByBlock(len(margins), lambda rows: margins[rows])
