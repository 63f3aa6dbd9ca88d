"""Choices up to rounding: the first of equals, whole numbers for searches, and keys that do not split equals."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from outputcodes._ground.choosing import (
    TIE,
    clearly_less,
    first_largest,
    first_smallest,
    sorting_key,
    sorting_keys,
    to_six_digits,
    without_noise,
)

SEEDS = st.integers(0, 10_000)


@given(SEEDS)
def test_the_first_of_equals_is_chosen_whatever_the_noise(seed):
    rng = np.random.default_rng(seed)
    values = rng.integers(0, 4, size=int(rng.integers(1, 9))) / 3
    noisy = values * (1 + 1e-13 * rng.uniform(-1, 1, size=values.shape))
    assert first_largest(noisy) == values.argmax()
    assert first_smallest(noisy) == values.argmin()
    assert first_largest(1e6 * noisy, 1e6) == values.argmax()


def test_what_is_clearly_better_is_chosen():
    assert first_largest([1.0, 1.0 + 2 * TIE]) == 1
    assert first_largest([1.0, 1.0 + 2 * TIE], scale=10.0) == 0
    assert first_smallest([1.0, 1.0 - 2 * TIE]) == 1
    assert first_smallest([[3.0, 1.0, 1.0], [0.0, -1e-12, 5.0]], [1.0, 1.0]).tolist() == [1, 0]


def test_infinite_candidates():
    assert first_smallest([np.inf, 2.0, np.inf]) == 1
    assert first_smallest([np.inf, np.inf]) == 0
    assert first_largest([-np.inf, 2.0]) == 1
    assert clearly_less(5.0, np.inf)
    assert not clearly_less(np.inf, np.inf)


def test_noise_is_relative_to_the_scale():
    assert without_noise([1e-12, 1e-3, -1e-12], 1.0).tolist() == [0.0, 1e-3, 0.0]
    assert without_noise([1e-12], 1e-6).tolist() == [1e-12]
    assert without_noise([[1e-12, 1e-12]], np.array([1.0, 0.0])).tolist() == [[0.0, 1e-12]]


@given(SEEDS, st.sampled_from([3, 7, 64, 128, 512, 1000, 1024, 1797]))
def test_shares_are_rounded_alike_whatever_the_noise(seed, n):
    # Shares of 128, 512 and 1024 are halves in the seventh digit.
    rng = np.random.default_rng(seed)
    shares = np.append(rng.integers(-n, n + 1, size=20), n) / n
    noisy = shares * (1 + 1e-13 * rng.uniform(-1, 1, size=shares.shape))
    for rounded in (to_six_digits, sorting_keys):
        whole = rounded(shares)
        assert np.array_equal(whole, np.rint(whole))
        assert np.array_equal(rounded(noisy), whole)
        assert np.array_equal(rounded(-shares), -whole)
        assert np.array_equal(rounded(shares / 3), whole)
    assert np.abs(to_six_digits(shares) - 1e6 * shares).max() <= 0.58
    assert np.array_equal(np.argsort(sorting_keys(noisy), kind="stable"), np.argsort(shares, kind="stable"))


@pytest.mark.parametrize("share", [0.0, 1 / 3, 0.5, 1 / 1024, 1.0])
def test_kernels_have_the_same_key(share):
    assert sorting_key(share) == sorting_keys([share, 1.0])[0]
    assert sorting_key(share * (1 - 1e-13)) == sorting_key(share) == sorting_key.py_func(share)
    assert sorting_key(share + 3 * TIE) > sorting_key(share)


def test_nothing_to_round():
    assert to_six_digits(np.zeros((2, 2))).tolist() == [[0, 0], [0, 0]]
    assert sorting_keys([]).tolist() == []
