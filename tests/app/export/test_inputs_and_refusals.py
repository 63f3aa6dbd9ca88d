"""The dtype of the sample, pipelines that take tables, skl2onnx's own functions, and what is refused by name."""

import re
import subprocess
import sys

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_iris, load_wine
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsTransformer
from sklearn.pipeline import make_pipeline, make_union
from sklearn.preprocessing import (
    Binarizer,
    FunctionTransformer,
    KBinsDiscretizer,
    OneHotEncoder,
    PolynomialFeatures,
    StandardScaler,
)
from sklearn.svm import SVC

from outputcodes import AdaBoostOC, OutputCodeClassifier, to_onnx
from outputcodes.app.export import NotExportableError, onnx_inputs, register
from outputcodes.app.run import build
from outputcodes.app.tables import infer
from outputcodes.codes import Code
from outputcodes.decoders import Decoder, LossBased
from outputcodes.learners import LEARNERS, KernelSVM

pd = pytest.importorskip("pandas")
runtime = pytest.importorskip("onnxruntime")


@pytest.mark.parametrize("learner", ["stumps", "tree", "boosted-trees", "ridge"])
def test_single_precision_rows_are_converted_exactly(agree, learner):
    """The input has the dtype of the sample: the same float32 rows have the same classes here and there."""
    X, y = load_wine(return_X_y=True)
    model = OutputCodeClassifier(learner, random_state=0).fit(X, y)
    single = X.astype(np.float32)
    assert [one.type.tensor_type.elem_type for one in to_onnx(model, single).graph.input] == [1]
    found = agree(model, single, single)
    # Rows that rounding moves across a threshold may differ from those of the double; no others do.
    moved = model.predict(single) != model.predict(X)
    np.testing.assert_array_equal(found["label"] != model.predict(X), moved)


def test_whole_numbers(agree):
    X, y = load_iris(return_X_y=True)
    whole = np.round(10 * X).astype(np.int64)
    agree(OutputCodeClassifier("stumps").fit(whole, y), whole, whole)


@pytest.mark.parametrize("learner", ["ridge", "tree", "kernel-svm"])
def test_true_and_false(agree, learner):
    X, y = load_iris(return_X_y=True)
    signs = X > X.mean(axis=0)
    agree(OutputCodeClassifier(learner).fit(signs, y), signs, signs)


def test_a_sparse_sample_counts_by_its_numbers(agree):
    X, y = load_iris(return_X_y=True)
    agree(OutputCodeClassifier("ridge").fit(sparse.csr_matrix(X), y), X, sparse.csr_matrix(X))


@pytest.mark.parametrize("X", ["abc", 3.0, [1.0, 2.0]])
def test_a_sample_that_is_no_matrix_is_refused(X):
    model = OutputCodeClassifier("ridge").fit([[0.0, 1.0], [1.0, 0.0]], [0, 1])
    with pytest.raises(ValueError, match=r"X is \w+ of shape .*: pass some rows as a matrix or a data frame"):
        to_onnx(model, X)


def table(n=90):
    rng = np.random.default_rng(0)
    fruit = np.arange(n) % 3
    frame = pd.DataFrame(
        {
            "mass": np.array([150.0, 100.0, 180.0])[fruit] + 25 * rng.standard_normal(n),
            "skin": np.array(["red", "yellow", "green"], dtype=object)[(fruit + (rng.random(n) < 0.3)) % 3],
            "picked": pd.to_datetime("2026-01-01") + pd.to_timedelta(rng.integers(0, 10**10, n), "us"),
            "size": rng.integers(0, 5, n).astype(np.float64),
        }
    )
    frame.loc[::7, "mass"], frame.loc[::11, "skin"], frame.loc[::13, "picked"] = np.nan, None, pd.NaT
    return frame, np.array(["apple", "lemon", "pear"])[fruit]


@pytest.mark.parametrize("learner", LEARNERS)
def test_tables_with_missing_values_and_new_categories(agree, learner):
    frame, y = table()
    schema = infer(frame, "class", ("apple", "lemon", "pear"))
    model = build(schema, learner, probability="softmax").fit(schema.conform(frame[:60]), y[:60])
    frame.loc[61, "skin"], frame.loc[62, "mass"] = "blue", 1e200
    agree(model, schema.conform(frame))


def test_a_table_as_pandas_reads_it(tmp_path):
    """With the schema, dates may be text, codes may be numbers, and there may be other columns, as for `predict`."""
    frame, y = table()
    frame = frame.drop(columns="size").assign(code=[7, 12] * 45, id=np.arange(len(frame)))
    schema = infer(frame.drop(columns="id").astype({"code": str}), "class")
    model = build(schema, "ridge").fit(schema.conform(frame), y)
    frame.to_csv(tmp_path / "new.csv", index=False)
    new = pd.read_csv(tmp_path / "new.csv")
    inputs = onnx_inputs(new, schema)
    kinds = {name: values.dtype.kind for name, values in inputs.items()}
    assert kinds == {"mass": "f", "skin": "O", "picked": "i", "code": "O"}
    session = runtime.InferenceSession(to_onnx(model).SerializeToString(), providers=["CPUExecutionProvider"])
    np.testing.assert_array_equal(session.run(["label"], inputs)[0], model.predict(schema.conform(new)))


def test_a_table_in_its_own_types(agree):
    frame, y = table()
    schema = infer(frame, "class")
    model = build(schema, "tree").fit(schema.conform(frame), y)
    rows = schema.conform(frame).astype({"mass": np.float32})
    types = [one.type.tensor_type.elem_type for one in to_onnx(model, rows).graph.input]
    assert types == [1, 8, 7, 11]
    agree(model, rows, rows)


def test_pipelines_of_scikit_learn_by_its_own_function(outputs_of):
    from skl2onnx import to_onnx as foreign

    X, y = load_wine(return_X_y=True)
    model = make_pipeline(StandardScaler(), PCA(5), OutputCodeClassifier("kernel-svm", probability="softmax")).fit(X, y)
    register()
    for exported in (foreign(model, X[:1], target_opset={"": 18, "ai.onnx.ml": 3}), to_onnx(model)):
        found = outputs_of(exported, X)
        np.testing.assert_array_equal(found["label"], model.predict(X))
        np.testing.assert_allclose(found["scores"], model.decision_function(X), atol=1e-9)


@pytest.mark.parametrize(
    "step",
    [
        PolynomialFeatures(2),
        PolynomialFeatures(3, interaction_only=True, include_bias=False),
        PolynomialFeatures((2, 3), order="F"),
        PolynomialFeatures(0),
        # Values of the table are equal to it, and count as 0.
        Binarizer(threshold=1.5),
    ],
    ids=str,
)
@pytest.mark.parametrize("dtype", [np.float64, np.int64])
def test_products_and_signs_of_features(agree, step, dtype):
    X, y = load_iris(return_X_y=True)
    rows = np.asarray(X if dtype is np.float64 else np.round(10 * X), dtype=dtype)
    agree(make_pipeline(step, OutputCodeClassifier("ridge")).fit(rows, y), rows, rows)


class Own(Decoder):
    def _scorer(self, M):
        return lambda F: F @ M.T


class OwnCode(Code):
    def _matrix(self, k, rng, problem):
        return 2 * np.eye(k, dtype=np.int8) - 1


def loss_of_mine(z):
    return np.exp(-z)


def own_kernel(A, B):
    return A @ B.T


@pytest.mark.parametrize(
    ("model", "named"),
    [
        (OutputCodeClassifier("ridge", code="tree"), "Beam"),
        (OutputCodeClassifier("ridge", code="tree", probability="softmax"), "PathProbabilities"),
        (OutputCodeClassifier("ridge", probability="coupling"), "Coupling(method='kl')"),
        (OutputCodeClassifier("ridge", decoder=Own()), "Own"),
        (OutputCodeClassifier("ridge", decoder=LossBased(loss_of_mine)), "loss_of_mine"),
        (OutputCodeClassifier(KernelSVM(kernel=own_kernel)), "own_kernel"),
        (OutputCodeClassifier(RandomForestClassifier(5, random_state=0)), "RandomForestClassifier"),
        (AdaBoostOC(5, estimator=RandomForestClassifier(5), random_state=0), "RandomForestClassifier"),
        (GaussianNB(), "GaussianNB"),
        (SVC(), "SVC"),
        (make_pipeline(FunctionTransformer(np.cbrt), OutputCodeClassifier("ridge")), "FunctionTransformer"),
        (make_pipeline(KNeighborsTransformer(n_neighbors=3), OutputCodeClassifier("ridge")), "KNeighborsTransformer"),
        (make_pipeline(LinearDiscriminantAnalysis(), OutputCodeClassifier("ridge")), "LinearDiscriminantAnalysis"),
        (make_pipeline(OneHotEncoder(handle_unknown="ignore"), OutputCodeClassifier("ridge")), "OneHotEncoder"),
    ],
    ids=lambda one: one.split("(")[0] if isinstance(one, str) else "",
)
def test_what_cannot_be_exported_is_refused_by_name(model, named):
    X, y = load_iris(return_X_y=True)
    with pytest.raises(NotExportableError, match=re.escape(named)):
        to_onnx(model.fit(X, y))


def test_a_graph_that_no_runtime_opens_is_refused_with_its_steps():
    """skl2onnx joins bins in single precision with features in double precision."""
    X, y = load_iris(return_X_y=True)
    bins = KBinsDiscretizer(3, encode="ordinal", strategy="uniform")
    model = make_pipeline(make_union(bins, StandardScaler()), PCA(2), OutputCodeClassifier("ridge")).fit(X, y)
    with pytest.raises(NotExportableError, match=r"with KBinsDiscretizer, PCA .* no valid graph .* Instead: transform"):
        to_onnx(model)


def test_columns_with_any_name(agree):
    frame, y = table()
    frame.columns = ["mass (g)", "skin", "1st day", "größe/ü"]
    schema = infer(frame, "class")
    agree(build(schema, "tree").fit(schema.conform(frame), y), schema.conform(frame))


def test_codes_of_your_own_are_matrices(agree):
    X, y = load_iris(return_X_y=True)
    agree(OutputCodeClassifier("ridge", code=OwnCode()).fit(X, y), X)


def test_the_extra_is_named_where_it_is_missing():
    hidden = "import sys; sys.modules['skl2onnx'] = None\n"
    fit = "from outputcodes import *\nmodel = OutputCodeClassifier('ridge').fit([[0.0], [1.0]], [0, 1])\nto_onnx(model)"
    done = subprocess.run([sys.executable, "-c", hidden + fit], capture_output=True, text=True)
    assert "The export to ONNX needs skl2onnx: pip install 'outputcodes[onnx]'" in done.stderr


def test_arrays_are_one_input():
    assert list(onnx_inputs(np.zeros((2, 3)))) == ["X"]


def test_the_weak_learner_of_a_booster_is_refused_as_such():
    model = AdaBoostOC(2, estimator=LogisticRegression(), random_state=0).fit(*load_iris(return_X_y=True))
    with pytest.raises(NotExportableError, match=r"LogisticRegression.* is the weak learner of a booster"):
        to_onnx(model)
