"""McNemar's test against all ways in which the discordant rows could have fallen."""

import itertools
from math import comb

import numpy as np
import pytest

from outputcodes.selection.mcnemar import mcnemar


@pytest.mark.parametrize(("b", "c"), list(itertools.product(range(6), repeat=2)))
def test_every_way_the_discordant_rows_could_have_fallen(b, c):
    """Under the null hypothesis the two predictions of a row may be swapped: count the swaps at least as one-sided."""
    first = np.array([True] * b + [False] * c + [True, False, False])
    second = np.array([False] * b + [True] * c + [True, False, False])
    swaps = itertools.product((-1, 1), repeat=b + c)
    extreme = sum(abs(sum(signs)) >= abs(b - c) for signs in swaps)
    found = mcnemar(first, second)
    assert (found.first_only, found.second_only) == (b, c)
    assert found.p_value == pytest.approx(extreme / 2 ** (b + c))
    assert mcnemar(second, first) == (c, b, found.p_value)


def test_many_rows():
    first, second = np.zeros((2, 10_000), dtype=bool)
    first[:60], second[60:100] = True, True
    expected = 2 * sum(comb(100, i) for i in range(41)) / 2**100
    assert mcnemar(first, second).p_value == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("other", [[True], [[True, False]], [1, 0], [0.1, 0.2]])
def test_other_rows_or_no_booleans_are_refused(other):
    with pytest.raises(ValueError, match="same rows"):
        mcnemar([True, False], other)
