"""Paired statistics of comparisons: over the folds of one data set, and over data sets by ranks."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats


class TTest(NamedTuple):
    """The mean difference of two lists of errors, its t statistic and the two-sided p-value."""

    difference: float
    statistic: float
    p_value: float


def corrected_t_test(first: ArrayLike, second: ArrayLike, test_to_train: float) -> TTest:
    """Test errors on the same folds or random splits by the corrected resampled t-test of Nadeau & Bengio.

    Training sets overlap, so the plain paired t-test finds too many differences. Here, the variance of the mean of
    J differences is (1/J + n_test/n_train)·s², with J − 1 degrees of freedom.

    Parameters
    ----------
    first, second : arrays of shape (J,)
        Errors of two methods on the same J splits.
    test_to_train : float
        n_test/n_train of a split; 1/(J − 1) for J folds.

    Examples
    --------
    >>> t = corrected_t_test([0.10, 0.12, 0.11, 0.09], [0.14, 0.13, 0.15, 0.12], test_to_train=1 / 3)
    >>> round(t.difference, 3), round(t.p_value, 3)
    (-0.03, 0.069)
    """
    a, b = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    if a.ndim != 1 or a.shape != b.shape or len(a) < 2:
        raise ValueError(f"first {a.shape} and second {b.shape} must be vectors of the same two or more splits.")
    if not test_to_train > 0:
        raise ValueError(f"test_to_train={test_to_train!r} must be positive: test rows for each training row.")
    d = a - b
    mean, spread = float(d.mean()), float(d.std(ddof=1))
    # Differences that are equal up to rounding have no spread.
    if spread <= 1e-12 * np.abs(d).max():
        return TTest(mean, float(np.copysign(np.inf, mean)) if mean else 0.0, 0.0 if mean else 1.0)
    t = mean / (spread * np.sqrt(1 / len(d) + test_to_train))
    return TTest(mean, float(t), float(2 * stats.t.sf(abs(t), len(d) - 1)))


class Ranking(NamedTuple):
    """Mean ranks of methods (1 is best), Friedman's test that they don't differ, and how far apart two must be."""

    mean_ranks: NDArray[np.float64]
    statistic: float
    p_value: float
    critical_difference: float


def mean_ranks(errors: ArrayLike, alpha: float = 0.05) -> Ranking:
    """Rank methods on every data set, as Demšar recommends; ties share their ranks.

    Friedman's χ² is corrected for ties. Two methods differ at level `alpha` if their mean ranks differ by more than
    the critical difference of Nemenyi's test.

    Parameters
    ----------
    errors : array of shape (N, K)
        The errors of K ≥ 3 methods on N ≥ 2 data sets; smaller is better.
    alpha : float, default=0.05

    Examples
    --------
    >>> ranking = mean_ranks([[0.1, 0.2, 0.3], [0.2, 0.2, 0.4], [0.1, 0.3, 0.2], [0.0, 0.1, 0.2]])
    >>> ranking.mean_ranks, round(ranking.critical_difference, 2)
    (array([1.125, 2.125, 2.75 ]), 1.66)
    """
    table = np.asarray(errors, dtype=np.float64)
    if table.ndim != 2 or table.shape[0] < 2 or table.shape[1] < 3 or not np.isfinite(table).all():
        raise ValueError(
            f"errors {table.shape} must be a finite table of 2 or more data sets × 3 or more methods; "
            "for two methods use scipy.stats.wilcoxon."
        )
    ranks = stats.rankdata(table, axis=1)
    untied = (ranks != ranks[:, :1]).any()
    statistic, p_value = stats.friedmanchisquare(*table.T) if untied else (0.0, 1.0)
    N, K = table.shape
    return Ranking(ranks.mean(axis=0), float(statistic), float(p_value), critical_difference(K, N, alpha))


def critical_difference(n_methods: int, n_data_sets: int, alpha: float = 0.05) -> float:
    """Return Nemenyi's critical difference q_α·√(K(K + 1)/(6N)), q_α being the studentised range divided by √2.

    Examples
    --------
    >>> round(critical_difference(n_methods=4, n_data_sets=14), 2)
    1.25
    """
    if n_methods < 2 or n_data_sets < 1 or not 0 < alpha < 1:
        raise ValueError(f"n_methods={n_methods}, n_data_sets={n_data_sets}, alpha={alpha}: need ≥ 2, ≥ 1, in (0, 1).")
    q = stats.studentized_range.ppf(1 - alpha, n_methods, np.inf) / np.sqrt(2)
    return float(q * np.sqrt(n_methods * (n_methods + 1) / (6 * n_data_sets)))
