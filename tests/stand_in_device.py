"""A device in NumPy: what the GPU does, done slowly, so that the host's part is tested where there is no GPU."""

import numpy as np

from outputcodes._ground.blocks import serially
from outputcodes._kernel_machines.gram import Gram
from outputcodes.learners.kernel.columns import boxes
from outputcodes.learners.kernel.dual import Dual

SIZE = 64


class BrokenError(Exception):
    """What a device raises that is lost."""


class Features:
    def __init__(self, X):
        self.X = X.toarray() if hasattr(X, "toarray") else np.asarray(X)
        if not np.isfinite(self.X).all():
            raise ValueError("Input X contains NaN or infinity.")

    def mean(self):
        return self.X.mean(axis=0, dtype=np.float64)

    def variance(self):
        return float(self.X.var(dtype=np.float64))


class StandIn:
    """Counts what it is asked for."""

    def __init__(self):
        self.grams, self.expansions, self.most, self.columns_at_once = 0, 0, 10**6, 10**6
        self.out_of_order: set[str] = set()

    def failure(self, error):
        return f"the stand-in failed ({error})" if isinstance(error, BrokenError) else None

    def use(self, part):
        if part in self.out_of_order:
            raise BrokenError(part)

    def gram(self, kernel, X, like):
        self.use("gram")
        features = Features(X)
        made = kernel(features)
        if like is not None and like.kernel.gamma == made.gamma and np.array_equal(like.given, X):
            like.released = False
            return like
        if like is not None and like.released:
            like.kept = None
        self.grams += 1
        return StandInGram(self, made, features.X, X)

    def expand_new(self, kernel, X, anchors, beta, bias):
        self.use("expand")
        self.expansions += 1
        X = X.toarray() if hasattr(X, "toarray") else X
        return kernel.block(kernel.features(X.astype(np.float64)), anchors) @ beta + bias


class StandInGram:
    def __init__(self, device, kernel, X, given, features=False):
        self.device, self.kernel, self.n, self.shape, self.given = device, kernel, len(X), X.shape, given
        self.X = X if features or kernel.name == "precomputed" else kernel.features(X.astype(np.float64))
        self.kept, self.released = kernel.block(self.X, self.anchors(np.arange(self.n))), False

    @property
    def K(self):
        assert self.kept is not None, "another kernel has taken the memory"
        return self.kept

    @property
    def diag(self):
        return self.K.diagonal()

    def anchors(self, rows):
        return self.kernel.anchors(self.X, rows)

    def room(self):
        return self.device.most

    def columns_at_once(self):
        return self.device.columns_at_once

    def release(self):
        self.released = True

    def part(self, rows):
        return StandInGram(self.device, self.kernel, self.X[rows], None, features=True)

    def columns(self, posed, e=None):
        self.device.use("columns")
        return StandInColumns(self, posed, e)

    def expand(self, rows, support, beta, bias):
        self.device.use("expand")
        return self.K[np.ix_(rows, support)] @ beta + bias


class StandInColumns:
    """Columns in single precision between two refreshes, as on a GPU."""

    def __init__(self, gram, posed, e):
        self.gram, self.posed = gram, posed
        self.target, self.box = boxes(posed.M, posed.cost, posed.y, posed.weight, None, posed.free_bias)
        if posed.start is not None:
            self.box[0] = posed.start
        self.K = gram.K[np.ix_(posed.rows, posed.rows)]
        self.single = self.K.astype(np.float32)
        self.taken, self.refreshes = np.zeros(len(self.target), dtype=np.intp), 0
        self.dual = Dual(Gram, posed.free_bias, posed.offset, 1e-3, 10, serially)
        self.e = self.target - self.box[0].astype(np.float32) @ self.single - self._shift()
        if e is not None:
            self.e = e.copy()

    def _shift(self):
        return self.posed.offset * self.box[0].sum(axis=1, keepdims=True)

    def ends(self):
        L, n = self.e.shape
        return self.dual.ends(self.e.ravel(), self.box.reshape(3, -1), np.arange(L) * n).T

    def improve(self, active, tol, max_steps):
        for j in active:
            beta, lo, hi = self.box[:, j]
            grow, shrink = np.where(beta < hi, self.e[j], -np.inf), np.where(beta > lo, -self.e[j], -np.inf)
            worst = np.argsort(-np.maximum(grow, shrink), kind="stable")[: SIZE // 2]
            working = np.unique(
                np.concatenate([worst, np.argsort(-grow)[: SIZE // 4], np.argsort(-shrink)[: SIZE // 4]])
            )
            local = np.ascontiguousarray(self.box[:, j, working])
            before = local[0].copy()
            K = np.ascontiguousarray(self.K[np.ix_(working, working)])
            self.taken[j] += self.dual.descend(K, self.e[j, working], local, tol[j], max_steps)
            change = local[0] - before
            self.box[0, j, working] = local[0]
            self.e[j] -= change.astype(np.float32) @ self.single[working] + self.posed.offset * change.sum()

    def steps(self):
        return self.taken.copy()

    def posed_beta(self):
        return self.box[0].copy()

    def refresh(self):
        self.refreshes += 1
        self.e = self.target - self.box[0] @ self.K - self._shift()

    def free(self):
        beta, lo, hi = self.box
        free = (beta > lo) & (beta < hi)
        return np.stack([np.where(free, self.e, 0.0).sum(axis=1), free.sum(axis=1)])

    def support(self):
        column, row = np.nonzero(self.box[0])
        return self.posed.rows[row], column, self.box[0][column, row]
