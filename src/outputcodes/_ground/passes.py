"""Functions that run on every block of rows, beside some small state, and whose results are added in a fixed order.

A block is what is stored or sent as a whole: all rows of an array, a file, a partition of a cluster. It is cut into
pieces that stay in a processor's cache. The sum over the pieces of a block is taken in their order, that over the
blocks along a binary tree: the same blocks give the same bits, wherever and by however many threads they are computed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from outputcodes._ground.blocks import Run
from outputcodes._ground.working_files import WorkingFiles

Combine = Callable[[Any, Any], Any]
Sums = tuple[NDArray[Any], ...]
# So many results are held before they are combined: threads then seldom wait for each other.
RESULTS_AT_A_TIME = 32


class Piece(Protocol):
    """Rows that are computed together; `columns` are the places of its results in their last axis, None for all."""

    columns: NDArray[np.intp] | None


def in_tree(parts: Iterable[Any], combine: Combine) -> Any:
    """Combine neighbours, then neighbours of these, until one is left; the result depends on the order alone.

    Parts are combined as soon as they come: of n parts, about log2(n) are held at a time.

    >>> in_tree("abcde", lambda left, right: f"({left}{right})")
    '(((ab)(cd))e)'
    """
    waiting: list[tuple[int, Any]] = []
    for part in parts:
        size = 1
        while waiting and waiting[-1][0] == size:
            part, size = combine(waiting.pop()[1], part), 2 * size
        waiting.append((size, part))
    found = waiting.pop()[1]
    while waiting:
        found = combine(waiting.pop()[1], found)
    return found


def in_groups(parts: list[Any], size: int, join: Callable[[list[Any]], Any]) -> Any:
    """Join `size` neighbours at a time until one is left.

    If the size is a power of two and each group is joined by `in_tree`, so is the whole.

    >>> in_groups(list("abcde"), 4, lambda group: in_tree(group, "({}{})".format))
    '(((ab)(cd))e)'
    """
    while len(parts) > 1:
        groups = [parts[first : first + size] for first in range(0, len(parts), size)]
        parts = [join(group) if len(group) > 1 else group[0] for group in groups]
    return parts[0]


class Combination:
    """The sum of arrays, or another combination such as their maximum, of pieces that have only some of `width` places.

    Each of several arrays may have its own.

    >>> class Half:
    ...     columns = np.array([1])
    >>> Combination(np.add, 3).of_block([Half, Half], [(np.ones(1),), (np.ones(1),)])
    (array([0., 2., 0.]),)
    >>> Combination((np.add, np.maximum))((np.ones(2), np.ones(2)), (np.ones(2), np.zeros(2)))
    (array([2., 2.]), array([1., 1.]))
    """

    def __init__(self, ufunc: np.ufunc | tuple[np.ufunc, ...] = np.add, width: int | None = None) -> None:
        self.ufunc, self.width = ufunc, width

    def of_block(self, pieces: Sequence[Piece], answers: Iterable[Sums]) -> Sums:
        """Combine the answers of the pieces of a block, in their order."""
        total: list[NDArray[Any]] = []
        for piece, answer in zip(pieces, answers, strict=True):
            columns = piece.columns if self.width is not None else None
            if not total:
                total = [self._first(part, columns) for part in answer]
                continue
            for sum_, part, ufunc in zip(total, answer, self._ufuncs(answer), strict=True):
                if columns is None or len(columns) == self.width:
                    ufunc(sum_, part, out=sum_)
                else:
                    sum_[..., columns] = ufunc(sum_[..., columns], part)
        return tuple(total)

    def __call__(self, left: Sums, right: Sums) -> Sums:
        """Combine two blocks; one without pieces has no answer."""
        if not left or not right:
            return left or right
        return tuple(ufunc(a, b) for a, b, ufunc in zip(left, right, self._ufuncs(left), strict=True))

    def _ufuncs(self, sums: Sums) -> tuple[np.ufunc, ...]:
        return self.ufunc if isinstance(self.ufunc, tuple) else (self.ufunc,) * len(sums)

    def _first(self, part: NDArray[Any], columns: NDArray[np.intp] | None) -> NDArray[Any]:
        if columns is None or len(columns) == self.width:
            return np.array(part)
        # Nothing is below 0 in what is combined by maxima.
        whole = np.zeros((*part.shape[:-1], self.width), dtype=part.dtype)
        whole[..., columns] = part
        return whole


class Blocks:
    """Blocks of rows as lists of pieces, on which functions run in threads.

    Functions take a piece and some small state. They change nothing: a piece that has learned something is a new piece.
    Only if `may_change`, an owner who lets its blocks go may have the arrays of a piece overwritten by the new one's.

    Parameters
    ----------
    blocks : sequence of lists of pieces
    run : Run
        See `threads`.
    files : WorkingFiles, optional
        Where the arrays of new pieces are kept; None is in memory.

    Examples
    --------
    >>> from dataclasses import dataclass, replace
    >>> from outputcodes._ground.blocks import serially
    >>> @dataclass(frozen=True)
    ... class Some:
    ...     X: np.ndarray
    ...     columns: None = None
    >>> blocks = Blocks([[Some(np.ones(2))], [Some(np.ones(1)), Some(np.ones(3))]], serially)
    >>> doubled = blocks.through(lambda piece, factor: replace(piece, X=factor * piece.X), 2.0)
    >>> doubled.total(lambda piece: (piece.X.sum(),))
    (np.float64(12.0),)
    """

    # A task that may be computed again must find its piece as it was: not so in this process.
    may_change = True
    # How many results to ask for in one pass if more are likely to be needed later: here a further pass costs nothing.
    ahead = 1

    def __init__(self, blocks: Sequence[list[Any]], run: Run, files: WorkingFiles | None = None) -> None:
        self.blocks, self.run, self.files = blocks, run, files

    def total(self, work: Callable[..., Sums], *state: Any, combine: Combination | None = None) -> Sums:
        """Return the combination, by default the sum, of work(piece, *state) over all pieces."""
        return self._combined(self._flat(work, *state), combine or Combination())

    def through(self, work: Callable[..., Any], *state: Any) -> Blocks:
        """Return the blocks of the pieces work(piece, *state)."""
        return self._with(list(self._flat(work, *state, keeps=self._kept)))

    def step(
        self, work: Callable[..., tuple[Any, Sums]], *state: Any, combine: Combination | None = None
    ) -> tuple[Blocks, Sums]:
        """Return new blocks and a combination, of work(piece, *state) → (new piece, arrays)."""
        pieces: list[Any] = []

        def sums() -> Iterator[Sums]:
            for piece, answer in self._flat(work, *state, keeps=lambda made: (self._kept(made[0]), made[1])):
                pieces.append(piece)
                yield answer

        combined = self._combined(sums(), combine or Combination())
        return self._with(pieces), combined

    def each(
        self,
        work: Callable[..., Any],
        items: Sequence[Any],
        *state: Any,
        index: Callable[[list[Any]], Any],
        combine: Combine,
    ) -> list[Any]:
        """Return, for each item, the combination of work(index(pieces of a block), item, *state) over all blocks."""
        indices = [index(pieces) for pieces in self.blocks] if items else []
        jobs = [(of_block, item) for item in items for of_block in indices]
        found = self._in_turn(lambda job: work(job[0], job[1], *state), jobs)
        return [in_tree(islice(found, len(indices)), combine) for _ in items]

    def recut(self, make: Callable[..., Iterable[Any]], given: Sequence[tuple[Any, ...]], *state: Any) -> Blocks:
        """Return the blocks of the pieces make(pieces of a block, *given to this block, *state)."""
        made = [
            [self._kept(piece) for piece in make(pieces, *own, *state)]
            for pieces, own in zip(self.blocks, given, strict=True)
        ]
        return Blocks(made, self.run, self.files)

    def beside(self, other: Blocks, work: Callable[..., Any], *state: Any) -> Blocks:
        """Return the blocks of the pieces work(piece, piece of the same place in other blocks, *state)."""
        pairs = [pair for two in zip(self.blocks, other.blocks, strict=True) for pair in zip(*two, strict=True)]
        return self._with(list(self._in_turn(lambda pair: self._kept(work(*pair, *state)), pairs)))

    def collected(
        self, work: Callable[..., Any], *state: Any, given: Sequence[tuple[Any, ...]] | None = None
    ) -> list[Any]:
        """Return work(pieces of a block, *given to this block, *state) of each block, in order."""
        jobs = list(zip(self.blocks, given or [()] * len(self.blocks), strict=True))
        return self.run(lambda job: work(job[0], *job[1], *state), jobs)

    def by(self, run: Run) -> Blocks:
        """Return the same blocks, for computations by other threads."""
        return Blocks(self.blocks, run, self.files)

    def _flat(self, work: Callable[..., Any], *state: Any, keeps: Callable[[Any], Any] | None = None) -> Iterator[Any]:
        def one(piece: Any) -> Any:
            made = work(piece, *state)
            # In the thread that made it: working files exist because not all pieces fit into memory together.
            return made if keeps is None else keeps(made)

        return self._in_turn(one, [piece for block in self.blocks for piece in block])

    def _in_turn(self, work: Callable[[Any], Any], jobs: list[Any]) -> Iterator[Any]:
        """Yield the results in the order of the jobs, a limited number at a time."""
        for start in range(0, len(jobs), RESULTS_AT_A_TIME):
            yield from self.run(work, jobs[start : start + RESULTS_AT_A_TIME])

    def _kept(self, piece: Any) -> Any:
        return piece if self.files is None else self.files.keep(piece)

    def _with(self, pieces: list[Any]) -> Blocks:
        ends = np.cumsum([len(block) for block in self.blocks])
        made = [pieces[end - len(block) : end] for end, block in zip(ends, self.blocks, strict=True)]
        return Blocks(made, self.run, self.files)

    def _combined(self, answers: Iterator[Sums], combine: Combination) -> Sums:
        sums = (combine.of_block(block, islice(answers, len(block))) for block in self.blocks)
        combined: Sums = in_tree(sums, combine)
        return combined
