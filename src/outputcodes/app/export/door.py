"""What is exported, without the packages that this needs: they are imported when a model is."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

# The packages of the extra "onnx".
EXTRA = ("onnx", "onnxruntime", "skl2onnx")


def to_onnx(model: Any, X: Any = None) -> Any:
    """Return a fitted classifier, or a pipeline that ends in one, as an ONNX model.

    The outputs are "label" (`predict`), "scores" (`decision_function`) and "probabilities" (`predict_proba`), as far as
    the classifier has these methods. They are computed in double precision and agree with the classifier up to
    rounding; features beyond ±1e100 apart.

    Parameters
    ----------
    model : fitted estimator
        `OutputCodeClassifier`, a booster, `MulticlassSVC`, `NearestCentroids` or `DecisionTree`, alone, as the best
        estimator of a search, or at the end of a pipeline; a `selection.Race`; or what `outputcodes fit` saves.
    X : array or data frame, optional
        A sample, of which only the types count. By default numbers are doubles. With a float32 array, the input is
        float32, and rows that rounding moves across a threshold of a tree may get another class. A race that was run on
        a data frame needs one.

    Returns
    -------
    onnx.ModelProto
        Its input is one matrix "X"; that of a pipeline that takes tables, one matrix (n, 1) for each column, which
        `onnx_inputs` makes of a data frame.

    Raises
    ------
    NotExportableError
        If a part of the model has no ONNX form: the message names it.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from outputcodes import OutputCodeClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> onnx_model = to_onnx(OutputCodeClassifier("kernel-svm", probability="softmax").fit(X, y))
    >>> [output.name for output in onnx_model.graph.output]
    ['label', 'scores', 'probabilities']
    """
    return _room("convert").converted(model, X)


def register() -> None:
    """Make the classifiers of this package known to skl2onnx, so that its own functions convert pipelines with them.

    A classifier then has the outputs "label", "scores" and "probabilities", as far as it has such methods.

    >>> from skl2onnx import to_onnx as convert
    >>> from outputcodes import OutputCodeClassifier
    >>> X = np.array([[0.0], [1.0], [2.0]])
    >>> register()
    >>> found = convert(OutputCodeClassifier("ridge").fit(X, [0, 1, 1]), X, target_opset={"": 18, "ai.onnx.ml": 3})
    >>> [output.name for output in found.graph.output]
    ['label', 'scores']
    """
    _room("converters").register()


def onnx_inputs(X: Any, schema: Any = None) -> dict[str, NDArray[Any]]:
    """Return rows as the inputs of an exported model: a matrix "X", or one matrix (n, 1) for each column of a table.

    Dates become microseconds since 1970, and missing categories empty texts.

    Parameters
    ----------
    X : array or data frame
    schema : outputcodes.app.tables.Schema, optional
        That of the table of the training, as `persistence.load(...)` returns it in the manifest. The columns are then
        read as `outputcodes predict` reads them: dates and categories may be written in any way, and columns that the
        model does not know are left out.

    Examples
    --------
    >>> import pandas as pd
    >>> inputs = onnx_inputs(pd.DataFrame({"x": [1.5], "day": pd.to_datetime(["1970-01-02"]), "colour": [None]}))
    >>> {name: values.tolist() for name, values in inputs.items()}
    {'x': [[1.5]], 'day': [[86400000000]], 'colour': [['']]}
    """
    if not hasattr(X, "columns"):
        return {"X": np.asarray(X)}
    X = X if schema is None else schema.conform(X)
    return {str(name): _as_tensor(X[name])[:, None] for name in X.columns}


def _as_tensor(values: Any) -> NDArray[Any]:
    kind = values.dtype.kind
    if kind == "M":
        return np.asarray(values.to_numpy("datetime64[us]").astype(np.int64))
    if kind in "fiu":
        return np.asarray(values.to_numpy(np.float32 if values.dtype == np.float32 else np.float64, na_value=np.nan))
    missing = values.isna().to_numpy()
    return np.where(missing, "", values.astype(str).to_numpy(dtype=object)).astype(object)


def _room(name: str) -> Any:
    """Import a module of this folder; name the extra where a package is missing."""
    try:
        return import_module(f"outputcodes.app.export.{name}")
    except ModuleNotFoundError as missing:
        if (missing.name or "").split(".")[0] not in EXTRA:
            raise
        raise ModuleNotFoundError(
            f"The export to ONNX needs {missing.name}: pip install 'outputcodes[onnx]'", name=missing.name
        ) from missing
