"""Classifiers of many classes: tree codes and one-vs-all from fit to predict_topk, saved and loaded."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_digits
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.estimator_checks import parametrize_with_checks

from outputcodes import OutputCodeClassifier
from outputcodes.app.persistence import load, save
from outputcodes.app.run import make_plan
from outputcodes.codes import AllPairs, Tree, TreeCode
from outputcodes.decoders import Beam, PathProbabilities
from outputcodes.learners import LinearSVM, Ridge
from outputcodes.selection import Cell, compare
from outputcodes.selection.measure import fixed_code, measure
from outputcodes.selection.race.contestants import CONTESTANTS, Entry, build, chosen_contestants, codes_for
from outputcodes.selection.race.views import kinds_of
from outputcodes.training import Problem


def texts(k, rows=4, seed=0, single=()):
    """Rows with one word of their class, one of their group of ten classes and two of noise; k labels."""
    rng = np.random.default_rng(seed)
    y = np.repeat(np.arange(k), rows)
    y = y[~(np.isin(y, single) & (np.arange(len(y)) % rows > 0))]
    n, groups = len(y), -(-k // 10)
    words = np.stack([2 * y + rng.integers(2, size=n), 2 * k + y // 10] + [2 * k + groups + rng.integers(50, size=n)
                     for _ in range(2)], axis=1)  # fmt: skip
    X = sp.csr_array((np.full(4 * n, 0.5, np.float32), words.ravel(), np.arange(0, 4 * n + 1, 4)),
                     (n, 2 * k + groups + 50))  # fmt: skip
    X.sum_duplicates()
    return X, np.array([f"c{r:05d}" for r in range(k)])[y]


X, y = texts(120)
SMALL = Tree(arity=4, leaf_size=10)


EXACT = LinearSVM(tol=1e-15, max_iter=200)


def not_to_seven_digits(estimator):
    """Name the checks in which a weight of 2 is a row given twice, but not to seven digits.

    Newton's steps on dense X use an eigenbasis of the rows, and coordinate descent on sparse X visits a row as often as
    it is given: they meet in the optimum. Dense X is solved to any tolerance; nodes on sparse X in single precision.
    """
    if isinstance(estimator.estimator, Ridge):
        return {}
    failing = {"check_sample_weight_equivalence_on_sparse_data": "nodes on sparse X are solved in single precision"}
    if estimator.estimator is not EXACT:
        failing["check_sample_weight_equivalence_on_dense_data"] = "the tolerance is 1e-4; EXACT passes"
    return failing


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@parametrize_with_checks(
    [OutputCodeClassifier(learner, code=Tree(arity=2, leaf_size=2)) for learner in (LinearSVM(), EXACT, Ridge())],
    expected_failed_checks=not_to_seven_digits,
)
def test_scikit_learn_accepts_a_tree_code(estimator, check):
    check(estimator)


@pytest.mark.parametrize("prune", [None, 0.05])
def test_a_weight_is_a_row_given_so_many_times(prune):
    times = np.random.default_rng(0).integers(1, 4, len(y))
    # The root mean square of a feature depends on the weights too: here its values differ.
    values = X.copy()
    values.data = np.random.default_rng(1).uniform(0.3, 1, X.nnz).astype(np.float32)
    learner = LinearSVM(tol=1e-9, prune=prune, max_iter=400)
    model = OutputCodeClassifier(learner, code=SMALL, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # single precision stops at about 1e-7
        weighted = model.fit(values, y, times).columns_.fitted
        repeated = model.fit(sp.csr_array(values[np.repeat(np.arange(len(y)), times)]), np.repeat(y, times))
    assert np.allclose(weighted.margins(values), repeated.columns_.fitted.margins(values), atol=2e-3)
    if prune:
        assert (weighted.weights.astype(bool) != repeated.columns_.fitted.weights.astype(bool)).nnz <= 5


def test_rows_outside_the_training_do_not_decide_what_is_dropped():
    rows = np.flatnonzero(np.arange(len(y)) % 4 < 3)
    loud = X.copy()
    loud.data[np.isin(np.repeat(np.arange(len(y)), np.diff(X.indptr)), rows, invert=True)] *= 100
    numbers = np.unique(y, return_inverse=True)[1]
    code = SMALL.draw(120, random_state=0, problem=Problem(LinearSVM(), X[rows], numbers[rows]))
    some = Problem(LinearSVM(), loud, numbers).fit(code, rows)
    alone = Problem(LinearSVM(), X[rows], numbers[rows]).fit(code)
    assert (some.fitted.weights != alone.fitted.weights).nnz == 0


@pytest.mark.parametrize("n_trees", [1, 3])
def test_a_tree_code_is_trained_and_decoded_without_its_matrix(n_trees, monkeypatch):
    monkeypatch.setattr(TreeCode, "matrix", lambda self: pytest.fail("the code was written down"))
    monkeypatch.setattr(TreeCode, "rows", lambda self, classes: pytest.fail("rows were written down"))
    model = OutputCodeClassifier("linear-svm", code=Tree(4, 10, n_trees), random_state=0).fit(X, y)
    assert isinstance(model.decoder_, Beam)
    assert model.score(X, y) > 0.95
    top = model.predict_topk(X, 3)
    assert np.array_equal(top.labels[:, 0], model.predict(X))
    assert (np.diff(top.scores, axis=1) <= 0).all()
    assert all(len(set(row)) == 3 for row in top.labels.tolist())
    assert top.probabilities is None
    assert np.array_equal(model.classes_[model.decision_function(X).argmax(axis=1)], model.predict(X))


def test_the_beam_reads_the_margins_of_the_classifier():
    model = OutputCodeClassifier("linear-svm", code=SMALL, decoder=Beam(500), random_state=0).fit(X, y)
    F = model.margins(X)
    by_hand = model.decoder_.predict(F, model.code_)
    assert np.array_equal(model.classes_[by_hand], model.predict(X))
    assert np.allclose(model.decision_function(X), model.decoder_.scores(F, model.code_), atol=1e-4)


def test_other_learners_and_decoders_take_a_tree_code_as_its_matrix():
    digits, labels = load_digits(return_X_y=True)
    digits = digits[:500] / 16
    for learner in ("ridge", "kernel-svm"):
        model = OutputCodeClassifier(learner, code=Tree(3, 4), random_state=0).fit(digits, labels[:500])
        assert model.score(digits, labels[:500]) > 0.9
        other = model.with_decoder("hinge")
        assert other.score(digits, labels[:500]) > 0.8
        assert model.columns_.live.all()


def test_one_vs_all_of_many_classes_is_the_largest_margin_with_sparse_columns():
    many, labels = texts(1100, rows=2)
    model = OutputCodeClassifier("linear-svm", code="one-vs-all", random_state=0).fit(many, labels)
    fitted = model.columns_.fitted
    assert sp.issparse(fitted.weights)
    assert fitted.weights.dtype == np.float32
    assert fitted.pruned.dropped > 0
    F = model.margins(many)
    assert np.array_equal(model.predict(many), model.classes_[F.argmax(axis=1)])
    top = model.predict_topk(many[:20], 4)
    assert np.array_equal(top.labels, model.classes_[np.argsort(-F[:20], axis=1, kind="stable")[:, :4]])


def test_two_classes_are_one_column_whatever_the_code():
    few = np.flatnonzero(np.isin(y, y[[0, -1]]))
    model = OutputCodeClassifier("linear-svm", code=Tree()).fit(X[few], y[few])
    assert model.code_matrix_.tolist() == [[-1], [1]]
    assert model.predict_topk(X[few], 2).labels.shape == (8, 2)


def test_classes_with_one_row_are_learned_and_probabilities_hold_out_others():
    odd, labels = texts(60, single=(3, 7, 31))
    model = OutputCodeClassifier("linear-svm", code=SMALL, probability="softmax", random_state=0).fit(odd, labels)
    assert {"c00003", "c00007", "c00031"} <= set(model.predict(odd))
    alone, names = texts(20, rows=1)
    with pytest.raises(ValueError, match="every class has one row only"):
        OutputCodeClassifier("linear-svm", code=SMALL, probability="softmax").fit(alone, names)
    assert OutputCodeClassifier("linear-svm", code=SMALL).fit(alone, names).score(alone, names) == 1


@pytest.mark.parametrize("n_trees", [1, 2])
def test_probabilities_sum_to_one_and_are_those_of_the_best(n_trees):
    code = Tree(4, 10, n_trees)
    model = OutputCodeClassifier("linear-svm", code=code, probability="softmax", random_state=0).fit(X, y)
    assert isinstance(model.decoder_, PathProbabilities)
    P = model.predict_proba(X)
    assert np.allclose(P.sum(axis=1), 1)
    every = model.with_decoder(PathProbabilities(), X, y)
    assert every.decoder_.temperature_.shape == (model.code_.depth,)
    wide = model.predict_topk(X, 120, probabilities=True)
    assert np.allclose(wide.probabilities, -np.sort(-P, axis=1), atol=1e-5)
    assert np.array_equal(wide.labels[:, 0], model.classes_[P.argmax(axis=1)])


def test_probabilities_are_reliable_on_new_rows():
    train, labels = texts(120, rows=40, seed=1)
    new, truth = texts(120, rows=40, seed=2)
    # A third of the words are missing: not all rows can be told.
    rng = np.random.default_rng(0)
    for data in (train, new):
        data.data[rng.random(data.nnz) < 0.35] = 0
        data.eliminate_zeros()
    model = OutputCodeClassifier("linear-svm", code=SMALL, probability="softmax", random_state=0).fit(train, labels)
    top = model.predict_topk(new, 1, probabilities=True)
    right = top.labels[:, 0] == truth
    assert 0.2 < right.mean() < 0.95
    assert top.probabilities.mean() == pytest.approx(right.mean(), abs=0.05)


def test_top_classes_of_other_decoders_are_those_of_their_scores():
    digits, labels = load_digits(return_X_y=True)
    model = OutputCodeClassifier("ridge", probability="softmax").fit(digits, labels)
    top = model.predict_topk(digits[:100], 4, probabilities=True)
    D, P = model.decision_function(digits[:100]), model.predict_proba(digits[:100])
    order = np.argsort(-D, axis=1, kind="stable")[:, :4]
    assert np.array_equal(top.labels, model.classes_[order])
    assert np.array_equal(top.labels[:, 0], model.predict(digits[:100]))
    assert np.allclose(top.scores, np.take_along_axis(D, order, axis=1))
    assert np.allclose(top.probabilities, np.take_along_axis(P, order, axis=1))


def test_large_tables_of_scores_are_refused_by_name(monkeypatch):
    model = OutputCodeClassifier("linear-svm", code=SMALL, probability="softmax", random_state=0).fit(X, y)
    monkeypatch.setattr("outputcodes.decoders.classifier.MOST_SCORES", 120 * 100)
    for method in ("decision_function", "predict_proba"):
        with pytest.raises(ValueError, match=rf"{method} would return 480 × 120 numbers, .*predict_topk"):
            getattr(model, method)(X)
        assert getattr(model, method)(X[:100]).shape == (100, 120)
    assert model.predict_topk(X, 2).labels.shape == (480, 2)


@pytest.mark.parametrize("n", [0, 121, 1.5, True])
def test_a_wrong_number_of_classes_is_named(n):
    model = OutputCodeClassifier("linear-svm", code=SMALL).fit(X, y)
    with pytest.raises(ValueError, match=rf"n={n!r} must be an integer from 1 to the number of classes, 120"):
        model.predict_topk(X, n)


def test_probabilities_that_are_not_there_and_bad_beams_are_refused():
    model = OutputCodeClassifier("linear-svm", code=SMALL).fit(X, y)
    with pytest.raises(ValueError, match="no probabilities to return; set probability="):
        model.predict_topk(X, 2, probabilities=True)
    with pytest.raises(ValueError, match="width=0 must be an integer of at least 1"):
        OutputCodeClassifier("linear-svm", code=SMALL, decoder=Beam(0)).fit(X, y)
    with pytest.raises(ValueError, match="nodes of a tree code"):
        OutputCodeClassifier("linear-svm", decoder="beam", code="dense").fit(X[:40], y[:40])


@pytest.mark.parametrize("probability", [None, "softmax"])
def test_models_are_saved_and_loaded_with_their_sparse_columns(probability, tmp_path):
    model = OutputCodeClassifier("linear-svm", code=SMALL, probability=probability, random_state=0).fit(X, y)
    save(model, tmp_path / "model.skops")
    again, _ = load(tmp_path / "model.skops")
    assert sp.issparse(again.columns_.fitted.weights)
    assert again.columns_.fitted.weights.dtype == np.float32
    assert np.array_equal(again.predict(X), model.predict(X))
    assert np.array_equal(again.predict_topk(X, 5).scores, model.predict_topk(X, 5).scores)
    assert again.columns_.fitted.pruned == model.columns_.fitted.pruned


def test_the_same_model_with_any_number_of_threads():
    models = [OutputCodeClassifier("linear-svm", code=SMALL, n_jobs=jobs, random_state=0).fit(X, y) for jobs in (1, 2)]
    assert np.array_equal(*(m.predict_topk(X, 5).scores for m in models))
    assert (models[0].columns_.fitted.weights != models[1].columns_.fitted.weights).nnz == 0


def test_class_weights_and_sample_weights_are_row_weights():
    weight = np.random.default_rng(0).uniform(0.5, 2, len(y))
    per_class = {label: 1 + (i % 3) for i, label in enumerate(np.unique(y))}
    both = OutputCodeClassifier("linear-svm", code=SMALL, class_weight=per_class, random_state=0).fit(X, y, weight)
    product = weight * np.array([per_class[label] for label in y])
    rows = OutputCodeClassifier("linear-svm", code=SMALL, random_state=0).fit(X, y, product)
    assert np.array_equal(both.margins(X), rows.margins(X))
    balanced = OutputCodeClassifier("linear-svm", code=SMALL, column_weight="balanced", random_state=0).fit(X, y)
    assert balanced.score(X, y) > 0.9


def test_rows_of_weight_zero_are_left_out():
    weight = (np.arange(len(y)) % 4 < 3).astype(float)
    some = weight > 0
    a = OutputCodeClassifier("linear-svm", code=SMALL, random_state=0).fit(X, y, weight)
    b = OutputCodeClassifier("linear-svm", code=SMALL, random_state=0).fit(X[some], y[some])
    assert np.array_equal(a.margins(X), b.margins(X))


def test_a_comparison_of_many_classes_tries_what_grows_slowly():
    plan = make_plan(2000, 300)
    assert {cell.learner for cell in plan.cells} == {
        "gradient-boost", "boosted-trees", "linear-svm", "logistic", "ridge", "nearest-centroid"
    }  # fmt: skip
    assert {cell.code for cell in plan.cells if cell.code} == {"one-vs-all", "tree"}
    few = make_plan(2000, 30)
    assert "tree" not in {cell.code for cell in few.cells}
    assert "nearest-centroid" not in {cell.learner for cell in few.cells}
    assert not any("tree" in note.split(":")[0].split(", ") for note in few.left_out)


def test_tree_codes_are_compared_and_their_default_decoder_is_the_beam():
    result = compare(X, y, learners="linear-svm", codes=["one-vs-all", SMALL], decoders=["loss"], cv=2)
    assert {row.code for row in result} == {"one-vs-all", "Tree(arity=4, leaf_size=10)"}
    assert all(row.error < 0.5 for row in result)


def test_a_comparison_of_many_classes_computes_no_table_of_margins(monkeypatch):
    monkeypatch.setattr(OutputCodeClassifier, "margins", lambda self, X: pytest.fail("all margins were computed"))
    monkeypatch.setattr("outputcodes.selection.measure.MOST_MARGINS", 100)
    result = compare(X, y, learners="linear-svm", codes=[SMALL], decoders=["loss", "hamming"], cv=2)
    # A decoder that needs all margins is left out.
    assert [row.decoder for row in result] == ["loss"]
    assert result[0].error < 0.5


def test_a_comparison_by_beam_is_the_classifier_itself():
    numbers = np.arange(len(y))
    train, test = numbers[numbers % 4 > 0], numbers[numbers % 4 == 0]
    for metric in ("error", "log-loss"):
        model = OutputCodeClassifier("linear-svm", code=SMALL, random_state=0)
        cell = Cell("linear-svm", "tree", ("loss",))
        found = measure(cell, model, X, y, train, test, metric=metric, keep_losses=True).decoders["loss"]
        model.set_params(probability="softmax" if metric == "log-loss" else None).fit(X[train], y[train])
        if metric == "error":
            assert np.array_equal(found.losses, model.predict(X[test]) != y[test])
        else:
            own = model.predict_proba(X[test])[np.arange(len(test)), np.searchsorted(model.classes_, y[test])]
            assert found.error == pytest.approx(-np.log(own).mean(), rel=1e-6)


def test_one_vs_all_of_many_classes_is_not_written_down_by_a_comparison():
    classes = np.arange(1500)
    assert fixed_code("one-vs-all", classes, 0) == "one-vs-all"
    assert len(fixed_code("one-vs-all", classes[:40], 0)) == 40


def test_a_race_of_many_classes_is_run_by_what_grows_slowly():
    names = set(chosen_contestants(None, X, 300))
    assert names == {"gradient-boost", "logistic", "linear-svm", "ridge", "nearest-centroid"} & names
    assert {"logistic", "linear-svm", "ridge", "nearest-centroid"} <= names
    assert "nearest-centroid" not in chosen_contestants(None, X, 200)
    assert codes_for(CONTESTANTS["linear-svm"], 300) == ("one-vs-all", "tree")
    assert codes_for(CONTESTANTS["linear-svm"], 200) == ("one-vs-all",)
    # What is named takes part all the same.
    assert set(chosen_contestants(["maxent"], X, 300)) == {"maxent"}


@pytest.mark.parametrize(
    "entry", [Entry("linear-svm", "tree"), Entry("ridge", "tree"), Entry("nearest-centroid")], ids=str
)
def test_a_race_builds_what_is_for_many_classes(entry):
    model = build(CONTESTANTS[entry.contestant], entry, X, kinds_of(X), seed=0).fit(X, y)
    assert model.score(X, y) > 0.7
    # What a race averages: the classes outside a beam have scores too.
    assert model.decision_function(X).shape == (len(y), 120)


def test_all_pairs_of_too_many_classes_are_refused():
    with pytest.raises(ValueError, match=r"'all-pairs' has 1280800 columns for 1601 classes.*'one-vs-all' or 'tree'"):
        AllPairs().draw(1601)
