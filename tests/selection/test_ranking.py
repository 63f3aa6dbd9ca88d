"""Ranked results against their fold errors: every number is computed again from these."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from outputcodes.selection import Result, corrected_t_test, ranked

rng = np.random.default_rng(0)
CODES, DECODERS = ("one-vs-all", "all-pairs", "dense"), ("hamming", "loss")


def result(learner, code, decoder, columns):
    errors = tuple(np.round(rng.random(5), 2).tolist())
    return Result(learner, code, decoder, columns=columns, fold_errors=errors, fit_seconds=rng.random())


CODED = [
    result(learner, code, decoder, 5 + len(code))
    for learner, code, decoder in itertools.product(("ridge", "stumps"), CODES, DECODERS)
    if (learner, code, decoder) != ("stumps", "dense", "loss")
]
SINGLE = Result("SVC", fold_errors=np.array([0.0, 0.1, 0.0, 0.1, 0.0]), fit_seconds=0.5, size_bytes=9)
TABLE = ranked([*CODED, SINGLE])


def test_systems_without_a_code_are_ranked_among_the_others():
    assert [row.error for row in TABLE] == sorted(row.error for row in TABLE)
    assert [row.rank for row in TABLE] == list(range(1, len(CODED) + 2))
    first = TABLE[0]
    assert (first.learner, first.code, first.columns, first.size_bytes) == ("SVC", "", None, 9)
    assert first.error == pytest.approx(0.04)
    unranked = {"rank": None, "interval": None, "p_value": None, "frontier": False}
    assert {replace(row, **unranked) for row in TABLE[1:]} == set(CODED)


def test_errors_that_differ_by_rounding_are_equal_and_the_first_of_them_wins():
    third = np.nextafter(1 / 3, 1)
    rows = [
        Result("a", fold_errors=(third, third), columns=9, fit_seconds=2.0),
        Result("b", fold_errors=(1 / 3, 1 / 3), columns=9, fit_seconds=3.0),
        Result("c", fold_errors=(third, third), columns=5, fit_seconds=4.0),
        Result("d", fold_errors=(1 / 3 - 1e-6, 1 / 3 - 1e-6), columns=20, fit_seconds=4.0),
    ]
    assert [row.learner for row in ranked(rows)] == ["d", "c", "a", "b"]
    assert [row.learner for row in ranked(rows[1::-1])] == ["b", "a"]
    # As good as the first of them, and slower.
    assert {row.learner for row in ranked(rows) if row.frontier} == {"a", "d"}


def test_p_values_and_intervals_are_those_of_the_corrected_test():
    assert TABLE[0].p_value is None
    for row in TABLE[1:]:
        assert row.p_value == corrected_t_test(row.fold_errors, TABLE[0].fold_errors, 1 / 4).p_value
        low, high = row.interval
        # An error is just inside the interval where the test against it just keeps its 5 %.
        p = corrected_t_test(row.fold_errors, np.full(5, high), 1 / 4).p_value
        assert p == pytest.approx(0.05)
        assert low == pytest.approx(max(0.0, 2 * row.error - high), abs=1e-12)
    assert [row for row in TABLE if row.level_with_best] == [
        TABLE[0],
        *(row for row in TABLE[1:] if row.p_value > 0.05),
    ]


def test_one_split_has_the_interval_of_the_rows_tested():
    (row,) = ranked([Result("tree", fold_errors=[0.1])], tested=50)
    low, high = row.interval
    for edge in (low, high):  # Wilson: where the score test of that error is just at its level
        z = (0.1 - edge) / np.sqrt(edge * (1 - edge) / 50)
        assert 2 * stats.norm.sf(abs(z)) == pytest.approx(0.05)
    assert ranked([Result(fold_errors=[0.1])])[0].interval is None


def test_frontier_holds_the_rows_that_none_beats():
    for row in TABLE:
        beaten = [
            other
            for other in TABLE
            if other.fit_seconds <= row.fit_seconds
            and other.error <= row.error
            and (other.fit_seconds, other.error) != (row.fit_seconds, row.error)
        ]
        assert row.frontier == (not beaten)
    assert not ranked([Result("untimed", fold_errors=[0.0])])[0].frontier


def test_nothing_cannot_be_ranked():
    with pytest.raises(ValueError, match="results is empty"):
        ranked([])
