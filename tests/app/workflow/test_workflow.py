"""Plans, splits and single trainings against other ways to the same numbers."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_wine
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import balanced_accuracy_score, log_loss
from sklearn.model_selection import cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from outputcodes import OutputCodeClassifier, selection
from outputcodes.app import tables
from outputcodes.app.tables import TableError
from outputcodes.app.workflow import SYSTEMS, Cell, Source, cross_validation, make_plan, official, run
from outputcodes.app.workflow import evaluate as evaluate_module
from outputcodes.app.workflow.evaluate import evaluate
from outputcodes.app.workflow.journal import Journal, JournalError
from outputcodes.learners import LEARNERS


@pytest.fixture(scope="module")
def wine():
    X, y = load_wine(return_X_y=True, as_frame=True)
    table = tables.from_frame(X, y)
    return Source("wine", table, cross_validation(table.target, 4))


@pytest.mark.parametrize("learner", ["ridge", "kernel-svm"])
def test_errors_are_those_of_selection_compare(wine, learner):
    """Which scales within the learner, column by column, and draws codes and folds by itself."""
    decoders = ["hamming", "loss", "vote", "likelihood"]
    codes = ["all-pairs", "sparse"]
    X, y = wine.table.frame.to_numpy(), wine.table.target.to_numpy()
    plan = make_plan(len(y), 3, learners=[learner], codes=codes, decoders=decoders)
    ours = {(row["code"], row["decoder"]): row for row in run(wine, plan).rows}
    expected = {}
    for train, test in wine.splits.pairs:
        scaler = StandardScaler().fit(X[train])
        both = scaler.transform(np.vstack([X[train], X[test]]))
        pair = [(np.arange(len(train)), len(train) + np.arange(len(test)))]
        labels = np.concatenate([y[train], y[test]])
        for row in selection.compare(both, labels, learner, codes=codes, decoders=decoders, cv=pair):
            expected.setdefault((row.code, row.decoder), []).append(row.error)
    assert {key: row["fold_errors"] for key, row in ours.items()} == expected


def test_metrics_of_a_system_are_scikit_learns(wine):
    X, y = wine.table.frame, wine.table.target.to_numpy()
    model = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))
    P = cross_val_predict(model, X, y, cv=wine.splits.pairs, method="predict_proba")
    for metric in ("error", "balanced", "log-loss"):
        plan = make_plan(len(y), 3, learners=["maxent"], metric=metric)
        expected = {
            "error": [np.mean(P[test].argmax(axis=1) != y[test]) for _, test in wine.splits.pairs],
            "balanced": [1 - balanced_accuracy_score(y[t], P[t].argmax(axis=1)) for _, t in wine.splits.pairs],
            "log-loss": [log_loss(y[test], P[test]) for _, test in wine.splits.pairs],
        }[metric]
        np.testing.assert_allclose(run(wine, plan, metric=metric).rows[0]["fold_errors"], expected, rtol=1e-10)


def test_log_loss_of_a_code_is_that_of_its_softmax(wine):
    train, test = wine.splits.pairs[0]
    X, y = StandardScaler().fit(wine.table.frame.iloc[train]), wine.table.target.to_numpy()
    X = X.transform(wine.table.frame)
    cell = Cell("ridge", "all-pairs", ("loss",))
    found = evaluate(cell, wine.table, train, test, metric="log-loss")["decoders"]["loss"]["error"]
    model = OutputCodeClassifier("ridge", code="all-pairs", probability="softmax", random_state=0)
    P = model.fit(X[train], y[train]).predict_proba(X[test])
    assert found == pytest.approx(log_loss(y[test], P), rel=1e-9)


def test_a_class_that_a_fold_does_not_train_on_keeps_its_row():
    X = pd.DataFrame({"x": np.arange(13.0)})
    y = pd.Series(list("aaaabbbbccccd"), name="class")
    table = tables.from_frame(X, y)
    train, test = np.arange(12), np.array([0, 5, 12])
    result = evaluate(Cell("ridge", "one-vs-all", ("hamming",)), table, train, test)
    assert result["columns"] == 4
    for metric, least in [("error", 1 / 3), ("log-loss", 1.0)]:
        assert evaluate(Cell("maxent"), table, train, test, metric=metric)["decoders"][""]["error"] >= least


def test_what_cannot_be_trained_is_said_and_the_rest_goes_on(wine):
    plan = make_plan(178, 3, learners=["ridge", "decision-tree"], codes=["complete", "all-pairs"], decoders=["dag"])
    outcome = run(wine, plan)
    assert {row["code"] for row in outcome.rows} == {"", "all-pairs"}
    assert any("ridge complete" in note for note in outcome.notes)


@pytest.mark.parametrize(
    ("reason", "told"),
    [
        (ValueError("two\n lines"), "two lines"),
        (MemoryError(), "MemoryError"),
        (ZeroDivisionError("division by zero"), "ZeroDivisionError: division by zero"),
    ],
)
def test_whatever_breaks_is_told(wine, monkeypatch, reason, told):
    def broken(*args, **options):
        raise reason

    monkeypatch.setattr("outputcodes.app.workflow.evaluate.build", broken)
    assert evaluate(Cell("maxent"), wine.table, *wine.splits.pairs[0]) == {"failed": told, "unconverged": False}


@pytest.mark.parametrize(
    ("size", "gone", "stays"),
    [
        ((1000, 10, 10), {"complete"}, {"all-pairs", "svc", "adaboost-mh"}),
        ((1000, 5, 10), set(), {"complete", "svc"}),
        ((20_000, 10, 10), {"svc", "kernel-svm", "multiclass-svc"}, {"maxent", "ridge", "adaboost-mh"}),
        ((1_000_000, 10, 20), {"gradient-boosting", "adaboost-oc", "smoothboost"}, {"maxent", "stumps"}),
        ((5000, 100, 10), {"all-pairs"}, {"one-vs-all", "dense"}),
        ((500, 2, 10), {"dense", "all-pairs", "sparse"}, {"one-vs-all"}),
    ],
)
def test_the_plan_suits_the_table_and_says_so(size, gone, stays):
    plan = make_plan(*size)
    tried = {name for cell in plan.cells for name in (cell.learner, cell.code)}
    said = " ".join(plan.left_out)
    assert stays <= tried
    assert not gone & tried
    assert all(name in said for name in gone)
    asked = make_plan(*size, learners=[*SYSTEMS, "ridge", "kernel-svm"], codes=["all-pairs", "dense", "complete"])
    assert {cell.code for cell in asked.cells} == {"", "all-pairs", "dense", "complete"}
    assert not asked.left_out


def test_by_default_every_learner_and_system_is_tried():
    tried = [cell.learner for cell in make_plan(1000, 5).cells]
    assert set(tried) == {*LEARNERS, *SYSTEMS}
    # A learner's codes one after another, and nothing twice.
    assert len(set(make_plan(1000, 5).cells)) == len(tried)


def test_a_quick_plan_says_what_it_leaves_out_of_each_part():
    (note,) = make_plan(1000, 5, quick=True, decoders=["loss"]).left_out
    assert note.startswith("A quick plan leaves out of the learners ridge, ")
    assert "; of the codes sparse, bch, complete." in note


def test_compiling_is_no_part_of_the_time(wine, monkeypatch):
    sizes = []
    train = OutputCodeClassifier.train

    def counted(self, X, y, **options):
        sizes.append(X.shape[0])
        return train(self, X, y, **options)

    monkeypatch.setattr(OutputCodeClassifier, "train", counted)
    monkeypatch.setattr(evaluate_module, "_WARM", set())
    plan = make_plan(178, 3, learners=["ridge", "decision-tree"], codes=["all-pairs"], decoders=["loss"])
    halves = Source("wine", wine.table, official(["train", "test"] * 89))
    first = run(halves, plan)
    assert sizes == [24, 89]
    assert first.computed == 2
    again = run(halves, plan)
    assert sizes == [24, 89, 89]
    assert [row["fold_errors"] for row in first.rows] == [row["fold_errors"] for row in again.rows]


@pytest.mark.parametrize("words", [("train", "test"), ("Training", "x"), ("0", "1"), (False, True)])
def test_the_words_of_a_split(words):
    ((train, test),) = official([words[0], words[1], words[0]]).pairs
    assert (train.tolist(), test.tolist()) == ([0, 2], [1])
    with pytest.raises(TableError, match="'part' splits nothing"):
        official([words[0]] * 3, "part")


def test_of_many_rare_classes_some_are_named():
    (note,) = cross_validation(["many"] * 9 + [f"rare {i:02d}" for i in range(30)], 3).notes
    assert "rare 00 (1), rare 01 (1)" in note
    assert "rare 09 (1), and 20 more. Some" in note


def test_a_journal_cut_anywhere_keeps_all_whole_lines(tmp_path):
    path, run = tmp_path / "results.jsonl", {"seed": 0}
    with Journal(path, run) as journal:
        for fold in range(3):
            journal.add({"fold": fold, "error": 0.1 + fold / 3, "name": "é\n"})
    content = path.read_bytes()
    for cut in range(len(content) + 1):
        path.write_bytes(content[:cut])
        with Journal(path, run, resume=True) as journal:
            assert journal.lines == [
                {"fold": f, "error": 0.1 + f / 3, "name": "é\n"} for f in range(len(journal.lines))
            ]
            assert len(journal.lines) == max(content[:cut].count(b"\n") - 1, 0)
            for fold in range(len(journal.lines), 3):
                journal.add({"fold": fold, "error": 0.1 + fold / 3, "name": "é\n"})
        assert path.read_bytes() == content


def test_a_damaged_journal(tmp_path):
    path = tmp_path / "results.jsonl"
    path.write_bytes(b'{"seed": 0}\nnonsense\n{"fold": 1}\n')
    with pytest.raises(JournalError, match="damaged"):
        Journal(path, {"seed": 0}, resume=True)
