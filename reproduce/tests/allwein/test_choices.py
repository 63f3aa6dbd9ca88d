"""One choice changed at a time: the options that reach the tables, and spans over random codes by hand."""

from __future__ import annotations

import numpy as np
import pytest

from reproduce import Observation, find
from reproduce.allwein import choices, table2, table3
from reproduce.allwein.random_codes import drawn


def test_each_unit_changes_what_it_says_and_nothing_else(monkeypatch):
    seen = []
    for table in (table2, table3):
        monkeypatch.setattr(table, "measure", lambda *names, **options: seen.append((*names, options)))
    units = choices.units(choices.DATA_SETS, quick=False)
    for unit in units:
        choices.measure(**unit)
    for unit, (name, code, options) in zip(units, seen, strict=True):
        assert (name, code) == (unit["data_set"], unit["code"])
        experiment = table2.TABLE2_EXPERIMENT if unit["table"] == 2 else table3.TABLE3_EXPERIMENT
        (whole,) = (
            own
            for own in experiment.units((name,), False, **experiment.options)
            if (own["data_set"], own["code"]) == (name, code)
        )
        expected = {**whole, **unit["changed"], "data_set": name, "code": code}
        assert {**options, "data_set": name, "code": code} == expected


def test_spans_over_random_codes_are_the_extremes():
    def result(seed, wrong):
        unit = {"table": 3, "data_set": "pendigits", "code": "sparse", "changed": {"seed": seed}}
        found = {"wrong": {"hamming": [wrong], "hinge": [wrong // 2]}, "tested": [1000], "trained": 50, "stopped": seed}
        return Observation(unit, found, 0.0)

    found = find("allwein-choices").present([result(0, 30), result(1, 50), result(2, 20)])
    (table,) = found.tables
    assert table.rows[1] == ("pendigits", "sparse", "seed = 1", "5.0 (2.6)", "2.5 (2.7)", "1 of 50")
    said = "over 3 random sparse codes, the error is"
    assert found.remarks == [
        f"Support vector machines, Hamming: {said} 2.0 to 5.0 on pendigits (2.6 published).",
        f"Support vector machines, hinge loss: {said} 1.0 to 2.5 on pendigits (2.7 published).",
    ]
    assert find("allwein-choices").present([]).tables == []


@pytest.mark.parametrize("seed", range(3))
def test_sparse_codes_follow_the_papers_rule_or_ours(seed):
    published, strict = (drawn("sparse", 6, rule, seed) for rule in ("published", "strict"))
    for M in (published, strict):
        assert M.shape == (6, 39)
        assert (M != 0).any(axis=0).all()
        assert (M != 0).any(axis=1).all()
    one_sided = [not {-1, 1} <= set(column) for column in published.T.tolist()]
    # A third of the columns of the published rule have one sign: 39 fair draws without any have chance 2e-7.
    assert any(one_sided)
    assert all({-1, 1} <= set(column) for column in strict.T.tolist())
    assert np.array_equal(drawn("dense", 6, "published", seed), drawn("dense", 6, "strict", seed))
