"""The user's own matrix as a code."""

from typing import Any

from numpy.typing import ArrayLike

from outputcodes.codes.base import Code, Matrix, as_entries, checked_n_classes


class Given(Code):
    """A matrix written down by the user, one row per class in sorted order; taken as it is, k = 2 too.

    >>> Given([[1, 1, -1], [1, -1, 1], [-1, 1, 1]]).matrix(3)
    array([[ 1,  1, -1],
           [ 1, -1,  1],
           [-1,  1,  1]], dtype=int8)
    """

    def __init__(self, entries: ArrayLike) -> None:
        # Not named `matrix` as that is the method's name.
        self.entries = entries

    def matrix(self, n_classes: int, random_state: Any = None, problem: Any = None) -> Matrix:
        """Return the matrix if it has one row per class; `check_code` tells whether it is a good one."""
        k = checked_n_classes(n_classes)
        M = as_entries(self.entries)
        if len(M) != k:
            raise ValueError(
                f"the given code has {len(M)} rows but there are n_classes={k} classes: give one row per class."
            )
        return M
