"""Ranked results code by code, against the results themselves."""

import itertools

import numpy as np
import pytest

from outputcodes.app.report.by_code import codes_pairwise, decoders_by_code
from outputcodes.selection import Result, corrected_t_test, ranked

rng = np.random.default_rng(0)
CODES, DECODERS = ("one-vs-all", "all-pairs", "dense"), ("hamming", "loss")
CODED = [
    Result(learner, code, decoder, fold_errors=np.round(rng.random(5), 2))
    for learner, code, decoder in itertools.product(("ridge", "stumps"), CODES, DECODERS)
    if (learner, code, decoder) != ("stumps", "dense", "loss")
]
TABLE = ranked([*CODED, Result("SVC", fold_errors=[0.0, 0.1, 0.0, 0.1, 0.0])])


def test_decoders_by_code_hold_each_coded_row_once_best_first():
    groups = decoders_by_code(TABLE)
    assert sorted(i for group in groups for i in group["rows"]) == list(range(1, len(TABLE)))
    for group in groups:
        assert group["rows"] == sorted(group["rows"])
        for i in group["rows"]:
            assert (TABLE[i].learner, TABLE[i].code) == (group["learner"], group["code"])


def test_codes_are_compared_where_both_were_served():
    errors = {(row.learner, row.code, row.decoder): row for row in TABLE}
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
        assert pair["wins"] == sum(a.error < b.error for a, b in both)
        assert pair["ties"] == sum(a.error == b.error for a, b in both)
        assert pair["difference"] == pytest.approx(np.mean([a.error - b.error for a, b in both]))
        means = [np.mean([one[side].fold_errors for one in both], axis=0) for side in (0, 1)]
        assert pair["p_value"] == pytest.approx(corrected_t_test(*means, 1 / 4).p_value)
