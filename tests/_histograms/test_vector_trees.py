"""Trees on rows with vectors: exact sums, and the best question of every region by brute force."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest

from outputcodes._ground.blocks import threads
from outputcodes._histograms.binning import bin_features
from outputcodes._histograms.questions import find_leaves, goes_left
from outputcodes._histograms.regions import fill, fill_four
from outputcodes._histograms.vectors.growth import Grower
from outputcodes._histograms.vectors.splits import SplitRules
from outputcodes._histograms.vectors.sums import high, low, n_words, pack


def sample(m, seed, categories=False):
    rng = np.random.default_rng(seed)
    X = np.round(rng.normal(size=(40, 3)) * 2)
    X[rng.random(X.shape) < 0.15] = np.nan
    data = bin_features(X, 255, np.array([False, False, categories]))
    G, h = rng.normal(size=(40, m)).astype(np.float32), rng.random(40).astype(np.float32)
    return data, pack(G, h, np.empty((40, n_words(m)), np.int64))


def unpacked(vectors, m):
    halves = np.stack([low(vectors.words), high(vectors.words)], axis=2).reshape(len(vectors.words), -1)
    return halves[:, : m + 2].astype(float)


@pytest.mark.parametrize("m", [1, 4, 6, 9])
def test_histograms_are_exact_sums(m):
    data, vectors = sample(m, seed=m)
    histogram = np.empty(data.offsets[-1] * n_words(m), np.int64)
    rows = np.arange(5, 40, dtype=np.uint32)
    fill(data.codes, rows, data.offsets, vectors.words, 0, 3, histogram)
    expected = np.zeros((data.offsets[-1], n_words(m)), np.int64)
    for f in range(3):
        np.add.at(expected, data.offsets[f] + data.codes[rows, f], vectors.words[rows])
    np.testing.assert_array_equal(histogram.reshape(expected.shape), expected)
    if n_words(m) == 4:
        fill_four(data.codes, rows, data.offsets, vectors.words, 0, 3, histogram)
        np.testing.assert_array_equal(histogram.reshape(expected.shape), expected)


def test_rounding_is_small_and_sums_never_overflow():
    rng = np.random.default_rng(0)
    G, h = rng.normal(size=(1000, 6)).astype(np.float32), rng.random(1000).astype(np.float32)
    G[:, 3] = 5.0  # all of one sign: the largest sum
    vectors = pack(G, h, np.empty((1000, 4), np.int64))
    whole = unpacked(vectors, 6)
    np.testing.assert_allclose(whole[:, :6] * vectors.gradient_unit, G, atol=vectors.gradient_unit)
    np.testing.assert_allclose(whole[:, 6] * vectors.curvature_unit, h, atol=vectors.curvature_unit)
    assert (whole[:, 7] == 1).all()
    assert np.abs(whole[:, :7]).sum(axis=0).max() < 2**31


def sides(data, rows):
    """Every question about a set of rows: the mask of those that go to the left."""
    for f in range(3):
        codes, missing = data.codes[rows, f], data.n_bins[f]
        if data.categorical[f]:
            present = np.unique(codes)
            for size in range(1, len(present)):
                for chosen in combinations(present, size):
                    yield np.isin(codes, chosen)
            continue
        for cut in range(missing):
            yield codes <= cut
            yield (codes <= cut) | (codes == missing)


def worth(values, m, l2):
    total = values.sum(axis=0)
    return (total[:m] ** 2).sum() / (total[m] + l2)


@pytest.mark.parametrize("n_values", [15, 16, 17, 255])
def test_the_best_cut_is_found_whatever_the_number_of_values(n_values):
    # Cuts are priced in vectors of eight; with missing values there is one cut more.
    rng = np.random.default_rng(n_values)
    X = np.r_[np.arange(n_values), rng.integers(n_values, size=300), np.full(9, np.nan)][:, None].astype(float)
    data, n = bin_features(X, 255, np.array([False])), len(X)
    for last in (False, True):
        G, h = rng.normal(size=(n, 6)).astype(np.float32), rng.random(n).astype(np.float32)
        if last:  # the cut behind the last number is the best one
            G[np.isnan(X[:, 0])] += 9
        vectors = pack(G, h, np.empty((n, 4), np.int64))
        values, rows = unpacked(vectors, 6), np.arange(n)
        gains = [
            worth(values[left], 6, 1.0) + worth(values[~left], 6, 1.0) - worth(values, 6, 1.0)
            for cut in range(n_values)
            for left in (data.codes[:, 0] <= cut, (data.codes[:, 0] <= cut) | (data.codes[:, 0] == n_values))
            if not left.all()
        ]
        grower = Grower(data, rows, 6, 4, 2)
        grower.grow(vectors.words, SplitRules(1.0, 1), 100)
        assert grower.tree.gains[0] == pytest.approx(max(gains), rel=1e-9)
        if last:
            assert grower.tree.nodes[0, 1] == n_values - 1


def best_gain(data, values, rows, m, l2, min_rows):
    gains = [0.0]
    for left in sides(data, rows):
        if min(left.sum(), (~left).sum()) >= min_rows:
            parts = worth(values[rows[left]], m, l2) + worth(values[rows[~left]], m, l2)
            gains.append(parts - worth(values[rows], m, l2))
    return max(gains)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize(("m", "categories", "min_rows"), [(6, False, 1), (6, False, 4), (3, False, 1), (1, True, 1)])
def test_every_leaf_is_parted_by_the_best_question(m, categories, min_rows, seed):
    # With one gradient, the best subset of categories is among those in its order (Fisher 1958).
    data, vectors = sample(m, seed, categories)
    values = unpacked(vectors, m)
    l2 = 0.3 / vectors.curvature_unit
    rules = SplitRules(l2, min_rows)
    regions = [np.arange(40)]
    for n_leaves in range(2, 7):
        # One more leaf than before: the one whose question gains most.
        grower = Grower(data, np.arange(40), m, n_words(m), n_leaves)
        assert grower.grow(vectors.words, rules, 100) == n_leaves
        segments = grower.tree.leaves[:n_leaves, :2]
        grown = [np.sort(grower.tree.order[first:last].astype(int)) for first, last in segments]
        gains = [best_gain(data, values, rows, m, l2, min_rows) for rows in regions]
        before = sum(worth(values[rows], m, l2) for rows in regions)
        after = sum(worth(values[rows], m, l2) for rows in grown)
        assert after - before == pytest.approx(max(gains), rel=1e-9)
        regions = grown


@pytest.mark.parametrize(("m", "categories"), [(6, False), (6, True), (3, True)])
def test_threads_that_share_the_features_grow_the_same_tree(m, categories):
    data, vectors = sample(m, 2, categories)
    rules = SplitRules(1.0, 1)
    alone = Grower(data, np.arange(40), m, n_words(m), 10)
    assert alone.grow(vectors.words, rules, 100) > 3
    shared = Grower(data, np.arange(40), m, n_words(m), 10, n_threads=3)
    assert len(shared.tiles) == 3
    shared.large_leaf = 1  # every leaf is large
    with threads(3) as run:
        shared.grow(vectors.words, rules, 100, run)
    for part in ("order", "leaves", "nodes", "gains"):
        np.testing.assert_array_equal(getattr(alone.tree, part), getattr(shared.tree, part))
    assert (alone.subsets is not None) == categories
    np.testing.assert_array_equal(alone.subsets, shared.subsets)


@pytest.mark.parametrize("categories", [False, True])
def test_rows_find_their_leaves_by_codes_and_by_values(categories):
    data, vectors = sample(6, 3, categories)
    grower = Grower(data, np.arange(40), 6, 4, 8)
    grower.grow(vectors.words, SplitRules(1.0, 1), 100)
    expected = np.empty(40, int)
    for leaf, (first, last) in enumerate(grower.tree.leaves[:, :2]):
        expected[grower.tree.order[first:last]] = leaf
    order, segments = grower.part(np.arange(40, dtype=np.uint32))
    for leaf, (first, last) in enumerate(segments):
        np.testing.assert_array_equal(expected[order[first:last]], leaf)
    nodes, leaves, _ = grower.questions()
    reached = np.empty(40, np.intp)
    find_leaves(data.X, 0, nodes, reached)
    np.testing.assert_array_equal(leaves[reached], expected)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("sign", [1, -1])
def test_what_a_leaf_has_no_rows_of_follows_the_larger_side(seed, sign):
    rng = np.random.default_rng(seed)
    X = np.column_stack([rng.integers(0, 12, 60), rng.normal(size=60).round(1)])
    data = bin_features(X, 255, np.array([True, False]))
    G, h = sign * rng.normal(size=(60, 6)).astype(np.float32), np.ones(60, np.float32)
    grower = Grower(data, np.arange(60), 6, 4, 8)
    grower.grow(pack(G, h, np.empty((60, 4), np.int64)).words, SplitRules(1.0, 1), 100)
    nodes, leaves, _ = grower.questions()
    reached, absent = {0: np.arange(60)}, 0
    for node in range(len(leaves)):  # children come after their parents
        if leaves[node] >= 0:
            continue
        rows, f = reached[node], nodes.feature[node]
        left = np.array([goes_left(X[i], node, nodes) for i in rows])
        reached[nodes.left[node]], reached[nodes.left[node] + 1] = rows[left], rows[~left]
        for value in {np.nan, 99.0, *np.unique(X[:, f])} - set(X[rows, f]) if f == 0 else [np.nan]:
            assert goes_left(np.full(2, value), node, nodes) == (2 * left.sum() >= len(rows))
            absent += 1
    assert absent >= 10


def test_a_share_of_the_features_is_asked_about():
    data, vectors = sample(6, 1)
    asked = set()
    for seed in range(30):
        grower = Grower(data, np.arange(40), 6, 4, 4, share=0.67)
        grower.ask_about((seed,))
        assert len(grower.chosen) == 2
        grower.grow(vectors.words, SplitRules(1.0, 1), 100)
        nodes, leaves, _ = grower.questions()
        features = set(nodes.feature[leaves < 0].tolist())
        assert features <= set(grower.chosen.tolist())
        asked |= features
        # The questions are those of a table that has no other features.
        few = replace(
            data,
            X=data.X[:, grower.chosen],
            codes=grower.features.codes,
            n_bins=grower.features.n_bins,
            offsets=grower.features.offsets,
            categorical=data.categorical[grower.chosen],
        )
        alone = Grower(few, np.arange(40), 6, 4, 4)
        alone.grow(vectors.words, SplitRules(1.0, 1), 100)
        np.testing.assert_array_equal(alone.tree.nodes, grower.tree.nodes)
        reached = np.empty(40, np.intp)
        find_leaves(data.X, 0, nodes, reached)
        for leaf, (first, last) in enumerate(grower.tree.leaves[:, :2]):
            np.testing.assert_array_equal(leaves[reached[grower.tree.order[first:last]]], leaf)
    assert asked == {0, 1, 2}
