"""Histograms of stumps: sums over blocks of rows in their order, whoever has the blocks."""

import numpy as np
import pytest

from outputcodes import AdaBoostMH, AdaBoostMR
from outputcodes._ground.lanes import LANES, aligned_zeros
from outputcodes._histograms import stumps
from outputcodes._histograms.binning import bin_features
from outputcodes._histograms.stumps import Part, by_block_and_class, fill_histograms, make_histogram_room, runs_of
from outputcodes.boosting._compiled.stumps import fill_signed
from outputcodes.learners import BoostedStumps

N, K, BLOCK = 230, 3, 50


@pytest.fixture
def small_blocks(monkeypatch):
    monkeypatch.setattr(stumps, "BLOCK_ROWS", BLOCK)


def table(seed=0):
    rng = np.random.default_rng(seed)
    X = np.round(rng.normal(size=(N, 4)) * 2)
    X[rng.random(X.shape) < 0.1] = np.nan
    y = rng.integers(0, K, N)
    V = aligned_zeros(N, LANES)
    V[:] = rng.choice([-1.0, 1.0], (K, LANES))[y] * np.exp(2 * rng.normal(size=(N, LANES)))
    return bin_features(X, 255, np.zeros(4, bool)), y, V


def part_of(data, y, V, rows):
    rows = rows[by_block_and_class(rows, y[rows])]
    own = aligned_zeros(len(rows), LANES)
    own[:] = V[rows]
    return Part(data.codes[rows], own, *runs_of(rows, y[rows]))


def by_sign(part, room):
    fill_histograms(part, 0, 4, room.histogram, room.of_block, room.of_class)
    return room.histogram.copy()


def signed(part, room):
    fill_signed(part, 0, 4, room.of_class, room.of_block)
    return room.of_class.copy()


@pytest.mark.parametrize("filled", [by_sign, signed])
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.usefixtures("small_blocks")
def test_a_histogram_is_the_sum_of_those_of_its_blocks(filled, seed):
    data, y, V = table(seed)
    room = make_histogram_room(data.n_bins)[1]
    rows = np.flatnonzero(np.arange(N) % 7 != 3)  # blocks are those of the table, whichever rows take part
    whole = filled(part_of(data, y, V, rows), room)
    total = None
    for first in range(0, N, BLOCK):
        own = filled(part_of(data, y, V, rows[(rows >= first) & (rows < first + BLOCK)]), room)
        total = own if total is None else total + own
    np.testing.assert_array_equal(whole, total)


@pytest.mark.parametrize("block", [BLOCK, 10_000])
def test_histograms_are_the_weights_of_both_signs(block, monkeypatch):
    monkeypatch.setattr(stumps, "BLOCK_ROWS", block)
    data, y, V = table()
    room = make_histogram_room(data.n_bins)[1]
    part = part_of(data, y, V, np.arange(N))
    assert len(part.blocks) - 1 == -(-N // block)
    histogram, of_sign = by_sign(part, room), signed(part, room)
    for f in range(4):
        for b in range(data.n_bins[f] + 1):
            here = V[data.codes[:, f] == b]
            expected = np.concatenate([np.maximum(here, 0).sum(axis=0), np.maximum(-here, 0).sum(axis=0)])
            np.testing.assert_allclose(histogram[f, b], expected, rtol=1e-13, atol=0)
            np.testing.assert_allclose(of_sign[f, b], here.sum(axis=0), atol=1e-12 * expected.max())


@pytest.mark.parametrize("model", [BoostedStumps(20), AdaBoostMH(20), AdaBoostMR(20)])
def test_blocks_change_rounding_only(model, monkeypatch):
    data, y, _ = table()
    if isinstance(model, BoostedStumps):
        y = y % 2
    whole = model.fit(data.X, y).decision_function(data.X)
    monkeypatch.setattr(stumps, "BLOCK_ROWS", BLOCK)
    np.testing.assert_allclose(model.fit(data.X, y).decision_function(data.X), whole, rtol=1e-9)


@pytest.mark.usefixtures("small_blocks")
def test_blocks_hold_their_own_rows_sorted_by_class():
    _, y, _ = table()
    rows = np.flatnonzero(np.arange(N) % 3)
    ordered = rows[by_block_and_class(rows, y[rows])]
    starts, blocks = runs_of(ordered, y[ordered])
    assert starts[blocks[-1]] == len(rows)
    for b in range(len(blocks) - 1):
        own = ordered[starts[blocks[b]] : starts[blocks[b + 1]]]
        np.testing.assert_array_equal(np.sort(own), rows[rows // BLOCK == b])
        assert (np.diff(y[own]) >= 0).all()
        for r in range(blocks[b], blocks[b + 1]):
            assert len(np.unique(y[ordered[starts[r] : starts[r + 1]]])) == 1
