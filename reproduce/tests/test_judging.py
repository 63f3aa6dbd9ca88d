"""Judgements: two standard errors, signed ranks and slopes against their definitions."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from reproduce import Agreement, lower_claim
from reproduce.judging import signed_ranks


def test_two_standard_errors_are_binomial():
    found = Agreement.of(12.0, 10.0, 1000)
    p = 0.11
    assert found.standard_error == pytest.approx(100 * np.sqrt(p * (1 - p) / 1000))
    assert Agreement.of(11.9, 10.0, 1000).within
    assert Agreement.of(12.1, 10.0, 1000).higher
    assert Agreement.of(7.0, 10.0, 1000).lower
    assert not Agreement.of(9.0, 10.0, 1000).lower


@pytest.mark.parametrize(
    "d",
    [
        [-3.0, -1.5, 0.5, -2.0, -4.0, -0.7],
        [-3.0, 1.0, -1.0, 0.0, -2.0, -2.0, 2.0, 0.5],
        [0.1 + 0.2, -0.3, 0.3, 1.0],
        np.sin(np.arange(10.0)).round(1),
        np.sin(np.arange(30.0)),
        np.sin(np.arange(30.0)).round(1),
    ],
)
def test_signed_ranks_are_those_of_scipy(d):
    for side in ("less", "greater"):
        expected = stats.wilcoxon(np.round(d, 9), alternative=side).pvalue
        assert signed_ranks(d, side) == pytest.approx(expected, rel=1e-12)


def test_claims_are_judged_by_all_sign_changes():
    # Wilcoxon's p-value is the share of all signs of the ranks with a sum as small: here by listing all of them.
    d = np.array([-3.0, -1.5, 0.5, -2.0, -4.0, -0.7])
    ranks = stats.rankdata(abs(d))
    signs = np.array(np.meshgrid(*[[0, 1]] * len(d))).reshape(len(d), -1)
    share = np.mean(ranks @ signs <= ranks[d > 0].sum())
    assert share < 0.05
    assert signed_ranks(d, "less") == pytest.approx(share)
    names = "abcdef"
    claim = lower_claim("", dict(zip(names, d, strict=True)), dict.fromkeys(names, 0.0))
    assert claim.verdict == "supported"
    reverse = lower_claim("", dict.fromkeys(names, 0.0), dict(zip(names, d, strict=True)))
    assert reverse.verdict == "not supported"
    assert lower_claim("", {"a": 1.0}, {"a": 1.0}).verdict == "undecided"
    assert lower_claim("", {"a": 1.0}, {"b": 1.0}).evidence == "not measured"
