"""Intervals of |x|: the weak learner's readings against plain loops, and the levels of an earlier program."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from matplotlib.figure import Figure

from outputcodes.codes import as_code
from reproduce import Observation, run_experiment
from reproduce.allwein.figure3 import FIGURE3_EXPERIMENT, MEASURES, REFERENCE, measure
from reproduce.allwein.intervals import boosted, draw_sample


def plain_adaboost(u, signs, u_test, rounds, either):
    """One column: every threshold (and with `either` its reverse) tried in every round."""
    values = sorted(u)
    thresholds = [-math.inf, *((a + b) / 2 for a, b in itertools.pairwise(values)), math.inf]
    D = [1 / len(u)] * len(u)
    F = [0.0] * len(u_test)
    for _ in range(rounds):
        trials = [(t, way) for t in thresholds for way in ((1, -1) if either else (1,))]
        errors = [
            sum(d for d, x, s in zip(D, u, signs, strict=True) if s != (way if x <= t else -way)) for t, way in trials
        ]
        error = min(errors)
        t, way = trials[[e <= error + 1e-12 for e in errors].index(True)]
        if error >= 0.5:
            break
        share = max(error, 1e-10)
        a = math.log((1 - share) / share) / 2
        F = [f + a * (way if x <= t else -way) for f, x in zip(F, u_test, strict=True)]
        D = [d * math.exp(-a * s * (way if x <= t else -way)) for d, x, s in zip(D, u, signs, strict=True)]
        D = [d / sum(D) for d in D]
        if error <= 1e-10:
            break
    return F


@pytest.mark.parametrize("reading", ["literal", "signed", "inside"])
def test_margins_are_those_of_plain_boosting(reading):
    rng = np.random.default_rng(5)
    x, x_test = rng.normal(size=(2, 40))
    y = np.digitize(np.abs(x), [0.4, 0.9, 1.3])
    M = as_code("complete").draw(4).matrix()
    F = boosted(x, y, M, x_test, reading, rounds=4)
    u, u_test = (x, x_test) if reading == "signed" else (np.abs(x), np.abs(x_test))
    for s in range(M.shape[1]):
        expected = plain_adaboost(u, M[y, s], u_test, 4, either=reading != "inside")
        np.testing.assert_allclose(F[:, s], expected, atol=1e-9)


def test_classes_are_intervals_of_a_hundred_with_ends_on_training_points():
    x, x_test, y, y_test = draw_sample(4, (0, 1))
    assert np.bincount(y).tolist() == [100] * 4
    ends = [np.abs(x)[y == j].min() for j in range(1, 4)]
    assert all(np.abs(x)[y == j].max() < end for j, end in enumerate(ends))
    assert [sum(abs(value) >= end for end in ends) for value in x_test] == y_test.tolist()


def test_errors_by_hand_with_ties_at_random():
    found = measure("inside", 3, "one-vs-all", rounds=3, repetitions=1, seed=2)
    x, x_test, y, y_test = draw_sample(3, (2, 3, 0))
    M = 2 * np.eye(3, dtype=int) - 1
    columns = [plain_adaboost(np.abs(x), M[y, s], np.abs(x_test), 3, either=False) for s in range(3)]
    binary = hamming = 0.0
    for f, label in zip(zip(*columns, strict=True), y_test, strict=True):
        binary += sum((z > 0) != (s == label) for s, z in enumerate(f)) / 3
        distances = [sum((z > 0) != (s == r) for s, z in enumerate(f)) for r in range(3)]
        nearest = [r for r in range(3) if distances[r] == min(distances)]
        hamming += 1 - (label in nearest) / len(nearest)
    assert found["binary"] == [pytest.approx(100 * binary / 300, abs=1e-3)]
    assert found["hamming"] == [pytest.approx(100 * hamming / 300, abs=1e-3)]


@pytest.mark.parametrize("code", ["complete", "one-vs-all"])
def test_levels_are_those_of_another_program(code):
    found = measure("inside", 5, code, rounds=10, repetitions=4, seed=0)
    for name, reference in zip(MEASURES[:2], REFERENCE["inside", code, 5], strict=False):
        assert reference / 1.5 < np.mean(found[name]) < 1.5 * reference


@pytest.mark.parametrize(
    ("gaps", "verdict", "alone"),
    [
        ({3: 1.0, 4: 1.0}, "supported", "lower for k = 3, 4"),
        ({3: 1.0, 4: 0.0}, "supported", "lower for k = 3"),
        ({3: 1.0, 4: -0.1}, "undecided", "lower for k = 3; higher for k = 4"),
        ({3: -1.0, 4: -1.0}, "not supported", "higher for k = 3, 4"),
        ({3: 0.0, 4: 0.0}, "undecided", "none decides"),
    ],
)
def test_claims_count_a_sample_once_and_hide_no_reversal(gaps, verdict, alone):
    results = [
        Observation(
            {"reading": "inside", "code": code, "k": k},
            {
                "binary": [20.0 + at + (gap if code == "complete" else 0.0) for at in range(10)],
                "hamming": [30.0 + 2 * gap] * 10,
                "exponential": [30.0] * 10,
            },
            0.0,
        )
        for k, gap in gaps.items()
        for code in ("complete", "one-vs-all")
    ]
    decoders, _, binary = FIGURE3_EXPERIMENT.present(results).claims
    for claim in (decoders, binary):
        assert claim.verdict == verdict
        # Two codes use each of the twenty samples.
        assert "of 20; " in claim.evidence
        assert claim.evidence.endswith(f"each k separately: {alone}")


def test_a_mean_that_breaks_the_rule_of_the_page_is_marked():
    def result(binary):
        found = {"binary": binary, "hamming": [0.34, 0.36], "exponential": [0.34, 0.36]}
        return Observation({"reading": "literal", "code": "complete", "k": 8}, found, 0.0)

    # The reference values are 0.27, 0.34 and 0.34.
    marked, within = (FIGURE3_EXPERIMENT.present([result(binary)]) for binary in ([0.45, 0.47], [0.26, 0.66]))
    assert marked.tables[0].rows[0][3:] == ("0.46 ± 0.02 (0.27) ≠", "0.35 ± 0.02 (0.34)", "0.35 ± 0.02 (0.34)")
    assert marked.remarks[0].startswith("1 of the 3 means")
    assert within.tables[0].rows[0][3] == "0.46 ± 0.40 (0.27)"
    assert within.remarks[0].startswith("0 of the 3 means")


def test_an_unknown_reading_is_refused():
    with pytest.raises(ValueError, match="Unknown reading: outside"):
        run_experiment(FIGURE3_EXPERIMENT, options={"reading": "outside"})


def test_a_quick_run_is_presented_and_so_is_any_part_of_it():
    results = run_experiment(FIGURE3_EXPERIMENT, quick=True, options={"reading": "literal"})
    assert {result.unit["reading"] for result in results} == {"literal"}
    for part in ([], results[:1], results):
        findings = FIGURE3_EXPERIMENT.present(part)
        assert len(findings.tables[0].rows) == len(part)
        for picture in findings.pictures:
            picture.draw(Figure())
    # Thresholds of either sign on |x| fit every interval: the decoders make the same errors.
    assert all(result.found["hamming"] == result.found["exponential"] for result in results)
