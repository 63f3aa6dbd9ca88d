"""Bad input is refused at the door, by name, with a remedy."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.utils import get_tags

from outputcodes import GradientBoost, OutputCodeClassifier
from outputcodes._ground.naming import WITH_NAN, WITH_SPARSE
from outputcodes.boosting import AdaBoostMH
from outputcodes.codes import Dense, check_code
from outputcodes.decoders import AccuracyWeighted, LossBased
from outputcodes.learners import LEARNERS, BoostedTrees, PerColumn

X, y = load_iris(return_X_y=True)


class SignOnly(ClassifierMixin, BaseEstimator):
    """A classifier with nothing but predict."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        self.inner_ = LogisticRegression(max_iter=1000).fit(X, y)
        return self

    def predict(self, X):
        return self.inner_.predict(X)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"code": "one-vs-rest"}, "one-vs-rest.*one-vs-all"),
        ({"code": [[1, -1], [-1, 1]]}, "2.*3"),
        ({"code": [[1, 2], [-1, 1], [1, 1]]}, "2"),
        ({"code": [[1], [1], [-1]]}, "rows"),
        ({"decoder": "loss-based"}, "decoder='loss-based' is unknown"),
        ({"code": "dense", "decoder": "vote", "random_state": 0, "estimator": None}, None),
        ({"code": "one-vs-all", "decoder": "dag"}, "all-pairs"),
        ({"variant": "twice"}, "variant='twice' must be"),
        ({"probability": "magic"}, "probability='magic'"),
        ({"estimator": SVC}, "must be an instance"),
        ({"estimator": []}, "empty list"),
        ({"estimator": StandardScaler()}, "classifier or regressor"),
        ({"estimator": PerColumn(SVC(), scale=-1)}, "scale=-1 must be"),
        ({"estimator": PerColumn(SVC(), margin_loss="hing")}, "did you mean 'hinge'"),
        ({"decoder": LossBased("hing")}, "did you mean 'hinge'"),
        ({"decoder": AccuracyWeighted("hing")}, "did you mean 'hinge'"),
        ({"code": Dense}, "an instance such as Dense"),
        ({"code": None}, "code=None must be"),
        ({"estimator": "rigde"}, "did you mean 'ridge'"),
        ({"estimator": SVC(kernel="precomputed"), "variant": "single-call"}, "precomputed|square"),
    ],
)
def test_parameters(parameters, message):
    model = OutputCodeClassifier(**parameters)
    if message is None:  # dense at k = 3 is complete: three columns, yet not the three pairs
        message = "all-pairs"
    with pytest.raises(ValueError, match=message):
        model.fit(X, y)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ((X, np.zeros(150)), "only one class"),
        ((X, np.linspace(0, 1, 150)), "Unknown label type"),
        ((X, y[:100]), "y has 100 labels but X has 150 rows; give one label per row"),
        ((X, None), "requires y"),
        ((X[:0], y[:0]), "0 sample"),
        ((np.where(X > 7, np.nan, X), y), "NaN"),
        ((np.where(X > 7, np.inf, X), y), "infinity"),
        ((X, np.column_stack([y, y])), "1d array"),
        ((X, [None, *"ab" * 74, "a"]), "y has missing labels"),
        ((X, [np.nan, *[0.0, 1.0] * 74, 0.0]), "y has missing labels"),
        ((X, np.array([np.nan, *"ab" * 74, "a"], dtype=object)), "y has missing labels"),
        ((X, pd.Series([pd.NA, *"ab" * 74, "a"], dtype="string")), "y has missing labels"),
        ((X, np.array(["a", 1, 2] * 50, dtype=object)), "y has text beside other labels"),
        ((X, np.array([1, "a", 2] * 50, dtype=object)), "y has text beside other labels"),
    ],
)
def test_data(data, message):
    with pytest.raises(ValueError, match=message):
        OutputCodeClassifier().fit(*data)


def test_learners_that_accept_missing_values_are_named():
    able = [name for name, make in LEARNERS.items() if get_tags(make()).input_tags.allow_nan]
    assert set(able) == set(WITH_NAN)
    with pytest.raises(ValueError, match=r"Input X contains NaN, and OutputCodeClassifier .* 'boosted-trees'"):
        OutputCodeClassifier("ridge").fit(np.where(X > 7, np.nan, X), y)


@pytest.mark.parametrize("make", [OutputCodeClassifier, GradientBoost])
def test_a_label_of_class_weight_that_no_row_has_is_named(make):
    with pytest.raises(
        ValueError,
        match=r"class_weight has weights for 7, which no row that counts has as its label; the labels are 0, 1, 2\.",
    ):
        make(class_weight={0: 2.0, 7: 3.0}).fit(X, y)


def test_learners_that_accept_sparse_features_are_named():
    able = [name for name, make in LEARNERS.items() if get_tags(make()).input_tags.sparse]
    assert set(able) == set(WITH_SPARSE)
    for model, who in [
        (GradientBoost(), "GradientBoost"),
        (OutputCodeClassifier("boosted-trees"), "OutputCodeClassifier with estimator='boosted-trees'"),
        (BoostedTrees(), "BoostedTrees"),
    ]:
        with pytest.raises(
            TypeError, match=rf"X is sparse, and {who} takes dense X only: .*OutputCodeClassifier with .* 'logistic'"
        ):
            model.fit(sparse.csr_matrix(X), y % 2)


@pytest.mark.parametrize("make", [GradientBoost, lambda: OutputCodeClassifier("ridge"), lambda: AdaBoostMH(3)])
def test_dates_are_refused_by_the_name_of_their_column(make):
    frame = pd.DataFrame({"size": np.arange(9.0), "when": pd.date_range("2020-01-01", periods=9)})
    for some in (["size", "when"], ["when"]):
        with pytest.raises(ValueError, match="Column 'when' of X has dates or times, which are not numbers"):
            make().fit(frame[some], [0, 1, 2] * 3)


@pytest.mark.parametrize("other", [[True, False] * 75, pd.array(range(150), dtype="Int64"), [1.5] * 150])
def test_text_in_a_categorical_column_is_named_whatever_stands_beside_it(other):
    frame = pd.DataFrame({"number": other, "colour": pd.Categorical(["red", "blue", "red"] * 50)})
    with pytest.raises(ValueError, match=r"X has text in column 'colour' \('red' in row 0\), but GradientBoost"):
        GradientBoost(n_rounds=2).fit(frame, y)


@pytest.mark.parametrize(
    ("weight", "message"),
    [
        (np.ones(10), "10 entries but X has 150 rows"),
        (np.ones((150, 2)), "1-dimensional"),
        (np.where(y == 0, -1.0, 1.0), r"sample_weight\[0\]=-1.0"),
        (np.where(y == 0, np.nan, 1.0), r"sample_weight\[0\]=nan"),
        (np.zeros(150), "zero for every row"),
        (np.where(y == 0, 1.0, 0.0), "only one class with positive weight"),
    ],
)
def test_weights(weight, message):
    with pytest.raises(ValueError, match=message):
        OutputCodeClassifier().fit(X, y, sample_weight=weight)


def test_an_estimator_without_weights_says_so():
    with pytest.raises(ValueError, match=r"KNeighborsClassifier.fit takes none"):
        OutputCodeClassifier(KNeighborsClassifier()).fit(X, y, sample_weight=np.arange(150))


def test_before_fitting_and_with_other_features():
    model = OutputCodeClassifier()
    for method in (
        model.predict,
        model.decision_function,
        model.margins,
        lambda X: model.with_decoder("hinge"),
    ):
        with pytest.raises(NotFittedError):
            method(X)
    model.fit(X, y)
    with pytest.raises(ValueError, match="3 features"):
        model.predict(X[:, :3])


def test_sign_only_classifiers_warn_under_loss_based_decoding_alone():
    with pytest.warns(UserWarning, match="neither decision_function nor predict_proba"):
        OutputCodeClassifier(SignOnly()).fit(X, y)
    model = OutputCodeClassifier(SignOnly(), decoder="hamming").fit(X, y)
    assert set(np.unique(model.margins(X))) == {-1, 1}


def test_codes_that_are_no_matrix():
    pandas = pytest.importorskip("pandas")
    for code in ("dense", Dense()):
        with pytest.raises(ValueError, match="draw it first"):
            check_code(code)
    twice = pandas.DataFrame([[1, 1], [-1, 1], [1, -1], [-1, -1]], index=[0, 1, 2, 2])
    with pytest.raises(ValueError, match="two rows for the label 2"):
        OutputCodeClassifier(code=twice).fit(X, y)


def test_infinite_features_are_refused_where_missing_ones_are_not():
    from sklearn.ensemble import HistGradientBoostingClassifier

    with pytest.raises(ValueError, match="infinity"):
        OutputCodeClassifier(HistGradientBoostingClassifier()).fit(np.where(X > 7, np.inf, X), y)
