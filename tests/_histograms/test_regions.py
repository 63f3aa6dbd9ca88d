"""Histograms of whole numbers: the same for any order of the rows, any blocks, and as what a sibling leaves."""

import numpy as np
import pytest

from outputcodes._histograms.binning import bin_features
from outputcodes._histograms.columns import growth as column_growth
from outputcodes._histograms.columns.growth import whole_weights
from outputcodes._histograms.regions import fill, fill_two_signs
from outputcodes._histograms.vectors.sums import n_words, pack, pack_six, pack_words, sizes_of
from outputcodes.learners import ColumnTree

N = 300


def table(seed):
    rng = np.random.default_rng(seed)
    X = np.round(rng.normal(size=(N, 4)) * 3)
    X[rng.random(X.shape) < 0.1] = np.nan
    # Weights of very different sizes, none a multiple of another.
    weight = np.exp(3 * rng.normal(size=N))
    return rng, X, weight, np.where(rng.random(N) < 0.4, 1, -1)


def vectors(m, rng):
    G, h = rng.normal(size=(N, m)).astype(np.float32), rng.random(N).astype(np.float32)
    return pack(G, h, np.empty((N, n_words(m)), np.int64)).words


def filled_vectors(data, words, rows):
    histogram = np.full(data.offsets[-1] * words.shape[1], 7)
    fill(data.codes, rows.astype(np.uint32), data.offsets, words, 0, 4, histogram)
    return histogram


def filled_signed(data, signed, rows):
    histogram = np.full(2 * data.offsets[-1], 7)
    fill_two_signs(data.codes, rows.astype(np.uint32), data.offsets, signed, histogram)
    return histogram


@pytest.mark.parametrize("m", [0, 3, 6])
def test_histograms_depend_neither_on_the_order_nor_on_blocks(m):
    rng, X, weight, sign = table(m)
    data = bin_features(X, 255, np.zeros(4, bool))
    # m = 0: the weights of a column; otherwise vectors of m gradients.
    values = vectors(m, rng) if m else whole_weights(sign * weight)[0]
    filled = filled_vectors if m else filled_signed
    whole = filled(data, values, np.arange(N))
    for rows in (np.arange(N)[::-1], rng.permutation(N)):
        np.testing.assert_array_equal(filled(data, values, rows), whole)
        for size in (1, 7, 100):
            blocks = [rows[at : at + size] for at in range(0, N, size)]
            np.testing.assert_array_equal(sum(filled(data, values, block) for block in blocks), whole)
        # What a part leaves is the histogram of the others.
        np.testing.assert_array_equal(whole - filled(data, values, rows[:60]), filled(data, values, rows[60:]))


def test_signed_histograms_are_the_weights_of_both_signs():
    _, X, weight, sign = table(1)
    data = bin_features(X, 255, np.zeros(4, bool))
    whole, unit = whole_weights(sign * weight)
    histogram = filled_signed(data, whole, np.arange(N)).reshape(-1, 2) * unit
    for f in range(4):
        for b in range(data.n_bins[f] + 1):
            here = data.codes[:, f] == b
            expected = weight[here & (sign > 0)].sum(), weight[here & (sign < 0)].sum()
            np.testing.assert_allclose(histogram[data.offsets[f] + b], expected, rtol=1e-12, atol=N * unit)


@pytest.mark.parametrize("scale", [1e-300, 1e-9, 1.0, 1e300])
def test_whole_weights_are_close_never_zero_and_never_overflow(scale):
    weight = np.array([1.0, -0.3, 1e-30, -1.0, 0.7] * 20) * scale
    whole, unit = whole_weights(weight)
    assert np.array_equal(np.sign(whole), np.sign(weight))
    assert sum(abs(int(w)) for w in whole) < 2**62
    np.testing.assert_allclose(whole * unit, weight, rtol=1e-15, atol=unit)
    assert unit < 1e-15 * scale
    assert np.frexp(unit)[0] == 0.5  # a power of 2, so that counts stay counts
    order = np.random.default_rng(0).permutation(len(weight))
    permuted, same = whole_weights(weight[order])
    assert same == unit
    assert np.array_equal(permuted, whole[order])


@pytest.mark.parametrize("criterion", ["entropy", "gini", "kearns-mansour"])
@pytest.mark.parametrize("bins", ["exact", 5])
def test_column_trees_do_not_depend_on_the_order_of_the_rows(criterion, bins):
    for seed in range(4):
        rng, X, weight, sign = table(seed)
        order = rng.permutation(N)
        learner = ColumnTree(criterion, bins=bins, categorical_features=[3])
        one, other = (
            learner.fit(X[rows], sign[rows], sample_weight=weight[rows]).columns_ for rows in (np.arange(N), order)
        )
        assert one.n_leaves[0] > 20
        for a, b in zip((*one.nodes, one.weights), (*other.nodes, other.weights), strict=True):
            np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("kept", [2, 3])
def test_a_histogram_is_the_same_whether_it_is_kept_or_filled_again(kept, monkeypatch):
    _, X, weight, sign = table(2)
    learner = ColumnTree(categorical_features=[3])
    many = learner.fit(X, sign, sample_weight=weight).columns_
    monkeypatch.setattr(column_growth, "MOST_KEPT", kept)
    few = learner.fit(X, sign, sample_weight=weight).columns_
    for a, b in zip((*many.nodes, many.weights), (*few.nodes, few.weights), strict=True):
        np.testing.assert_array_equal(a, b)


def test_the_weights_of_every_node_are_those_of_its_rows():
    _, X, weight, sign = table(3)
    columns = ColumnTree().fit(X, sign, sample_weight=weight).columns_
    unit = whole_weights(weight)[1]
    where = np.zeros(N, int)  # the node of each row, from the root on
    nodes, seen = columns.nodes, 0
    while True:
        for node in np.unique(where):
            here, seen = where == node, seen + 1
            sums = weight[here & (sign > 0)].sum(), weight[here & (sign < 0)].sum()
            np.testing.assert_allclose(columns.weights[node], sums, rtol=1e-12, atol=N * unit)
        if (nodes.kind[where] < 0).all():
            break
        x = X[np.arange(N), nodes.feature[where]]
        left = np.where(np.isnan(x), nodes.missing_left[where], x <= nodes.threshold[where])
        where = np.where(nodes.kind[where] < 0, where, nodes.left[where] + ~left)
    assert seen > len(nodes.kind)


def test_six_gradients_are_packed_as_any_number_is():
    rng = np.random.default_rng(0)
    G, h = rng.normal(scale=1e6, size=(N, 6)).astype(np.float32), rng.random(N).astype(np.float32)
    six, any_number = np.empty((2, N, n_words(6)), np.int64)
    pack_six(G, h, 0.3, 1e6, six)
    pack_words(G, h, 0.3, 1e6, any_number)
    assert np.array_equal(six, any_number)


@pytest.mark.parametrize("n", [0, 1, 63, 64, 65, N])
def test_sizes_of_gradients_are_sums_over_all_rows(n):
    rng = np.random.default_rng(0)
    G, h = rng.normal(size=(n, 3)).astype(np.float32), rng.random(n).astype(np.float32)
    expected = np.append(np.abs(G).astype(float).sum(axis=0), h.astype(float).sum())
    assert np.allclose(sizes_of(G, h), expected, rtol=1e-12)
