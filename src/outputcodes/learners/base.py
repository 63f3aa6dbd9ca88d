"""What a learner is to the classifier: three calls, and the name of the margin loss it minimises."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Certificate:
    """How well each column was solved: duality gap or KKT violation, iterations, converged; (L,) each."""

    gap: NDArray[np.float64]
    iterations: NDArray[np.intp]
    converged: NDArray[np.bool_]


class FittedColumns(Protocol):
    """Trained columns: they answer margins and know nothing of classes.

    `certificate` is None where a foreign solver gives none. Kernel machines also have `dual()`.
    """

    certificate: Certificate | None

    def margins(self, X: Any, rows: NDArray[np.intp] | None = None) -> NDArray[np.float64]:
        """(n, L) margins of new X, or of `rows` of the `data` that `prepare` made."""
        ...


class Learner(Protocol):
    """Fits every column of a code on the same X.

    `loss` names the margin loss whose f the margins are; None if the columns don't share one.
    """

    @property
    def loss(self) -> str | None:
        """The margin loss, by name."""
        ...

    def prepare(self, X: Any, like: Any = None) -> Any:
        """What depends on X and the representation alone: no labels, no weights.

        `like` is an earlier preparation whose parts may be used again.
        """
        ...

    def fit_columns(
        self,
        data: Any,
        y: NDArray[np.intp],
        M: NDArray[np.int8],
        weight: NDArray[np.float64] | None = None,
        column_weight: NDArray[np.float64] | None = None,
        *,
        rows: NDArray[np.intp] | None = None,
        init: FittedColumns | None = None,
        n_jobs: int | None = None,
        seed: int = 0,
    ) -> FittedColumns:
        """Train column j on sign M[y_i, j]; 0 = example i is absent. The learner itself is unchanged.

        `y` and `weight` are aligned with `data`; `rows` picks the rows to train on (outside them y may be -1);
        `init` is a warm start.
        Example i weighs weight[i]·column_weight[y_i, j] in column j. Both signs occur in every column.
        """
        ...
