"""Running experiments: what runs, what is kept, what is not measured twice."""

from __future__ import annotations

import json

import pytest

from outputcodes.selection import JournalError
from reproduce import EXPERIMENTS, find, run_experiment
from reproduce.tests.powers import experiment, fails_at_two


def test_measurements_come_in_the_order_of_the_units():
    assert [(r.unit["x"], r.found) for r in run_experiment(experiment())] == [(0, 0), (1, 1), (2, 4), (3, 9)]


def test_what_was_measured_before_a_failure_is_not_measured_again(tmp_path):
    with pytest.raises(RuntimeError, match="stopped"):
        run_experiment(experiment(fails_at_two), out=tmp_path)
    watched = []
    found = run_experiment(experiment(), out=tmp_path, resume=True, watch=lambda *report: watched.append(report))
    assert [r.found for r in found] == [0, 1, 4, 9]
    # Two were there; two more follow.
    assert [done for _, done, _ in watched] == [2, 3, 4]
    lines = [json.loads(line) for line in (tmp_path / "powers.jsonl").read_text().splitlines()]
    assert sorted(line["unit"]["x"] for line in lines if "unit" in line) == [0, 1, 2, 3]


def test_results_of_other_choices_are_not_mixed(tmp_path):
    run_experiment(experiment(), out=tmp_path)
    with pytest.raises(JournalError, match="earlier run"):
        run_experiment(experiment(), out=tmp_path)
    with pytest.raises(JournalError, match="differs in options"):
        run_experiment(experiment(), out=tmp_path, resume=True, options={"power": 3})
    with pytest.raises(JournalError, match="differs in quick"):
        run_experiment(experiment(), out=tmp_path, resume=True, quick=True)


def test_experiments_with_one_record_share_their_measurements(tmp_path):
    run_experiment(experiment(record="shared"), out=tmp_path)
    watched = []
    other = experiment(fails_at_two, name="other", record="shared")
    found = run_experiment(other, out=tmp_path, resume=True, watch=lambda *report: watched.append(report))
    assert [r.found for r in found] == [0, 1, 4, 9]
    assert watched == [("other", 4, 4)]


def test_a_run_that_measured_nothing_claims_no_folder(tmp_path):
    with pytest.raises(RuntimeError, match="stopped"):
        run_experiment(
            experiment(fails_at_two, units=lambda data_sets, quick, power: [{"x": 2, "power": power}]), out=tmp_path
        )
    assert [r.found for r in run_experiment(experiment(), out=tmp_path, options={"power": 1})] == [0, 1, 2, 3]


def test_errors_about_unknown_names_list_the_known_ones():
    with pytest.raises(ValueError, match=r"Unknown data set: c\. Choose from: a, b"):
        run_experiment(experiment(), data_sets=["c"])
    with pytest.raises(ValueError, match=r"Unknown option: exponent\. Choose from: power"):
        run_experiment(experiment(), options={"exponent": 3})
    with pytest.raises(ValueError, match="jin-table2"):
        find("jin-table22")


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_every_experiment_is_described_and_its_units_are_plain_and_distinct(name):
    found = EXPERIMENTS[name]
    assert found.name == name
    for quick in (False, True):
        units = found.units(found.data_sets, quick, **found.options)
        keys = [json.dumps(unit, sort_keys=True) for unit in units]
        assert keys
        assert len(set(keys)) == len(keys)
    assert all(json.loads(key) == unit for key, unit in zip(keys, units, strict=True))
    assert found.present([]) is not None
