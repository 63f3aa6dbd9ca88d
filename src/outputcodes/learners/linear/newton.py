"""Joint truncated Newton: all columns advance together in matrix-matrix products, each until its own gap is small.

Column j minimises P(θ) = ½ Σ ρ θ² + Σ_i c_ij ℓ(t_ij θ·x_i), ρ being 1, or 0 for a free intercept. A Newton step solves
(diag ρ + Xᵀ D X) p = -∇P by conjugate gradients, preconditioned by the diagonal of that matrix in the eigenbasis of
XᵀX where it is nearly the matrix itself, and searches along p (Hsia, Chiang & Lin, Preconditioned conjugate gradient
methods in truncated Newton frameworks for large-scale linear classification, ACML 2018). Hessian products are computed
in float32, as they only affect the steps; gradient and objective, which determine the result, in float64.

The certificate: with dual variables -c ℓ'(z) every Fenchel-Young inequality is tight, so the duality gap is exactly
½‖∇P‖²; a free intercept is first moved to its optimum, to second order. The gap is relative to P.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from outputcodes._ground import progress
from outputcodes._ground.passes import Blocks, Combination, Sums
from outputcodes.learners.base import Certificate
from outputcodes.learners.linear.base import LinearData
from outputcodes.learners.linear.hessian import Hessian
from outputcodes.learners.linear.products import Piece, backward, forward
from outputcodes.losses import Loss

Array = NDArray[np.float64]
Rows = NDArray[np.intp]

SUFFICIENT = 1e-4  # Armijo: the fraction of the predicted decrease that a step must achieve
NEGLIGIBLE = 1e-11  # predicted decreases below this fraction of P are lost in rounding: such steps only must not
ROUNDING = 1e-9  # increase P by more than this fraction
SHORTEST = 2.0**-30
FARTHEST, GROWTH = 16.0, 4.0  # no score changes by more than the first, or the largest score times the second
ROUGHEST, FINEST = 0.1, 1e-3  # how far conjugate gradients reduce the residual


class JointNewton:
    """Newton's method on the columns that have not converged: coefficients θ (p, L), and blocks of rows with scores."""

    def __init__(self, data: LinearData, blocks: Blocks, signs: Array, cost: Array, theta: Array, loss: Loss) -> None:
        self.constant, self.rotation = data.intercept.constant, data.rotation
        self.ridge = np.ones((len(theta), 1))
        if data.intercept.free:
            self.ridge[-1] = 0
        self.blocks, self.signs, self.cost, self.theta = blocks, signs, cost, theta
        self.loss = loss

    def minimise(self, tol: float, max_iter: int) -> tuple[Array, Certificate]:
        """Take Newton steps until the relative gap of each column is at most `tol`."""
        L = self.theta.shape[1]
        answer, gap = np.empty_like(self.theta), np.empty(L)
        iterations, active, stuck = np.zeros(L, dtype=np.intp), np.arange(L), np.zeros(L, dtype=bool)
        self.blocks = self.blocks.through(_scored, self.theta, self.constant)
        for iteration in range(max_iter + 1):
            objective, gradient, hessian = self._look()
            relative = hessian.gap(gradient) / np.maximum(objective, np.finfo(float).tiny)
            answer[:, active], gap[active], iterations[active] = self.theta, relative, iteration
            going = np.flatnonzero((relative > tol) & ~stuck)
            progress.reached(L - going.size, L)
            if going.size == 0 or iteration == max_iter:
                break
            if going.size < active.size:
                self._keep(going)
                hessian.keep(going)
                active, relative = active[going], relative[going]
                objective, gradient = objective[going], gradient[:, going]
            # No more accurate than the tolerance requires.
            rough = np.clip(np.maximum(np.sqrt(relative), 0.5 * np.sqrt(tol / relative)), FINEST, ROUGHEST)
            stuck = self._move(hessian.solve(-gradient, rough), objective, gradient)
        return answer, Certificate(gap, iterations, gap <= tol)

    def _keep(self, going: Rows) -> None:
        """Leave the columns that have converged out of all products."""
        self.blocks = self.blocks.through(Piece.keep, going)
        self.theta, self.signs, self.cost = self.theta[:, going], self.signs[:, going], self.cost[:, going]

    def _look(self) -> tuple[Array, Array, Hessian]:
        """Return P, its gradient and its Hessian at the present scores, in the coordinates of the steps."""
        L = self.theta.shape[1]
        curved, (value, slope, largest) = self.blocks.step(
            *(_look, self.signs, self.cost, self.loss, self.constant),
            combine=Combination((np.add, np.add, np.maximum), L),
        )
        objective, gradient = 0.5 * (self.ridge * self.theta**2).sum(axis=0) + value, self.ridge * self.theta + slope
        if self.rotation is None:
            return objective, gradient, Hessian(curved, largest, self.ridge, self.constant, np.float64)
        ridge = self.rotation.penalty[:, None]
        return objective, self.rotation.basis.T @ gradient, Hessian(curved, largest, ridge, 0.0, np.float32)

    def _move(self, step: Array, objective: Array, gradient: Array) -> NDArray[np.bool_]:
        """Move along the step until the objective decreases enough; return True for columns that could not move."""
        falling = (gradient * step).sum(axis=0)
        if self.rotation is not None:
            step = self.rotation.basis @ step
        length = np.ones(L := step.shape[1])
        how = self.signs, self.cost, self.loss
        self.blocks, (longest, losses) = self.blocks.step(
            _along, step, self.constant, *how, length, combine=Combination((np.maximum, np.add), L)
        )
        seen = -falling > NEGLIGIBLE * objective
        # Where losses are nearly straight, Newton's steps are endless, and may cross the valley to where it is flatter.
        if (longest > FARTHEST).any():
            (largest,) = self.blocks.total(_largest_score, combine=Combination(np.maximum, L))
            farthest = np.maximum(FARTHEST, GROWTH * largest)
            length = np.divide(farthest, longest, out=length, where=longest > farthest)
            (losses,) = self.blocks.total(_losses, *how, length, combine=Combination(np.add, L))
        shortest = SHORTEST * length
        while True:
            theta = self.theta + length * step
            with np.errstate(over="ignore", invalid="ignore"):
                value = 0.5 * (self.ridge * theta**2).sum(axis=0) + losses
            enough = np.where(seen, SUFFICIENT * length * falling, ROUNDING * objective)
            too_far = (length > 0) & ~(np.isfinite(value) & (value <= objective + enough))
            if not too_far.any():
                break
            length[too_far] /= 2
            length[length < shortest] = 0
            (losses,) = self.blocks.total(_losses, *how, length, combine=Combination(np.add, L))
        self.theta = theta
        self.blocks = self.blocks.through(_moved, length)
        could_not: NDArray[np.bool_] = length == 0
        return could_not


def _scored(piece: Piece, theta: Array, constant: float) -> Piece:
    """The piece with its scores."""
    return piece.having(F=forward(piece.X, constant, theta[:, piece.columns]))


def _look(piece: Piece, signs: Array, cost: Array, loss: Loss, constant: float) -> tuple[Piece, Sums]:
    """The piece with its second derivatives; the loss of each column on it, its gradient, the largest derivative."""
    t, c = piece.table(signs), piece.costs(cost)
    value, slope, bend = loss.with_derivatives(t * piece.F - piece.shift)
    D = c * bend
    return piece.having(D=D), ((c * value).sum(axis=0), backward(piece.X, constant, c * t * slope), D.max(axis=0))


def _along(
    piece: Piece, step: Array, constant: float, signs: Array, cost: Array, loss: Loss, length: Array
) -> tuple[Piece, Sums]:
    """The piece with the changes of its scores; the largest change of each column, and its loss after the step."""
    moving = piece.having(S=forward(piece.X, constant, step[:, piece.columns]))
    return moving, (_sizes(moving.S), *_losses(moving, signs, cost, loss, length))


def _largest_score(piece: Piece) -> Sums:
    return (_sizes(piece.F),)


def _sizes(F: Array) -> Array:
    sizes: Array = np.maximum(F.max(axis=0, initial=0), -F.min(axis=0, initial=0))
    return sizes


def _losses(piece: Piece, signs: Array, cost: Array, loss: Loss, length: Array) -> Sums:
    """The loss of each column on the piece after a step."""
    # A step that overflows is too long.
    with np.errstate(over="ignore", invalid="ignore"):
        F = piece.F + length[piece.columns] * piece.S
        return ((piece.costs(cost) * loss(piece.table(signs) * F - piece.shift)).sum(axis=0),)


def _moved(piece: Piece, length: Array) -> Piece:
    return piece.having(F=piece.F + length[piece.columns] * piece.S, S=None)
