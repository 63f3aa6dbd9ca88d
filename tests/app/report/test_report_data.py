"""The data of a report against the arrays they were made from."""

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_digits
from sklearn.metrics import brier_score_loss, confusion_matrix, log_loss
from sklearn.tree import DecisionTreeClassifier

from outputcodes import OutputCodeClassifier
from outputcodes.app.report import Answers, answers, report_data
from outputcodes.app.report.winner import histogram
from outputcodes.codes import AllPairs, describe
from outputcodes.decoders import LossBased
from outputcodes.diagnostics import column_errors, multiclass_margins
from outputcodes.learners import Ridge
from outputcodes.selection import Result, Results, ranked

X, y = load_digits(return_X_y=True)
X = X / 16
TRAIN, TEST = slice(0, 600), slice(1000, None)
MODEL = OutputCodeClassifier(Ridge(), code="sparse", probability="softmax", random_state=0).fit(X[TRAIN], y[TRAIN])
NAMES = [f"image {i}" for i in range(1000, len(y))]
IMAGES = X[TEST].reshape(-1, 8, 8)
ROWS = ranked([Result("ridge", "sparse", "loss", fold_errors=[0.1])])
DATA = report_data(ROWS, answers(MODEL, X[TEST], y[TEST], names=NAMES, images=IMAGES), facts={"rows": 10})
WINNER = DATA["winner"]
F, M, D, P = MODEL.margins(X[TEST]), MODEL.code_matrix_, MODEL.decision_function(X[TEST]), MODEL.predict_proba(X[TEST])
PREDICTED = MODEL.predict(X[TEST])


def test_data_survive_json():
    assert json.loads(json.dumps(DATA, allow_nan=False)) == DATA
    assert DATA["facts"] == [["rows", "10"]]


def test_code_and_columns():
    code, report = WINNER["code"], describe(M)
    signs = {"+": 1, "-": -1, "0": 0}
    np.testing.assert_array_equal([[signs[sign] for sign in row] for row in code["matrix"]], M)
    np.testing.assert_array_equal(code["row_distances"], report.row_distances)
    assert (code["rho"], code["correctable_errors"], code["L"]) == (report.rho, report.correctable_errors, report.L)
    assert WINNER["columns"]["error"] == pytest.approx(column_errors(F, y[TEST], M).tolist(), rel=1e-4)
    for s in range(M.shape[1]):
        target = M[y[TEST], s]
        assert WINNER["columns"]["rows"][s] == (target != 0).sum()
        assert WINNER["columns"]["positives"][s] == (target == 1).sum()


def test_confusions():
    counts = confusion_matrix(y[TEST], PREDICTED)
    np.testing.assert_array_equal(WINNER["confusion"]["matrix"], counts)
    assert WINNER["class_counts"] == counts.sum(axis=1).tolist()
    assert WINNER["error"] == pytest.approx(np.mean(PREDICTED != y[TEST]))
    off = counts - np.diag(np.diag(counts))
    largest = np.sort(off, axis=None)[::-1][:10]
    assert [n for _, _, n in WINNER["confusion"]["pairs"]] == largest[largest > 0].tolist()
    assert all(off[t, p] == n for t, p, n in WINNER["confusion"]["pairs"])


def test_margin_histograms():
    target = M[y[TEST]]
    for found, values in (
        (WINNER["margins"]["multiclass"], multiclass_margins(D, y[TEST])),
        (WINNER["margins"]["columns"], (target * F)[target != 0]),
    ):
        edges, counts = np.array(found["edges"]), np.array(found["counts"])
        assert 0.0 in edges
        assert sum(counts) == found["total"] == len(values)
        assert counts[edges[1:] <= 0].sum() == found["below_zero"] == (values < 0).sum()
        assert found["median"] == np.median(values)
        # As many values are below each inner edge as the bins say, up to the rounding of the edges.
        below = np.cumsum(counts)[:-1]
        slack = 1e-4 * np.abs(edges[1:-1])
        assert (below >= [(values < edge).sum() for edge in edges[1:-1] - slack]).all()
        assert (below <= [(values < edge).sum() for edge in edges[1:-1] + slack]).all()
        assert ((values < edges[0]) | (values > edges[-1])).mean() <= 0.01


@pytest.mark.parametrize(
    "values", [[0.0], [-1.0], [2.0, 2.0], [-3.0, 0.0], [-1e-9, *[1.0] * 999], [1e-9, *[-1.0] * 999], [1e-300, -1e-300]]
)
def test_histograms_of_few_values_keep_the_sides_of_zero_apart(values):
    found = histogram(np.array(values))
    edges, counts = np.array(found["edges"]), np.array(found["counts"])
    assert counts[edges[1:] <= 0].sum() == np.sum(np.array(values) < 0)
    assert counts[edges[:-1] >= 0].sum() == np.sum(np.array(values) >= 0)


def test_reliability():
    found = WINNER["reliability"]
    confidence, right = P.max(axis=1), PREDICTED == y[TEST]
    bins = [np.flatnonzero((confidence >= b / 10) & ((confidence < (b + 1) / 10) | (b == 9))) for b in range(10)]
    bins = [rows for rows in bins if len(rows)]
    assert [one["rows"] for one in found["bins"]] == [len(rows) for rows in bins]
    gap = 0.0
    for one, rows in zip(found["bins"], bins, strict=True):
        assert one["confidence"] == pytest.approx(confidence[rows].mean())
        assert one["accuracy"] == pytest.approx(right[rows].mean())
        gap += len(rows) / len(right) * abs(one["confidence"] - one["accuracy"])
    assert found["calibration_error"] == pytest.approx(gap)
    assert found["log_loss"] == pytest.approx(log_loss(y[TEST], P))
    assert found["brier"] == pytest.approx(brier_score_loss(y[TEST], P, scale_by_half=False))


def test_examples_are_rows_of_the_sample():
    kinds = set()
    for example in WINNER["examples"]:
        i = NAMES.index(example["name"])
        assert example["margins"] == pytest.approx(F[i].tolist(), rel=1e-4)
        assert example["scores"] == pytest.approx(D[i].tolist(), rel=1e-4)
        assert example["probabilities"] == pytest.approx(P[i].tolist(), rel=1e-4)
        truth, predicted = y[TEST][i], PREDICTED[i]
        assert (example["truth"], example["predicted"]) == (truth, predicted)
        assert example["wrong"] == np.flatnonzero(M[truth] * F[i] < 0).tolist()
        np.testing.assert_allclose(np.array(example["image"]) / 255, IMAGES[i] / IMAGES[i].max(), atol=0.5 / 255)
        kinds.add("missed" if truth != predicted else "corrected" if example["wrong"] else "clear")
    assert kinds == {"missed", "corrected", "clear"}
    assert len({example["name"] for example in WINNER["examples"]}) == len(WINNER["examples"]) == 24


@pytest.mark.parametrize("number", [0, 1, 5, 10_000])
def test_as_many_examples_as_asked_for_and_there_are(number):
    few = answers(MODEL, X[1000:1040], y[1000:1040])
    assert len(report_data(ROWS, few, examples=number)["winner"]["examples"]) == min(number, 40)


def test_a_system_without_a_code_and_a_sample_without_mistakes():
    tree = DecisionTreeClassifier(random_state=0).fit(X, y)
    winner = report_data(ranked([Result("tree", fold_errors=[0.0])]), answers(tree, X[:50], y[:50]))["winner"]
    assert winner["code"] is None
    assert winner["columns"] is None
    assert winner["margins"]["columns"] is None
    assert winner["confusion"]["pairs"] == []
    assert winner["error"] == 0
    assert len(winner["examples"]) == 24


def test_index_of_a_frame_names_its_rows():
    frame = pd.DataFrame(X[:200]).set_axis([f"r{i}" for i in range(200)])
    found = answers(DecisionTreeClassifier().fit(frame, y[:200]), frame, y[:200])
    assert found.names == list(frame.index)


def test_large_codes_are_described_without_pictures():
    rng = np.random.default_rng(0)
    k, n, decoder = 120, 60, LossBased("hinge")
    M, labels = AllPairs().draw(k).matrix(), np.arange(n)
    F = M[labels] + rng.normal(size=(n, M.shape[1]))
    D, predicted = decoder.scores(F, M), decoder.predict(F, M)
    given = Answers(np.arange(k), predicted, labels, D, None, M, F, decoder, range(n))
    winner = report_data(ROWS, given)["winner"]
    assert winner["code"]["L"] == 7140
    assert winner["code"]["matrix"] is winner["code"]["row_distances"] is winner["confusion"]["matrix"] is None
    assert len(json.dumps(winner)) < 3e6


def test_labels_and_ranked_results_are_needed():
    with pytest.raises(ValueError, match="labels"):
        report_data(ROWS, answers(MODEL, X[:5]))
    for rows in ([], [Result(fold_errors=[0.1])], Results([Result(fold_errors=[0.1])])):
        with pytest.raises(ValueError, match="rows must be ranked results"):
            report_data(rows)
