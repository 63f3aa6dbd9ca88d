"""Multiclass SVMs on explicit vectors, dense or sparse, by coordinate descent that maintains the matrix M."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils.extmath import row_norms

from outputcodes._ground import progress
from outputcodes._ground.blocks import Run, row_blocks
from outputcodes._ground.lanes import aligned_zeros
from outputcodes._kernel_machines.spoc.problem import Array, SpocCertificate, SpocProblem
from outputcodes._kernel_machines.spoc.steps import certify_vectors, descend

# Values times classes per call: well below 0.2 s, so that Ctrl-C is handled.
VALUES_A_CALL = 1 << 26
# Epochs between two calls of `prolong`.
STRIDE = 128
# Larger dual variables and weights than these, 512 MiB, are not copied for it.
MOST_COPIED = 1 << 26
# Epochs after which all examples become active again, even if the active ones have not reached the tolerance.
RECALL = 8 * STRIDE


def solve_vectors(
    problem: SpocProblem, H: Any, eta: Array, start: bool, tol: float, max_iter: int, seed: int, run: Run
) -> tuple[Array, SpocCertificate]:
    """Return the optimal M (L, lanes) and its certificate; eta (n, lanes) is changed to the dual variables.

    With `start`, eta holds dual variables to start from.
    """
    n, L = H.shape
    if sparse.issparse(H):
        rows = (H.data, H.indices, H.indptr, 0)
    else:
        # Use the same types as for sparse input, so that nothing is compiled twice.
        index = sparse.get_index_dtype(maxval=max(n * L, n, L))
        rows = (H.ravel(), np.arange(L, dtype=index), np.arange(n + 1, dtype=index) * L, L)
    M, width = aligned_zeros(L, eta.shape[1]), eta.shape[1]
    if start:
        M[:] = H.T @ problem.signed(eta)
    squares = row_norms(H, squared=True)
    if not np.isfinite(squares).all():
        raise ValueError("the squared norm of an example is not finite; scale the features.")
    flat, arrays, work = M.reshape(-1), problem.arrays(squares), aligned_zeros(2, width)
    visits = 1 + VALUES_A_CALL * n // (len(rows[0]) * width + 64 * n)
    active, counts, worst = np.arange(n), np.array([-1, n, 0, seed % 2**62]), np.array([0.0, np.inf])
    verdicts = np.empty((n, 3))

    def certify(block: slice) -> None:
        certify_vectors(rows, arrays, eta, flat, block.start, block.stop, verdicts)

    before: tuple[Array, Array] | None = None
    while True:
        stop = min(max_iter, (int(counts[2]) // STRIDE + 1) * STRIDE)
        done = descend(rows, arrays, eta, flat, work, active, counts, worst, 0.9 * tol, stop, visits)
        progress.nearing(worst[1], tol, f"{counts[2]} epochs")
        if done or counts[2] >= max_iter:
            run(certify, row_blocks(n, width + len(rows[0]) // n))
            certificate = problem.certificate(verdicts, float(np.vdot(M, M)), int(counts[2]), tol)
            if certificate.converged or counts[2] >= max_iter:
                return M, certificate
            # Inactive examples violate again: make all active; they may become inactive once the others have caught up.
            counts[:2], worst[:] = (-1, n), (0.0, np.inf)
        if counts[2] == stop:
            if before is not None:
                change, way = eta - before[0], M - before[1]
                gain = float(np.vdot(change, problem.targets[problem.target]) - np.vdot(M, way))
                M += problem.prolong(slice(None), eta, change, gain, float(np.vdot(way, way))) * way
            if eta.size + M.size <= MOST_COPIED:
                before = eta.copy(), M.copy()
            if counts[2] % RECALL == 0:
                counts[:2], worst[:] = (-1, n), (0.0, np.inf)
