"""The leave-one-out error of a trained classifier, compared with n trainings."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import minmax_scale

from outputcodes import OutputCodeClassifier
from outputcodes.bounds.leave_one_out import pessimistic_margins
from outputcodes.codes import as_code
from outputcodes.learners import KernelSVM, Ridge
from outputcodes.selection import leave_one_out

X, y = load_iris(return_X_y=True)
X, y = minmax_scale(X)[2::5], y[2::5]


def wrong_without_it(model, X, y, weight=None):
    everyone = np.arange(len(y))
    wrong = []
    for i in everyone:
        rest = everyone[everyone != i]
        alone = clone(model).fit(X[rest], y[rest], None if weight is None else weight[rest])
        wrong.append(alone.predict(X[[i]])[0] != y[i])
    return np.array(wrong)


@pytest.mark.parametrize("bias", ["none", "folded"])
@pytest.mark.parametrize("code", ["one-vs-all", "all-pairs"])
def test_never_below_the_error_of_n_trainings(bias, code):
    model = OutputCodeClassifier(KernelSVM(C=5.0, gamma=4.0, bias=bias, tol=1e-8), code=code).fit(X, y)
    judged = leave_one_out(model, X, y)
    assert judged.kind == "bound"
    assert judged.error == judged.wrong.mean()
    truth = wrong_without_it(model, X, y)
    assert (truth <= judged.wrong).all()
    assert (judged.wrong >= (model.predict(X) != y)).all()
    on_sparse = leave_one_out(clone(model).fit(sparse.csr_array(X), y), sparse.csr_array(X), y)
    assert np.array_equal(on_sparse.wrong, judged.wrong)


@pytest.mark.parametrize("code", ["one-vs-all", "all-pairs", "sparse"])
@pytest.mark.parametrize("decoder", ["loss", "hamming", "euclidean"])
def test_exact_for_ridge(code, decoder):
    weight = np.random.default_rng(0).integers(1, 4, size=len(y)).astype(float)
    model = OutputCodeClassifier(Ridge(alpha=0.1), code=code, decoder=decoder, random_state=1)
    w = weight if code == "sparse" else None
    judged = leave_one_out(model.fit(X, y, w), X, y, w)
    truth = wrong_without_it(model, X, y, w)
    assert judged.kind == "exact"
    assert truth.any()
    assert np.array_equal(judged.wrong, truth)
    assert judged.error == pytest.approx(np.average(judged.wrong, weights=w))


def test_examples_without_weight_are_not_there():
    weight = np.ones(len(y))
    weight[::4] = 0
    kept = weight > 0
    model = OutputCodeClassifier(KernelSVM(bias="folded", tol=1e-8), code="one-vs-all")
    judged = leave_one_out(model.fit(X, y, weight), X, y, weight)
    without = leave_one_out(model.fit(X[kept], y[kept]), X[kept], y[kept])
    assert np.array_equal(judged.wrong, without.wrong)
    assert judged.error == without.error


def test_columns_of_one_sign_stay_as_they_are():
    # The last column separates a class without examples from the others: its margin is +1, whichever row is left out.
    learner, rows = KernelSVM(bias="folded", tol=1e-8), {0: [1, -1, 1], 1: [-1, -1, -1], 2: [-1, 1, 1]}
    with pytest.warns(UserWarning, match="return a constant"):
        model = OutputCodeClassifier(
            learner, code={r: [*row, 1] for r, row in rows.items()} | {3: [0, 0, 0, -1]}, decoder="linear"
        ).fit(X, y)
    live = OutputCodeClassifier(learner, code=rows, decoder="linear").fit(X, y)
    F = pessimistic_margins(live.margins(X), y, live.code_matrix_, live.columns_.fitted.dual(), np.full(len(y), 2.0))
    beaten = (F * live.code_matrix_[y]).sum(axis=1) + 1 < -1
    assert np.array_equal(leave_one_out(model, X, y).wrong, leave_one_out(live, X, y).wrong | beaten)


def test_ties_count_unless_the_theorem_is_taken_at_its_word():
    # With a narrow kernel no column knows a new example: all classes tie under Hamming decoding, and the first wins.
    model = OutputCodeClassifier(KernelSVM(gamma=1e4, bias="none"), code="one-vs-all", decoder="hamming").fit(X, y)
    truth = wrong_without_it(model, X, y)
    assert (truth <= leave_one_out(model, X, y).wrong).all()
    assert leave_one_out(model, X, y, ties_as_errors=False).error < truth.mean()


def test_refusals():
    free = OutputCodeClassifier(KernelSVM(), code="one-vs-all").fit(X, y)
    with pytest.warns(UserWarning, match="estimate"):
        assert leave_one_out(free, X, y).kind == "estimate"
    with pytest.raises(ValueError, match="KernelSVM or Ridge"):
        leave_one_out(OutputCodeClassifier(LogisticRegression()).fit(X, y), X, y)
    model = OutputCodeClassifier(KernelSVM(bias="none")).fit(X, y)
    with pytest.raises(ValueError, match="was fitted on"):
        leave_one_out(model, X[1:], y[1:])


def test_weights_of_classes_and_columns_stay_as_they_are():
    weights = {0: 1.0, 1: 5.0, 2: 0.3}
    model = OutputCodeClassifier(Ridge(alpha=1.0), code="one-vs-all", class_weight=weights, decoder="linear")
    judged = leave_one_out(model.fit(X, y), X, y)
    assert np.array_equal(judged.wrong, wrong_without_it(model, X, y))
    plain = leave_one_out(clone(model).set_params(class_weight=None).fit(X, y), X, y)
    assert not np.array_equal(plain.wrong, judged.wrong)


@pytest.mark.parametrize("probability", ["likelihood", "softmax"])
def test_probabilities_are_judged_by_what_they_predict(probability):
    model = OutputCodeClassifier(
        KernelSVM(C=5.0, gamma=4.0, bias="folded", tol=1e-8), code="one-vs-all", probability=probability, random_state=0
    ).fit(X, y)
    judged = leave_one_out(model, X, y)
    assert (judged.wrong >= (model.predict(X) != y)).all()
    if probability == "softmax":
        plain = clone(model).set_params(probability=None).fit(X, y)
        assert np.array_equal(judged.wrong, leave_one_out(plain, X, y).wrong)
    # Left out, with the sigmoids as they are, nobody is wrong whom the bound does not count.
    everyone, learner, M = np.arange(len(y)), model.estimator, model.code_matrix_
    data = learner.prepare(X)
    for i in everyone:
        f = learner.fit_columns(data, y, M, rows=everyone[everyone != i]).margins(X[[i]])
        assert judged.wrong[i] or model.decoder_.predict(f, M)[0] == y[i]


@pytest.mark.filterwarnings("ignore:.*return a constant", "ignore:columns with one sign")
@pytest.mark.parametrize("learner", [KernelSVM(kernel="linear", C=0.3, bias="none", tol=1e-8), Ridge()])
def test_an_example_alone_on_its_side_leaves_the_column_to_the_other(learner):
    # The last example is all of its class. Without it columns have one sign, or, in the second code, no example at all.
    for seed in (1, 29, 69, 85, 145, 6):
        rng = np.random.default_rng(seed)
        parts = [rng.normal(size=(6, 2)) + 2 * rng.normal(size=2) for _ in range(2)] + [3 * rng.normal(size=(1, 2))]
        points, labels = np.concatenate(parts), np.repeat([0, 1, 2], [6, 6, 1])
        for code in (
            as_code("dense").draw(3, random_state=seed).matrix().tolist(),
            [[1, 1, 0], [-1, -1, 0], [1, -1, 1]],
        ):
            model = OutputCodeClassifier(learner, code=dict(enumerate(code)), decoder="linear")
            judged = leave_one_out(model.fit(points, labels), points, labels)
            truth = wrong_without_it(model, points, labels)
            assert (truth <= judged.wrong).all()
            if judged.kind == "exact":
                assert np.array_equal(truth, judged.wrong)


@pytest.mark.parametrize(
    ("kernel", "bias", "seed"),
    [({"kernel": "sigmoid", "coef0": 1}, "none", 13), ({"kernel": "poly", "coef0": -1}, "folded", 2)],
)
def test_an_indefinite_kernel_gives_an_estimate(kernel, bias, seed):
    rng = np.random.default_rng(seed)
    points, labels = rng.normal(size=(12, 2)), (rng.random(12) < 0.5).astype(int)
    labels[:2] = 0, 1
    gamma = 2.0 if kernel["kernel"] == "sigmoid" else 1.0
    learner = KernelSVM(C=10.0, gamma=gamma, bias=bias, tol=1e-9, **kernel)
    model = OutputCodeClassifier(learner, decoder="linear").fit(points, labels)
    with pytest.warns(UserWarning, match="positive semi-definite"):
        judged = leave_one_out(model, points, labels)
    assert judged.kind == "estimate"
    assert (wrong_without_it(model, points, labels) > judged.wrong).any()  # it is no bound
    # Where the kernel is positive semi-definite, it is one.
    whole = clone(model).set_params(estimator__kernel="poly", estimator__coef0=1.0).fit(points, labels)
    assert leave_one_out(whole, points, labels).kind == "bound"


def test_the_model_is_left_as_it_was():
    state = np.random.RandomState(0)
    model = OutputCodeClassifier(Ridge(), code="dense", random_state=state).fit(X, y)
    before, drawn = dict(vars(model)), state.get_state()[1].copy()
    leave_one_out(model, X, y)
    assert all(vars(model)[name] is value for name, value in before.items())
    assert np.array_equal(state.get_state()[1], drawn)
    with pytest.raises(ValueError, match="fitted on"):
        leave_one_out(model, X, np.array(["a", "b", "c"])[y])
    with pytest.raises(ValueError, match="fitted on 4"):
        leave_one_out(model, X[:, :2], y)
    assert all(vars(model)[name] is value for name, value in before.items())
