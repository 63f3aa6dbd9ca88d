"""Random codes: the best of many draws by rho (Allwein, Schapire and Singer 2000)."""

import math
from itertools import count
from typing import Any

import numpy as np

from outputcodes._ground.planning import Planning, first_reason, many_classes, three_classes
from outputcodes.codes._draws import dense_planes, sparse_planes
from outputcodes.codes._search import best_of
from outputcodes.codes.base import Code, Matrix, checked_integer
from outputcodes.codes.elementary import Complete, TernaryComplete, complete_length, ternary_complete_length
from outputcodes.codes.faults import one_sided_columns, repeated_columns, repeated_rows, unseparated_pairs

# Rows that an open code has beyond twice the number of classes.
SPARE = 10


class _Sampled(Code):
    """Base of the random codes: their parameters."""

    def __init__(self, length: int | None = None, n_candidates: int = 10_000, rule: str = "strict") -> None:
        self.length = length
        self.n_candidates = n_candidates
        self.rule = rule

    def _check_parameters(self) -> None:
        if self.length is not None:
            checked_integer("length", self.length, 1, "it is the number of columns; None uses the default")
        checked_integer("n_candidates", self.n_candidates, 1, "it is the number of matrices drawn")
        if self.rule not in ("strict", "published"):
            raise ValueError(f"rule must be 'strict' or 'published', got {self.rule!r}.")

    def open(self, n_classes: int, random_state: Any = None, *, spare: bool = True, batch: Any = None) -> Matrix:
        """Return a code drawn for twice as many classes, and ten more: the rows after the first are spare."""
        return self.draw(2 * n_classes + SPARE if spare else n_classes, random_state).matrix()

    def grown(self, M: Matrix, n_classes: int, nearest: int | None = None) -> Matrix:
        """Return the code itself, whose next spare row belongs to one more class."""
        if n_classes < len(M):
            return M
        raise ValueError(
            f"{type(self).__name__} was drawn with {len(M)} rows, and all of them belong to classes: name all classes "
            "in the first call, partial_fit(X, y, classes=…), or use code='one-vs-all' or 'all-pairs'."
        )

    def _refuse_length(self, k: int, shortest: int, longest: float = math.inf) -> None:
        if self.length is not None and not shortest <= self.length <= longest:
            short = self.length < shortest
            raise ValueError(
                f"length={self.length} is impossible for n_classes={k} under rule={self.rule!r}: "
                + (f"distinct rows need at least {shortest}" if short else f"there are at most {longest} distinct")
                + " columns; length=None uses a suitable number."
            )


class Dense(_Sampled):
    """Entries ±1 with probability 1/2: the draw with the largest rho among `n_candidates`.

    `length` defaults to ceil(10 log2 k). For k <= 5 there are fewer splits of the classes than that, and the complete
    code is returned instead. Rows are distinct, and no two columns are equal; mirrored columns are allowed. Constant
    columns are excluded by rule="strict" and allowed by rule="published". With hundreds of classes, fewer candidates
    are drawn, within a fixed amount of work that is the same on every machine.

    >>> M = Dense().draw(10, random_state=0).matrix()
    >>> M.shape
    (10, 34)
    >>> from outputcodes.codes import min_distance
    >>> min_distance(M) >= 12
    True
    """

    planning = Planning(quick=True, cost=15, unsuited=first_reason(three_classes, many_classes))

    def _matrix(self, k: int, rng: np.random.Generator, problem: Any) -> Matrix:
        strict = self.rule == "strict"
        L = int(self.length or math.ceil(10 * math.log2(k)))
        if self.length is None and complete_length(k) < L:
            return Complete().draw(k).matrix()
        self._refuse_length(k, (k - 1).bit_length(), 2**k - 2 if strict else 2**k)

        def admissible(M: Matrix) -> bool:
            if strict and one_sided_columns(M).size:
                return False
            return not repeated_rows(M).size and not repeated_columns(M).size

        return best_of(self.n_candidates, k, L, lambda n: dense_planes(rng, k, L, n, strict), admissible)


class Sparse(_Sampled):
    """Entries 0 with probability 1/2, ±1 with 1/4 each: the draw with the largest rho among `n_candidates`.

    `length` defaults to ceil(15 log2 k). For k <= 4 there are fewer columns with both signs than that, and the ternary
    complete code is returned instead. With rule="strict" every column has both signs and every two classes are opposed
    in some column; rule="published" excludes only zero columns, zero rows and equal rows. With hundreds of classes,
    fewer candidates are drawn, within a fixed amount of work.

    >>> M = Sparse().draw(10, random_state=0).matrix()
    >>> M.shape
    (10, 50)
    >>> bool(((M == 1).any(axis=0) & (M == -1).any(axis=0)).all())
    True
    """

    planning = Planning(cost=20, unsuited=many_classes)

    def _matrix(self, k: int, rng: np.random.Generator, problem: Any) -> Matrix:
        strict = self.rule == "strict"
        L = int(self.length or math.ceil(15 * math.log2(k)))
        if self.length is None and ternary_complete_length(k) < L:
            return TernaryComplete().draw(k).matrix()
        # To oppose every two of k classes needs 2^L >= k; distinct non-zero rows need 3^L - 1 >= k.
        self._refuse_length(k, next(s for s in count(1) if (2**s if strict else 3**s - 1) >= k))

        def admissible(M: Matrix) -> bool:
            if strict:  # opposed rows are neither equal nor zero
                return not unseparated_pairs(M).size
            return bool(M.any(axis=1).all()) and not repeated_rows(M).size

        return best_of(self.n_candidates, k, L, lambda n: sparse_planes(rng, k, L, n, strict), admissible)
