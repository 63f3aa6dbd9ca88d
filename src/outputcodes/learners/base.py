"""What a learner and its fitted columns are to everything else: every capability, with its default."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from outputcodes._ground.drawn_code import AnyCode
from outputcodes._ground.margins_on_demand import MarginsByBlock, MarginsOnDemand
from outputcodes._ground.planning import Planning
from outputcodes._ground.validation import NoStreamError, n_rows_of, take_rows

Rows = NDArray[np.intp]
Array = NDArray[np.float64]


@dataclass(frozen=True)
class Certificate:
    """The accuracy of each column's solution: duality gap or KKT violation, iterations, converged; (L,) each.

    >>> from outputcodes.learners import Logistic
    >>> X, y, M = np.array([[0.0], [1.0], [2.0]]), np.array([0, 1, 2]), np.array([[-1, -1], [-1, 1], [1, 1]])
    >>> learner = Logistic()
    >>> learner.fit_columns(learner.prepare(X), y, M).certificate.converged
    array([ True,  True])
    """

    gap: Array
    iterations: Rows
    converged: NDArray[np.bool_]


class FittedColumns:
    """Trained columns: they return margins and know nothing about classes.

    Attributes
    ----------
    certificate : Certificate or None
        None where a foreign solver provides none.
    signs_only : bool
        Whether some column has no real-valued output, so that its margins are ±1.
    device : {"cpu", "cuda"}
        Where the columns were trained.

    Examples
    --------
    >>> from outputcodes.learners import Ridge
    >>> X, y, M = np.array([[0.0], [1.0], [2.0]]), np.array([0, 1, 2]), np.array([[-1, -1], [-1, 1], [1, 1]])
    >>> learner = Ridge(alpha=0.1)
    >>> fitted = learner.fit_columns(learner.prepare(X), y, M)
    >>> fitted.margins(X).shape, fitted.coefficients().shape
    ((3, 2), (2, 1))
    """

    certificate: Certificate | None = None
    signs_only: bool = False
    device: str = "cpu"
    # Whether each round has a column of its own, as where a code grows.
    round_per_column: bool = False

    def margins(self, X: Any, rows: Rows | None = None) -> Array:
        """Return (n, L) margins of new X, or of `rows` of the `data` that `prepare` returned."""
        raise NotImplementedError

    def on_demand(self, X: Any) -> MarginsOnDemand:
        """Return the margins of new X for a search that reads a part of them; by default all, block by block."""
        return MarginsByBlock(n_rows_of(X), lambda rows: self.margins(take_rows(X, np.arange(rows.start, rows.stop))))

    def staged_margins(self, X: Any) -> Iterator[Array]:
        """Yield the margins (n, L) of new X after each round; for columns that are trained in rounds."""
        raise NotImplementedError(f"{type(self).__name__} has no rounds.")

    def first_rounds(self, n_rounds: int) -> FittedColumns:
        """Return the columns after their first rounds, as fewer `n_rounds` train them; for learners `in_stages`."""
        raise NotImplementedError(f"{type(self).__name__} has no rounds.")

    def beyond(self, before: FittedColumns, steps: float) -> FittedColumns:
        """Return a guess of the columns farther along a path, which led here from `before`; by default these columns.

        The guess is only where a training starts; `steps` is how far it is in units of the last step.
        """
        return self

    def take(self, columns: Rows) -> FittedColumns:
        """Return some of the columns; for learners with `joins_folds`."""
        raise NotImplementedError(f"{type(self).__name__} can't be divided.")

    def loss_after_fit(self, declared: str | None) -> str | None:
        """Return the margin loss of the fitted columns; `declared` is that of the learner.

        They differ only where a foreign estimator shows its kind of output once it is fitted.
        """
        return declared

    def dual(self) -> Array:
        """Return the dual variables (n, L) of the training rows; for learners with `leave_one_out = "bound"`."""
        raise NotImplementedError(f"{type(self).__name__} has no dual variables.")

    def coefficients(self) -> Array | None:
        """Return (L, d) weights of the features if margins are X @ coefficients.T + intercepts; otherwise None."""
        return None

    def intercepts(self) -> Array:
        """Return (L,) margins of a row of zeros; for columns with `coefficients`."""
        raise NotImplementedError(f"{type(self).__name__} has no intercepts.")

    def feature_importances(self) -> Array | None:
        """Return (d,) shares of the features in the work of all columns, with sum 1; None if they are not known.

        They are all 0 if no column uses a feature.
        """
        return None

    def feature_parts(self, x: Array, direction: Array) -> Array | None:
        """Return (d,) what each feature of a row x adds to margins(x) @ direction, a weight for each column.

        What the features don't change, such as intercepts, is left out. None if the margins are not sums over features.
        """
        weights = self.coefficients()
        return None if weights is None else (direction @ weights) * x


class Learner:
    """Fits every column of a code on the same X.

    A new learner derives from this class and from scikit-learn's `BaseEstimator`, names its `loss` and writes `prepare`
    and `fit_columns`. The other members are capabilities with defaults that are right for most learners.
    """

    # The name of the margin loss that the margins minimise; None if the columns don't share one.
    loss: str | None = None
    # How a comparison treats it if it is not named.
    planning: ClassVar[Planning] = Planning()
    # Whether `prepare` takes X as `RowBlocks`; otherwise the blocks are joined first.
    takes_blocks: ClassVar[bool] = False
    # Whether a column depends on the other columns: then its margins can't be reused in another code.
    joint: ClassVar[bool] = False
    # Whether it also trains columns with one sign, because they matter to the others; by default they are constant.
    trains_one_sided: bool = False
    # Whether a warm start saves time and leaves the result unchanged; folds then start from the whole sample's columns.
    warm_starts: ClassVar[bool] = False
    # Whether columns trained on other rows are as good a start: weights of features are, dual variables belong to rows.
    starts_from_other_rows: ClassVar[bool] = False
    # Whether columns trained on some of the prepared rows are those trained on these rows alone; folds then share what
    # is prepared.
    shares_rows: ClassVar[bool] = False
    # Parameters along which a training costs less after that of a smaller value, or of a larger one where "-" comes
    # before the name. The last one shares what is prepared.
    path: ClassVar[tuple[str, ...]] = ()
    # What one training provides for the leave-one-out error: "exact" with `leave_one_out_margins`, "bound" with
    # `FittedColumns.dual` and `self_kernel`, None if nothing.
    leave_one_out: ClassVar[Literal["exact", "bound"] | None] = None

    @property
    def checks_finite(self) -> bool:
        """Whether `prepare` refuses NaN and infinite numbers itself; otherwise X is checked before."""
        return False

    @property
    def estimators(self) -> list[Any]:
        """The scikit-learn estimators that receive X: the learner itself, unless it trains others."""
        return [self]

    @property
    def positional(self) -> bool:
        """Whether a column's result depends on its place in the code, as with one estimator per column."""
        return False

    @property
    def in_stages(self) -> bool:
        """Whether a training with fewer rounds, `n_rounds`, is the beginning of this one."""
        return False

    @property
    def joins_folds(self) -> bool:
        """Whether several folds of dense X cost less as the columns of one training: passes then serve all of them."""
        return False

    @property
    def votes_on_pairs(self) -> bool:
        """Whether all pairs are decoded by votes if no decoder is named.

        Loss-based decoding adds up the margins of all pairs of a class, and most pairs have never seen the class of a
        row. Where margins far from the training rows say nothing, as with an rbf kernel, votes limit what they add.
        """
        return False

    def settled(self, X: Any, rows: Rows) -> Learner:
        """Return the learner with the values that its parameters have on some rows of X; itself if they need none."""
        return self

    def prepare(self, X: Any, like: Any = None) -> Any:
        """Compute what depends on X and the representation alone: no labels, no weights.

        `like` is an earlier preparation of the same rows whose parts may be used again.
        """
        raise NotImplementedError

    def foresee(self, data: Any, parts: Sequence[Rows], y: Rows) -> None:
        """Take note that the rows of the next trainings on `data`, of classes y, are unions of parts, such as folds."""

    def fit_columns(
        self,
        data: Any,
        y: Rows,
        M: AnyCode,
        weight: Array | None = None,
        column_weight: Array | None = None,
        *,
        rows: Rows | None = None,
        init: Any = None,
        n_jobs: int | None = None,
        seed: int = 0,
    ) -> FittedColumns:
        """Train column j on sign M[y_i, j]; 0 = example i is absent. The learner itself is unchanged.

        M is a drawn code: `np.asarray(M)` is its matrix; `M.rows` and `M.blocks` serve learners that need no matrix.
        `y` and `weight` are aligned with `data`; `rows` are the rows to train on (outside them y may be -1); `init` is
        a warm start. Example i has the weight weight[i]·column_weight[y_i, j] in column j. Both signs occur in every
        column.
        """
        raise NotImplementedError

    def trains_nodes(self, data: Any, code: AnyCode) -> bool:
        """Return whether `fit_columns` trains a tree code node by node, without its matrix and without column weights.

        Columns with one sign are then trained too.
        """
        return False

    def grow_columns(
        self, data: Any, y: Rows, weight: Array | None, rows: Rows, n_jobs: int | None, seed: int
    ) -> tuple[AnyCode, FittedColumns]:
        """Train columns of the learner's own choice, and return them with their code; for learners that grow one."""
        raise NotImplementedError(f"{type(self).__name__} trains the columns of a given code.")

    def stream(self, n_jobs: int | None = None, seed: int = 0) -> Any:
        """Return a `learners.stream.Stream`, columns that learn from one batch after another; for those that can."""
        raise NoStreamError(
            f"{type(self).__name__} can't learn from batches (partial_fit): use 'ridge', 'logistic', 'linear-svm', or "
            "an estimator that has partial_fit."
        )

    def take(self, columns: Rows, n_columns: int) -> Learner:
        """Return the learner for some columns of a code of `n_columns`; itself unless it is positional or seeded."""
        return self

    def for_rows(self, rows: Rows, n_rows: int) -> Learner:
        """Return the learner for some of `n_rows` rows; itself unless it has arguments with an entry per row."""
        return self

    def release(self, data: Any) -> None:
        """Let the next preparation that is made `like` this one take over its memory; `data` is not used again."""

    def leave_one_out_margins(
        self,
        data: Any,
        y: Rows,
        M: AnyCode,
        weight: Array | None = None,
        column_weight: Array | None = None,
        *,
        rows: Rows | None = None,
        n_jobs: int | None = None,
    ) -> Array:
        """Return (n, L) margins of each of `rows` by columns trained without it; for `leave_one_out = "exact"`."""
        raise NotImplementedError(f"{type(self).__name__} has no leave-one-out margins.")

    def leave_one_out_doubt(self) -> str | None:
        """Return why a leave-one-out "bound" is only an estimate with these parameters, or None."""
        return None

    def self_kernel(self, data: Any, rows: Rows) -> Array:
        """Return K(x, x) of prepared rows; for `leave_one_out = "bound"`."""
        raise NotImplementedError(f"{type(self).__name__} has no kernel.")

    def flexibility(self, data: Any) -> tuple[float, ...]:
        """Return what decides between candidates with equal errors: the smallest, as the smoothest, wins."""
        return ()
