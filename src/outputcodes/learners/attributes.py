"""What fitted columns show about the features, under the names that scikit-learn's tools look for."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


class FeatureAttributes:
    """Base of the classifiers whose `columns_` know what the features do.

    An attribute that the columns can't provide raises AttributeError, so that `hasattr` is False.
    """

    columns_: Any

    @property
    def coef_(self) -> Array:
        """The weights of the features, (L, d): margins are X @ coef_.T + intercept_. Only if all columns are linear."""
        return self._of_linear_columns("coef_")

    @property
    def intercept_(self) -> Array:
        """The margin of a row of zeros in each column, (L,). Only if all columns are linear."""
        self._of_linear_columns("intercept_")
        intercepts: Array = self.columns_.intercepts()
        return intercepts

    @property
    def feature_importances_(self) -> Array:
        """The share of each feature in the work of all columns, (d,), with sum 1. Only for trees and stumps."""
        shares: Array | None = self._fitted_columns().feature_importances()
        if shares is None:
            raise AttributeError(
                f"This {type(self).__name__} has no feature_importances_: its columns are not trees or stumps, which "
                "measure them."
            )
        return shares

    def _of_linear_columns(self, name: str) -> Array:
        weights: Array | None = self._fitted_columns().coefficients()
        if weights is None:
            raise AttributeError(f"This {type(self).__name__} has no {name}: its columns are not linear in X.")
        return weights

    def _fitted_columns(self) -> Any:
        if "columns_" not in vars(self):
            raise AttributeError(f"This {type(self).__name__} instance is not fitted yet. Call 'fit' first.")
        return self.columns_
