"""Codes from algebra: rows of a Hadamard matrix, and codewords of a BCH code."""

import warnings
from importlib.util import find_spec
from typing import Any

import numpy as np

from outputcodes._ground.planning import Planning, Size, first_reason, many_classes, three_classes
from outputcodes.codes._bitplanes import pack, twice_rho
from outputcodes.codes._cyclic import bch_parameters, essential_columns, generator_matrix, random_codewords
from outputcodes.codes.base import Code, Matrix, checked_integer
from outputcodes.codes.elementary import Complete, complete_length

# The number of choices of codewords that one search compares, and of multiplications that it may use: about a second.
_MAX_CHOICES, _MAX_PRODUCTS = 256, 10**9


def _without_galois(size: Size) -> str | None:
    return three_classes(size) or (
        "needs galois: pip install 'outputcodes[bch]'" if find_spec("galois") is None else None
    )


class Hadamard(Code):
    """The first k rows of the Sylvester matrix of order q = 2^ceil(log2 k), without its constant column.

    Every two rows are at distance q/2; there are q - 1 columns.

    >>> Hadamard().draw(4).matrix()
    array([[ 1,  1,  1],
           [-1,  1, -1],
           [ 1, -1, -1],
           [-1, -1,  1]], dtype=int8)
    """

    planning = Planning(quick=True, cost=25, unsuited=first_reason(three_classes, many_classes))

    def _matrix(self, k: int, rng: np.random.Generator, problem: Any) -> Matrix:
        # Rows 1, 2, 4, ..., q/2 are among the first k > q/2. They are the binary digits of the column number, so that
        # no two columns are equal; row 0 of +1 excludes mirrored ones.
        order = 2 ** (k - 1).bit_length()
        common = np.arange(k)[:, None] & np.arange(1, order)
        return np.where(np.bitwise_count(common) % 2, np.int8(-1), np.int8(1))


class BCH(Code):
    """k codewords of a binary BCH code of length 2^r - 1, cut to `length` columns (3k unless given).

    The code is the narrow-sense one with the smallest r that gives `length` columns, and then the largest designed
    distance that gives k codewords. A seeded search selects the codewords with the most columns, up to `length`, after
    constant, repeated and mirrored ones are dropped, and then the largest rho. If there are at most `length` splits of
    the classes, the code is the complete one. Needs galois: pip install "outputcodes[bch]".

    >>> M = BCH().draw(10, random_state=0).matrix()
    >>> M.shape
    (10, 30)
    >>> from outputcodes.codes import min_distance
    >>> min_distance(M) >= 12
    True
    """

    planning = Planning(cost=30, unsuited=first_reason(_without_galois, many_classes))

    def __init__(self, length: int | None = None) -> None:
        self.length = length

    def _check_parameters(self) -> None:
        if self.length is not None:
            checked_integer("length", self.length, 1, "it is the number of columns; None means 3k")

    def _matrix(self, k: int, rng: np.random.Generator, problem: Any) -> Matrix:
        L = int(self.length or 3 * k)
        if k > 2**L:
            raise ValueError(
                f"length={L} is impossible for n_classes={k}: distinct rows need at least "
                f"{(k - 1).bit_length()} columns; length=None uses {3 * k}."
            )
        complete = complete_length(k) <= L
        M = Complete(max_classes=k).draw(k).matrix() if complete else _chosen_codewords(k, L, rng)
        if M.shape[1] < L and not (complete and self.length is None):
            warnings.warn(
                f"The code has {M.shape[1]} columns instead of length={L}: without constant, repeated and "
                f"mirrored columns there are no more for n_classes={k}.",
                UserWarning,
                stacklevel=4,
            )
        return M


def _chosen_codewords(k: int, L: int, rng: np.random.Generator) -> Matrix:
    """Return the random choice with the most columns left and then the largest rho."""
    generator = generator_matrix(*bch_parameters(k, L))
    n_choices = max(1, min(_MAX_CHOICES, _MAX_PRODUCTS // (k * (k * L + generator.size))))
    choices = [essential_columns(random_codewords(generator, k, L, rng))[:, :L] for _ in range(n_choices)]
    n_columns = max(choice.shape[1] for choice in choices)
    words = np.stack([choice for choice in choices if choice.shape[1] == n_columns])
    best = words[twice_rho(pack(words), None, n_columns).argmax()]
    return np.ascontiguousarray(2 * best - 1)
