"""Fitted columns of a kernel SVM: the coefficients of support vectors, and the margins computed from them."""

from __future__ import annotations

import itertools
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_array

from outputcodes._ground.blocks import over_blocks, row_blocks
from outputcodes._ground.sizes import without_huge
from outputcodes._ground.validation import is_on_device, on_host
from outputcodes._kernel_machines.device.backend import (
    DEVICE_KERNELS,
    Device,
    DeviceError,
    DeviceGram,
    named_failures,
    present_device,
    say_cpu,
)
from outputcodes._kernel_machines.expansion import Piece, expand, expand_new
from outputcodes._kernel_machines.gram import Gram, are_neighbours
from outputcodes._kernel_machines.rows import add_lines, add_rows, few_per_row
from outputcodes.learners.base import Certificate, FittedColumns
from outputcodes.learners.kernel.dual import SolvedColumns
from outputcodes.learners.kernel.known import Bounded, inside, joined

Rows = NDArray[np.intp]
Array = NDArray[np.float64]

# Values per row used to size blocks of training examples: few products per block, and enough blocks for all threads.
AT_A_TIME = 1024
# Support vectors at most APART places from the next are multiplied without copies if they are ENOUGH.
APART, ENOUGH = 64, 8


@dataclass(frozen=True)
class KernelData:
    """Prepared X: the features and their Gram matrix, in memory or on a device."""

    gram: Gram | DeviceGram

    @property
    def shape(self) -> tuple[int, ...]:
        """Return the shape of X."""
        return tuple(self.gram.shape)


class FittedKernelColumns(FittedColumns):
    """Trained columns f_j(x) = Σ_i β_ij K(x_i, x) + b_j over the support vectors of all columns.

    Support vectors are sorted by class. The coefficients of a class are stored only for the columns that contain it.

    Attributes
    ----------
    support : ndarray of shape (S,)
        The row numbers of the support vectors in the prepared data.
    intercept : ndarray of shape (L,)
    certificate : Certificate
        `gap` is the largest violation of the optimality conditions by a pair; `iterations` is the number of steps.
    """

    _problem: Bounded | None = None

    def __init__(
        self,
        gram: Gram | DeviceGram,
        columns: SolvedColumns,
        problem: Bounded,
        rows: Rows,
        certificate: Certificate,
        n_jobs: int | None,
    ) -> None:
        self.certificate: Certificate | None = certificate
        self.intercept = columns.bias
        self.n_jobs, self.device = n_jobs, "cpu" if isinstance(gram, Gram) else "cuda"
        self.rows = rows
        self._problem = problem
        y, present = problem.y, problem.cost > 0
        taken = np.zeros(gram.n, dtype=bool)
        taken[columns.rows] = True
        support = np.flatnonzero(taken)
        self.support = support[np.argsort(y[support], kind="stable")]
        self.kernel = gram.kernel
        self.n_train = gram.n
        self.n_classes = len(present)
        self.anchors = gram.anchors(self.support)
        self.pieces = _by_class(columns, self.support, y, present)

    def _anchors_here(self) -> Any:
        """Return the anchors on the host; what was trained on a device leaves them there at first."""
        device = present_device(self.device)
        with nullcontext() if device is None else named_failures(device):
            self.anchors = on_host(self.anchors)
        return self.anchors

    def __getstate__(self) -> dict[str, Any]:
        self._anchors_here()
        # A kernel that is loaded later belongs to no Gram matrix.
        return {name: value for name, value in self.__dict__.items() if name != "_problem"}

    def margins(self, X: Any, rows: Rows | None = None) -> Array:
        """Return the (n, L) margins of new X, or of `rows` of the prepared data, whose kernel values are reused."""
        if isinstance(X, KernelData):
            gram = X.gram
            if isinstance(gram, Gram):
                return self._of_prepared(gram, rows)
            chosen = np.arange(gram.n) if rows is None else rows
            try:
                with named_failures(gram.device):
                    return gram.expand(chosen, self.support, self._dense(), self.intercept)
            except DeviceError as error:
                say_cpu(error.reason, "Prediction")
                X = gram.given
        device = present_device(self.device) if self.kernel.name in DEVICE_KERNELS else None
        # A device converts numbers faster.
        kinds = np.float64 if device is None else [np.float64, np.float32]
        if device is None or not is_on_device(X):
            X = check_array(on_host(X), accept_sparse="csr", dtype=kinds)
        X = X if rows is None else X[rows]
        if device is not None:
            F = self._of_new(device, X)
            if F is not None:
                return F
            X = check_array(on_host(X), accept_sparse="csr", dtype=np.float64)
        if self.kernel.name == "precomputed" and X.shape[1] != self.n_train:
            raise ValueError(
                f"X has {X.shape[1]} kernel values per row, but the SVM was trained on {self.n_train} examples; "
                "pass one kernel value per training example, in the same order."
            )
        return expand_new(X, self.kernel, self._anchors_here(), *self._terms())

    def _terms(self) -> tuple[list[Piece], Array, int | None]:
        return self.pieces, self.intercept, self.n_jobs

    def _of_new(self, device: Device, X: Any) -> Array | None:
        """Return the margins of new rows as the device computes them, or None if it fails or they are not finite."""
        usual = X if is_on_device(X) else without_huge(X)
        try:
            with named_failures(device):
                F = device.expand_new(self.kernel, usual, self.anchors, self._dense(), self.intercept)
        except DeviceError as error:
            say_cpu(error.reason, "Prediction")
            return None
        return F if np.isfinite(F).all() else None

    def _of_prepared(self, gram: Gram, rows: Rows | None) -> Array:
        """Return the margins of all prepared rows, or of some."""
        places = gram.place if rows is None else gram.place[rows]
        order = np.argsort(places)
        F = np.empty((len(order), len(self.intercept)))
        if len(order) and gram.holds(self.support) and are_neighbours(places[order]):
            self._fill_in_place(F, gram, order, int(places[order[0]]))
        else:
            chosen, S = order if rows is None else rows[order], len(self.support)
            F[order] = expand(len(chosen), lambda block: gram.between(chosen[block], self.support), S, *self._terms())
        return F

    def dual(self) -> Array:
        """Return the (n, L) dual variables α ≥ 0; row i belongs to the i-th training row.

        α is 0 where an example is absent from a column or has weight 0, and is at most C times its weight. K(x, x) for
        the same rows is `data.gram.diag[rows]`; a folded bias adds 1 to it.
        """
        place = np.empty(self.n_train, dtype=np.intp)
        place[self.rows] = np.arange(len(self.rows))
        alpha = np.zeros((len(self.rows), len(self.intercept)))
        for some, columns, beta in self.pieces:
            alpha[place[self.support[some]][:, None], columns] = np.abs(beta)
        return alpha

    def solves(self, n: int, problem: Bounded, tol: float) -> NDArray[np.bool_]:
        """Return which columns of another problem on n prepared rows have these coefficients as their solution."""
        mine, wanted = (self.n_train, self.n_classes, len(self.intercept)), (n, *problem.M.shape)
        if mine != wanted:
            raise ValueError(
                "init has {} examples, {} classes and {} columns".format(*mine)
                + " but the data and the code have {}, {} and {}; ".format(*wanted)
                + "pass columns fitted on the same X with the same code, or init=None."
            )
        before, certificate = self._problem, self.certificate
        if before is None or certificate is None or not problem.differs_by_cost(before):
            return np.zeros(len(self.intercept), dtype=bool)
        return inside(before, problem, self.support, self.pieces) & (certificate.gap <= tol)

    def beside(self, known: NDArray[np.bool_], solved: SolvedColumns | None) -> SolvedColumns:
        """Return the `known` columns of these, and all others as they were `solved`."""
        assert self.certificate is not None
        return joined(known, self.support, self.pieces, (self.intercept, self.certificate.gap), solved)

    def coefficients(self) -> Array | None:
        """Return the (L, d) weights of the features with the linear kernel, which are Σ_i β_ij x_i; otherwise None."""
        if self.kernel.name != "linear":
            return None
        anchors = self._anchors_here()
        weights = np.zeros((len(self.intercept), anchors.shape[1]))
        for some, columns, beta in self.pieces:
            weights[columns] += (anchors[some].T @ beta).T
        return weights

    def intercepts(self) -> Array:
        """Return the (L,) margins of a row of zeros with the linear kernel."""
        weights = self.coefficients()
        if weights is None or self.kernel.centre is None:
            return self.intercept
        shifted: Array = self.intercept - weights @ self.kernel.centre
        return shifted

    def expansion(self) -> tuple[Any, Array]:
        """Return the anchors, as `Kernel.block` takes them, and β (S, L) of all support vectors."""
        return self._anchors_here(), self._dense()

    def beta(self, rows: Rows, chosen: NDArray[np.bool_] | None = None) -> Array:
        """Return the (L, len(rows)) coefficients β for rows of the prepared data, of all columns or those `chosen`."""
        chosen = np.ones(len(self.intercept), dtype=bool) if chosen is None else chosen
        column, place = np.cumsum(chosen) - 1, np.full(self.n_train, -1)
        place[rows] = np.arange(len(rows))
        beta = np.zeros((len(rows), np.count_nonzero(chosen)))
        for some, columns, values in self.pieces:
            own, at = chosen[columns], place[self.support[some]]
            if (at < 0).any():
                at, values = at[at >= 0], values[at >= 0]
            beta[at[:, None], column[columns[own]]] = values if own.all() else values[:, own]
        return beta.T

    def _dense(self) -> Array:
        """Return β (S, L) of all support vectors."""
        if len(self.pieces) == 1 and self.pieces[0][2].shape == (len(self.support), len(self.intercept)):
            return self.pieces[0][2]
        beta = np.zeros((len(self.support), len(self.intercept)))
        for some, columns, values in self.pieces:
            beta[some, columns] = values
        return beta

    def _fill_in_place(self, F: Array, gram: Gram, order: Rows, first: int) -> None:
        """Fill in the margins of rows in places `first`, …, in this order, of a Gram matrix that holds the support."""
        # Where most of the rows in neighbouring places are support vectors, all of them are used without copying.
        terms: list[tuple[slice | Rows, Rows, Array]] = []
        added: list[tuple[Rows, Rows, Rows, Array]] = []
        in_place, rounded = np.argsort(gram.place), gram.store.dtype == np.float32
        for some, columns, beta in self.pieces:
            slots = gram.place[self.support[some]]
            by_slot, scattered = np.argsort(slots), []
            # A product would need a copy in double precision.
            if rounded and (lines := few_per_row(beta[by_slot])) is not None:
                starts, targets, factors = lines
                added.append((slots[by_slot], starts, columns[targets], factors))
                continue
            for own in np.split(by_slot, 1 + np.flatnonzero(np.diff(slots[by_slot]) > APART)):
                start, stop = slots[own[0]], slots[own[-1]] + 1
                if stop - start <= 2 * len(own) and len(own) >= ENOUGH and gram.holds(in_place[start:stop]):
                    factors = np.zeros((len(columns), stop - start))
                    factors[:, slots[own] - start] = beta[own].T
                    terms.append((slice(start, stop), columns, factors))
                else:
                    scattered.append(own)
            if scattered:
                own = np.concatenate(scattered)
                terms.append((slots[own], columns, np.ascontiguousarray(beta[own].T)))

        def fill(block: slice) -> None:
            f = np.repeat(self.intercept[:, None], block.stop - block.start, axis=1)
            for lines in added:
                add_rows(gram.store, *lines, first + np.arange(block.start, block.stop), f)
            for slots, columns, factors in terms:
                product = factors @ gram.store[slots, first + block.start : first + block.stop]
                if len(columns) == len(f):
                    f += product
                else:
                    add_lines(product, columns, f)
            F[order[block]] = f.T

        over_blocks(fill, row_blocks(len(order), AT_A_TIME), self.n_jobs)


def _by_class(columns: SolvedColumns, support: Rows, y: Rows, present: NDArray[np.bool_]) -> list[Piece]:
    """Return the coefficients in dense pieces: support vectors, the columns that contain their classes, and β.

    Adjacent classes in the same columns share a piece, so a code without zeros has only one.
    """
    if not len(support):
        return []
    taking_part = present[y[support]]
    # Plain integers, so that every serialization format can store them.
    edges = [0, *(1 + np.flatnonzero((taking_part[1:] != taking_part[:-1]).any(axis=1))).tolist(), len(support)]
    inside = taking_part[edges[:-1]]
    width, sizes = inside.sum(axis=1), np.diff(edges)
    stops = np.cumsum(sizes * width)
    # In a flat array of all pieces: the start of each support vector's coefficients, and each column's offset.
    piece = np.repeat(np.arange(len(sizes)), sizes)
    first = (stops - sizes * width)[piece] + (np.arange(len(support)) - np.array(edges)[piece]) * width[piece]
    within = np.cumsum(inside, axis=1) - 1
    place = np.empty(len(y), dtype=np.intp)
    place[support] = np.arange(len(support))
    row, line = place[columns.rows], np.zeros(stops[-1])
    line[first[row] + within[piece[row], columns.column]] = columns.beta
    return [
        (slice(start, stop), np.flatnonzero(taken), beta.reshape(-1, np.count_nonzero(taken)))
        for (start, stop), taken, beta in zip(
            itertools.pairwise(edges), inside, np.split(line, stops[:-1]), strict=True
        )
    ]
