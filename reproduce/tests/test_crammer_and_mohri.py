"""SPOC's timing trial, continuous codes compared, and the lecture's comparison: same problems, same answers."""

from __future__ import annotations

import os

import numpy as np
import pytest
from sklearn.svm import SVC

from outputcodes._kernel_machines.spoc import solve
from reproduce import Result, find, run
from reproduce.comparing import Slope
from reproduce.crammer_figure5 import EQUAL
from reproduce.crammer_solvers import dual, primal, quadrants
from reproduce.mohri_comparison import _claim, blobs


def test_all_three_solvers_reach_one_objective():
    pytest.importorskip("clarabel")
    H, y = quadrants(40, 1)
    assert np.array_equal(y, 2 * (H[:, 0] > 0) + (H[:, 1] > 0))
    ours = solve(H, y, 4, tol=1e-6).certificate.value
    assert dual(H, y, 4, 1e-8)() == pytest.approx(ours, rel=1e-6)
    assert primal(H, y, 4, 1e-8)() == pytest.approx(ours, rel=1e-6)
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
    assert all(float(row[-1]) < EQUAL for row in table.rows)


def test_verdicts_on_speed():
    def result(m, dense, sparse, apart=0.0):
        seconds = {"SPOC": 1.0, "dense dual": dense, "sparse primal": sparse}
        objective = {"SPOC": 1.0, "dense dual": 1.0, "sparse primal": 1.0 + apart}
        return Result({"m": m, "draw": 0, "repeats": 1}, {"seconds": seconds, "objective": objective}, 0.0)

    def verdicts(*results):
        return [claim.verdict for claim in find("crammer-figure5").present(list(results)).claims]

    # A hundred times faster than on the dense dual at the largest size; faster than on either from 100 on.
    assert verdicts(result(10, 0.5, 0.5), result(100, 2, 2), result(200, 101, 1.5)) == ["supported"] * 3
    assert verdicts(result(100, 500, 0.9), result(200, 99, 3)) == ["not supported", "supported", "not supported"]
    assert verdicts(result(100, 500, 5), result(200, 500, 5, apart=2e-4)) == ["undecided"] * 3
    assert verdicts(result(10, 500, 5), result(20, 500, 5)) == ["supported"]


def test_exponents_are_slopes_of_the_points_that_share_the_other_size():
    def result(approach, m, k):
        seconds = {"binary": m**1.5, "one-vs-all": k * m**1.5, "one-vs-one": k**0.5 * m**1.5}[approach]
        tests = {"binary": 1, "one-vs-all": k, "one-vs-one": k**2}[approach]
        unit = {"engine": "alone", "approach": approach, "m": m, "k": k, "repeats": 1}
        return Result(unit, {"training": seconds, "testing": tests, "support": m / k}, 0.0)

    points = [(100, 8), (200, 8), (400, 8), (200, 4), (200, 16)]
    results = [result(approach, m, k) for approach in ("one-vs-all", "one-vs-one") for m, k in points]
    results += [result("binary", m, 8) for m in (100, 200, 400)]
    findings = find("mohri-comparison").present(results)
    for row in findings.tables[0].rows[1:]:
        assert float(row[-2].split(" = ")[-1]) == float(row[-1].removesuffix(" ± 0.00")), row
    assert {claim.verdict for claim in findings.claims} == {"supported"}
    assert [claim.statement.split(",")[0].split()[-1] for claim in findings.claims] == ["m^α", "k", "m^α", "k^(2−α)"]
    assert "one-vs-all 50, 25, 12 with k = 4, 8, 16" in findings.remarks[0]


@pytest.mark.parametrize(
    ("found", "expected", "verdict"),
    [
        (Slope(1.1, 0.05), Slope(1.0, 0.0), "supported"),
        (Slope(1.2, 0.05), Slope(1.0, 0.0), "undecided"),
        (Slope(1.1, 0.05), Slope(1.0, 0.2), "undecided"),
        (Slope(0.5, 0.1), Slope(1.0, 0.0), "not supported"),
        (Slope(1.0, np.inf), Slope(1.0, 0.0), "undecided"),
    ],
)
def test_exponents_are_weighed_with_their_standard_errors(found, expected, verdict):
    assert _claim("", found, expected).verdict == verdict


def test_support_vectors_are_those_of_the_machines():
    same = {"approach": "one-vs-all", "m": 200, "k": 3, "repeats": 1}
    X, y = blobs(200 + 1000, 3)
    gamma = 1 / (10 * X.var())
    own = [len(SVC(C=1.0, gamma=gamma).fit(X[:200], y[:200] == r).support_) for r in range(3)]
    alone, together = (find("mohri-comparison").measure(engine=engine, **same) for engine in ("alone", "together"))
    assert alone["support"] == pytest.approx(np.mean(own))
    assert together["support"] == pytest.approx(np.mean(own), rel=0.05)


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
