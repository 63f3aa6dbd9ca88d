"""Logistic regression and linear SVMs on batches: implicit stochastic Newton steps, which need no schedule.

A column remembers of the rows so far its weights v and a quadratic model of their losses, ½(w − v)ᵀA(w − v); at first
v = 0 and A is the penalty. A batch of rows with costs c moves it to the minimum of

    ½(w − v)ᵀA(w − v) + Σ_i c_i ℓ(t_i w·x_i),        and A grows by Σ_i c_i ℓ''(t_i w·x_i) x_i x_iᵀ

at that minimum: the last rows exactly, those before to second order, as in an extended Kalman filter. A step is as
long as the curvature seen so far makes it, and can't overshoot. With w = v + A⁻¹Xᵀu there is an unknown u_i per row:

    (I + C K) du = −(u + c t ℓ'),    K = X A⁻¹ Xᵀ,    C = diag(c ℓ'').

A⁻¹ is kept as a matrix per column while these are small, otherwise the diagonal of A is. A column that comes later,
with a new class, has missed the rows before it: together with each batch it sees as many rows of a sample of all rows
so far, until it has made up for what it missed. Rows of one sign alone would leave a model that the other sign could
hardly change. A diagonal is a rough memory, with which a late column goes on to see such rows: on held-out training
rows of 20newsgroups this more than halved what it lost, and with matrices it was of no use.

Features of any size must not leave rounding alone. With an intercept, a dense feature far from 0 is counted from its
mean in the first batch: it would be an intercept itself, and its variation would be lost beside its mean. And I + C K
loses its I where the penalty is negligible beside the squares of a feature: the diagonal of A then gets a little more,
which is still small beside the loss of a row.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from outputcodes._ground.blocks import threads
from outputcodes.learners.base import Certificate, FittedColumns
from outputcodes.learners.linear.base import FittedLinear
from outputcodes.learners.linear.metrics import Centre, DiagonalMetric, FullMetric, Metric
from outputcodes.learners.linear.reservoir import Reservoir
from outputcodes.learners.linear.rotation import Intercept
from outputcodes.learners.shared import entry_weights
from outputcodes.learners.stream import Array, Matrix, Rows, Stream
from outputcodes.losses import Loss

# Matrices of all columns have at most 256 MiB together.
MOST_METRIC_VALUES = 1 << 25
# Rows per step: enough for products of matrices, few enough for their own matrix.
ROWS_PER_STEP = 256
# A sample of the rows so far, for columns that come later, has at most so many rows and values.
MOST_KEPT_ROWS, MOST_KEPT_VALUES = 2048, 1 << 23
MOST_ITERATIONS, ACCURACY, SUFFICIENT = 30, 1e-8, 1e-4
# The penalty of an intercept that is free.
SLIGHT = 1e-6
# The least penalty of any weight, relative to the largest mean square of its feature in a batch and to the costs of
# rows: without outliers, the feature is as good as free.
LEAST = 1e-8
# With a larger mean than this, a feature of penalty 1 is an intercept that is as free.
FAR = SLIGHT**-0.5


class ImplicitSteps(Stream):
    """Linear columns that learn from batches.

    Parameters
    ----------
    learner : LinearLearner
        Its `smooth_loss` has two derivatives.
    intercept : Intercept
    scale : float
        The factor that turns scores into margins.
    """

    # What features are counted from, and their largest mean square in a batch. Models saved by version 0.1 lack both.
    origin: Array | float = 0.0
    squares: Array | float = 0.0

    def __init__(self, learner: Any, intercept: Intercept, scale: float, n_jobs: int | None, seed: int) -> None:
        self.learner, self.intercept, self.scale, self.n_jobs, self.seed = learner, intercept, scale, n_jobs, seed
        self.weights = np.zeros((0, 0))
        self.metrics: list[Metric] = []
        self.centre = Centre(0, 0.0)
        self.full = False
        # The weight of the rows so far, a sample of them, and how much of it each column has not seen yet.
        self.total, self.missed = 0.0, np.zeros(0)
        self.before = Reservoir(0, seed)

    def check(self, X: Any) -> None:
        """Refuse sparse batches after dense ones, and the other way round."""
        if self.metrics and sp.issparse(X) != sp.issparse(self.before.X):
            now, before = ("sparse", "dense") if sp.issparse(X) else ("dense", "sparse")
            raise ValueError(f"X is {now}, and the batches before were {before}: give all batches in one form.")

    def add(self, X: Any, y: Rows, M: Matrix, weight: Array | None, column_weight: Array) -> None:
        """Take a step in every column for each few rows; columns that came late also see rows that came before them."""
        X, cost = self.learner._as_features(X), self.learner.C * entry_weights(M, column_weight)
        own = np.ones(len(y)) if weight is None else weight
        if not self.metrics and self.intercept.constant and not sp.issparse(X):
            mean = X.mean(axis=0)
            self.origin = np.where(np.abs(mean) > FAR, mean, 0.0)
        X = self._with_constant(X)
        self._grow(X, M, self._least(X, own, cost))
        with threads(self.n_jobs) as run:
            for start in range(0, len(y), ROWS_PER_STEP):
                rows = slice(start, start + ROWS_PER_STEP)
                now = X[rows], y[rows], own[rows]
                self.centre.add(now[0], now[2])
                late = self._with_rows_before(*now) if self.missed.any() else now

                def step(j: int, now: Any = now, late: Any = late) -> None:
                    batch, labels, mass = late if self.missed[j] > 0 else now
                    self._step(j, batch, M[labels, j].astype(np.float64), mass * cost[labels, j])

                run(step, range(M.shape[1]))
                if self.full:
                    self.missed = np.maximum(self.missed - now[2].sum(), 0.0)
        self.total += own.sum()
        self.before.add(X, y, own)

    def columns(self, M: Matrix, column_weight: Array, live: Rows) -> FittedColumns:
        """Return the columns as they are now; nothing certifies how far they are from the minimum for all rows."""
        W, constant = self.weights[:, live], self.intercept.constant
        d = len(W) - (constant != 0)
        unknown = np.full(live.size, np.nan)
        certificate = Certificate(unknown, np.zeros(live.size, dtype=np.intp), np.zeros(live.size, dtype=bool))
        intercept = constant * W[d] - np.broadcast_to(self.origin, d) @ W[:d] if constant else np.zeros(live.size)
        return FittedLinear(W[:d].copy(), intercept, self.scale, certificate)

    def _with_constant(self, X: Any) -> Any:
        if not self.intercept.constant:
            return X.tocsr() if sp.issparse(X) else X
        column = np.full((X.shape[0], 1), self.intercept.constant)
        if sp.issparse(X):
            return sp.hstack([X, sp.csr_array(column)], format="csr")
        return np.hstack([X - self.origin, column])

    def _least(self, X: Any, weight: Array, cost: Array) -> Array:
        """Return (p, L) least penalties of the weights, from the largest squares and costs."""
        mean = np.full(len(weight), 1 / len(weight))
        self.squares = np.maximum(self.squares, (X.multiply(X) if sp.issparse(X) else X * X).T @ mean)
        # The inverse of a larger number would be lost.
        with np.errstate(over="ignore"):
            least = LEAST * np.multiply.outer(self.squares, weight.max() * cost.max(axis=0))
        return np.asarray(np.minimum(least, 1e290))

    def _grow(self, X: Any, M: Matrix, least: Array) -> None:
        """Add columns that are new; they start from the penalty, and have missed all rows so far."""
        (n, p), sparse = X.shape, sp.issparse(X)
        L, before = M.shape[1], self.weights.shape[1]
        if not self.metrics:
            self.weights = np.zeros((p, 0))
            self.full = not sparse and L * p * p <= MOST_METRIC_VALUES
            self.centre = Centre(p, self.intercept.constant)
            values_per_row = -(-X.nnz // n) if sparse else p
            self.before = Reservoir(max(64, min(MOST_KEPT_ROWS, MOST_KEPT_VALUES // values_per_row)), self.seed)
        penalty = np.ones(p)
        if self.intercept.free or np.any(self.origin):
            penalty[-1] = SLIGHT
        self.weights = np.pad(self.weights, ((0, 0), (0, L - before)))
        self.missed = np.append(self.missed, np.full(L - before, self.total))
        for metric, own in zip(self.metrics, least.T, strict=False):
            metric.limit(own)
        for own in np.maximum(penalty, least.T[before:]):
            self.metrics.append(FullMetric(own) if self.full else DiagonalMetric(own, self.centre))

    def _with_rows_before(self, X: Any, y: Rows, weight: Array) -> tuple[Any, Rows, Array]:
        """Return a few rows together with as many from the sample of those before, of the same weight."""
        some = self.before.some(len(y))
        if not some.size:
            return X, y, weight
        old, mass = self.before.X[some], self.before.weight[some]
        joined = sp.vstack([X, old], format="csr") if sp.issparse(X) else np.concatenate([X, old])
        return joined, np.append(y, self.before.y[some]), np.append(weight, mass * (weight.sum() / mass.sum()))

    def _step(self, j: int, X: Any, t: Array, c: Array) -> None:
        """Move column j to the minimum of its model of the past and the losses of a few rows."""
        own = np.flatnonzero(c)
        if not own.size:
            return
        X, metric = X[own], self.metrics[j]
        u, bend = self._minimum(X @ self.weights[:, j], metric.kernel(X), t[own], c[own])
        self.weights[:, j] += metric.step(X, u)
        metric.add(X, bend)

    def _minimum(self, f: Array, K: Array, t: Array, c: Array) -> tuple[Array, Array]:
        """Return u at the minimum of ½uᵀKu + Σ c ℓ(t(f + Ku)), and c ℓ'' there, by Newton's method."""
        u, Ku = np.zeros_like(f), np.zeros_like(f)
        loss: Loss = self.learner.smooth_loss
        value, slope, bend = loss.with_derivatives(t * f)
        objective = float(c @ value)
        for _ in range(MOST_ITERATIONS):
            rest = u + c * t * slope
            step = np.linalg.solve(np.eye(len(f)) + (c * bend)[:, None] * K, -rest)
            move = K @ step
            falling = float(rest @ move)
            if -falling <= ACCURACY * (objective + ACCURACY):
                break
            length = 1.0
            while True:
                other, others = u + length * step, Ku + length * move
                value, slope, bend = loss.with_derivatives(t * (f + others))
                reached = 0.5 * float(other @ others) + float(c @ value)
                if reached <= objective + SUFFICIENT * length * falling or length < 1e-6:
                    break
                length /= 2
            u, Ku, objective = other, others, reached
        return u, c * bend
