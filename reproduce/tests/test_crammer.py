"""SPOC against a general solver, and continuous codes of three norms: same problems, same objectives."""

from __future__ import annotations

import os

import numpy as np
import pytest

from outputcodes.decoders.continuous import solve_spoc
from reproduce import Observation, find, run_experiment
from reproduce.crammer.figure5 import EQUAL
from reproduce.crammer.general_solver import dual, primal, quadrants


def test_all_three_solvers_reach_one_objective():
    pytest.importorskip("clarabel")
    H, y = quadrants(40, 1)
    assert np.array_equal(y, 2 * (H[:, 0] > 0) + (H[:, 1] > 0))
    found = solve_spoc(H, y, 4, tol=1e-6)
    ours = found.certificate.value
    assert dual(H, y, 4, 1e-8)() == pytest.approx(ours, rel=1e-6)
    assert primal(H, y, 4, 1e-8)() == pytest.approx(ours, rel=1e-6)
    # The definition, at our matrix: ½‖M‖² and for every example the largest of h·(M_r − M_y) + 1 − [[r = y]].
    M = found.M
    slack = [max(h @ (M[r] - M[c]) + (r != c) for r in range(4)) for h, c in zip(H, y, strict=True)]
    assert 0.5 * (M**2).sum() + sum(slack) == pytest.approx(ours, rel=1e-5)


def test_figure5_end_to_end_on_small_sizes():
    pytest.importorskip("clarabel")
    experiment = find("crammer-figure5")
    units = [{"m": m, "draw": 0, "repeats": 1} for m in (10, 20)]
    findings = experiment.present([Observation(unit, experiment.measure(**unit), 0.0) for unit in units])
    (table,) = findings.tables
    assert [row[0] for row in table.rows] == ["10", "20"]
    assert all(float(row[-1]) < EQUAL for row in table.rows)


def test_verdicts_on_speed():
    def result(m, dense, sparse, apart=0.0):
        seconds = {"SPOC": 1.0, "dense dual": dense, "sparse primal": sparse}
        objective = {"SPOC": 1.0, "dense dual": 1.0, "sparse primal": 1.0 + apart}
        return Observation({"m": m, "draw": 0, "repeats": 1}, {"seconds": seconds, "objective": objective}, 0.0)

    def verdicts(*results):
        return [claim.verdict for claim in find("crammer-figure5").present(list(results)).claims]

    # A hundred times faster than on the dense dual at the largest size; faster than on either from 100 on.
    assert verdicts(result(10, 0.5, 0.5), result(100, 2, 2), result(200, 101, 1.5)) == ["supported"] * 3
    assert verdicts(result(100, 500, 0.9), result(200, 99, 3)) == ["not supported", "supported", "not supported"]
    assert verdicts(result(100, 500, 5), result(200, 500, 5, apart=2e-4)) == ["undecided"] * 3
    assert verdicts(result(10, 500, 5), result(20, 500, 5)) == ["supported"]


@pytest.mark.skipif(not os.environ.get("OUTPUTCODES_DATA"), reason="OUTPUTCODES_DATA names no data sets")
def test_norms_read_the_margins_of_one_code():
    experiment = find("crammer-norms")
    options = {**experiment.options, "folds": 2}
    (result,) = run_experiment(experiment, data_sets=["glass"], options=options)
    assert set(result.found["errors"]) == {"hamming", "loss", "l1", "l2", "linf"}
    assert result.found["tested"] == 214
    assert [row[0] for row in experiment.present([result]).tables[0].rows] == ["glass"]
