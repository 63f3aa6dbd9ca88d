"""Report and model are written from what was fitted before; writing trains nothing and ranks nothing."""

import numpy as np
import pytest
from sklearn.pipeline import Pipeline

from outputcodes import OutputCodeClassifier
from outputcodes.app import persistence
from outputcodes.app.run import compare_table, finish, make_plan, open_source, write, writing
from outputcodes.learners import LEARNERS


def refuse(*args, **options):
    raise AssertionError("something was trained while it was written")


@pytest.fixture
def untrainable(monkeypatch):
    """Everything that could train raises."""

    def forbid():
        monkeypatch.setattr(OutputCodeClassifier, "train", refuse)
        monkeypatch.setattr(Pipeline, "fit", refuse)
        for learner in {type(make()) for make in LEARNERS.values()}:
            monkeypatch.setattr(learner, "fit_columns", refuse)

    return forbid


@pytest.mark.parametrize(("learner", "code"), [("ridge", "all-pairs"), ("decision-tree", None)])
def test_writing_twice_trains_nothing_and_writes_the_same(tmp_path, untrainable, learner, code):
    source = open_source("iris", cv=3)
    parts = {"codes": [code], "decoders": ["hamming", "loss"]} if code else {}
    outcome = compare_table(source, make_plan(150, 3, learners=[learner], **parts))
    winner = finish(source, outcome.rows[0])
    untrainable()
    pages = []
    for _ in range(2):
        write(tmp_path, source, outcome.rows, outcome.notes, winner, "a mark")
        pages.append((tmp_path / "report.html").read_text())
        model, manifest = persistence.load(tmp_path / "model.skops")
        np.testing.assert_array_equal(model.predict(source.table.frame), winner.model.predict(source.table.frame))
        assert manifest.summary == {**winner.summary, "run": "a mark"}
    assert pages[0] == pages[1]
    assert {path.name for path in tmp_path.iterdir()} == {"report.html", "model.skops"}
    assert writing.is_written(tmp_path, "a mark")
    assert not writing.is_written(tmp_path, "another")
    with pytest.raises(AssertionError, match="trained while it was written"):
        finish(source, outcome.rows[0])


def test_a_resumed_run_finishes_only_what_is_not_written(tmp_path, untrainable):
    source, plan = open_source("iris", cv=3), make_plan(150, 3, learners=["ridge"], codes=["dense"], decoders=["loss"])
    first = compare_table(source, plan, out=tmp_path)
    untrainable()
    again = compare_table(source, plan, out=tmp_path, resume=True)
    assert (again.computed, again.found) == (0, 3)
    assert [row.as_dict() for row in again.rows] == [row.as_dict() for row in first.rows]
    (tmp_path / "report.html").unlink()
    with pytest.raises(AssertionError, match="trained while it was written"):
        compare_table(source, plan, out=tmp_path, resume=True)


def test_the_winner_is_fitted_to_the_first_split_and_to_all_rows():
    source = open_source("iris", cv=3)
    plan = make_plan(150, 3, learners=["ridge"], codes=["dense"], decoders=["hamming"])
    best = compare_table(source, plan).rows[0]
    winner = finish(source, best)
    train, test = source.splits.pairs[0]
    y = source.table.target.to_numpy()
    assert np.mean(winner.held_out.predicted != winner.held_out.truth) == best.fold_errors[0]
    assert winner.held_out.names == source.table.frame.index[test].tolist()
    assert winner.summary["training_error"] == np.mean(winner.model.predict(source.table.frame) != y)
    assert winner.held_out.probabilities.shape == (len(test), 3)
    assert len(train) + len(test) == 150
