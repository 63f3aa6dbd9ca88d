"""`compare` is what a user would get by cross-validating each classifier alone."""

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.linear_model import RidgeClassifier
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import ShuffleSplit, StratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from outputcodes import OutputCodeClassifier
from outputcodes.codes import Code, Dense, as_code
from outputcodes.codes._data_driven import DataDriven
from outputcodes.decoders import Likelihood, LossBased, Softmax
from outputcodes.learners import Ridge
from outputcodes.selection import compare, corrected_t_test, mcnemar

X, y = load_iris(return_X_y=True)


def test_errors_are_those_of_cross_validation():
    folds = StratifiedKFold(4, shuffle=True, random_state=0)
    rows = compare(
        X,
        y,
        RidgeClassifier(),
        codes=["one-vs-all", "all-pairs", Dense(), {2: [1, 1], 0: [-1, 1], 1: [-1, -1]}],
        decoders=["hamming", "loss", "vote", "accuracy-weighted", LossBased("hinge", zeros="ignore")],
        cv=4,
    )
    # "vote" serves only all-pairs.
    assert len(rows) == 4 * 4 + 1
    assert [row.error for row in rows] == sorted(row.error for row in rows)
    named = {
        "given": [[-1, 1], [-1, -1], [1, 1]],
        "Dense()": Dense(),
        "LossBased(loss='hinge', zeros='ignore')": LossBased("hinge", zeros="ignore"),
    }
    for row in rows:
        alone = OutputCodeClassifier(
            RidgeClassifier(),
            code=named.get(row.code, row.code),
            decoder=named.get(row.decoder, row.decoder),
            random_state=0,
        )
        scores = cross_val_score(alone, X, y, cv=folds)
        assert row.fold_errors == pytest.approx(tuple(1 - scores))
        assert row.error == pytest.approx(1 - scores.mean())
        assert row.spread == pytest.approx(scores.std(ddof=1))
        if row is not rows[0]:
            p = corrected_t_test(row.fold_errors, rows[0].fold_errors, 1 / 3).p_value
            assert row.p_value == pytest.approx(p, rel=1e-3)
        assert row.learner == ""


def test_several_learners_and_decoders_that_learn_from_held_out_margins():
    folds = StratifiedKFold(3, shuffle=True, random_state=0)
    learners = {"flat": Ridge(alpha=100.0), "steep": Ridge(alpha=0.01)}
    rows = compare(X, y, learners, codes="one-vs-all", decoders=["linear", Likelihood()], cv=3)
    assert {(row.learner, row.decoder) for row in rows} == {
        (name, decoder) for name in learners for decoder in ("linear", "Likelihood()")
    }
    for row in rows:
        decoder = "linear" if row.decoder == "linear" else Likelihood()
        alone = OutputCodeClassifier(learners[row.learner], code="one-vs-all", decoder=decoder, random_state=0)
        assert row.fold_errors == pytest.approx(tuple(1 - cross_val_score(alone, X, y, cv=folds)))


def test_a_list_of_learners_has_their_names():
    rows = compare(X, y, learners=["ridge", Ridge(alpha=5.0)], codes="one-vs-all", decoders="linear", cv=3)
    mapped = compare(X, y, {"one": "ridge", "two": Ridge(alpha=5.0)}, codes="one-vs-all", decoders="linear", cv=3)
    assert {row.learner: row.fold_errors for row in rows} == {
        {"one": "ridge", "two": "Ridge(alpha=5.0)"}[row.learner]: row.fold_errors for row in mapped
    }
    with pytest.raises(ValueError, match="two of the same name"):
        compare(X, y, ["ridge", "ridge"])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"y": y[:-1]}, "inconsistent numbers of samples"),
        ({"y": 0 * y}, "only one class"),
        ({"learners": {}}, "learners is empty"),
        ({"codes": []}, "codes is empty"),
        ({"decoders": ()}, "decoders is empty"),
        ({"decoders": ["guess"]}, "decoder='guess' is unknown"),
        ({"metric": "luck"}, "metric='luck' must be one of error"),
        ({"cv": 51}, "^cv=51 is more than the 50 rows of the class 0; use cv=50 or less, or give a splitter as cv.$"),
        (
            {"X": X[:52], "y": np.r_[y[:51], 7], "cv": 2},
            "^cv=2 is more than the 1 row of the class 1; add rows of it, leave it out, or give a splitter as cv.$",
        ),
        ({"y": np.eye(3, dtype=int)[y]}, "^y is multilabel; compare ranks classifiers of one label per row. Compare"),
    ],
)
def test_what_cannot_be_compared_is_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        compare(**{"X": X, "y": y, "learners": "ridge"} | arguments)


def test_a_kernel_matrix_is_cut_in_both_directions():
    direct = compare(X, y, SVC(gamma=0.5), codes=["dense"], decoders=["loss", "vote", "hamming"], cv=3)
    given = compare(
        rbf_kernel(X, gamma=0.5), y, SVC(kernel="precomputed"), codes=["dense"], decoders=["loss", "hamming"], cv=3
    )
    assert [row.fold_errors for row in given] == [row.fold_errors for row in direct]


def test_a_code_made_from_data_is_made_in_every_fold():
    seen = []

    class LargestClassFirst(DataDriven):
        def _from_problem(self, k, rng, problem):
            order = np.argsort(-np.bincount(problem.y[problem.rows]), kind="stable")
            seen.append(order.tolist())
            return np.where(np.arange(k)[:, None] == order, 1, -1).astype(np.int8)

    cv = ShuffleSplit(4, test_size=0.3, random_state=0)
    rows = compare(X, y, RidgeClassifier(), codes=[LargestClassFirst()], decoders=["linear"], cv=cv)
    assert seen == [np.argsort(-np.bincount(y[train]), kind="stable").tolist() for train, _ in cv.split(X)]
    assert len(rows[0].fold_errors) == 4


def test_on_one_split_p_is_that_of_the_rows_which_one_of_two_misses():
    train, test = next(ShuffleSplit(1, test_size=0.5, random_state=0).split(X))
    best, other = compare(X, y, RidgeClassifier(), codes="dense", decoders=["linear", "hamming"], cv=[(train, test)])
    for row in (best, other):
        model = OutputCodeClassifier(RidgeClassifier(), code="dense", decoder=row.decoder, random_state=0)
        np.testing.assert_array_equal(row.losses, model.fit(X[train], y[train]).predict(X[test]) != y[test])
    assert best.p_value is None
    assert other.p_value == mcnemar(other.losses, best.losses).p_value < 1


def test_one_code_for_all_folds_even_if_one_lacks_a_class():
    order = np.argsort(y, kind="stable")
    parts = [(order[50:], order[:50]), (order[:100], order[100:])]
    seen = []
    with pytest.warns(UserWarning, match="return a constant"):
        rows = compare(
            X,
            y,
            RidgeClassifier(),
            codes=["one-vs-all"],
            decoders=["linear"],
            cv=parts,
            watch=lambda code, done, total: seen.append((code, done, total)),
        )
    assert rows[0].columns == 3
    assert rows[0].fold_errors[0] == 1  # a class never seen in training is never right
    assert seen == [("one-vs-all", 1, 2), ("one-vs-all", 2, 2)]


def test_decoders_that_learn_from_held_out_margins_share_the_trainings():
    trained = []

    class Recording(RidgeClassifier):
        def fit(self, X, y, sample_weight=None):
            trained.append(len(y))
            return super().fit(X, y, sample_weight)

    decoders = [Likelihood(), "coupling", Softmax("loss"), "accuracy-weighted", "linear"]
    rows = compare(X, y, Recording(), ["one-vs-all"], decoders, 2)
    assert len(rows) == len(decoders)
    # In each of two folds, three columns on its 75 rows and on those of three inner folds.
    assert sorted(trained) == 2 * 3 * 3 * [50] + 2 * 3 * [75]


def test_a_decoder_must_serve_a_code_made_from_data_in_every_fold():
    class PairsInTheFirstFold(Code):
        needs_problem = True

        def _matrix(self, k, rng, problem):
            return as_code("all-pairs" if problem.rows.size < 100 else "one-vs-all").draw(k).matrix()

    folds = [(np.r_[:45, 50:95, 100:109], np.r_[45:50]), (np.r_[:45, 50:95, 100:145], np.r_[145:150])]
    for parts in (folds, folds[::-1]):
        rows = compare(X, y, RidgeClassifier(), [PairsInTheFirstFold()], ["vote", "linear"], parts)
        assert [row.decoder for row in rows] == ["linear"]
    (row,) = compare(X, y, RidgeClassifier(), [PairsInTheFirstFold()], ["vote"], folds[:1])
    assert row.decoder == "vote"


def test_preprocessing_is_fitted_on_the_training_rows_of_each_fold():
    far = X.copy()
    far[::7, 0] += 1000
    folds = StratifiedKFold(3, shuffle=True, random_state=0)
    rows = compare(far, y, Ridge(), ["all-pairs"], ["hamming", "likelihood"], 3, preprocessing=StandardScaler())
    for row in rows:
        model = OutputCodeClassifier(Ridge(), code="all-pairs", decoder=row.decoder, random_state=0)
        alone = cross_val_score(make_pipeline(StandardScaler(), model), far, y, cv=folds)
        assert row.fold_errors == pytest.approx(tuple(1 - alone))


def test_two_matrices_are_two_rows():
    pairs, single = as_code("all-pairs").draw(3), as_code("one-vs-all").draw(3)
    rows = compare(X, y, Ridge(), [np.asarray(pairs), np.asarray(single)], ["hamming"], 3)
    named = compare(X, y, Ridge(), ["all-pairs", "one-vs-all"], ["hamming"], 3)
    assert [row.code for row in rows] == ["given", "given"]
    assert [row.fold_errors for row in rows] == [row.fold_errors for row in named]


def test_times_and_sizes_are_measured():
    (row,) = compare(X, y, Ridge(), ["all-pairs"], ["hamming"], 3)
    assert row.fit_seconds > 0
    assert row.predict_seconds > 0
    assert row.size_bytes >= 8 * 4 * 3
