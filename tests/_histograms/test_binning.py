"""Bins keep the order of the values, hold every value once, and know what lies at their edges."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from outputcodes._histograms.binning import bin_features, midpoints

NUMERIC = np.array([False])
values = st.floats(-1e300, 1e300, allow_subnormal=False)


def one_feature(x, bins="exact", like=None):
    return bin_features(np.asarray(x, dtype=float)[:, None], bins, NUMERIC, like)


@given(arrays(float, st.integers(1, 60), elements=values | st.just(np.nan)))
@settings(max_examples=60, deadline=None)
def test_exact_codes_are_the_ranks_of_the_values(x):
    binned = one_feature(x)
    distinct = sorted(set(x[~np.isnan(x)]))
    assert binned.n_bins[0] == len(distinct)
    assert binned.codes[:, 0].tolist() == [len(distinct) if np.isnan(v) else distinct.index(v) for v in x]
    assert np.array_equal(binned.low, [*distinct, np.nan], equal_nan=True)
    assert np.array_equal(binned.low, binned.high, equal_nan=True)
    assert binned.exact[0]


@given(arrays(float, st.integers(1, 80), elements=st.integers(-9, 9).map(float) | values), st.integers(2, 12))
@settings(max_examples=60, deadline=None)
def test_quantile_bins_are_intervals_that_hold_all_values(x, bins):
    binned = one_feature(x, bins)
    codes = binned.codes[:, 0]
    assert binned.n_bins[0] == min(len(np.unique(x)), binned.n_bins[0]) <= bins
    for b in range(binned.n_bins[0]):
        assert x[codes == b].min() == binned.low[b]
        assert x[codes == b].max() == binned.high[b]
    assert (binned.high[: binned.n_bins[0] - 1] < binned.low[1 : binned.n_bins[0]]).all()


def test_quantile_bins_are_about_equally_full():
    x = np.random.default_rng(0).normal(size=10_000) ** 3
    counts = np.bincount(one_feature(x, 100).codes[:, 0])
    assert counts.tolist() == [100] * 100


def test_few_distinct_values_and_categories_stay_exact():
    x = np.arange(600.0) % 300
    assert one_feature(x % 20, 20).exact[0]
    assert not one_feature(x, 256).exact[0]
    categories = bin_features(x[:, None], 16, np.array([True]))
    assert categories.exact[0]
    assert categories.codes.dtype == np.uint16


def test_codes_are_as_small_as_the_bins_allow():
    assert one_feature(np.arange(256.0)).codes.dtype == np.uint8
    assert one_feature(np.append(np.arange(256.0), np.nan)).codes.dtype == np.uint16
    assert one_feature(np.arange(70_000.0)).codes.dtype == np.uint32


def test_features_have_bins_of_their_own():
    X = np.array([[1.0, np.nan, 5.0], [2.0, np.nan, 5.0]])
    binned = bin_features(X, "exact", np.zeros(3, dtype=bool))
    assert binned.n_bins.tolist() == [2, 0, 1]
    assert binned.offsets.tolist() == [0, 3, 4, 6]
    assert binned.codes.tolist() == [[0, 0, 0], [1, 0, 0]]


def test_like_lends_its_quantiles_but_not_its_values():
    rng = np.random.default_rng(0)
    first, second = rng.normal(size=500), rng.normal(size=400) * 2
    lender = one_feature(first, 8)
    borrowed = one_feature(second, 8, like=lender)
    cuts = midpoints(lender.high[:7], lender.low[1:8])
    assert np.array_equal(borrowed.codes[:, 0], np.searchsorted(cuts, second))
    assert np.array_equal(borrowed.low, lender.low, equal_nan=True)
    exact = one_feature(second, "exact", like=one_feature(first))
    assert exact.n_bins[0] == 400


@pytest.mark.parametrize("pair", [(0.0, 1.0), (1.0, np.nextafter(1.0, 2.0)), (-1.7e308, 1.7e308), (-5e-324, 5e-324)])
def test_a_midpoint_parts_two_values(pair):
    below, above = np.array([pair[0]]), np.array([pair[1]])
    middle = midpoints(below, above)
    assert below <= middle < above


@pytest.mark.parametrize("bins", ["exact", 8])
def test_any_number_of_jobs_finds_the_same_bins(bins):
    X = np.random.default_rng(0).normal(size=(300, 9)).round(1)
    X[:50, 3] = np.nan
    for like in (None, bin_features(X[:200], bins, np.arange(9) == 5)):
        one, two = (bin_features(X, bins, np.arange(9) == 5, like, n_jobs) for n_jobs in (1, 2))
        assert np.array_equal(one.codes, two.codes)
        assert np.array_equal(one.low, two.low, equal_nan=True)
        assert np.array_equal(one.high, two.high, equal_nan=True)
