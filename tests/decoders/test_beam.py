"""Beam search against brute force over all paths."""

import numpy as np
import pytest

from outputcodes._ground.margins_on_demand import MarginsByBlock
from outputcodes._ground.tree_code import flat
from outputcodes.decoders import Beam, as_decoder
from outputcodes.losses import as_loss
from random_trees import random_tree


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
