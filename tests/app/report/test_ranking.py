"""Ranked tables say what the folds say: every number is recomputed from the fold errors."""

import itertools

import numpy as np
import pytest
from scipy import stats

from outputcodes.app.report.ranking import codes_pairwise, decoders_by_code, ranked
from outputcodes.selection import Comparison, corrected_t_test

rng = np.random.default_rng(0)
CODES, DECODERS = ("one-vs-all", "all-pairs", "dense"), ("hamming", "loss")


def comparison(learner, code, decoder, columns):
    errors = tuple(np.round(rng.random(5), 2).tolist())
    spread = float(np.std(errors, ddof=1))
    return Comparison(code, decoder, columns, float(np.mean(errors)), spread, rng.random(), errors, learner)


CODED = [
    comparison(learner, code, decoder, 5 + len(code))
    for learner, code, decoder in itertools.product(("ridge", "stumps"), CODES, DECODERS)
    if (learner, code, decoder) != ("stumps", "dense", "loss")
]
SINGLE = {"learner": "SVC", "fold_errors": np.array([0.0, 0.1, 0.0, 0.1, 0.0]), "fit_seconds": 0.5, "size_bytes": 9}
TABLE = ranked([*CODED, SINGLE])


def test_systems_without_a_code_are_ranked_among_the_others():
    assert [row["error"] for row in TABLE] == sorted(row["error"] for row in TABLE)
    assert [row["rank"] for row in TABLE] == list(range(1, len(CODED) + 2))
    first = TABLE[0]
    assert (first["learner"], first["code"], first["columns"], first["size_bytes"]) == ("SVC", "", None, 9)
    assert first["error"] == pytest.approx(0.04)
    given = {(row.learner, row.code, row.decoder): row for row in CODED}
    for row in TABLE[1:]:
        same = given[row["learner"], row["code"], row["decoder"]]
        assert tuple(row["fold_errors"]) == same.fold_errors
        assert (row["error"], row["columns"], row["fit_seconds"]) == (same.error, same.columns, same.fit_seconds)


def test_p_values_and_intervals_are_those_of_the_corrected_test():
    assert TABLE[0]["p_value"] is None
    for row in TABLE[1:]:
        assert row["p_value"] == corrected_t_test(row["fold_errors"], TABLE[0]["fold_errors"], 1 / 4).p_value
        low, high = row["interval"]
        # An error is just inside the interval where the test against it just keeps its 5 %.
        p = corrected_t_test(row["fold_errors"], np.full(5, high), 1 / 4).p_value
        assert p == pytest.approx(0.05)
        assert low == pytest.approx(max(0.0, 2 * row["error"] - high), abs=1e-12)


def test_one_split_has_the_interval_of_the_rows_tested():
    (row,) = ranked([{"learner": "tree", "error": 0.1, "fold_errors": [0.1]}], tested=50)
    low, high = row["interval"]
    for edge in (low, high):  # Wilson: where the score test of that error is just at its level
        z = (0.1 - edge) / np.sqrt(edge * (1 - edge) / 50)
        assert 2 * stats.norm.sf(abs(z)) == pytest.approx(0.05)
    assert ranked([{"error": 0.1}])[0]["interval"] is None


def test_frontier_holds_the_rows_that_none_beats():
    for row in TABLE:
        beaten = [
            other
            for other in TABLE
            if other["fit_seconds"] <= row["fit_seconds"]
            and other["error"] <= row["error"]
            and (other["fit_seconds"], other["error"]) != (row["fit_seconds"], row["error"])
        ]
        assert row["frontier"] == (not beaten)
    assert not ranked([{"learner": "untimed", "error": 0.0}])[0]["frontier"]


def test_decoders_by_code_hold_each_coded_row_once_best_first():
    groups = decoders_by_code(TABLE)
    assert sorted(i for group in groups for i in group["rows"]) == list(range(1, len(TABLE)))
    for group in groups:
        assert group["rows"] == sorted(group["rows"])
        for i in group["rows"]:
            assert (TABLE[i]["learner"], TABLE[i]["code"]) == (group["learner"], group["code"])


def test_codes_are_compared_where_both_were_served():
    errors = {(row["learner"], row["code"], row["decoder"]): row for row in TABLE}
    pairs = codes_pairwise(TABLE)
    assert {frozenset((pair["first"], pair["second"])) for pair in pairs} == {
        frozenset(two) for two in itertools.combinations(CODES, 2)
    }
    for pair in pairs:
        both = [
            (errors[learner, pair["first"], decoder], errors[learner, pair["second"], decoder])
            for learner, decoder in itertools.product(("ridge", "stumps"), DECODERS)
            if all((learner, pair[side], decoder) in errors for side in ("first", "second"))
        ]
        assert pair["shared"] == len(both) == (3 if "dense" in (pair["first"], pair["second"]) else 4)
        assert pair["wins"] == sum(a["error"] < b["error"] for a, b in both)
        assert pair["ties"] == sum(a["error"] == b["error"] for a, b in both)
        assert pair["difference"] == pytest.approx(np.mean([a["error"] - b["error"] for a, b in both]))
        means = [np.mean([one[side]["fold_errors"] for one in both], axis=0) for side in (0, 1)]
        assert pair["p_value"] == pytest.approx(corrected_t_test(*means, 1 / 4).p_value)


@pytest.mark.parametrize(
    ("rows", "words"),
    [([], "at least one result"), ([{"learner": "x"}], "no finite error"), ([{"error": np.nan}], "error")],
)
def test_results_without_an_error_are_refused(rows, words):
    with pytest.raises(ValueError, match=words):
        ranked(rows)
