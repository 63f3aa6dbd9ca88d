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

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from outputcodes._ground import progress
from outputcodes._ground.blocks import Run
from outputcodes.learners.base import Certificate
from outputcodes.learners.linear.base import LinearData
from outputcodes.learners.linear.hessian import Hessian
from outputcodes.learners.linear.products import Block, backward, forward
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

    def __init__(
        self, data: LinearData, blocks: list[Block], signs: Array, cost: Array, theta: Array, loss: Loss, run: Run
    ) -> None:
        self.constant, self.rotation = data.intercept.constant, data.rotation
        self.ridge = np.ones((len(theta), 1))
        if data.intercept.free:
            self.ridge[-1] = 0
        self.blocks, self.signs, self.cost, self.theta = blocks, signs, cost, theta
        self.loss, self.run = loss, run

    def minimise(self, tol: float, max_iter: int) -> tuple[Array, Certificate]:
        """Take Newton steps until the relative gap of each column is at most `tol`."""
        L = self.theta.shape[1]
        answer, gap = np.empty_like(self.theta), np.empty(L)
        iterations, active, stuck = np.zeros(L, dtype=np.intp), np.arange(L), np.zeros(L, dtype=bool)
        for block, F in self._each(lambda block: self._scores(block, self.theta)):
            block.F = F
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
        for block in self.blocks:
            block.keep(going)
        self.theta, self.signs, self.cost = self.theta[:, going], self.signs[:, going], self.cost[:, going]

    def _scores(self, block: Block, theta: Array) -> Array:
        F: Array = forward(block.X, self.constant, theta[:, block.columns])
        return F

    def _losses(self, block: Block, F: Array) -> Array:
        """Return the loss of each column on the block."""
        t, c = block.table(self.signs), block.costs(self.cost)
        total: Array = (c * self.loss(t * F - block.shift)).sum(axis=0)
        return total

    def _look(self) -> tuple[Array, Array, Hessian]:
        """Return P, its gradient and its Hessian at the present scores, in the coordinates of the steps."""

        def look(block: Block) -> tuple[Array, Array, Array]:
            t, c = block.table(self.signs), block.costs(self.cost)
            z = t * block.F - block.shift
            value, slope, bend = self.loss.with_derivatives(z)
            return (c * value).sum(axis=0), backward(block.X, self.constant, c * t * slope), c * bend

        objective, gradient = 0.5 * (self.ridge * self.theta**2).sum(axis=0), self.ridge * self.theta
        curvatures = []
        for block, (value, share, curvature) in self._each(look):
            objective[block.columns] += value
            gradient[:, block.columns] += share
            curvatures.append(curvature)
        if self.rotation is None:
            return objective, gradient, Hessian(self.blocks, curvatures, self.ridge, self.constant, self.run)
        ridge = self.rotation.penalty[:, None]
        return objective, self.rotation.basis.T @ gradient, Hessian(self.blocks, curvatures, ridge, 0.0, self.run)

    def _largest(self, scores: list[Array]) -> Array:
        """Return the size of the largest score of each column, (L,)."""
        largest = np.zeros(self.theta.shape[1])
        for block, S in zip(self.blocks, scores, strict=True):
            sizes = np.maximum(S.max(axis=0, initial=0), -S.min(axis=0, initial=0))
            largest[block.columns] = np.maximum(largest[block.columns], sizes)
        return largest

    def _move(self, step: Array, objective: Array, gradient: Array) -> NDArray[np.bool_]:
        """Move along the step until the objective decreases enough; return True for columns that could not move."""
        falling = (gradient * step).sum(axis=0)
        if self.rotation is not None:
            step = self.rotation.basis @ step
        moves = [S for _, S in self._each(lambda block: self._scores(block, step))]
        seen = -falling > NEGLIGIBLE * objective
        # Where losses are nearly straight, Newton's steps are endless, and may cross the valley to where it is flatter.
        length, longest = np.ones(step.shape[1]), self._largest(moves)
        if (longest > FARTHEST).any():
            farthest = np.maximum(FARTHEST, GROWTH * self._largest([block.F for block in self.blocks]))
            length = np.divide(farthest, longest, out=length, where=longest > farthest)
        shortest = SHORTEST * length

        def look(block_and_move: tuple[Block, Array]) -> Array:
            block, S = block_and_move
            # A step that overflows is too long.
            with np.errstate(over="ignore", invalid="ignore"):
                return self._losses(block, block.F + length[block.columns] * S)

        while True:
            theta = self.theta + length * step
            with np.errstate(over="ignore", invalid="ignore"):
                value = 0.5 * (self.ridge * theta**2).sum(axis=0)
            pairs = list(zip(self.blocks, moves, strict=True))
            for block, share in zip(self.blocks, self.run(look, pairs), strict=True):
                value[block.columns] += share
            enough = np.where(seen, SUFFICIENT * length * falling, ROUNDING * objective)
            too_far = (length > 0) & ~(np.isfinite(value) & (value <= objective + enough))
            if not too_far.any():
                break
            length[too_far] /= 2
            length[length < shortest] = 0
        self.theta = theta
        for block, S in zip(self.blocks, moves, strict=True):
            block.F += length[block.columns] * S
        could_not: NDArray[np.bool_] = length == 0
        return could_not

    def _each(self, work: Callable[[Block], Any]) -> list[tuple[Block, Any]]:
        """Call `work` on the blocks in threads; return each block with its result, in order."""
        return list(zip(self.blocks, self.run(work, self.blocks), strict=True))
