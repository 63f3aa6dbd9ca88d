"""The data sets as the papers used them: labels, official partitions or folds, and features as numbers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.model_selection import KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, OneHotEncoder, OrdinalEncoder

from outputcodes.app import datasets

Rows = NDArray[np.intp]

# Data sets with a partition of little use: 210 of 2,310 rows for training, 26 rows for testing.
UNEVEN = ("segmentation", "audiology")


class DataSet(NamedTuple):
    """Raw features, labels 0..k−1, the names of the categorical features, and the official training rows, if any."""

    X: pd.DataFrame
    y: NDArray[np.intp]
    categorical: list[str]
    train: NDArray[np.bool_] | None
    name: str = ""

    @property
    def k(self) -> int:
        """The number of classes."""
        return int(self.y.max()) + 1


def load_data_set(name: str) -> DataSet:
    """Load a data set by name. The classes of thyroid are the first letters of its diagnoses, which makes 20."""
    bunch = datasets.load(name)
    labels = bunch.target.astype(str).str[0] if name == "thyroid" else bunch.target
    categorical = [column for column in bunch.data if not pd.api.types.is_numeric_dtype(bunch.data[column])]
    train = None if bunch.split is None else (bunch.split == "train").to_numpy()
    return DataSet(bunch.data, np.unique(labels, return_inverse=True)[1], categorical, train, name)


def splits(data: DataSet, n_folds: int, seed: int = 0, *, official: bool | None = None) -> Iterator[tuple[Rows, Rows]]:
    """Yield rows for training and for testing: the official partition if there is one and `official` asks for it.

    Otherwise they are folds. By default `official` is true except for segmentation and audiology.
    """
    wanted = data.name not in UNEVEN if official is None else official
    if wanted and data.train is not None:
        yield np.flatnonzero(data.train), np.flatnonzero(~data.train)
    else:
        yield from KFold(n_folds, shuffle=True, random_state=seed).split(data.y)


def encoder(data: DataSet, how: Literal["codes", "unit"]) -> Any:
    """Return a transformer of features to numbers, categorical features first.

    "codes", for stumps and trees, numbers the categories; a missing one is NaN. "unit" makes categories one-hot, a
    missing one being a category of its own, imputes missing numbers and scales numbers to [0, 1].
    """
    numbers = [column for column in data.X if column not in data.categorical]
    if how == "codes":
        categories: Any = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=np.nan)
        scaled: Any = "passthrough"
    else:
        categories = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
        scaled = make_pipeline(SimpleImputer(keep_empty_features=True), MinMaxScaler())
    return ColumnTransformer([("categories", categories, data.categorical), ("numbers", scaled, numbers)])
