"""The search for a good assignment of rows to classes: exhaustive, or a relaxed solution improved by exchanges."""

from itertools import permutations

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from outputcodes._ground.choosing import TIE, clearly_less, first_smallest, to_six_digits, without_noise

Array = NDArray[np.float64]
Rows = NDArray[np.intp]

# With at most this many classes all k! assignments are compared.
EXACT_UP_TO = 7
# The relaxed search ends after this many steps, or when the entries of P change less than this on average, as in SciPy.
MOST_STEPS, STILL = 30, 0.03


def smallest_assignment(alike: Array, apart: Array) -> Rows:
    """Return rows with a small sum of alike[a, b]·apart[rows[a], rows[b]]; ties go to the first, the identity first.

    Both matrices are symmetric; the diagonal of `apart` is 0.
    """
    k = len(alike)
    alike = _without_constant(alike)
    candidates: Rows
    if k <= EXACT_UP_TO:
        candidates = np.array(list(permutations(range(k))), dtype=np.intp)
    else:
        identity = np.arange(k)
        starts = identity, relaxed_assignment(alike, apart)
        candidates = np.array([identity, *(_exchanged(start, alike, apart) for start in starts)])
    cost = (alike * apart[candidates[:, :, None], candidates[:, None, :]]).sum(axis=(1, 2))
    best: Rows = candidates[first_smallest(cost, _scale(alike, apart))]
    return best


def relaxed_assignment(alike: Array, apart: Array) -> Rows:
    """Return the assignment found by relaxation: FAQ, a sequence of linear assignments.

    P is doubly stochastic and minimises tr(alike·P·apart·P'), starting from equal entries. SciPy's
    `quadratic_assignment` does the same, but where gradients tie, as for symmetric classes, its result depends on the
    last digits; here each linear assignment receives integers. Vogelstein et al., "Fast approximate quadratic
    programming for graph matching", PLOS ONE 10 (2015).
    """
    k = len(alike)
    A, B = to_six_digits(alike), apart
    rounding = TIE * _scale(A, B)
    P = np.full((k, k), 1 / k)
    for _ in range(MOST_STEPS):
        Q = np.eye(k)[linear_sum_assignment(to_six_digits(A @ P @ B))[1]]
        # The objective at αP + (1 - α)Q minus that at Q is aα² + bα.
        R = P - Q
        AR = A @ R
        a, b = float((AR * (R @ B)).sum()), 2 * float((AR * (Q @ B)).sum())
        inside = a > rounding and 0 <= -b <= 2 * a
        alpha = -b / (2 * a) if inside else float(clearly_less(a + b, 0.0, _scale(A, B)))
        step = (1 - alpha) * R
        P = P - step
        if np.linalg.norm(step) < STILL * np.sqrt(k):
            break
    rows: Rows = linear_sum_assignment(to_six_digits(P), maximize=True)[1]
    return rows


def _exchanged(rows: Rows, alike: Array, apart: Array) -> Rows:
    """Exchange the rows of two classes, always the best pair, until no exchange decreases the sum."""
    rows, scale = rows.copy(), _scale(alike, apart)
    while True:
        dealt = apart[np.ix_(rows, rows)]
        product = alike @ dealt
        own = product.diagonal()
        # Exchanging a and b changes the sum by Σ over c ≠ a, b of (alike_ac - alike_bc)·(dealt_bc - dealt_ac).
        change = product + product.T - own[:, None] - own + 2 * alike * dealt
        a, b = np.unravel_index(first_smallest(change.ravel(), scale), change.shape)
        if not clearly_less(float(change[a, b]), 0.0, scale):
            return rows
        rows[[a, b]] = rows[[b, a]]


def _without_constant(alike: Array) -> Array:
    """Return the similarities of different classes minus the smallest one, which changes all sums equally."""
    other = ~np.eye(len(alike), dtype=bool)
    values = alike[other]
    shifted = np.zeros_like(alike)
    shifted[other] = without_noise(values - values.min(initial=np.inf), np.abs(values).max(initial=0.0))
    return shifted


def _scale(alike: Array, apart: Array) -> float:
    return float(alike.sum() * apart.max())
