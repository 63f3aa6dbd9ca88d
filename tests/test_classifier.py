"""OutputCodeClassifier against scikit-learn's wrappers, against itself, and on every kind of input."""

import numpy as np
import pytest
import scipy.sparse as sp
from joblib import parallel_config
from sklearn import multiclass
from sklearn.base import clone
from sklearn.datasets import load_digits, load_iris, make_classification
from sklearn.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
    StackingClassifier,
)
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LinearRegression, LogisticRegression, RidgeClassifier, SGDClassifier
from sklearn.model_selection import GridSearchCV, TunedThresholdClassifierCV, cross_val_predict, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC

from outputcodes import OutputCodeClassifier
from outputcodes.codes import Dense, Sparse
from outputcodes.decoders import DECODERS, LossBased, as_decoder

iris = load_iris(return_X_y=True)
digits = load_digits(return_X_y=True)
digits = digits[0][:600] / 16, digits[1][:600]


@pytest.mark.parametrize("make", [SVC, LinearSVC, RidgeClassifier])
def test_one_vs_all_linear_is_one_vs_rest(make):
    X, y = digits
    ours = OutputCodeClassifier(make(), code="one-vs-all", decoder="linear").fit(X, y)
    theirs = multiclass.OneVsRestClassifier(make()).fit(X, y)
    assert np.array_equal(ours.predict(X), theirs.predict(X))
    assert np.allclose(ours.margins(X), theirs.decision_function(X), atol=1e-10)


@pytest.mark.parametrize("make", [SVC, RidgeClassifier])
def test_all_pairs_vote_is_one_vs_one(make):
    # Margins of exactly 0 are half a vote each with us and a vote for the first class with them: none occurs here.
    X, y = digits
    ours = OutputCodeClassifier(make(), code="all-pairs", decoder="vote").fit(X, y)
    theirs = multiclass.OneVsOneClassifier(make()).fit(X, y)
    assert (ours.margins(X) != 0).all()
    assert np.array_equal(ours.predict(X), theirs.predict(X))


def test_dense_linear_is_their_output_code_classifier():
    X, y = digits
    theirs = multiclass.OutputCodeClassifier(RidgeClassifier(), code_size=2, random_state=0).fit(X, y)
    ours = OutputCodeClassifier(RidgeClassifier(), code=theirs.code_book_, decoder="linear").fit(X, y)
    assert np.array_equal(ours.predict(X), theirs.predict(X))
    assert np.array_equal(ours.with_decoder("euclidean").predict(X), theirs.predict(X))


@pytest.mark.parametrize("code", ["all-pairs", "sparse"])
def test_predictions_and_margins_are_the_same_for_one_job_and_two(code):
    X, y = digits
    one, two = (
        OutputCodeClassifier(SGDClassifier(), code=code, n_jobs=n_jobs, random_state=3).fit(X, y) for n_jobs in (1, 2)
    )
    assert np.array_equal(one.predict(X), two.predict(X))
    assert np.allclose(one.margins(X), two.margins(X), atol=1e-8)


def test_columns_are_seeded_apart_and_the_estimator_stays_untouched():
    X, y = digits
    estimator = SGDClassifier()
    model = OutputCodeClassifier(estimator, code="one-vs-all", random_state=0).fit(X, y)
    seeds = {fitted.random_state for fitted in model.columns_.fitted.estimators}
    assert len(seeds) == 10
    assert estimator.random_state is None
    fixed = OutputCodeClassifier(SGDClassifier(random_state=7), code="one-vs-all").fit(X, y)
    assert {fitted.random_state for fitted in fixed.columns_.fitted.estimators} == {7}


@pytest.mark.parametrize(
    "decoder", [name for name in DECODERS if as_decoder(name).needs is None and not as_decoder(name).searches]
)
def test_with_decoder_is_a_fit_with_that_decoder(decoder):
    X, y = iris
    base = OutputCodeClassifier(code="all-pairs").fit(X, y)
    other = OutputCodeClassifier(code="all-pairs", decoder=decoder).fit(X, y)
    changed = base.with_decoder(decoder)
    assert np.allclose(changed.decision_function(X), other.decision_function(X))
    assert changed.get_params()["decoder"] == decoder
    assert base.decoder is None
    assert changed.columns_ is base.columns_


def test_a_decoder_that_learns_needs_data_and_says_so():
    X, y = iris
    base = OutputCodeClassifier().fit(X, y)
    with pytest.raises(ValueError, match=r"give X and y"):
        base.with_decoder("accuracy-weighted")
    with pytest.raises(ValueError, match="which were not in the y of fit"):
        base.with_decoder("accuracy-weighted", X, y + 1)
    direct = OutputCodeClassifier(decoder="accuracy-weighted").fit(X, y)
    changed = base.with_decoder("accuracy-weighted", X, y)
    assert np.array_equal(changed.decoder_.accuracy_, direct.decoder_.accuracy_)


@pytest.mark.parametrize("decoder", ["loss", "hamming", "vote", "dag", "laplacian"])
def test_two_classes_have_one_column_and_one_score(decoder):
    X, y = iris
    X, y = X[50:], y[50:]
    model = OutputCodeClassifier(LogisticRegression(max_iter=1000), code="dense", decoder=decoder).fit(X, y)
    assert np.array_equal(model.code_matrix_, [[-1], [1]])
    score = model.decision_function(X)
    assert score.shape == (100,)
    assert np.array_equal(model.predict(X), model.classes_[(score > 0).astype(int)])
    assert np.array_equal(model.predict(X), LogisticRegression(max_iter=1000).fit(X, y).predict(X))


def test_logistic_margins_give_the_log_odds_back_for_two_classes():
    X, y = iris
    model = OutputCodeClassifier(LogisticRegression(max_iter=1000)).fit(X[50:], y[50:])
    log_odds = LogisticRegression(max_iter=1000).fit(X[50:], y[50:]).decision_function(X)
    assert np.allclose(model.decision_function(X), log_odds)


def test_string_labels_and_a_mapping_from_label_to_row():
    X, y = iris
    names = np.array(["setosa", "versicolor", "virginica"])[y]
    rows = {"virginica": [-1, 1], "setosa": [1, 1], "versicolor": [-1, -1]}
    model = OutputCodeClassifier(code=rows).fit(X, names)
    assert model.classes_.tolist() == ["setosa", "versicolor", "virginica"]
    assert model.code_matrix_.tolist() == [[1, 1], [-1, -1], [-1, 1]]
    assert np.array_equal(model.margins(X), OutputCodeClassifier(code=model.code_matrix_).fit(X, y).margins(X))
    with pytest.raises(ValueError, match=r"no row for the classes \['virginica'\]"):
        OutputCodeClassifier(code={"setosa": [1], "versicolor": [-1]}).fit(X, names)


def test_a_data_frame_as_code_is_read_by_its_index():
    pandas = pytest.importorskip("pandas")
    X, y = iris
    rows = pandas.DataFrame([[1, 1], [-1, 1], [-1, -1]], index=[2, 0, 1])
    assert OutputCodeClassifier(code=rows).fit(X, y).code_matrix_.tolist() == [[-1, 1], [-1, -1], [1, 1]]


def test_the_code_of_a_seed_can_be_seen_beforehand():
    X, y = digits
    model = OutputCodeClassifier(RidgeClassifier(), code="sparse", random_state=4).fit(X, y)
    assert np.array_equal(model.code_matrix_, Sparse().draw(10, random_state=4).matrix())


def test_a_class_without_examples_keeps_the_row_it_was_given():
    X, y = iris
    rows = {0: [1, -1, -1, 1], 1: [-1, 1, -1, 1], 2: [-1, -1, 1, -1]}
    with pytest.warns(UserWarning, match="2 of 4 columns .* return a constant: 2, 3"):
        model = OutputCodeClassifier(code=rows).fit(X[:100], y[:100])
    assert model.classes_.tolist() == [0, 1, 2]
    assert model.columns_.constant.tolist() == [0, 0, -1, 1]
    assert (model.margins(X)[:, 2:] == [-1, 1]).all()


def test_a_class_absent_from_a_fold():
    X, y = make_classification(60, n_classes=3, n_informative=4, random_state=0)
    y[y == 2] = 1
    y[0] = 2
    halves = [(np.arange(30, 60), np.arange(30)), (np.arange(30), np.arange(30, 60))]
    model = OutputCodeClassifier(code="dense", random_state=0)
    predicted = cross_val_predict(model, X, y, cv=halves)
    assert set(predicted[:30]) <= {0, 1}


def test_one_sided_and_empty_columns_answer_by_rule():
    X, y = iris
    M = np.array([[1, 1, 0, 1], [-1, 0, 1, -1], [-1, 1, 0, 1]])
    with (
        pytest.warns(UserWarning, match="columns with one sign only"),
        pytest.warns(UserWarning, match="2 of 4 columns .* return a constant: 1, 2"),
    ):
        model = OutputCodeClassifier(code=M).fit(X, y)
    assert np.array_equal(model.columns_.live, [True, False, False, True])
    assert (model.margins(X)[:, [1, 2]] == 1).all()


@pytest.mark.parametrize("wrap", [sp.csr_array, sp.csc_array, sp.coo_array, sp.csr_matrix])
@pytest.mark.parametrize("variant", ["multi-call", "single-call"])
def test_sparse_is_dense(wrap, variant):
    X, y = digits
    X, y = X[:200], y[:200]
    model = OutputCodeClassifier(RidgeClassifier(solver="sparse_cg", tol=1e-12), code="dense", variant=variant)
    model.set_params(random_state=0)
    dense = model.fit(X, y).margins(X)
    assert np.allclose(model.fit(wrap(X), y).margins(wrap(X)), dense, atol=1e-5)


def test_precomputed_kernel_with_zeros_in_the_code_and_rows_left_out():
    X, y = digits
    K, K_new = X[:300] @ X[:300].T, X[300:] @ X[:300].T
    weight = np.ones(300)
    weight[::3] = 0
    for w in (None, weight):
        kernel = OutputCodeClassifier(SVC(kernel="precomputed")).fit(K, y[:300], sample_weight=w)
        linear = OutputCodeClassifier(SVC(kernel="linear")).fit(X[:300], y[:300], sample_weight=w)
        assert np.allclose(kernel.margins(K_new), linear.margins(X[300:]), atol=1e-6)
    with pytest.raises(ValueError, match="must be square"):
        kernel.fit(K_new[:200], y[300:500])


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_data_frames_reach_a_pipeline_that_wants_names(library):
    frames = pytest.importorskip(library)
    X, y = iris
    frame = frames.DataFrame({f"c{j}": X[:, j] for j in range(4)})
    from sklearn.compose import make_column_transformer

    pipeline = make_pipeline(make_column_transformer((StandardScaler(), ["c0", "c2"])), LogisticRegression())
    model = OutputCodeClassifier(pipeline, code="all-pairs").fit(frame, y)
    assert model.feature_names_in_.tolist() == ["c0", "c1", "c2", "c3"]
    assert model.n_features_in_ == 4
    plain = OutputCodeClassifier(make_pipeline(StandardScaler(), LogisticRegression())).fit(X[:, [0, 2]], y)
    assert np.allclose(model.margins(frame), plain.margins(X[:, [0, 2]]))
    with pytest.raises(ValueError, match="feature names"):
        model.predict(frame[["c1", "c0", "c2", "c3"]])


def test_texts_go_through_to_the_vectoriser():
    from sklearn.feature_extraction.text import CountVectorizer

    texts = ["red apple", "green apple", "blue sky", "red sky", "blue sea", "green sea"] * 5
    y = [0, 0, 1, 1, 2, 2] * 5
    model = OutputCodeClassifier(make_pipeline(CountVectorizer(), LogisticRegression())).fit(texts, y)
    assert model.predict(["apple", "sky", "sea"]).tolist() == [0, 1, 2]


def test_missing_values_go_through_to_what_takes_them():
    X, y = iris
    X = np.where(X > 7, np.nan, X)
    imputed = make_pipeline(SimpleImputer(), LogisticRegression(max_iter=1000))
    for estimator in (imputed, GridSearchCV(imputed, {}, cv=2), HistGradientBoostingClassifier(max_iter=2)):
        assert np.isfinite(OutputCodeClassifier(estimator).fit(X, y).decision_function(X)).all()
    with pytest.raises(ValueError, match="NaN"):
        OutputCodeClassifier(make_pipeline(StandardScaler(), LogisticRegression())).fit(X, y)


def test_a_list_of_estimators_gives_one_to_each_column():
    X, y = iris
    estimators = [LogisticRegression(C=c) for c in (0.1, 1, 10)]
    model = OutputCodeClassifier(estimators, code="one-vs-all", decoder="linear").fit(X, y)
    for j, estimator in enumerate(estimators):
        assert np.allclose(model.margins(X)[:, j], estimator.fit(X, y == j).decision_function(X) / 2)
    with pytest.raises(ValueError, match="list of 3 estimators but the code has 6 columns"):
        OutputCodeClassifier(estimators, code="ternary-complete").fit(X, y)
    with pytest.raises(ValueError, match="not a list"):
        OutputCodeClassifier(estimators, variant="single-call").fit(X, y)
    mixed = OutputCodeClassifier([SVC(), SVC(), RidgeClassifier()], code="one-vs-all")
    with pytest.raises(ValueError, match="name one of"):
        mixed.fit(X, y)
    assert mixed.set_params(decoder="linear").fit(X, y).margin_loss_ is None


def test_a_list_of_estimators_follows_its_columns_where_some_are_constant():
    X, y = iris
    M = [[1, 1, 1], [-1, 0, -1], [1, 1, -1]]
    with pytest.warns(UserWarning, match="one sign"):
        model = OutputCodeClassifier([LogisticRegression(C=c) for c in (1, 2, 3)], code=M).fit(X, y)
    assert [fitted.C for fitted in model.columns_.fitted.estimators] == [1, 3]


def test_single_call_is_one_problem_on_pairs():
    X, y = iris
    M = np.array([[1, -1, 1], [-1, 1, 0], [-1, -1, -1]])
    model = OutputCodeClassifier(LinearRegression(), code=M, variant="single-call", decoder="linear").fit(X, y)
    pairs = [(i, s) for s in range(3) for i in range(150) if M[y[i], s] != 0]
    Z = np.array([[*X[i], *np.eye(3)[s]] for i, s in pairs])
    direct = LinearRegression().fit(Z, [M[y[i], s] for i, s in pairs])
    expected = np.column_stack([direct.predict(np.hstack([X, np.tile(np.eye(3)[s], (150, 1))])) for s in range(3)])
    assert np.allclose(model.margins(X), expected)
    # One weight vector is shared: two columns differ by a constant.
    assert np.allclose(np.ptp(model.margins(X)[:, 0] - model.margins(X)[:, 1]), 0)


def test_nested_parameters_and_search():
    X, y = iris
    model = OutputCodeClassifier(SVC(), code=Dense(n_candidates=10), decoder=LossBased("hinge"), random_state=0)
    assert {"estimator__C", "code__n_candidates", "decoder__zeros"} <= model.get_params().keys()
    grid = {"estimator__C": [0.1, 10], "decoder__zeros": ["count", "ignore"]}
    search = GridSearchCV(model, grid, cv=3).fit(X, y)
    for found, score in zip(search.cv_results_["params"], search.cv_results_["mean_test_score"], strict=True):
        decoder = LossBased("hinge", zeros=found["decoder__zeros"])
        by_hand = clone(model).set_params(estimator=SVC(C=found["estimator__C"]), decoder=decoder)
        assert score == pytest.approx(cross_val_score(by_hand, X, y, cv=3).mean())
    assert search.best_estimator_.estimator.C == search.best_params_["estimator__C"]
    assert search.best_estimator_.decoder_.zeros == search.best_params_["decoder__zeros"]
    inner = OutputCodeClassifier(GridSearchCV(SVC(), {"C": [1, 10]}, cv=3), code="one-vs-all").fit(X, y)
    assert inner.margin_loss_ == "hinge"
    assert all(hasattr(fitted, "best_params_") for fitted in inner.columns_.fitted.estimators)


def test_a_code_is_the_same_in_every_fold_for_one_seed():
    X, y = digits
    first, second = (
        OutputCodeClassifier(RidgeClassifier(), code="dense", random_state=5).fit(X[s], y[s])
        for s in (slice(0, 300), slice(300, 600))
    )
    assert np.array_equal(first.code_matrix_, second.code_matrix_)


@pytest.mark.parametrize("backend", ["loky", "threading", "multiprocessing"])
def test_joblib_backends_by_context(backend):
    X, y = iris
    alone = OutputCodeClassifier(RidgeClassifier()).fit(X, y).margins(X)
    with parallel_config(backend, n_jobs=2):
        assert np.allclose(OutputCodeClassifier(RidgeClassifier()).fit(X, y).margins(X), alone)


def test_meta_estimators_are_read_as_they_turn_out():
    X, y = digits
    stacked = StackingClassifier([("lr", LogisticRegression())], cv=2)
    model = OutputCodeClassifier(stacked, code="one-vs-all").fit(X[:200], y[:200])
    assert model.margin_loss_ == "logistic"
    inner = model.columns_.fitted.estimators[0]
    assert np.allclose(model.margins(X)[:, 0], inner.decision_function(X) / 2)
    boosted = TunedThresholdClassifierCV(AdaBoostClassifier(n_estimators=3), cv=2)
    assert OutputCodeClassifier(boosted, code="one-vs-all").fit(X[:200], y[:200]).margin_loss_ == "exponential"
    bagged = OutputCodeClassifier(BaggingClassifier(LogisticRegression(), n_estimators=2)).fit(X[:200], y[:200])
    assert bagged.margin_loss_ == "logistic"


def test_progress_is_printed_on_request(capsys):
    X, y = iris
    model = OutputCodeClassifier(LogisticRegression(max_iter=1000), code="all-pairs", verbose=1).fit(X, y)
    assert "training: 3 of 3 columns, " in capsys.readouterr().err
    model.set_params(verbose=0).fit(X, y)
    assert capsys.readouterr() == ("", "")


def test_probabilities_only_classifiers_are_used_through_their_log_odds():
    X, y = iris
    model = OutputCodeClassifier(RandomForestClassifier(n_estimators=20), code="one-vs-all", random_state=0).fit(X, y)
    forest = model.columns_.fitted.estimators[0]
    p = np.clip(forest.predict_proba(X)[:, 1], 1e-12, 1 - 1e-12)
    assert np.allclose(model.margins(X)[:, 0], np.log(p / (1 - p)) / 2)
    assert not hasattr(model, "predict_proba")
