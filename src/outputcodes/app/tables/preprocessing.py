"""From the columns of a table to numbers for a learner: a scikit-learn transformer for a schema and a learner."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin, clone
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, StandardScaler

from outputcodes._ground.text_features import TextFeatures
from outputcodes.app.tables import errors
from outputcodes.app.tables.schema import Kind, Schema, as_text, spelled_as
from outputcodes.learners.foreign import input_tags
from outputcodes.learners.names import estimators_in

# Preprocessed features are in the order of their kinds; those of words are behind them.
ORDER: tuple[Kind, ...] = ("number", "date", "category")
# Components of words, for learners that take no sparse matrix.
COMPONENTS = 64
# Sums of squares of such numbers stay finite, and so do margins and cubes of margins.
LARGEST = 1e90


class DaysSinceEpoch(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """Dates as days since the first of January 1970, with fractions; a missing date is NaN.

    Examples
    --------
    >>> import pandas as pd
    >>> DaysSinceEpoch().fit_transform(pd.DataFrame({"day": pd.to_datetime(["1970-01-02 12:00", None])}))
    array([[1.5],
           [nan]])
    """

    def fit(self, X: Any, y: Any = None) -> Self:
        """Remember the columns."""
        self.n_features_in_ = X.shape[1]
        self.feature_names_in_ = np.asarray(X.columns, dtype=object)
        return self

    def transform(self, X: Any) -> NDArray[np.float64]:
        """Return (n, d) days."""
        dates = np.column_stack([X[name].to_numpy("datetime64[us]") for name in X.columns])
        days: NDArray[np.float64] = (dates - np.datetime64(0, "us")) / np.timedelta64(1, "D")
        return days


class Bounded(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """Numbers cut at ±1e90, so that the arithmetic of scalers and learners does not overflow; NaN stays.

    Examples
    --------
    >>> Bounded().fit_transform([[1.5, 1e300], [-1e200, float("nan")]])
    array([[ 1.5e+00,  1.0e+90],
           [-1.0e+90,      nan]])
    """

    def fit(self, X: Any, y: Any = None) -> Self:
        """Remember the columns."""
        self.n_features_in_ = np.shape(X)[1]
        if hasattr(X, "columns"):
            self.feature_names_in_ = np.asarray(X.columns, dtype=object)
        return self

    def transform(self, X: Any) -> NDArray[np.float64]:
        """Return (n, d) numbers."""
        # Missing values of pandas' nullable columns are no numbers.
        numbers = X.to_numpy(np.float64, na_value=np.nan) if hasattr(X, "assign") else np.asarray(X, dtype=np.float64)
        cut: NDArray[np.float64] = np.clip(numbers, -LARGEST, LARGEST)
        return cut


class TextPipeline(Pipeline):
    """A pipeline of one encoder, whose columns become text as in files: True is "True", and 1 or 1.0 is "1".

    Booleans are spelled as those that the encoder was fitted to. This is a `Pipeline` for whatever reads pipelines,
    such as an exporter, and its steps take text.

    Examples
    --------
    >>> import pandas as pd
    >>> encoder = TextPipeline([("encoder", OrdinalEncoder())]).fit(pd.DataFrame({"open": ["TRUE", "FALSE"]}))
    >>> encoder.transform(pd.DataFrame({"open": [True, False]})).tolist()
    [[1.0], [0.0]]
    """

    def fit(self, X: Any, y: Any = None, **params: Any) -> Self:
        """Fit the encoder to text."""
        super().fit(_texts(X), y, **params)
        return self

    def fit_transform(self, X: Any, y: Any = None, **params: Any) -> Any:
        """Fit the encoder to text, and return what it makes of it."""
        return super().fit_transform(_texts(X), y, **params)

    def transform(self, X: Any, **params: Any) -> Any:
        """Return what the encoder makes of the columns as text."""
        texts = _texts(X)
        if not hasattr(texts, "assign"):
            return super().transform(texts, **params)
        known = zip(texts.columns, self[-1].categories_, strict=True)
        spelled = {name: spelled_as(texts[name], [one for one in own if isinstance(one, str)]) for name, own in known}
        return super().transform(type(texts)(spelled, index=texts.index), **params)


def _texts(X: Any) -> Any:
    """The columns of a pandas data frame as text; those of another library stay as they are."""
    return type(X)({name: as_text(X[name]) for name in X.columns}, index=X.index) if hasattr(X, "assign") else X


class AsNumbersAndCategories(TransformerMixin, BaseEstimator):
    """A table whose columns are numbers, cut at ±1e90, categories or sentences; dates are days since 1970.

    Parameters
    ----------
    numbers, dates, categories, words : lists of str
        The columns of each kind.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"day": pd.to_datetime(["1970-01-02"]), "colour": ["red"]})
    >>> AsNumbersAndCategories(dates=["day"], categories=["colour"]).fit_transform(frame)
       day colour
    0  1.0    red
    """

    def __init__(self, numbers: Any = (), dates: Any = (), categories: Any = (), words: Any = ()) -> None:
        self.numbers = numbers
        self.dates = dates
        self.categories = categories
        self.words = words

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def fit(self, X: Any, y: Any = None) -> Self:
        """Do nothing: there is nothing to learn."""
        return self

    def transform(self, X: Any) -> Any:
        """Return a data frame."""
        import pandas as pd

        parts = []
        if self.numbers:
            numbers = Bounded().fit_transform(X[self.numbers])
            parts.append(pd.DataFrame(numbers, index=X.index, columns=self.numbers))
        if self.dates:
            days = DaysSinceEpoch().fit_transform(X[self.dates])
            parts.append(pd.DataFrame(days, index=X.index, columns=self.dates))
        if named := [*self.categories, *self.words]:
            for name in named:
                if pd.api.types.infer_dtype(X[name]) == "boolean":
                    raise errors.WrongKindError(
                        f"Column {name!r} holds booleans, not text: pass the table through the schema of the model, "
                        "schema.conform(frame), which spells them as the training table did."
                    )
            parts.append(pd.DataFrame({name: as_text(X[name]) for name in named}, index=X.index).astype(object))
        return pd.concat(parts, axis=1)


def preprocessing(schema: Schema, learner: Any) -> ColumnTransformer:
    """Return a transformer from tables of a schema to numbers for a learner.

    For a learner that accepts missing values (stumps and trees do), numbers stay as they are, dates become days, and
    categories become integer codes, with NaN for missing and new ones. For the others, numbers are cut at ±1e90,
    missing ones are replaced by the median, all are scaled to mean 0 and variance 1, and every category, including a
    missing one, gets an indicator; a category that training did not see has none. Sentences become tf-idf features of
    their words and pairs of words, projected on a few components for a learner that takes no sparse matrix.

    Parameters
    ----------
    schema : Schema
    learner : str, estimator or None
        A learner as `OutputCodeClassifier` takes it, or any scikit-learn classifier.

    Examples
    --------
    >>> import pandas as pd
    >>> from outputcodes.app.tables import infer
    >>> frame = pd.DataFrame({"x": [1.0, None, 3.0], "colour": ["red", "blue", "red"]})
    >>> schema = infer(frame)
    >>> preprocessing(schema, "stumps").fit_transform(frame)
    array([[ 1.,  1.],
           [nan,  0.],
           [ 3.,  1.]])
    >>> preprocessing(schema, "ridge").fit_transform(frame).round(2)
    array([[-1.22,  0.  ,  1.  ],
           [ 0.  ,  1.  ,  0.  ],
           [ 1.22,  0.  ,  1.  ]])
    """
    if not schema.used:
        raise errors.MissingColumnsError("The table has no column that a model could read.")
    tags = input_tags(estimators_in(learner)[0])
    numbers: Any
    encoder: Any
    if tags.allow_nan:
        encoder = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=np.nan)
        numbers, dates = "passthrough", DaysSinceEpoch()
    else:
        encoder = OneHotEncoder(handle_unknown="ignore")
        # A column stays a column even if a fold lacks all its values.
        complete = SimpleImputer(strategy="median", keep_empty_features=True)
        numbers = make_pipeline(Bounded(), complete, StandardScaler())
        dates = make_pipeline(DaysSinceEpoch(), clone(complete), StandardScaler())
    categories = TextPipeline([("encoder", encoder)])
    words = TextFeatures(None if tags.sparse else COMPONENTS)
    parts: dict[Kind, Any] = {**dict(zip(ORDER, (numbers, dates, categories), strict=True)), "words": words}
    return ColumnTransformer(
        [(kind, part, names) for kind, part in parts.items() if (names := schema.names(kind))],
        sparse_threshold=0.3 if tags.sparse else 0,
        verbose_feature_names_out=False,
    )


def categorical_features(schema: Schema) -> NDArray[np.bool_]:
    """Return which features before those of words are categories after `preprocessing`.

    >>> from outputcodes.app.tables import Column
    >>> categorical_features(Schema((Column("colour", "category", ("red",)), Column("x", "number"))))
    array([False,  True])
    """
    return np.array([kind == "category" for kind in ORDER for _ in schema.names(kind)], dtype=bool)
