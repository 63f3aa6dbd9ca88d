"""SPOC's timing trial, continuous codes compared, and the lecture's comparison: same problems, same answers."""

from __future__ import annotations

import os

import numpy as np
import pytest

from outputcodes._spoc import solve
from outputcodes.experiments import Result, find, run
from outputcodes.experiments.crammer_solvers import dual, primal, quadrants
from outputcodes.experiments.mohri_comparison import blobs


def test_all_three_solvers_reach_one_objective():
    pytest.importorskip("clarabel")
    H, y = quadrants(40, 1)
    assert np.array_equal(y, 2 * (H[:, 0] > 0) + (H[:, 1] > 0))
    ours = solve(H, y, 4, tol=1e-6).certificate.value
    assert dual(H, y, 4)() == pytest.approx(ours, rel=1e-6)
    assert primal(H, y, 4)() == pytest.approx(ours, rel=1e-6)
    # The definition, at our matrix: ½‖M‖² and for every example the largest of h·(M_r − M_y) + 1 − [[r = y]].
    M = solve(H, y, 4, tol=1e-6).M
    slack = [max(h @ (M[r] - M[c]) + (r != c) for r in range(4)) for h, c in zip(H, y, strict=True)]
    assert 0.5 * (M**2).sum() + sum(slack) == pytest.approx(ours, rel=1e-5)


def test_figure5_end_to_end_on_small_sizes():
    pytest.importorskip("clarabel")
    experiment = find("crammer-figure5")
    units = [{"m": m, "draw": 0, "repeats": 1} for m in (10, 20)]
    results = [Result(unit, experiment.measure(**unit), 0.0) for unit in units]
    findings = experiment.present(results)
    (table,) = findings.tables
    assert [row[0] for row in table.rows] == ["10", "20"]
    assert all(float(row[-1]) < 1e-5 for row in table.rows)


def test_verdicts_on_speed_follow_the_largest_size():
    def result(m, dense, sparse):
        seconds = {"SPOC": 1.0, "dense dual": dense, "sparse primal": sparse}
        return Result(
            {"m": m, "draw": 0, "repeats": 1}, {"seconds": seconds, "objective": dict.fromkeys(seconds, 1.0)}, 0.0
        )

    verdicts = [c.verdict for c in find("crammer-figure5").present([result(10, 500, 5), result(20, 99, 0.5)]).claims]
    assert verdicts == ["not supported", "not supported"]
    verdicts = [c.verdict for c in find("crammer-figure5").present([result(10, 5, 5), result(20, 101, 1.5)]).claims]
    assert verdicts == ["supported", "supported"]


def test_exponents_are_slopes_of_the_points_that_share_the_other_size():
    def result(approach, m, k):
        seconds = {"binary": m**1.5, "one-vs-all": k * m**1.5, "one-vs-one": k**0.5 * m**1.5}[approach]
        tests = {"binary": 1, "one-vs-all": k, "one-vs-one": k**2}[approach]
        unit = {"engine": "alone", "approach": approach, "m": m, "k": k, "repeats": 1}
        return Result(unit, {"training": seconds, "testing": tests}, 0.0)

    points = [(100, 8), (200, 8), (400, 8), (200, 4), (200, 16)]
    results = [result(approach, m, k) for approach in ("one-vs-all", "one-vs-one") for m, k in points]
    results += [result("binary", m, 8) for m in (100, 200, 400)]
    findings = find("mohri-comparison").present(results)
    assert all(row[-1] == row[-2] for row in findings.tables[0].rows[1:])
    assert {claim.verdict for claim in findings.claims} == {"supported"}
    assert len(findings.claims) == 4


def test_clouds_of_the_lecture_have_equal_classes():
    X, y = blobs(120, 6)
    assert np.bincount(y).tolist() == [20] * 6
    assert X.shape == (120, 10)


def test_approaches_beside_one_another():
    experiment = find("mohri-approaches")
    approaches = {unit["approach"] for unit in experiment.units(("glass",), True, folds=5)}
    errors = {name: float(at) for at, name in enumerate(sorted(approaches))}

    def result(data_set, approach):
        found = {"error": errors[approach], "tested": 10, "training": 1.0, "testing": 1.0}
        return Result({"data_set": data_set, "approach": approach, "folds": 2}, found, 0.0)

    results = [result(name, approach) for name in ("glass", "ecoli") for approach in approaches]
    (table,) = experiment.present(results).tables
    assert [row[0] for row in table.rows] == sorted(approaches)
    assert [float(row[-3]) for row in table.rows] == list(range(1, len(approaches) + 1))
    # A data set that lacks an approach is not ranked.
    assert len(experiment.present([*results, result("vowel", "decision tree")]).tables[0].header) == len(table.header)


@pytest.mark.skipif(not os.environ.get("OUTPUTCODES_DATA"), reason="OUTPUTCODES_DATA names no data sets")
def test_norms_read_the_margins_of_one_code():
    experiment = find("crammer-norms")
    options = {**experiment.options, "folds": 2}
    (result,) = run(experiment, data_sets=["glass"], options=options)
    assert set(result.found["errors"]) == {"hamming", "loss", "l1", "l2", "linf"}
    assert result.found["tested"] == 214
    assert [row[0] for row in experiment.present([result]).tables[0].rows] == ["glass"]
