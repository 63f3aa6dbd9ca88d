"""The best of many random codes by rho, within a fixed amount of work."""

from collections.abc import Callable

import numpy as np

from outputcodes.codes._bitplanes import Plane, n_words, twice_rho, unpack
from outputcodes.codes.base import Matrix

# The work of one search, in words compared and entries drawn: a few seconds on one core. It is counted, not timed, so
# that a seed gives the same code on every machine.
WORK_BUDGET = 10**9

# Words per plane of candidates drawn together: about the size of a core's cache.
CHUNK_WORDS = 2**16


def affordable_candidates(k: int, L: int) -> int:
    """Return how many (k, L) candidates the budget allows, at least one."""
    return int(max(1, WORK_BUDGET // (k * (k - 1) // 2 * n_words(L) + k * L)))


def best_of(
    n_candidates: int,
    k: int,
    L: int,
    draw: Callable[[int], tuple[Plane, Plane | None]],
    admissible: Callable[[Matrix], bool],
) -> Matrix:
    """Return the admissible candidate with the largest rho; ties go to the first one drawn."""
    n = min(n_candidates, affordable_candidates(k, L))
    chunk = max(1, CHUNK_WORDS // (k * n_words(L)))
    best, best_score = None, 0  # rho = 0 means that two rows are equal: never admissible
    for start in range(0, n, chunk):
        signs, nonzero = draw(min(chunk, n - start))
        scores = twice_rho(signs, nonzero, L)
        # Admissibility is more expensive than rho, so it is checked only for candidates that would become the best.
        for candidate in np.argsort(-scores, kind="stable"):
            if scores[candidate] <= best_score:
                break
            M = unpack(signs, nonzero, int(candidate), L)
            if admissible(M):
                best, best_score = M, int(scores[candidate])
                break
    if best is None:
        raise ValueError(
            f"none of {n} random draws gave an admissible code of length={L} for n_classes={k}: "
            f"use a larger length or n_candidates, or length=None."
        )
    return best
