"""Beam search against brute force over all paths, and probabilities along paths."""

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from scipy.special import log_softmax, softmax

from outputcodes._ground.margins_on_demand import MarginsByBlock
from outputcodes._ground.tree_code import flat, grown
from outputcodes.decoders import Beam, PathProbabilities, as_decoder
from outputcodes.losses import as_loss


def random_tree(rng, k, n_trees=1):
    def split(classes, _):
        if len(classes) <= rng.integers(1, 4):
            return None
        cuts = np.sort(rng.choice(np.arange(1, len(classes)), min(len(classes) - 1, rng.integers(1, 4)), False))
        return [(part, None) for part in np.split(rng.permutation(classes), cuts)]

    return grown(k, [(np.arange(k), None)] * n_trees, split)


def brute_force(F, code, loss="squared-hinge"):
    """Scores of all classes: the sum of -L over the columns in which a class is a child, of all trees."""
    gains = -as_loss(loss)(F)
    return np.stack(
        [sum(gains[:, p[p >= 0]].sum(axis=1) for p in (code.paths(np.array([r]), t)[0] for t in range(code.n_trees)))
         for r in range(code.shape[0])], axis=1)  # fmt: skip


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("n_trees", [1, 3])
@pytest.mark.parametrize("loss", ["squared-hinge", "logistic"])
def test_an_infinite_beam_is_brute_force(seed, n_trees, loss):
    rng = np.random.default_rng(seed)
    k = int(rng.integers(3, 40))
    code = random_tree(rng, k, n_trees)
    F = rng.uniform(-2, 0.99, size=(50, code.shape[1]))  # losses of margins above 1 are tied
    D = brute_force(F, code, loss)
    decoder = Beam(width=10_000, loss=loss)
    assert np.allclose(decoder.scores(F, code), D)
    assert np.array_equal(decoder.predict(F, code), D.argmax(axis=1))
    found = decoder.search(MarginsByBlock(50, lambda rows: F[rows]), code, 3)
    assert np.array_equal(found.classes, np.argsort(-D, axis=1, kind="stable")[:, :3])
    assert np.allclose(found.scores, -np.sort(-D, axis=1)[:, :3])


@pytest.mark.parametrize("width", [1, 2, 5])
def test_a_narrow_beam_keeps_the_best_paths_of_each_level(width):
    rng = np.random.default_rng(width)
    code = random_tree(rng, 40)
    F = rng.uniform(-2, 0.99, size=(30, code.shape[1]))
    gains = -as_loss("squared-hinge")(F)
    for f, r in zip(gains, Beam(width, "squared-hinge").predict(F, code), strict=True):
        paths = [(0.0, 0)]
        while any(item >= 0 for _, item in paths):
            longer = []
            for score, v in paths:
                if v < 0:
                    longer.append((score, v))
                else:
                    longer += [(score + f[c], code.child[c]) for c in range(code.first[v], code.first[v + 1])]
            paths = sorted(longer, reverse=True)[:width]
        assert paths[0][1] == -1 - r


def test_classes_outside_the_beam_score_below_all_inside():
    rng = np.random.default_rng(0)
    code = random_tree(rng, 40)
    F = rng.normal(size=(20, code.shape[1]))
    decoder = Beam(4, "squared-hinge")
    D = decoder.scores(F, code)
    inside = decoder.search(MarginsByBlock(20, lambda rows: F[rows]), code, 4).classes
    assert np.array_equal(D.argmax(axis=1), decoder.predict(F, code))
    outside = np.ones(D.shape, dtype=bool)
    np.put_along_axis(outside, inside, False, axis=1)
    assert (np.where(outside, D, -np.inf).max(axis=1) < np.where(outside, np.inf, D).min(axis=1)).all()


def test_ties_go_to_the_larger_margins_and_then_to_the_first():
    code = flat(4)
    # The losses of margins above 1 are all 0.
    assert Beam(4, "squared-hinge").predict([[1.5, 2.0, 3.0, -1.0], [2.0, -1, 2.0, 0]], code).tolist() == [2, 0]


def test_one_node_is_the_largest_margin():
    F = np.random.default_rng(0).normal(size=(40, 7))
    assert np.array_equal(Beam(1, "squared-hinge").predict(F, flat(7)), F.argmax(axis=1))


def test_more_classes_than_the_beam_is_wide_can_be_asked_for():
    rng = np.random.default_rng(3)
    code = random_tree(rng, 30)
    F = rng.normal(size=(10, code.shape[1]))
    found = Beam(1, "squared-hinge").search(MarginsByBlock(10, lambda rows: F[rows]), code, 30)
    assert np.array_equal(np.sort(found.classes, axis=1), np.tile(np.arange(30), (10, 1)))


def test_contributions_are_the_terms_of_the_scores():
    rng = np.random.default_rng(4)
    code = random_tree(rng, 12, n_trees=2)
    F = rng.normal(size=(5, code.shape[1]))
    decoder = Beam(100, "hinge")
    assert np.allclose(decoder.contributions(F, code).sum(axis=2), decoder.scores(F, code))


@pytest.mark.parametrize("width", [0, -1, 2.5, True, "10"])
def test_a_beam_below_one_is_refused(width):
    with pytest.raises(ValueError, match=r"width=.* must be an integer of at least 1"):
        Beam(width, "hinge").predict(np.zeros((1, 3)), flat(3))


def test_other_codes_and_open_losses_are_refused():
    with pytest.raises(ValueError, match="nodes of a tree code"):
        as_decoder("beam").predict(np.zeros((1, 3)), np.eye(3))
    with pytest.raises(ValueError, match="needs a loss"):
        Beam().predict(np.zeros((1, 3)), flat(3))


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
    decoder = PathProbabilities(width=1000).fit(F, y, code)
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
