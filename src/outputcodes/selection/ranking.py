"""Results ranked: sorted, each with its interval, the test against the best, and its place on the Pareto frontier."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace

import numpy as np
from scipy import stats

from outputcodes._ground.choosing import sorting_keys
from outputcodes.selection.mcnemar import mcnemar
from outputcodes.selection.results import Result
from outputcodes.selection.same_predictions import one_row_each
from outputcodes.selection.statistics import corrected_t_test
from outputcodes.selection.table import caveats, html_ranking, text_ranking

LEVEL = 0.95


class Results(list[Result]):
    """Ranked results, best first: a list. `print` and notebooks show a table, `pandas.DataFrame(results)` is a frame.

    The tables have one row for decoders of the same columns that predict the same on every fold.

    Attributes
    ----------
    metric : str
        What the errors are: "error", "log-loss" or "balanced".
    test_to_train : float or None
        n_test/n_train of a fold; None is 1/(J − 1) of J folds.
    """

    def __init__(
        self, results: Iterable[Result] = (), metric: str = "error", test_to_train: float | None = None
    ) -> None:
        super().__init__(results)
        self.metric = metric
        self.test_to_train = test_to_train

    def __repr__(self) -> str:
        return text_ranking(one_row_each(self), self.metric, notes=caveats(self)) if self else "Results()"

    def _repr_html_(self) -> str:
        return html_ranking(one_row_each(self), self.metric, notes=caveats(self))


def ranked(
    results: Iterable[Result],
    *,
    metric: str = "error",
    test_to_train: float | None = None,
    tested: int | None = None,
) -> Results:
    """Sort results and fill in `rank`, `interval`, `p_value` and `frontier`.

    Of results whose errors are equal up to rounding, the one of fewest columns is first, then the one given first.
    The test against the best is the corrected resampled t-test on the folds. With one split it is a test on the test
    rows, where `losses` has their losses: McNemar's for booleans, which rows are missed, and a paired t-test for
    numbers.

    Parameters
    ----------
    results : iterable of Result
    metric : {"error", "log-loss", "balanced"}, default="error"
        What the errors are.
    test_to_train : float, optional
        n_test/n_train of a fold; 1/(J − 1) by default, which is that of J folds.
    tested : int, optional
        The number of rows on which errors were counted, where there is one split and `losses` are not kept; the
        interval is then Wilson's.

    Examples
    --------
    >>> rows = ranked([Result("tree", fold_errors=(0.3, 0.3)), Result("SVC", fold_errors=(0.1, 0.2))])
    >>> [(row.rank, row.learner, round(row.error, 2), row.p_value) for row in rows]
    [(1, 'SVC', 0.15, None), (2, 'tree', 0.3, 0.333...)]
    """
    given = list(results)
    if not given:
        raise ValueError("results is empty: there is nothing to rank.")
    levels = sorting_keys([result.error for result in given])
    order = sorted(range(len(given)), key=lambda i: (levels[i], given[i].columns or 0))
    front = frontier(levels, [result.fit_seconds for result in given])
    best = given[order[0]]
    return Results(
        (
            replace(
                given[i],
                rank=rank,
                interval=interval(given[i], test_to_train, tested),
                p_value=None if rank == 1 else p_value(given[i], best, test_to_train),
                frontier=bool(front[i]),
            )
            for rank, i in enumerate(order, start=1)
        ),
        metric,
        test_to_train,
    )


def interval(
    result: Result, test_to_train: float | None = None, tested: int | None = None
) -> tuple[float, float] | None:
    """Return the 95 % interval of the error, for folds with the variance of Nadeau & Bengio; None if it is unknown."""
    errors, error, losses = result.fold_errors, result.error, result.losses
    J = len(errors)
    if J > 1:
        ratio = 1 / (J - 1) if test_to_train is None else test_to_train
        half = float(stats.t.ppf((1 + LEVEL) / 2, J - 1) * np.std(errors, ddof=1) * math.sqrt(1 / J + ratio))
        return max(error - half, 0.0), error + half
    if losses is not None and losses.dtype != bool:
        if len(losses) < 2:
            return None
        half = float(stats.t.ppf((1 + LEVEL) / 2, len(losses) - 1) * stats.sem(losses))
        return max(error - half, 0.0), error + half
    counted = tested if losses is None else len(losses)
    if counted is None:
        return None
    wilson = stats.binomtest(round(error * counted), counted).proportion_ci(LEVEL, method="wilson")
    return float(wilson.low), float(wilson.high)


def p_value(result: Result, best: Result, test_to_train: float | None = None) -> float | None:
    """Return the p-value of the paired test of two results; None where there is nothing to test on."""
    a, b = result.losses, best.losses
    if len(result.fold_errors) > 1 or a is None or b is None:
        return folds_p_value(result.fold_errors, best.fold_errors, test_to_train)
    if a.dtype == bool:
        return mcnemar(a, b).p_value
    if np.ptp(a - b) > 0:
        return float(stats.ttest_rel(a, b).pvalue)
    # Differences that are all the same have no t statistic.
    return None if (a != b).any() else 1.0


def folds_p_value(errors: Iterable[float], others: Iterable[float], test_to_train: float | None = None) -> float | None:
    """Return the p-value of the corrected t-test on the same two or more folds; None where they are not."""
    a, b = list(errors), list(others)
    if len(a) < 2 or len(a) != len(b):
        return None
    return corrected_t_test(a, b, 1 / (len(a) - 1) if test_to_train is None else test_to_train).p_value


def frontier(errors: Iterable[float], seconds: Iterable[float | None]) -> list[bool]:
    """Return which results no other one beats: as good and as fast, and better in one of the two.

    >>> frontier([0.1, 0.2, 0.2, 0.3], [5.0, 1.0, 2.0, None])
    [True, True, False, False]
    """
    timed = [(error, time) for error, time in zip(errors, seconds, strict=True)]
    known = [(error, time) for error, time in timed if time is not None]
    return [
        time is not None and not any(e <= error and t <= time and (e < error or t < time) for e, t in known)
        for error, time in timed
    ]
