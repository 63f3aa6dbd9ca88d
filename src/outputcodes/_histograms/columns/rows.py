"""The rows that a column's tree grows on, where they are in blocks: what a pass does to them, and what it returns.

The rows of a region lie together in the order of each block. A pass parts regions by the questions of their nodes, and
returns how many rows went to the left, the histograms of some regions, and the rows of others, which are few.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from outputcodes._ground.passes import Combination, Piece
from outputcodes._histograms.binned_blocks import Codes
from outputcodes._histograms.columns.growth import in_units
from outputcodes._histograms.regions import fill_two_signs, part_own

Rows = NDArray[np.intp]
Array = NDArray[np.float64]


class Parting(NamedTuple):
    """How the rows of a node are divided between the nodes `left` and left + 1."""

    node: int
    left: int
    feature: int
    goes_left: NDArray[np.bool_]


class Asked(NamedTuple):
    """What a pass does for one column: part nodes, then sum the histograms of some and fetch the rows of others."""

    partings: list[Parting]
    histograms: list[int]
    rows: list[int]


class Reply(NamedTuple):
    """What it returns: rows on the left of each parting, histograms, and rows: codes, signed weights and regions.

    `of_region` are places in `Asked.rows`.
    """

    n_left: NDArray[np.int64]
    histograms: NDArray[np.int64]
    codes: NDArray[Any]
    signed: NDArray[np.int64]
    of_region: NDArray[np.intp]

    def plus(self, other: Reply) -> Reply:
        """Return the reply for the rows of both."""
        both = zip(self[2:], other[2:], strict=True)
        joined = (one if not len(two) else np.concatenate([one, two]) for one, two in both)
        return Reply(self.n_left + other.n_left, self.histograms + other.histograms, *joined)


class Replies(Combination):
    """One reply per column; the pieces of a block are its columns."""

    def of_block(self, pieces: Sequence[Piece], answers: Iterable[Any]) -> Any:
        """Return the replies of all columns."""
        return tuple(answers)

    def __call__(self, left: Any, right: Any) -> Any:
        """Join the replies of two blocks."""
        return tuple(one.plus(other) for one, other in zip(left, right, strict=True))


@dataclass(frozen=True)
class ColumnRows:
    """The rows of a block that a column sees, in the order of the regions of its tree.

    Attributes
    ----------
    codes : ndarray of shape (n, d)
        Of all rows of the block, as `signed` are their whole weights.
    order : ndarray of uint32
        The rows that the column sees.
    segments : dict
        Where the rows of a node begin and end in this order.
    place : int
        Which of the columns this is.
    """

    codes: NDArray[Any]
    signed: NDArray[np.int64]
    order: NDArray[np.uint32]
    segments: dict[int, tuple[int, int]]
    place: int
    columns: None = None

    def rows(self, node: int) -> NDArray[np.uint32]:
        """Return the rows of a node."""
        return self.order[slice(*self.segments[node])]


def column_rows(
    parts: list[Codes], y: Rows, weight: Array | None, rows: Rows | None, signed: Array, exponents: list[int]
) -> list[ColumnRows]:
    """Return the rows of a block for each column, whose classes have these `signed` weights, in units of its own."""
    (part,), made = parts, []
    rows = np.arange(len(y)) if rows is None else rows
    for place, exponent in enumerate(exponents):
        own = signed[y[rows], place] * (1.0 if weight is None else weight[rows])
        order, whole = rows[own != 0].astype(np.uint32), np.zeros(len(y), np.int64)
        whole[order] = in_units(own[own != 0], exponent)
        made.append(ColumnRows(part.X, whole, order, {0: (0, len(order))}, place))
    return made


def advanced(
    piece: ColumnRows, asked: list[Asked], offsets: NDArray[np.int64], in_place: bool
) -> tuple[ColumnRows, Reply]:
    """Return the piece after a pass, with the reply for its column."""
    own = asked[piece.place]
    if own.partings:
        piece = replace(piece, order=piece.order if in_place else piece.order.copy(), segments=dict(piece.segments))
    n_left = np.array([_part(piece, parting) for parting in own.partings], dtype=np.int64)
    histograms = np.empty((len(own.histograms), 2 * int(offsets[-1])), np.int64)
    for node, histogram in zip(own.histograms, histograms, strict=True):
        fill_two_signs(piece.codes, piece.rows(node), offsets, piece.signed, histogram)
    regions = [piece.rows(node) for node in own.rows]
    fetched = np.concatenate(regions) if regions else piece.order[:0]
    of_region = np.repeat(np.arange(len(regions)), [len(rows) for rows in regions])
    return piece, Reply(n_left, histograms, piece.codes[fetched], piece.signed[fetched], of_region)


def _part(piece: ColumnRows, parting: Parting) -> int:
    """Part the rows of a node, and return how many went to the left."""
    first, last = piece.segments.pop(parting.node)
    own = piece.order[first:last]
    n_left = int(
        part_own(own, np.empty_like(own), piece.codes, np.uintp(parting.feature), parting.goes_left.astype(np.uintp))
    )
    piece.segments[parting.left], piece.segments[parting.left + 1] = (first, first + n_left), (first + n_left, last)
    return n_left
