"""What wins a race: averages of pipelines, with every contestant, on tables of all kinds."""

import re

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.svm import SVC

from outputcodes import MulticlassSVC, OutputCodeClassifier, to_onnx
from outputcodes.app.export import NotExportableError
from outputcodes.app.export.classifiers import FOREIGN
from outputcodes.app.run import SYSTEMS, build
from outputcodes.app.run.race.winner import model_of, race_on, view_of
from outputcodes.app.tables import from_frame
from outputcodes.direct import NearestCentroids
from outputcodes.selection import CONTESTANTS, Race
from outputcodes.selection.probable import ScoresAsProbabilities
from outputcodes.selection.race import contestants
from outputcodes.selection.race.blend import Blend
from outputcodes.selection.race.contestants import Entry
from outputcodes.selection.race.views import kinds_of, plain_table
from outputcodes.selection.renumbered import Renumbered

pd = pytest.importorskip("pandas")
SAVABLE = [name for name, one in CONTESTANTS.items() if not one.needs]
FEW = {"n_estimators": 5, "max_iter": 20, "n_rounds": 5}


def fruits(n=90):
    """Numbers, dates and two kinds of categories, some of them missing; the labels are texts."""
    rng = np.random.default_rng(0)
    fruit = np.arange(n) % 3
    frame = pd.DataFrame(
        {
            "skin": np.array(["red", "yellow", "green"], dtype=object)[(fruit + (rng.random(n) < 0.3)) % 3],
            "mass": np.array([150.0, 100.0, 180.0])[fruit] + 25 * rng.standard_normal(n),
            "picked": pd.to_datetime("2026-01-01") + pd.to_timedelta(rng.integers(0, 10**13, n), "us"),
            "farm": rng.choice(["north", "east", "west", "south"], n).astype(object),
            "size": rng.integers(0, 5, n).astype(np.float64),
        }
    )
    frame.loc[::7, "mass"], frame.loc[::11, "skin"], frame.loc[::13, "picked"] = np.nan, None, pd.NaT
    return frame, pd.Series(np.array(["apple", "lemon", "pear"])[fruit])


def small(model):
    """With few rounds and trees, so that it is quick."""
    known = {name: name.rpartition("__")[2] for name in model.get_params()}
    boosts = isinstance(model[-1], HistGradientBoostingClassifier)
    return model.set_params(**{n: FEW[s] for n, s in known.items() if s in FEW and (s != "max_iter" or boosts)})


def member(name, X, y):
    one = CONTESTANTS[name]
    entry = Entry(name, one.codes[0] if one.codes else "")
    made = contestants.build(one, entry, X, kinds_of(X), 0)
    return small(made).fit(X, y)


def new_rows(frame, largest=1e4):
    """Rows that no model was trained on: new categories, a huge number, missing values."""
    frame = frame.copy()
    frame["mass"] += 0.123
    frame.loc[1, ["skin", "farm"]], frame.loc[2, "mass"] = "blue", largest
    return frame


@pytest.mark.parametrize("name", SAVABLE)
def test_every_contestant_on_a_table(agree, name):
    frame, target = fruits()
    schema = from_frame(frame, target).schema
    view = view_of(schema)
    classes, y = np.unique(target, return_inverse=True)
    model = member(name, plain_table(view.transform(frame)), y)
    blend = Pipeline([("table", view), ("classifier", Blend([model], [0.7], [0.01], [1.0], classes.tolist()))])
    # Sums with such a number are but rounding; trees compare it.
    largest = 1e200 if CONTESTANTS[name].family in ("boosted trees", "boosters", "forests", "trees") else 1e4
    agree(blend, schema.conform(new_rows(frame, largest)))


@pytest.mark.parametrize("name", SAVABLE)
def test_every_contestant_on_numbers_of_two_classes(agree, name):
    X, y = load_breast_cancer(return_X_y=True)
    X, y = X[::4, :6], y[::4]
    model = member(name, X, y)
    race = Race()
    race.model_ = Blend([model, model], [2.0, 1.0], [0.0, 0.1], [0.25, 0.75], [False, True])
    race.classes_, race.n_features_in_ = np.array([False, True]), 6
    agree(race, X + 0.01)


def test_a_race_from_the_table_to_the_file(agree):
    frame, target = fruits()
    table = from_frame(frame, target)
    race = race_on(table, None, contestants=["ridge", "decision-tree", "neighbours"])
    agree(model_of(race, table.schema), new_rows(table.frame))


def test_a_race_on_a_data_frame(agree):
    frame, target = fruits()
    race = Race(None, contestants=["ridge", "decision-tree"], random_state=0).fit(frame, target)
    agree(race, new_rows(frame), frame)
    with pytest.raises(NotExportableError, match="tables of unknown types"):
        to_onnx(race)
    with pytest.raises(NotExportableError, match=re.escape("The column 'size' cannot be exported")):
        to_onnx(race, frame.assign(size=True))


def test_rare_categories_share_an_indicator(agree):
    """There are more than can have one each; new ones are counted among the rare."""
    rng = np.random.default_rng(0)
    city = np.array([f"city {i}" for i in range(300)], dtype=object)
    frame = pd.DataFrame({"city": np.append(city, rng.choice(city[:200], 300)), "x": rng.standard_normal(600)})
    y = np.arange(600) % 3
    model = member("ridge", plain_table(frame), y)
    assert model[0].named_transformers_["categories"].infrequent_categories_[0] is not None
    race = Race()
    race.model_, race.classes_ = Blend([model], [1.0], [0.0], [1.0], [0, 1, 2]), np.arange(3)
    race.feature_names_in_, race.n_features_in_ = np.array(["city", "x"], dtype=object), 2
    frame.loc[0, "city"], frame.loc[1, "city"] = "elsewhere", None
    agree(race, frame, frame)


@pytest.mark.parametrize("name", [name for name, make in SYSTEMS.items() if type(make()) in FOREIGN])
def test_systems_of_scikit_learn_alone(agree, name):
    frame, target = fruits()
    table = from_frame(frame, target)
    # A row of the training has a distance of 0 to itself but for rounding: others are predicted.
    train = np.arange(len(target)) % 2 == 0
    model = build(table.schema, name).fit(table.frame[train], target[train])
    agree(model, new_rows(table.frame[~train]))


@pytest.mark.parametrize("k", [2, 3])
def test_categories_of_scikit_learns_boosting(agree, k):
    """The class is known by sets of categories alone; missing and new ones have a side too."""
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.standard_normal(400), rng.integers(0, 40, 400), rng.standard_normal(400)])
    y = (7 * X[:, 1] % 11).astype(int) % k
    X[::19, 1], X[::23, 0] = np.nan, np.nan
    model = HistGradientBoostingClassifier(max_iter=10, categorical_features=[1], random_state=0).fit(X, y)
    assert model.score(X[~np.isnan(X[:, 1])], y[~np.isnan(X[:, 1])]) > 0.9
    X[:3, 1] = 77, -3, 2.5
    agree(model, X)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix, sparse.csr_array])
@pytest.mark.parametrize("weights", ["uniform", "distance"])
def test_neighbours_at_a_distance_of_zero(agree, weights, form):
    """Whole numbers have exact distances: rows that equal one of the training count alone."""
    X = np.random.default_rng(0).integers(0, 1000, (60, 3)).astype(float)
    y = np.arange(60) % 3
    found = agree(KNeighborsClassifier(4, weights=weights, algorithm="brute").fit(form(X), y), np.vstack([X, X + 50]))
    assert (found["probabilities"][:60].max(axis=1) == 1).all() == (weights == "distance")


@pytest.mark.parametrize("make", [MulticlassSVC, NearestCentroids])
@pytest.mark.parametrize("k", [2, 3])
def test_scores_as_probabilities(agree, make, k):
    X, y = load_iris(return_X_y=True)
    agree(ScoresAsProbabilities(make()).fit(X[y < k], y[y < k]), X)


def test_what_cannot_be_exported_is_refused_with_the_remedy():
    X, y = load_iris(return_X_y=True)
    refused = {
        "SVC": make_pipeline(SVC()),
        "GaussianNB": make_pipeline(Renumbered(GaussianNB())),
        "Beam": make_pipeline(OutputCodeClassifier("ridge", code="tree")),
        "KNeighborsClassifier(metric='manhattan'": make_pipeline(KNeighborsClassifier(metric="manhattan")),
    }
    for name, one in refused.items():
        race = Race()
        race.model_, race.classes_ = Blend([clone(one).fit(X, y)], [1.0], [0.0], [1.0], [0, 1, 2]), np.arange(3)
        race.n_features_in_ = 4
        with pytest.raises(
            NotExportableError, match=re.escape(name) + r".*name the others in contestants \(--learners"
        ):
            to_onnx(race)
