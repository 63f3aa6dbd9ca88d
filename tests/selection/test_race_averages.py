"""When an average of finalists wins a race."""

from __future__ import annotations

import numpy as np
import pytest

from outputcodes.selection.race.averages import winning_average
from outputcodes.selection.race.blend import greedy_weights, losses_of


def certain(right: np.ndarray, p_right: float, p_wrong: float) -> np.ndarray:
    """Probabilities of two classes for rows of class 0, given where the model is right."""
    p = np.where(right, p_right, p_wrong)
    return np.column_stack([p, 1 - p])


def setting(n: int = 400) -> tuple[np.ndarray, np.ndarray, np.random.Generator]:
    return np.zeros(n, dtype=np.intp), np.arange(n) % 5, np.random.default_rng(0)


def test_better_probabilities_do_not_excuse_clearly_more_errors():
    y, fold, rng = setting()
    few_errors = certain(rng.random(400) > 0.05, 0.55, 1e-6)
    many_errors = certain(rng.random(400) > 0.2, 0.9, 0.4)
    P = [few_errors, many_errors]
    average = sum(w * one for w, one in zip(greedy_weights(P, y, "log-loss"), P, strict=True))
    assert losses_of(average, y, "log-loss").mean() < losses_of(few_errors, y, "log-loss").mean()
    assert losses_of(average, y, "error").mean() > 2 * losses_of(few_errors, y, "error").mean()
    assert winning_average(P, y, fold, "error") is None


def test_equal_errors_and_clearly_better_probabilities_win():
    y, fold, rng = setting()
    right = rng.random(400) > 0.1
    loud, soft = certain(right, 0.99, 1e-5), certain(right, 0.8, 0.45)
    average = winning_average([loud, soft], y, fold, "error")
    assert average is not None
    np.testing.assert_array_equal(losses_of(average.P, y, "error"), ~right)
    assert losses_of(average.P, y, "log-loss").mean() < losses_of(loud, y, "log-loss").mean()


@pytest.mark.parametrize("metric", ["error", "balanced", "log-loss"])
def test_models_that_err_on_different_rows_are_averaged(metric):
    y, fold, rng = setting()
    y = y + (rng.random(400) < 0.3)
    P = [certain(rng.random(400) > 0.25, 0.8, 0.3) for _ in range(3)]
    P = [np.where((y == 0)[:, None], one, one[:, ::-1]) for one in P]
    average = winning_average(P, y, fold, metric)
    assert average is not None
    assert (average.weights > 0).sum() > 1
    assert all(losses_of(average.P, y, metric).mean() < losses_of(one, y, metric).mean() for one in P)


def test_held_out_probabilities_are_those_that_the_other_folds_choose():
    y, fold, rng = setting(60)
    P = [rng.dirichlet([4.0, 2.0], 60) for _ in range(3)]
    P = [0.3 * one + 0.7 * certain(rng.random(60) > 0.25, 0.8, 0.3) for one in P]
    average = winning_average(P, y, fold, "log-loss")
    assert average is not None
    for f in range(5):
        others = greedy_weights([one[fold != f] for one in P], y[fold != f], "log-loss")
        expected = sum(w * one[fold == f] for w, one in zip(others, P, strict=True))
        np.testing.assert_allclose(average.P[fold == f], expected, rtol=1e-12)
