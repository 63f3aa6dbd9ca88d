"""Paired statistics against published tables and scipy."""

import numpy as np
import pytest
from scipy import stats

from outputcodes.selection.statistics import corrected_t_test, critical_difference, mean_ranks

# Demšar 2006, Table 6: AUC of C4.5 with and without two kinds of tuning, on 14 data sets. He ranks the last two of the
# 13th row, both printed as 0.975, second and third.
DEMSAR = np.array(
    [
        [0.763, 0.768, 0.771, 0.798],
        [0.599, 0.591, 0.590, 0.569],
        [0.954, 0.971, 0.968, 0.967],
        [0.628, 0.661, 0.654, 0.657],
        [0.882, 0.888, 0.886, 0.898],
        [0.936, 0.931, 0.916, 0.931],
        [0.661, 0.668, 0.609, 0.685],
        [0.583, 0.583, 0.563, 0.625],
        [0.775, 0.838, 0.866, 0.875],
        [1.000, 1.000, 1.000, 1.000],
        [0.940, 0.962, 0.965, 0.962],
        [0.619, 0.666, 0.614, 0.669],
        [0.972, 0.981, 0.9751, 0.975],
        [0.957, 0.978, 0.946, 0.970],
    ]
)


def test_the_worked_example_of_demsar():
    ranking = mean_ranks(-DEMSAR)
    assert ranking.mean_ranks == pytest.approx([3.143, 2.000, 2.893, 1.964], abs=5e-4)
    assert ranking.critical_difference == pytest.approx(1.25, abs=5e-3)
    assert mean_ranks(-DEMSAR, alpha=0.1).critical_difference == pytest.approx(1.12, abs=5e-3)
    # He takes χ² = 9.28 without the correction for ties, which makes it larger.
    N, K = DEMSAR.shape
    plain = 12 * N / (K * (K + 1)) * (np.square(ranking.mean_ranks).sum() - K * (K + 1) ** 2 / 4)
    assert plain == pytest.approx(9.28, abs=5e-3)
    assert ranking.statistic > plain
    assert ranking.p_value == pytest.approx(stats.chi2.sf(ranking.statistic, K - 1))


@pytest.mark.parametrize(
    ("methods", "q"), [(2, 1.960), (3, 2.343), (4, 2.569), (5, 2.728), (6, 2.850), (8, 3.031), (10, 3.164)]
)
def test_critical_values_of_the_nemenyi_test(methods, q):
    assert critical_difference(methods, 20) == pytest.approx(q * np.sqrt(methods * (methods + 1) / 120), rel=1e-3)


def test_ranks_without_ties_give_the_plain_friedman_statistic():
    errors = np.random.default_rng(0).random((9, 5))
    ranking = mean_ranks(errors)
    order = np.array([[1 + sum(other < value for other in row) for value in row] for row in errors])
    assert ranking.mean_ranks == pytest.approx(order.mean(axis=0))
    plain = 12 / (9 * 5 * 6) * np.square(order.sum(axis=0)).sum() - 3 * 9 * 6
    assert ranking.statistic == pytest.approx(plain)
    assert mean_ranks(np.ones((4, 3)))[1:3] == (0.0, 1.0)
    for wrong in (errors[:1], errors[:, :2], np.full((3, 3), np.nan)):
        with pytest.raises(ValueError, match="errors"):
            mean_ranks(wrong)
    with pytest.raises(ValueError, match="alpha"):
        critical_difference(3, 4, alpha=1.0)


def test_the_corrected_t_test_widens_the_plain_one():
    rng = np.random.default_rng(1)
    first, second = rng.random(10), rng.random(10)
    plain = stats.ttest_rel(first, second)
    # Without test rows nothing is corrected; with a ratio r, t shrinks by √(1 + J·r).
    assert corrected_t_test(first, second, 1e-15)[1:] == pytest.approx(tuple(plain))
    corrected = corrected_t_test(first, second, 1 / 9)
    assert corrected.statistic == pytest.approx(plain.statistic / np.sqrt(1 + 10 / 9))
    assert corrected.p_value == pytest.approx(2 * stats.t.cdf(-abs(corrected.statistic), 9))
    assert corrected.difference == pytest.approx(np.mean(first - second))
    assert corrected_t_test(first, first, 0.1) == (0.0, 0.0, 1.0)
    assert corrected_t_test(first, first + 0.5, 0.1)[1:] == (-np.inf, 0.0)
    for a, b, ratio in ((first, second[:5], 0.1), (first[:1], second[:1], 0.1), (first, second, 0.0)):
        with pytest.raises(ValueError, match="must be"):
            corrected_t_test(a, b, ratio)


def test_the_level_holds_where_training_sets_overlap():
    # Nadeau & Bengio's setting: all splits share a part of their differences, and the plain test rejects too often.
    rng = np.random.default_rng(2)
    J, ratio, rejections = 15, 1 / 9, np.zeros(2)
    correlation = ratio / (1 + ratio)
    for _ in range(400):
        common = rng.normal() * np.sqrt(correlation)
        d = common + rng.normal(size=J) * np.sqrt(1 - correlation)
        rejections += stats.ttest_1samp(d, 0).pvalue < 0.05, corrected_t_test(d, np.zeros(J), ratio).p_value < 0.05
    assert rejections[0] / 400 > 0.12
    assert 0.02 < rejections[1] / 400 < 0.09
