"""Bounds on the leave-one-out error of kernel SVMs with a code, from one training.

Without a bias, leaving out example i changes the margin of a column at x_i by at most α_i·K(x_i, x_i), and only against
the entry of its class: M(y_i, s)·f_s ≥ M(y_i, s)·f_s^i ≥ M(y_i, s)·f'_s with the pessimistic margins
f'_s = f_s − M(y_i, s)·α_is·K(x_i, x_i). Consider a decoder whose score of a class never falls when the margins agree
with the class more. It misclassifies the left-out example i only if it misclassifies f'. Theorem 4.1 and Corollary 4.1
of Passerini, Pontil & Frasconi are this count for linear decoding and for losses.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from outputcodes._ground.blocks import row_blocks
from outputcodes._ground.validation import check_margins
from outputcodes.decoders import Decoder, as_decoder

Array = NDArray[np.float64]


def loo_error_bound(
    F: ArrayLike,
    y: ArrayLike,
    M: ArrayLike,
    alpha: ArrayLike,
    diag: ArrayLike,
    decoder: str | Decoder = "linear",
    ties_as_errors: bool = False,
) -> float:
    """Return a bound on the share of examples that are misclassified when left out of the training of all columns.

    It holds for SVMs ½‖f‖² + C·Σ hinge without a bias, or with one folded into the kernel (and included in `diag`). It
    assumes that C, the code and the fitted decoder are the same with and without the example, and that a column left
    with one sign is trained like any other. With a free bias, or an indefinite kernel, it is an estimate.

    Parameters
    ----------
    F : array of shape (n, L)
        Margins of the training examples.
    y : array of shape (n,)
        Labels 0..k-1.
    M : array of shape (k, L)
        The code.
    alpha : array of shape (n, L)
        Dual variables, at least 0, and 0 where the code is 0.
    diag : array of shape (n,) or (n, L)
        K(x_i, x_i), per column if columns have their own kernels.
    decoder : str or Decoder, default="linear"
        Loss-based with a non-increasing loss, "vote", "dag", or a fitted likelihood decoder on a code in which any two
        rows have opposite entries in some column. Others raise a ValueError, because the theorem fails for them.
    ties_as_errors : bool, default=False
        Whether a tie with a wrong class counts.

    Examples
    --------
    >>> M = [[+1, -1, -1], [-1, +1, -1], [-1, -1, +1]]
    >>> F = [[0.9, -1.0, -0.5], [-1.0, 0.2, -0.1], [-1.0, -1.0, 1.0]]
    >>> alpha = [[0.5, 0.1, 0.0], [0.2, 0.6, 0.3], [0.0, 0.0, 0.1]]
    >>> loo_error_bound(F, [0, 1, 2], M, alpha, np.ones(3))
    0.333...
    """
    return float(possible_loo_errors(F, y, M, alpha, diag, decoder, ties_as_errors).mean())


def possible_loo_errors(
    F: ArrayLike,
    y: ArrayLike,
    M: ArrayLike,
    alpha: ArrayLike,
    diag: ArrayLike,
    decoder: str | Decoder = "linear",
    ties_as_errors: bool = False,
) -> NDArray[np.bool_]:
    """Return which examples the bound counts; the others are correct when left out.

    The parameters are those of `loo_error_bound`.

    Examples
    --------
    >>> M = [[+1, -1], [-1, +1]]
    >>> possible_loo_errors([[1.0, -1.0], [-0.1, 0.1]], [0, 1], M, [[0.2, 0.1], [0.4, 0.4]], [1.0, 1.0])
    array([False,  True])
    """
    pessimistic = pessimistic_margins(F, y, M, alpha, diag)
    return _decoded_wrongly(F, pessimistic, y, M, decoder, ties_as_errors)


def loo_errors_in_place(
    F: Array,
    labels: NDArray[np.intp],
    M: NDArray[np.int8],
    alpha: Array,
    diag: Array,
    decoder: Decoder,
    ties_as_errors: bool,
) -> NDArray[np.bool_]:
    """Return `possible_loo_errors` for the output of a kernel SVM, without checks; alpha is overwritten."""
    return _decoded_wrongly(F, _lowered(F, labels, M, alpha, diag), labels, M, decoder, ties_as_errors)


def _lowered(F: Array, labels: NDArray[np.intp], M: NDArray[Any], alpha: Array, diag: Array) -> Array:
    """Write `pessimistic_margins` into alpha, in blocks that fit into the processor cache."""
    code, own = M.astype(np.float64), diag if diag.ndim == 2 else diag[:, None]
    for some in row_blocks(len(F), 4 * M.shape[1]):
        alpha[some] *= code[labels[some]]
        alpha[some] *= own[some]
        np.subtract(F[some], alpha[some], out=alpha[some])
    return alpha


def _decoded_wrongly(
    F: ArrayLike, pessimistic: Array, y: ArrayLike, M: ArrayLike, decoder: str | Decoder, ties_as_errors: bool
) -> NDArray[np.bool_]:
    resolved = as_decoder(decoder)
    if (reason := resolved.loo_objection(np.asarray(M))) is not None:
        raise ValueError(f"decoder={decoder!r}: {reason}; the leave-one-out bound does not hold for it.")
    worst = resolved.worst_margins(np.asarray(F, dtype=np.float64), pessimistic)
    return decoded_wrongly(worst, y, M, resolved, ties_as_errors)


def pessimistic_margins(F: ArrayLike, y: ArrayLike, M: ArrayLike, alpha: ArrayLike, diag: ArrayLike) -> Array:
    """Return f' = f_s(x_i) − M(y_i, s)·α_is·K(x_i, x_i), the worst margins (n, L) possible when x_i is left out.

    Examples
    --------
    >>> pessimistic_margins([[1.0, -1.0]], [0], [[+1, -1], [-1, +1]], [[0.25, 0.5]], [2.0])
    array([[0.5, 0. ]])
    """
    F, labels, code = check_margins(F, y, M)
    dual, own = np.asarray(alpha, dtype=np.float64), np.asarray(diag, dtype=np.float64)
    if dual.shape != F.shape or own.shape not in ((len(F),), F.shape):
        raise ValueError(
            f"alpha {dual.shape} and diag {own.shape} do not match F {F.shape}: use (n, L), and (n,) or (n, L)."
        )
    # With NaN the extrema are NaN, and every comparison is false.
    finite = dual.min(initial=0.0) >= 0 and dual.max(initial=0.0) < np.inf
    if not finite or dual.any(where=code[labels] == 0):
        raise ValueError("alpha must be finite, at least 0, and 0 where the code of the example's class is 0.")
    if not (np.isfinite(own).all() and (own >= 0).all()):
        raise ValueError("diag contains K(x, x) and must be finite and at least 0.")
    return _lowered(F, labels, code, dual.copy(), own)


def decoded_wrongly(
    F: ArrayLike, y: ArrayLike, M: ArrayLike, decoder: str | Decoder, ties_as_errors: bool = False
) -> NDArray[np.bool_]:
    """Return which margins another class wins, or, with `ties_as_errors`, wins or ties.

    For exact leave-one-out margins, the mean is the leave-one-out error.

    Examples
    --------
    >>> M = [[+1, -1], [-1, +1]]
    >>> decoded_wrongly([[0.0, 0.0], [1.0, -1.0]], [0, 1], M, "linear")
    array([False,  True])
    >>> decoded_wrongly([[0.0, 0.0], [1.0, -1.0]], [0, 1], M, "linear", ties_as_errors=True)
    array([ True,  True])
    """
    F, labels, _ = check_margins(F, y, M)
    best = as_decoder(decoder).ties(F, M)
    wrong: NDArray[np.bool_] = ~best[np.arange(len(labels)), labels]
    return wrong | (best.sum(axis=1) > 1) if ties_as_errors else wrong
