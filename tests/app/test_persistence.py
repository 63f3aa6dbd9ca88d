"""Saved models answer bit for bit what the fitted ones did; files that are no models are refused by name."""

from __future__ import annotations

import json
import os
import pickle
import shutil
import sys
from threading import Lock
from zipfile import ZipFile

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.base import BaseEstimator
from sklearn.datasets import load_iris
from sklearn.ensemble import GradientBoostingClassifier, HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

import outputcodes
from outputcodes import boosting, codes, decoders
from outputcodes.app import persistence
from outputcodes.app.persistence import describe, load, save
from outputcodes.app.tables import Column, Schema, categorical_features, infer, preprocessing
from outputcodes.classifier import OutputCodeClassifier
from outputcodes.decisions import DecisionClassifier
from outputcodes.decoders.names import DECODERS
from outputcodes.direct.multiclass_svm import MulticlassSVC
from outputcodes.learners.linear.ridge import Ridge
from outputcodes.learners.names import LEARNERS
from outputcodes.learners.trees.stumps import BoostedStumps
from outputcodes.selection import BoundSearch

pytest.importorskip("skops")

X, y = load_iris(return_X_y=True)
X, y = X[::3], np.array(["setosa", "versicolor", "virginica"])[y[::3]]


def classes_in(module, kind):
    """The public classes of a module."""
    found = (getattr(module, name) for name in module.__all__)
    return [c for c in found if isinstance(c, type) and issubclass(c, kind) and c is not kind]


MODELS = [
    *(pytest.param(OutputCodeClassifier(name, code="dense", random_state=0), id=name) for name in LEARNERS),
    *(
        pytest.param(OutputCodeClassifier("ridge", decoder=d, random_state=0), id=f"decoder {d}")
        for d in DECODERS
        if not DECODERS[d]().searches
    ),
    # Objects of these classes are found in the module, so that a new one is tested too.
    *(
        pytest.param(OutputCodeClassifier("ridge", decoder=d(), random_state=0), id=d.__name__)
        for d in classes_in(decoders, decoders.Decoder)
        if not d.searches
    ),
    *(
        pytest.param(OutputCodeClassifier("ridge", probability=p, random_state=0), id=f"probability {p}")
        for p in ("likelihood", "coupling", "softmax")
    ),
    *(
        pytest.param(booster(n_rounds=5, random_state=0), id=booster.__name__)
        for booster in classes_in(boosting, boosting.Booster)
    ),
    pytest.param(boosting.AdaBoostMO(estimator=DecisionTreeClassifier(max_depth=1), n_rounds=3), id="trees boosted"),
    pytest.param(MulticlassSVC(), id="MulticlassSVC"),
    pytest.param(OutputCodeClassifier(), id="foreign"),
    pytest.param(OutputCodeClassifier(SVC()), id="SVC"),
    pytest.param(OutputCodeClassifier(LogisticRegression(), variant="single-call"), id="single call"),
    pytest.param(OutputCodeClassifier(DecisionTreeClassifier(random_state=0)), id="trees"),
    pytest.param(HistGradientBoostingClassifier(max_iter=3), id="histogram boosting"),
    pytest.param(GradientBoostingClassifier(n_estimators=3), id="gradient boosting"),
    pytest.param(OutputCodeClassifier("ridge", code=[[1, 1], [-1, 1], [0, -1]]), id="given"),
    *(
        pytest.param(OutputCodeClassifier("ridge", code=code(), random_state=0), id=code.__name__)
        for code in classes_in(codes, codes.Code)
        if code is not codes.Given
    ),
    pytest.param(
        DecisionClassifier(OutputCodeClassifier("ridge", probability="softmax"), reject_below=0.9), id="decision"
    ),
    pytest.param(BoundSearch(OutputCodeClassifier(Ridge()), {"estimator__alpha": [1, 10]}), id="search"),
]


def answers(model, X):
    asked = [name for name in ("predict", "decision_function", "predict_proba") if hasattr(model, name)]
    return {name: getattr(model, name)(X) for name in asked}


def assert_same_answers(model, loaded, X):
    before, after = answers(model, X), answers(loaded, X)
    assert before.keys() == after.keys()
    for name, values in before.items():
        assert np.array_equal(values, after[name])


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_round_trip(tmp_path, model):
    model.fit(X, y)
    save(model, tmp_path / "m.skops")
    loaded, _ = load(tmp_path / "m.skops")
    assert_same_answers(model, loaded, X)
    assert os.listdir(tmp_path) == ["m.skops"]


@pytest.mark.parametrize("learner", LEARNERS)
def test_round_trip_of_a_binary_learner(tmp_path, learner):
    model = LEARNERS[learner]().fit(X, y == "setosa")
    save(model, tmp_path / "m.skops")
    assert_same_answers(model, load(tmp_path / "m.skops")[0], X)


@pytest.mark.parametrize("learner", [name for name, make in LEARNERS.items() if make().takes_sparse])
def test_round_trip_of_what_sparse_features_leave(tmp_path, learner):
    model = OutputCodeClassifier(learner, code="dense", random_state=0).fit(csr_array(X), y)
    save(model, tmp_path / "m.skops")
    assert_same_answers(model, load(tmp_path / "m.skops")[0], csr_array(X))


def test_round_trip_of_a_kernel_machine_with_pieces(tmp_path):
    model = OutputCodeClassifier("kernel-svm", code="all-pairs").fit(X, y)
    save(model, tmp_path / "m.skops")
    assert_same_answers(model, load(tmp_path / "m.skops")[0], X)


@pytest.mark.parametrize("learner", LEARNERS)
def test_a_pipeline_on_a_table(tmp_path, learner):
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(X, columns=list("abcd")).assign(
        colour=["red", None] * (len(y) // 2),
        born=pd.Timestamp("2020-01-01") + pd.to_timedelta(np.arange(len(y)), "D"),
    )
    frame.loc[::7, "a"] = np.nan
    schema = infer(frame, "kind", np.unique(y).tolist())
    estimator = (
        BoostedStumps(n_rounds=5, categorical_features=categorical_features(schema)) if learner == "stumps" else learner
    )
    model = make_pipeline(preprocessing(schema, learner), OutputCodeClassifier(estimator, code="dense", random_state=0))
    model.fit(frame, y)
    save(model, tmp_path / "m.skops", schema=schema)
    loaded, manifest = load(tmp_path / "m.skops")
    assert manifest.schema == schema
    assert_same_answers(model, loaded, frame.assign(colour="violet"))


def test_what_a_file_says_of_itself(tmp_path):
    schema = Schema((Column("x", "category", ("a", "b")),), "class", (1, 2))
    save(OutputCodeClassifier("ridge").fit(X, y), tmp_path / "m.skops", schema=schema, summary={"error": 0.25})
    manifest = describe(tmp_path / "m.skops")
    assert manifest.schema == schema
    assert manifest.summary == {"error": 0.25}
    assert manifest.versions["outputcodes"] == outputcodes.__version__
    assert "outputcodes.classifier.OutputCodeClassifier" in manifest.types


@pytest.fixture
def saved(tmp_path):
    path = tmp_path / "m.skops"
    save(OutputCodeClassifier("ridge").fit(X, y), path)
    return path


def test_a_failed_save_leaves_the_old_file(saved):
    before = saved.read_bytes()
    with pytest.raises(TypeError, match="JSON"):
        save(LogisticRegression(), saved, summary={"file": object()})
    with pytest.raises(persistence.UnsavableModelError, match="Holder"):
        save(Holder(Lock()), saved)
    assert saved.read_bytes() == before
    assert os.listdir(saved.parent) == ["m.skops"]


class Holder(BaseEstimator):
    def __init__(self, what=None):
        self.what = what


def test_a_pickle_is_not_read(tmp_path):
    class Trap:
        def __reduce__(self):
            return os.mkdir, (str(tmp_path / "sprung"),)

    path = tmp_path / "m.skops"
    path.write_bytes(pickle.dumps(Trap()))
    with pytest.raises(persistence.NotAModelError, match="pickle"):
        load(path)
    assert not (tmp_path / "sprung").exists()


def test_no_model(tmp_path, saved):
    with pytest.raises(persistence.NoSuchModelError, match="nothing"):
        load(tmp_path / "nothing.skops")
    (tmp_path / "text.skops").write_text("hello")
    with pytest.raises(persistence.NotAModelError, match="not a skops file"):
        load(tmp_path / "text.skops")
    np.savez(tmp_path / "arrays.npz", X=X)
    with pytest.raises(persistence.NotAModelError, match="did not write it"):
        load(tmp_path / "arrays.npz")


@pytest.mark.parametrize("kept", [0.1, 0.5, 0.9, 0.999])
def test_a_truncated_model(saved, kept):
    content = saved.read_bytes()
    saved.write_bytes(content[: int(kept * len(content))])
    with pytest.raises(persistence.DamagedModelError, match="incomplete"):
        load(saved)


def test_a_flipped_bit_never_goes_unnoticed(saved):
    model, _ = load(saved)
    content = saved.read_bytes()
    for place in np.random.default_rng(0).integers(len(content), size=40):
        damaged = bytearray(content)
        damaged[place] ^= 4
        saved.write_bytes(damaged)
        try:
            loaded, _ = load(saved)
        except persistence.ModelFileError:
            continue
        assert_same_answers(model, loaded, X)


def rewritten(path, member, change):
    """The archive with the JSON of one member changed."""
    other = path.with_suffix(".new")
    with ZipFile(path) as old, ZipFile(other, "w") as new:
        for name in old.namelist():
            content = old.read(name)
            new.writestr(name, json.dumps(change(json.loads(content))) if name == member else content)
    shutil.move(other, path)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"format": persistence.FORMAT + 1}, "or later"),
        ({"versions": {"outputcodes": "99.1.0"}}, "install 99.1.0 or later"),
        ({"format": persistence.OLDEST_FORMAT - 1}, "too old for this version"),
    ],
)
def test_a_version_that_is_not_read(saved, change, told):
    rewritten(saved, persistence.MANIFEST, lambda manifest: manifest | change)
    with pytest.raises(persistence.OtherVersionError, match=f"saved by outputcodes .*{told}"):
        load(saved)


def test_an_earlier_version_of_the_same_format(saved):
    rewritten(saved, persistence.MANIFEST, lambda manifest: manifest | {"versions": {"outputcodes": "0.1.7"}})
    assert load(saved)[1].versions["outputcodes"] == "0.1.7"


@pytest.mark.parametrize(
    "forged", ["os.system", "builtins.eval", "outputcodes.app.persistence.save", "outputcodes.nothing.X"]
)
def test_an_untrusted_type(saved, forged):
    module, _, name = forged.rpartition(".")
    rewritten(saved, "schema.json", lambda schema: schema | {"__module__": module, "__class__": name})
    with pytest.raises(persistence.UntrustedTypesError, match=forged):
        load(saved)


def test_a_foreign_type_by_its_name(tmp_path):
    path = tmp_path / "m.skops"
    save(Holder(3), path)
    name = f"{Holder.__module__}.Holder"
    with pytest.raises(persistence.UntrustedTypesError, match="Holder"):
        load(path)
    assert load(path, trusted=[name])[0].what == 3


def test_what_to_install(saved, monkeypatch):
    monkeypatch.setitem(sys.modules, "skops.io", None)
    with pytest.raises(ImportError, match=r"pip install 'outputcodes\[skops\]'"):
        load(saved)
