"""Probabilities along paths, and the exact search for the largest, against all products of shares."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import minimize_scalar
from scipy.special import log_softmax, softmax

from outputcodes import OutputCodeClassifier
from outputcodes._ground.margins_on_demand import BLOCK, MarginsByBlock, MarginsOnDemand
from outputcodes._ground.tree_code import flat, grown
from outputcodes.codes import Tree
from outputcodes.decoders import Beam, PathProbabilities
from outputcodes.learners import LinearSVM
from random_trees import random_tree


def path_products(F, code, temperature):
    """Probabilities by definition: the product over the path of softmax shares, averaged over trees."""
    level_of = np.repeat(np.arange(code.depth), np.diff(code.levels))
    share = np.empty(F.shape)
    for v in range(len(code.first) - 1):
        own = slice(code.first[v], code.first[v + 1])
        share[:, own] = softmax(F[:, own] / temperature[level_of[v]], axis=1)
    P = np.zeros((len(F), code.shape[0]))
    for tree in range(code.n_trees):
        for r, path in enumerate(code.paths(np.arange(code.shape[0]), tree)):
            P[:, r] += share[:, path[path >= 0]].prod(axis=1)
    return P / code.n_trees


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("n_trees", [1, 2])
def test_probabilities_are_products_along_paths_and_sum_to_one(seed, n_trees):
    rng = np.random.default_rng(seed)
    k = int(rng.integers(3, 30))
    code = random_tree(rng, k, n_trees)
    F, y = rng.normal(size=(60, code.shape[1])), rng.integers(k, size=60)
    decoder = PathProbabilities().fit(F, y, code)
    P = decoder.probabilities(F, code)
    assert np.allclose(P.sum(axis=1), 1)
    assert np.allclose(P, path_products(F, code, decoder.temperature_))
    found = decoder.search(MarginsByBlock(60, lambda rows: F[rows]), code, k)
    assert np.allclose(np.exp(found.scores), -np.sort(-P, axis=1))
    assert np.array_equal(decoder.predict(F, code), P.argmax(axis=1))


def test_temperatures_maximise_the_likelihood():
    rng = np.random.default_rng(0)
    code = flat(5)
    F = 3 * rng.normal(size=(4000, 5))
    # Labels drawn from the shares of temperature 2.
    P = softmax(F / 2, axis=1)
    y = (P.cumsum(axis=1) < rng.random((4000, 1))).sum(axis=1)
    found = PathProbabilities().fit(F, y, code).temperature_[0]
    best = minimize_scalar(lambda T: -log_softmax(F / T, axis=1)[np.arange(4000), y].mean(), bounds=(0.5, 8))
    assert found == pytest.approx(best.x, rel=0.01)
    assert found == pytest.approx(2, rel=0.1)
    # Weights count rows.
    twice = np.r_[np.arange(4000), np.arange(0, 4000, 2)]
    weight = 1.0 + (np.arange(4000) % 2 == 0)
    repeated = PathProbabilities().fit(F[twice], y[twice], code).temperature_
    assert PathProbabilities().fit(F, y, code, weight).temperature_ == pytest.approx(repeated, rel=1e-3)


def test_margins_that_separate_all_children_keep_a_temperature_above_zero():
    F = 10.0 * np.eye(4)[np.arange(40) % 4]
    decoder = PathProbabilities().fit(F, np.arange(40) % 4, flat(4))
    assert decoder.temperature_[0] > 0.1


class CountedMargins(MarginsOnDemand):
    """Margins that count how many are read."""

    def __init__(self, F):
        self.F, self.n_rows, self.read = F, len(F), 0

    def of(self, rows, first, count):
        assert (np.diff(rows) >= 0).all()
        self.read += int(count.sum())
        return MarginsByBlock(self.n_rows, lambda some: self.F[some]).of(rows, first, count)


def fitted(temperature):
    decoder = PathProbabilities()
    decoder.temperature_ = np.asarray(temperature, dtype=float)
    return decoder


def mixed_margins(rng, n, L):
    """Rows that are clear, uncertain, tied in many places, and silent."""
    F = rng.normal(size=(n, L)) * rng.choice([0.01, 0.3, 1, 8], size=(n, 1))
    F[::5] = np.round(F[::5])
    F[::7] = 0
    return F


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("n_trees", [1, 2, 4])
def test_the_search_finds_what_all_probabilities_show(seed, n_trees):
    rng = np.random.default_rng(seed)
    k = int(rng.integers(3, 60))
    code = random_tree(rng, k, n_trees)
    F = mixed_margins(rng, 70, code.shape[1])
    decoder = fitted(rng.uniform(0.3, 2, code.depth))
    P, products = decoder.probabilities(F, code), path_products(F, code, decoder.temperature_)
    assert np.allclose(P, products, rtol=1e-12)
    assert np.array_equal(decoder.predict(F, code), P.argmax(axis=1))
    assert np.array_equal(decoder.scores(F, code).argmax(axis=1), P.argmax(axis=1))
    for n in sorted({1, 2, min(5, k), k}):
        found = decoder.search(CountedMargins(F), code, n)
        assert np.array_equal(found.classes[:, 0], P.argmax(axis=1))
        # Tied classes may have any order, but their probabilities are the largest and their own.
        assert np.allclose(np.exp(found.scores), -np.sort(-products, axis=1)[:, :n], rtol=1e-12)
        assert np.allclose(np.exp(found.scores), np.take_along_axis(products, found.classes, axis=1), rtol=1e-12)
        assert all(len(set(row)) == n for row in found.classes.tolist())
        assert (np.diff(found.scores, axis=1) <= 0).all()


def test_the_best_class_may_be_far_from_the_best_path():
    # The first child is the likeliest, but its many classes share it; the third child is a class alone.
    groups = [(np.arange(8), None), (np.arange(8, 16), None), (np.arange(16, 17), None)]
    code = grown(17, [(np.arange(17), None)], lambda classes, _: groups if len(classes) == 17 else None)
    F = np.zeros((1, code.shape[1]))
    F[0, :3] = [2.0, 1.0, 0.5]
    decoder = fitted([1.0, 1.0])
    assert Beam(2, "squared-hinge").predict(F, code).tolist() == [0]
    assert decoder.predict(F, code).tolist() == [16]
    assert decoder.search(CountedMargins(F), code, 2).classes.tolist() == [[16, 0]]


def test_equal_probabilities_go_to_the_first_class():
    code = grown(6, [(np.arange(6), None)], lambda c, _: None if len(c) < 6 else [(c[3:], None), (c[:3], None)])
    decoder = fitted([1.0, 1.0])
    silent = np.zeros((3, code.shape[1]))
    assert decoder.predict(silent, code).tolist() == [0, 0, 0]
    found = decoder.search(CountedMargins(silent), code, 6)
    assert found.classes.tolist() == [list(range(6))] * 3


@pytest.mark.parametrize("n_trees", [1, 3])
def test_clear_rows_open_few_nodes(n_trees):
    rng = np.random.default_rng(0)
    code = Tree(8, 8, n_trees, method="random").draw(512, random_state=0)
    F, own = rng.normal(size=(50, code.shape[1])), rng.integers(512, size=50)
    for tree in range(n_trees):
        F[np.arange(50)[:, None], code.paths(own, tree)] += 20
    margins = CountedMargins(F)
    decoder = fitted(np.ones(code.depth))
    assert np.array_equal(decoder.search(margins, code).classes[:, 0], own)
    # The path of the class, once for the bound and once for the search; in several trees once more for the means.
    assert margins.read <= 50 * code.depth * 8 * n_trees * (2 if n_trees == 1 else 4)


def test_rows_that_read_much_are_searched_in_parts(monkeypatch):
    rng = np.random.default_rng(1)
    for n_trees in (1, 3):
        code = random_tree(rng, 40, n_trees)
        F = mixed_margins(rng, 60, code.shape[1])
        decoder = fitted(rng.uniform(0.3, 2, code.depth))
        together = decoder.search(CountedMargins(F), code, 3)
        with monkeypatch.context() as patch:
            patch.setattr("outputcodes.decoders._path_search.MOST_READ", 30)
            apart = decoder.search(CountedMargins(F), code, 3)
        assert np.array_equal(together.classes, apart.classes)
        assert np.array_equal(together.scores, apart.scores)


def test_probabilities_that_are_zero_in_floating_point_keep_their_order():
    code = flat(4)
    F = np.array([[0.0, -2000.0, -1000.0, -3000.0]])
    found = fitted([1.0]).search(CountedMargins(F), code, 4)
    assert found.classes.tolist() == [[0, 2, 1, 3]]
    assert found.scores[0].tolist() == [0.0, -1000.0, -2000.0, -3000.0]


def test_no_rows_have_no_classes():
    assert fitted([1.0]).search(CountedMargins(np.empty((0, 3))), flat(3), 2).classes.shape == (0, 2)


def test_other_codes_and_other_trees_are_refused():
    with pytest.raises(ValueError, match="PathProbabilities searches the nodes of a tree code"):
        fitted([1.0]).predict(np.zeros((1, 3)), np.eye(3))
    with pytest.raises(ValueError, match=r"fitted on 2 levels, and this tree has 1"):
        fitted([1.0, 1.0]).predict(np.zeros((1, 3)), flat(3))


@pytest.mark.parametrize("n_trees", [1, 3])
@pytest.mark.parametrize("learner", [LinearSVM(), LinearSVM(fit_intercept=False), "ridge"])
def test_a_classifier_predicts_its_most_probable_class_whatever_the_row(n_trees, learner):
    rng = np.random.default_rng(n_trees)
    y = np.repeat(np.arange(90), 5)
    words = np.stack([y, 90 + y // 9, 100 + rng.integers(40, size=450)], axis=1).astype(np.int32)
    X = sp.csr_array((np.full(1350, 0.6), words.ravel(), np.arange(0, 1351, 3, dtype=np.int32)), shape=(450, 140))
    model = OutputCodeClassifier(learner, code=Tree(3, 6, n_trees), probability="softmax", random_state=0).fit(X, y)
    # Rows of known words, of words without meaning, of a single word, and of none.
    noise = sp.random_array((600, 140), density=0.02, rng=rng, format="csr")
    new = sp.csr_array(sp.vstack([X, noise, sp.csr_array((40, 140))]))
    P, D = model.predict_proba(new), model.decision_function(new)
    assert np.array_equal(model.predict(new), P.argmax(axis=1))
    assert np.array_equal(D.argmax(axis=1), P.argmax(axis=1))
    for n in (1, 4, 90):
        top = model.predict_topk(new, n, probabilities=True)
        assert np.array_equal(top.labels[:, 0], P.argmax(axis=1))
        assert np.allclose(top.probabilities, -np.sort(-P, axis=1)[:, :n], rtol=1e-9)
        assert np.allclose(top.probabilities, np.take_along_axis(P, top.labels, axis=1), rtol=1e-9)


def test_all_searches_read_margins_of_the_same_blocks():
    seen = []
    F = np.random.default_rng(0).normal(size=(3 * BLOCK + 10, 4))
    margins = MarginsByBlock(len(F), lambda rows: seen.append((rows.start, rows.stop)) or F[rows])
    for low, high in [(0, 20), (30, BLOCK + 5), (2 * BLOCK + 7, 3 * BLOCK + 10), (BLOCK, BLOCK + 1)]:
        rows = np.arange(low, high)
        found = margins.of(rows, np.ones(len(rows), dtype=int), np.full(len(rows), 2))
        assert np.array_equal(found.reshape(-1, 2), F[low:high, 1:3])
    assert all(start % BLOCK == 0 and stop in (start + BLOCK, len(F)) for start, stop in seen)
