"""Mohri's lecture: exponents against their definition, support vectors against scikit-learn, approaches ranked."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.svm import SVC

from reproduce import Observation, find
from reproduce.judging import Slope
from reproduce.mohri.exponents import exponent_claim
from reproduce.mohri.growth import blobs


def test_exponents_are_slopes_of_the_points_that_share_the_other_size():
    def result(approach, m, k):
        seconds = {"binary": m**1.5, "one-vs-all": k * m**1.5, "one-vs-one": k**0.5 * m**1.5}[approach]
        tests = {"binary": 1, "one-vs-all": k, "one-vs-one": k**2}[approach]
        unit = {"engine": "alone", "approach": approach, "m": m, "k": k, "repeats": 1}
        return Observation(unit, {"training": seconds, "testing": tests, "support": m / k}, 0.0)

    points = [(100, 8), (200, 8), (400, 8), (200, 4), (200, 16)]
    results = [result(approach, m, k) for approach in ("one-vs-all", "one-vs-one") for m, k in points]
    results += [result("binary", m, 8) for m in (100, 200, 400)]
    findings = find("mohri-comparison").present(results)
    for row in findings.tables[0].rows[1:]:
        assert float(row[-2].split(" = ")[-1]) == float(row[-1].removesuffix(" ± 0.00")), row
    assert {claim.verdict for claim in findings.claims} == {"supported"}
    assert [claim.statement.split(",")[0].split()[-1] for claim in findings.claims] == ["m^α", "k", "m^α", "k^(2−α)"]
    assert "one-vs-all 50, 25, 12 with k = 4, 8, 16" in findings.remarks[0]
    # 28 SVMs on a quarter of the rows: 1000·√8·m^1.5/28 ms.
    assert "k = 8, one takes 1e+05 ms on 25 rows, 2.9e+05 ms on 50 rows, 8.1e+05 ms on 100 rows." in findings.remarks[1]


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
def test_exponents_are_judged_with_their_standard_errors(found, expected, verdict):
    assert exponent_claim("", found, expected).verdict == verdict


def test_support_vectors_are_those_of_scikit_learn():
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


def test_approaches_side_by_side():
    experiment = find("mohri-approaches")
    approaches = {unit["approach"] for unit in experiment.units(("glass",), True, folds=5)}
    errors = {name: float(at) for at, name in enumerate(sorted(approaches))}

    def result(data_set, approach):
        found = {"error": errors[approach], "tested": 10, "training": 1.0, "testing": 1.0}
        return Observation({"data_set": data_set, "approach": approach, "folds": 2}, found, 0.0)

    results = [result(name, approach) for name in ("glass", "ecoli") for approach in approaches]
    (table,) = experiment.present(results).tables
    assert [row[0] for row in table.rows] == sorted(approaches)
    assert [float(row[-3]) for row in table.rows] == list(range(1, len(approaches) + 1))
    # A data set that lacks an approach is not ranked.
    assert len(experiment.present([*results, result("vowel", "decision tree")]).tables[0].header) == len(table.header)
