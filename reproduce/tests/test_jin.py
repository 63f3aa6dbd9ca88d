"""Jin & Zhang's trial: the published numbers are consistent, and an observation is what plain loops find."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.model_selection import StratifiedShuffleSplit

from outputcodes.boosting import AdaBoostOC, SmoothBoost
from reproduce import Observation, find, run_experiment
from reproduce.jin.published import DATA_SETS, PUBLISHED, published
from reproduce.jin.trial import chosen_lambda, measure, reduced, with_noise


def test_published_rows_are_whole_and_orderings_are_those_of_the_paper():
    assert all(len(row) == len(DATA_SETS) for row in PUBLISHED.values())
    mean = {row: np.mean([value for value, _ in cells]) for row, cells in PUBLISHED.items()}
    for noise in (0.0, 0.2):
        assert mean["ecoc", 50, noise] > mean["oc", 50, noise] > mean["random", 50, noise]
    assert mean["random", 20, 0.0] > mean["probabilistic", 20, 0.0]
    # The paper quotes these two.
    assert published("deterministic", 50, 0.0, "vehicle")[0] == 38.4
    assert published("probabilistic", 50, 0.0, "iris")[0] == 4.2


def test_noise_makes_just_that_share_of_the_labels_wrong():
    y = np.arange(100) % 5
    noisy = with_noise(y, 0.2, 5, np.random.default_rng(0))
    assert np.count_nonzero(noisy != y) == 20
    assert set(noisy) <= set(range(5))
    assert np.array_equal(with_noise(y, 0.0, 5, np.random.default_rng(0)), y)


@pytest.mark.parametrize("first", [0, 1])
def test_errors_are_those_of_the_boosters_on_the_same_splits(first):
    X, y = load_iris(return_X_y=True)
    same = {"data_set": "iris", "rounds": 10, "noise": 0.2, "splits": 2, "lambdas": [0.5], "trials": 1, "seed": first}
    found, smooth, coded = (measure(method=method, **same) for method in ("oc", "random", "probabilistic"))
    parts = StratifiedShuffleSplit(2, train_size=0.6, random_state=first).split(X, y)
    for at, (train, test) in enumerate(parts):
        seed = 2 * first + at
        labels = with_noise(y[train], 0.2, 3, np.random.default_rng(seed))
        for errors, model in (
            (found["errors"], AdaBoostOC(10, random_state=seed)),
            (smooth["errors"], SmoothBoost(10, 0.5, random_state=seed)),
            (coded["errors"], SmoothBoost(10, 0.5, "probabilistic", random_state=seed)),
        ):
            wrong = sum(a != b for a, b in zip(model.fit(X[train], labels).predict(X[test]), y[test], strict=True))
            assert errors[at] == pytest.approx(100 * wrong / len(test), abs=1e-3)
        assert coded["gammas"][at] == model.gamma_
    assert smooth["lambdas"] == [0.5, 0.5]
    assert smooth["gammas"] == []
    # The γ that is given is the one in use; with 0 the code is the random one.
    assert measure(method="probabilistic", gamma=0.0, **same) == smooth | {"gammas": [0.0, 0.0]}


def test_lambda_is_the_one_of_the_least_held_out_error_by_hand():
    X, y = load_iris(return_X_y=True)
    y = with_noise(y, 0.2, 3, np.random.default_rng(1))
    lambdas = [0.0, 0.5, 50.0]
    wrong = {}
    for lam in lambdas:
        wrong[lam] = 0
        for kept, held in StratifiedShuffleSplit(2, test_size=0.2, random_state=4).split(X, y):
            model = SmoothBoost(20, lam, random_state=4).fit(X[kept], y[kept])
            wrong[lam] += sum(model.predict(X[held]) != y[held])
    expected = min(lambdas, key=wrong.__getitem__)
    assert len(set(wrong.values())) > 1
    assert chosen_lambda("probabilistic", 20, X, y, lambdas, 2, 4) == expected


def test_wine_and_iris_are_whole():
    assert reduced("wine")[0].shape == (178, 13)
    assert np.bincount(reduced("iris")[1]).tolist() == [50, 50, 50]


def test_tables_of_a_part_of_the_data_sets(tmp_path):
    for name, statements in (("jin-table3", 2), ("jin-table5", 1)):
        experiment = find(name)
        found = run_experiment(experiment, data_sets=["iris"], quick=True, out=tmp_path, resume=True)
        findings = experiment.present(found)
        assert [row[0] for row in findings.tables[0].rows] == ["iris"]
        assert len(findings.claims) == statements
        # One data set can't decide a claim over data sets.
        assert {claim.verdict for claim in findings.claims} == {"undecided"}


def test_tables_show_the_mean_its_standard_error_and_the_published_one():
    def result(method, errors, gammas=()):
        unit = {"data_set": "iris", "method": method, "rounds": 50, "noise": 0.2}
        return Observation(unit, {"errors": errors, "lambdas": [], "gammas": list(gammas)}, 0.0)

    random, coded = (
        result("random", [9.0, 11.0, 13.0, 11.0]),
        result("probabilistic", [9.0, 11.0, 16.0, 10.0], [0, 0, 4, 2]),
    )
    findings = find("jin-table5").present([random, coded])
    # Deviations −2, 0, 2, 0: variance 8/3, and two standard errors are 2·√(8/3/4). Published: 8.0 ± 3.4 and 5.5 ± 2.9.
    assert findings.tables[0].rows == [("iris", "11.0 ± 1.6 (8.0 ± 3.4, +3.0)", "11.5 ± 3.1 (5.5 ± 2.9, +6.0)")]
    # Where γ is above 0 the differences are 3 and −1.
    assert findings.remarks[0].startswith("γ chosen: 0 in 2, 2 in 1, 4 in 1 of 4 splits.")
    assert "by +1.0 on average" in findings.remarks[0]


def test_two_processes_find_what_one_finds():
    experiment = find("jin-table6")
    alone, together = (run_experiment(experiment, data_sets=["iris"], quick=True, n_jobs=n_jobs) for n_jobs in (1, 2))
    assert [(r.unit, r.found) for r in alone] == [(r.unit, r.found) for r in together]


def test_a_fixed_gamma_is_compared_with_the_random_code():
    def result(name, gamma, noise, errors):
        unit = {"data_set": name, "gamma": gamma, "noise": noise}
        return Observation(unit, {"errors": errors}, 0.0)

    made_up = [
        result("iris", 0.0, 0.0, [4.0, 6.0]),
        result("iris", 2.0, 0.0, [3.0, 5.0]),
        result("wine", 0.0, 0.0, [10.0, 10.0]),
        result("wine", 2.0, 0.0, [12.0, 14.0]),
        result("iris", None, 0.2, [8.0, 9.0]),
    ]
    (table,) = find("jin-fixed-gamma").present(made_up).tables
    assert table.rows == [
        ("0", "7.5 (0 of 2)", "–"),
        ("2", "8.5 (1 of 2)", "–"),
        ("chosen for every split", "–", "8.5 (0 of 1)"),
    ]
    units = find("jin-fixed-gamma").units(("iris",), False, lambdas=[0.1], trials=1, seed=0)
    assert len(units) == len({str(unit) for unit in units}) == 16
