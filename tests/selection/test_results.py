"""Measurements and results as JSON and back, and results gathered from measurements."""

import json

import numpy as np
import pandas as pd
import pytest

from outputcodes.selection import Cell, Decoded, Measurement, Result, ranked
from outputcodes.selection.engine import gather, measure_all
from outputcodes.selection.journal import Journal
from outputcodes.selection.packing import packed, unpacked
from outputcodes.selection.results import key_of


def through_json(data):
    return json.loads(json.dumps(data, allow_nan=False))


RESULTS = [
    Result(fold_errors=[0.1]),
    Result("ridge", "all-pairs", "loss", 45, fold_errors=(0.1, 1 / 3), fit_seconds=0.1, predict_seconds=1e-5),
    Result("svc", fold_errors=[0.5, 0.25], size_bytes=10, parameters={"C": 0.1, "kernel": "rbf"}, share=0.25, stage=2),
    *ranked([Result("a", fold_errors=[0.1, 0.2], fit_seconds=1.0), Result("b", fold_errors=[0.3, 0.3])]),
]


@pytest.mark.parametrize("result", RESULTS, ids=str)
def test_a_result_survives_json(result):
    data = through_json(result.as_dict())
    assert data == result.as_dict()
    again = Result.from_dict(data)
    assert again == result
    assert (again.error, again.spread, again.losses) == (result.error, result.spread, None)


@pytest.mark.parametrize("losses", [np.array([True, False, True]), np.array([0.5, 1.25])])
def test_the_losses_of_rows_survive_json(losses):
    result = Result("a", fold_errors=[losses.mean()], losses=losses)
    again = Result.from_dict(through_json(result.as_dict()))
    assert again.losses.dtype == losses.dtype
    np.testing.assert_array_equal(again.losses, losses)
    found = Measurement("a", "dense", 3, 7, 0.5, 80, {"loss": Decoded(0.5, 0.1, losses)}, share=0.5, stage=1)
    back = Measurement.from_dict(through_json(found.as_dict()))
    assert back == found
    np.testing.assert_array_equal(back.decoders["loss"].losses, losses)


@pytest.mark.parametrize("n", [1, 7, 8, 9, 1000])
def test_losses_are_packed_into_few_letters(n):
    numbers = np.random.default_rng(n).random(n)
    np.testing.assert_array_equal(unpacked(packed(numbers < 0.3)), numbers < 0.3)
    assert len(packed(numbers < 0.3)["missed"]) <= n / 6 + 4
    np.testing.assert_allclose(unpacked(packed(numbers)), numbers, rtol=1e-7)


def test_error_and_spread_are_those_of_the_folds():
    errors = np.array([0.1, 0.4, 0.2])
    result = Result("a", fold_errors=errors)
    assert (result.error, result.spread) == (errors.mean(), errors.std(ddof=1))
    assert Result("a", fold_errors=[0.25]).spread == 0
    frame = pd.DataFrame(ranked([result, Result("b", fold_errors=[0.0, 0.0, 0.1])]))
    assert frame["learner"].tolist() == ["b", "a"]
    assert frame["error"][1] == result.error


@pytest.mark.parametrize("errors", [(), (0.1, np.nan), (np.inf,)])
def test_a_result_without_a_finite_error_is_refused(errors):
    with pytest.raises(ValueError, match="SVC has no finite error"):
        Result("SVC", fold_errors=errors)


def test_parameters_share_and_stage_tell_cells_apart():
    cell = Cell("ridge", "dense", ("loss",), {"alpha": 1.0}, 0.25, 1)
    found = Measurement("ridge", "dense", 2, parameters={"alpha": 1.0}, share=0.25, stage=1)
    assert key_of(cell) == key_of(found)
    others = [{"parameters": {"alpha": 2.0}}, {"share": 0.5}, {"stage": 2}, {"code": "sparse"}]
    keys = {key_of(Cell(**{**vars(cell), **other})) for other in others}
    assert len(keys | {key_of(cell)}) == 5


def measured(cell, fold, **others):
    decoded = {name: Decoded(0.1 * fold, 0.2 * fold) for name in cell.decoders if name != "vote"}
    return Measurement(cell.learner, cell.code, fold, 10 + fold, 1.0 * fold, 80, decoded, **others)


def test_results_are_gathered_from_whole_cells_only():
    whole, cut, broken = (Cell(name, "dense", ("loss", "vote")) for name in ("whole", "cut", "broken"))
    found = [
        [measured(whole, fold) for fold in range(3)],
        [measured(cut, fold) for fold in range(2)],
        [measured(broken, 0), Measurement("broken", "dense", 1, failed="no memory")],
    ]
    (row,), notes = gather([whole, cut, broken], found, 3)
    assert (row.learner, row.decoder, row.columns) == ("whole", "loss", 11)
    assert row.fold_errors == pytest.approx((0.0, 0.1, 0.2))
    assert (row.fit_seconds, row.predict_seconds, row.size_bytes) == (1.0, 0.2, 80)
    assert notes == ["broken dense: no memory"]


def test_parameters_share_and_stage_reach_the_result():
    cell = Cell("ridge", "dense", ("loss",), {"alpha": 1.0}, 0.25, 1)
    found = measured(cell, 1, parameters=cell.parameters, share=cell.share, stage=cell.stage)
    ((row,), _) = gather([cell], [[found]], 1)
    assert (row.parameters, row.share, row.stage) == ({"alpha": 1.0}, 0.25, 1)


def test_a_journal_of_one_stage_is_not_taken_for_another(tmp_path):
    first, second = Cell("ridge", "dense", ("loss",)), Cell("ridge", "dense", ("loss",), share=0.5, stage=1)
    trained = []

    def measure(cells):
        def one(number, fold):
            cell = cells[number]
            trained.append((cell.stage, fold))
            return measured(cell, fold, share=cell.share, stage=cell.stage)

        return one

    path = tmp_path / "results.jsonl"
    with Journal(path, {}) as journal:
        measure_all([first], 2, measure([first]), journal)
    with Journal(path, {}, resume=True) as journal:
        progress = measure_all([first, second], 2, measure([first, second]), journal)
    assert trained == [(0, 0), (0, 1), (1, 0), (1, 1)]
    assert (progress.known, progress.computed) == (2, 2)
    assert [one.share for one in progress.found[1]] == [0.5, 0.5]


def test_when_the_time_is_up_what_the_journal_has_still_counts(tmp_path):
    cells = [Cell("a", "dense", ("loss",)), Cell("b", "dense", ("loss",))]
    path = tmp_path / "results.jsonl"
    with Journal(path, {}) as journal:
        for fold in range(2):
            journal.add(measured(cells[1], fold).as_dict())
    with Journal(path, {}, resume=True) as journal:
        progress = measure_all(cells, 2, lambda number, fold: measured(cells[number], fold), journal, time_limit=-1)
    assert progress.late == [cells[0]]
    assert [len(own) for own in progress.found] == [0, 2]
