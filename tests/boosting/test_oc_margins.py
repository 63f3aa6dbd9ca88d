"""Margins over rounds: as data, against plain sorting and the booster's own stages, and as a picture."""

import matplotlib
import numpy as np
import pytest
from sklearn.datasets import load_iris

from outputcodes.boosting.oc import AdaBoostOC
from outputcodes.boosting.plotting import plot_margins
from outputcodes.bounds.boosting import mo_margin_bound_by_zeros, normalised_margins
from outputcodes.diagnostics import margin_distribution

matplotlib.use("Agg")


def test_margins_after_each_round():
    X, y = load_iris(return_X_y=True)
    model = AdaBoostOC(12, random_state=0).fit(X, y)
    F, M = model.margins(X), model.code_matrix_
    eta = np.cumsum(np.abs(F).max(axis=0))  # the sums of the coefficients
    kept = margin_distribution(model.staged_decision_function(X), y, 2 * eta, rounds={1, 5, 12})
    assert kept.rounds.tolist() == [1, 5, 12]
    for t, found in zip(kept.rounds, kept.margins, strict=True):
        D = F[:, :t] @ M[:, :t].T
        plain = sorted(
            (D[i, y[i]] - max(D[i, r] for r in range(3) if r != y[i])) / (2 * eta[t - 1]) for i in range(150)
        )
        assert np.allclose(found, plain)
        assert np.abs(found).max() <= 1 + 1e-12
    assert np.allclose(kept.share_at_most(0.3), [(row <= 0.3).mean() for row in kept.margins])


def test_exponential_decoding_gives_the_margins_of_theorem_6():
    X, y = load_iris(return_X_y=True)
    model = AdaBoostOC(12, decoder="exponential", random_state=0).fit(X, y)
    F, M = model.margins(X), model.code_matrix_
    eta = float(np.abs(F).max(axis=0).sum())
    *_, last = model.staged_decision_function(X)
    found = margin_distribution([last], y, [2 * eta])
    assert np.allclose(found.margins[0], np.sort(normalised_margins(F, y, M, eta)))
    # Whatever trained them: these margins obey the theorem with their own mean of exp(−M F).
    Z = [np.exp(-M[y] * F).mean()]
    for theta in (0.0, 0.05):
        assert found.share_at_most(theta)[0] <= mo_margin_bound_by_zeros(Z, eta, y, M, theta) + 1e-9


def test_two_classes_have_one_score():
    X, y = load_iris(return_X_y=True)
    X, y = X[y > 0], y[y > 0] - 1
    model = AdaBoostOC(4, random_state=0).fit(X, y)
    found = margin_distribution(model.staged_decision_function(X), y)
    for D, margins in zip(model.staged_decision_function(X), found.margins, strict=True):
        assert np.allclose(margins, np.sort(D * (2 * y - 1)))


def test_curves_rise_from_zero_to_one():
    X, y = load_iris(return_X_y=True)
    kept = margin_distribution(AdaBoostOC(3, random_state=0).fit(X, y).staged_decision_function(X), y)
    ax = plot_margins(kept)
    curves = [line for line in ax.lines if not line.get_label().startswith("_")]
    assert [line.get_label() for line in curves] == ["1", "2", "3"]
    for line, margins in zip(curves, kept.margins, strict=True):
        assert line.get_ydata()[[0, -1]].tolist() == [0, 1]
        assert line.get_xdata()[1:].tolist() == margins.tolist()
    assert plot_margins(kept, ax) is ax


def test_no_stage_is_refused():
    with pytest.raises(ValueError, match="rounds are counted from 1"):
        margin_distribution([np.eye(2)], [0, 1], rounds=[0])


def test_scales_are_one_a_round_and_zero_where_nothing_was_added():
    stages = [np.zeros((2, 2)), np.eye(2)]
    assert margin_distribution(stages, [0, 1], [0.0, 2.0]).margins.tolist() == [[0, 0], [0.5, 0.5]]
    for scale, message in ((2.0, "per round"), ([1.0, -1.0], "at least 0"), ([1.0], "1 entries")):
        with pytest.raises(ValueError, match=message):
            margin_distribution(stages, [0, 1], scale)
