"""Sketches: the few columns of signs on which a round projects the gradients of all classes."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class Sketch(NamedTuple):
    """A code (m, lanes), the gradients that it makes of those of all classes, (n, m), and a curvature, (n,)."""

    code: NDArray[np.float32]
    G: NDArray[np.float32]
    h: NDArray[np.float32]


class LeafValues(NamedTuple):
    """Steps of leaves, (leaves, lanes), their exponentials for losses that use them, and room for curvatures."""

    steps: NDArray[np.float32]
    factors: NDArray[np.float32]
    curvature: NDArray[np.float32]


def random_signs(width: int, columns: int, rng: np.random.Generator, *, balanced: bool) -> NDArray[np.float32]:
    """Return (m, width) random signs; with no more classes than columns the identity, which loses nothing.

    With `balanced`, every column has both signs: the multinomial gradients of a row sum to 0, and a constant column
    would project them to 0.

    >>> random_signs(3, 6, np.random.default_rng(0), balanced=True)
    array([[1., 0., 0.],
           [0., 1., 0.],
           [0., 0., 1.]], dtype=float32)
    """
    if width <= columns:
        return np.eye(width, dtype=np.float32)
    signs = rng.integers(0, 2, (columns, width)) * 2 - 1
    if balanced:
        # A sign at a random place is turned where all are equal.
        constant = np.flatnonzero(np.abs(signs.sum(axis=1)) == width)
        signs[constant, rng.integers(0, width, len(constant))] *= -1
    return signs.astype(np.float32)
