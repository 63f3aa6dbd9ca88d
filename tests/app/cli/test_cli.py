"""Each verb from the words that a user types to what it prints and writes."""

import csv
import gzip
import json
import re
import subprocess
import sys

import numpy as np
import pytest

from outputcodes import codes
from outputcodes.app import persistence, tables
from outputcodes.app.run import fit_file

SMALL = ("--learners", "ridge,maxent", "--codes", "one-vs-all,all-pairs", "--decoders", "hamming,vote", "--cv", "3")


def rows_of(path):
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_the_installed_command():
    done = subprocess.run(
        [sys.executable, "-c", "from outputcodes.app.cli import main; main()", "code", "one-vs-all", "-k", "3"],
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.endswith("+ - -\n- + -\n- - +\n")


def test_compare_prints_a_ranked_table(run):
    done = run("compare", "--exhaustive", "iris", *SMALL)
    assert done.code == 0, done.err
    assert "iris: 150 rows, 3 classes, 3-fold cross-validation" in done.out
    # "vote" serves all-pairs alone, where it is Hamming decoding: one row.
    assert "hamming = vote" in done.out
    table = done.out.replace(" = vote", "").splitlines()
    lines = [line.split() for line in table if re.match(r" *\*?\d+ ", line)]
    # Marked where the test does not tell a system from the best.
    p_values = {line[0]: line[-5] for line in lines[1:]}
    assert all((rank[0] == "*") == (p != "<.001" and float(p) > 0.05) for rank, p in p_values.items())
    found = sorted(" ".join(line[1:4]) for line in lines if line[1] == "ridge")
    assert found == ["ridge all-pairs hamming", "ridge one-vs-all hamming"]
    errors = [float(line[5] if line[1] == "ridge" else line[2]) for line in lines]
    assert errors == sorted(errors)
    assert [int(line[0].lstrip("*")) for line in lines] == [1, 2, 3]


def test_compare_writes_results_report_and_model(run, fruit, tmp_path):
    out = tmp_path / "out"
    done = run("compare", "--exhaustive", fruit, *SMALL, "--out", out)
    assert done.code == 0, done.err
    header, *lines = map(json.loads, (out / "results.jsonl").read_text().splitlines())
    assert header["seed"] == 0
    assert [(line["learner"], line["code"], line["fold"]) for line in lines] == [
        (learner, code, fold)
        for learner, code in [("ridge", "one-vs-all"), ("ridge", "all-pairs"), ("maxent", "")]
        for fold in range(3)
    ]
    report = (out / "report.html").read_text()
    assert report.startswith("<!")
    assert "on 15 held-out rows of the first fold" in report
    model, manifest = persistence.load(out / "model.skops")
    table = tables.read(fruit)
    summary = manifest.summary
    assert summary["training_error"] == np.mean(model.predict(table.frame) != table.target)
    best = min(
        (np.mean([line["decoders"][name]["error"] for line in lines if (line["learner"], line["code"]) == key]), *key)
        for key, name in [
            (("maxent", ""), ""),
            (("ridge", "one-vs-all"), "hamming"),
            (("ridge", "all-pairs"), "hamming"),
        ]
    )
    assert summary["error"] == best[0]


@pytest.mark.parametrize("metric", ["log-loss", "balanced"])
def test_other_metrics(run, fruit, tmp_path, metric):
    words = ("--learners", "ridge,maxent,svc", "--codes", "all-pairs", "--decoders", "loss", "--cv", "3")
    done = run("compare", "--exhaustive", fruit, *words, "--metric", metric, "--out", tmp_path / "out")
    assert done.code == 0, done.err
    assert metric in done.out
    assert ("svc: no probabilities" in done.out) == (metric == "log-loss")
    if metric == "log-loss":
        model, _ = persistence.load(tmp_path / "out" / "model.skops")
        assert hasattr(model, "predict_proba")


def test_the_winner_tells_probabilities_and_predicts_as_its_decoder_does(run, fruit, tmp_path):
    words = ("--learners", "ridge", "--codes", "all-pairs", "--decoders", "hamming", "--cv", "3")
    assert run("compare", "--exhaustive", fruit, *words, "--out", tmp_path / "out").code == 0
    assert '"reliability":{' in (tmp_path / "out" / "report.html").read_text()
    assert run("predict", tmp_path / "out" / "model.skops", fruit, "--proba", "--out", tmp_path / "p.csv").code == 0
    words = ("--learner", "ridge", "--decoder", "hamming", "--out")
    assert run("fit", fruit, *words, tmp_path / "m.skops").code == 0
    assert run("predict", tmp_path / "m.skops", fruit, "--out", tmp_path / "q.csv").code == 0
    p, q = ([row["prediction"] for row in rows_of(tmp_path / name)] for name in ("p.csv", "q.csv"))
    assert p == q


def test_a_test_file_and_a_split_column_are_the_same_split(run, fruit, tmp_path):
    head, *lines = fruit.read_text().splitlines()
    (tmp_path / "a.csv").write_text("\n".join([head, *lines[:30]]))
    (tmp_path / "b.csv").write_text("\n".join([head, *lines[30:]]))
    both = [f"{line},{'train' if i < 30 else 'test'}" for i, line in enumerate(lines)]
    (tmp_path / "both.csv").write_text("\n".join([f"{head},part", *both]))
    words = SMALL[:-2]
    done = run(
        "compare", "--exhaustive", tmp_path / "a.csv", "--test", tmp_path / "b.csv", *words, "--out", tmp_path / "x"
    )
    assert (done.code, "a.csv + b.csv: 45 rows" in done.out) == (0, True)
    assert (
        run("compare", "--exhaustive", tmp_path / "both.csv", "--split", "part", *words, "--out", tmp_path / "y").code
        == 0
    )
    x, y = (
        [json.loads(line).get("decoders") for line in (tmp_path / name / "results.jsonl").read_text().splitlines()[1:]]
        for name in "xy"
    )
    errors = [[{name: one["error"] for name, one in line.items()} for line in lines] for lines in (x, y)]
    assert len(errors[0]) == 3
    assert errors[0] == errors[1]


def test_rare_classes_are_handled_and_said(run, fruit):
    fruit.write_text(fruit.read_text() + "90,blue,2026-01-01,plum\n")
    done = run("compare", "--exhaustive", fruit, *SMALL)
    assert done.code == 0, done.err
    assert "Fewer rows than the 3 folds: plum (1)" in done.out


def test_a_time_limit_leaves_cells_out_and_resume_adds_them(run, fruit, tmp_path):
    words = ("compare", "--exhaustive", fruit, *SMALL, "--out", tmp_path / "out")
    done = run(*words, "--time-limit", "0")
    assert done.code == 2
    assert "Left out by the time limit: ridge one-vs-all, ridge all-pairs, maxent" in done.err
    done = run(*words, "--resume")
    assert done.code == 0, done.err
    assert "time limit" not in done.out
    assert "trainings: " not in done.out
    assert "trainings: 9 found in the folder, 0 done now" in run(*words, "--resume").out


def test_rows_without_a_label_are_reported(run, fruit, tmp_path):
    fruit.write_text(fruit.read_text() + "90,blue,2026-01-01,NA\n" * 5 + "90,blue,2026-01-01,null\n")
    note = "6 rows without a label left out ('NA' 5, 'null' 1)."
    done = run("fit", fruit, "--learner", "ridge", "--out", tmp_path / "m.skops")
    assert (done.code, note in done.out) == (0, True)
    assert note in run("inspect", tmp_path / "m.skops").out
    done = run("compare", "--exhaustive", fruit, *SMALL, "--out", tmp_path / "out")
    assert (done.code, note in done.out) == (0, True)
    assert note in (tmp_path / "out" / "report.html").read_text()


def test_a_system_alone_takes_no_code(run):
    done = run("compare", "--exhaustive", "iris", "--learners", "maxent", "--codes", "dense", "--cv", "2")
    assert (done.code, "dense: not tried, as maxent is a system by itself and takes no code" in done.out) == (0, True)


def test_the_report_numbers_rows_as_the_file_does(run, fruit, tmp_path):
    head, *lines = fruit.read_text().splitlines()
    part = ["1,x,2026-01-01,NA,test"] + [f"{line},{'train' if i < 40 else 'test'}" for i, line in enumerate(lines)]
    fruit.write_text("\n".join([f"{head},part", *part]))
    words = ("--learners", "decision-tree", "--split", "part", "--out", tmp_path / "out")
    assert run("compare", "--exhaustive", fruit, *words).code == 0
    found = re.findall(r'"name":"?(\d+)', (tmp_path / "out" / "report.html").read_text())
    assert sorted(map(int, found)) == [42, 43, 44, 45, 46]


def test_predict_is_the_model_on_the_raw_table(run, fruit, model, tmp_path):
    out = tmp_path / "p.csv"
    done = run("predict", model, fruit, "--proba", "--explain", "--chunk", "7", "--out", out)
    assert done.code == 0, done.err
    assert "45 predictions" in done.out
    fitted, _ = persistence.load(model)
    frame = tables.read(fruit).frame
    rows = rows_of(out)
    assert [row["prediction"] for row in rows] == fitted.predict(frame).tolist()
    P = [[float(row[f"p({label})"]) for label in fitted.classes_] for row in rows]
    np.testing.assert_allclose(P, fitted.predict_proba(frame), rtol=1e-12)
    assert all(row["explanation"].startswith(f"Predicted {row['prediction']}.") for row in rows)


def test_new_categories_and_columns_in_another_order_are_no_error(run, model, tmp_path):
    (tmp_path / "new.csv").write_text("skin,other,picked,mass\nviolet,1,2026-01-01,150\n,2,,\n")
    done = run("predict", model, tmp_path / "new.csv", "--out", tmp_path / "p.csv")
    assert done.code == 0, done.err
    assert len(rows_of(tmp_path / "p.csv")) == 2


def test_another_encoding(run, tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes("x,class\n1,ä\n2,ö\n1,ä\n2,ö\n".encode("latin-1"))
    words = ("--encoding", "latin-1")
    assert run("fit", path, *words, "--learner", "ridge", "--out", tmp_path / "m.skops").code == 0
    assert run("predict", tmp_path / "m.skops", path, *words, "--out", tmp_path / "p.csv").code == 0
    assert [row["prediction"] for row in rows_of(tmp_path / "p.csv")] == ["ä", "ö", "ä", "ö"]
    assert (
        run("compare", "--exhaustive", path, *words, "--cv", "2", "--learners", "ridge", "--codes", "one-vs-all").code
        == 0
    )


def test_inspect_tells_how_the_model_was_made(run, model):
    done = run("inspect", model)
    assert done.code == 0, done.err
    for words in [
        "rows: 45",
        "learner: ridge",
        "columns of the table: number (1), category (1), date (1)",
        "code of 3 classes × 3 columns",
    ]:
        assert words in done.out
    assert "errors of the columns on the training rows" in done.out
    assert re.search(r"^training error: \d+\.\d\d %$", done.out, re.MULTILINE)
    assert re.search(r"^bound on the training error under Hamming decoding: \d+\.\d\d %$", done.out, re.MULTILINE)
    assert all(re.search(rf"^ *{name}  [+·-] [+·-] [+·-]$", done.out, re.MULTILINE) for name in ("apple", "pear"))
    assert "outputcodes.classifier.OutputCodeClassifier" in done.out


def test_inspect_names_the_nodes_of_a_tree_and_no_bound_for_hamming_decoding(run, fruit, tmp_path):
    model = tmp_path / "tree.skops"
    assert run("fit", fruit, "--learner", "ridge", "--code", "tree", "--out", model).code == 0
    done = run("inspect", model)
    assert "code: TreeCode of 3 classes: 1 tree, 1 node, 3 columns" in done.out
    assert "errors of the columns on the training rows" in done.out
    assert "Hamming" not in done.out


@pytest.mark.parametrize(
    ("learner", "kind"),
    [
        ("svc", "SVC"),
        ("decision-tree", "DecisionTreeClassifier"),
        ("hist-gradient-boosting", "HistGradientBoostingClassifier"),
        ("gradient-boost", "GradientBoost"),
        ("adaboost-mh", "AdaBoostMH"),
        ("stumps", "OutputCodeClassifier"),
    ],
)
def test_systems_and_learners_are_saved_and_predict(run, fruit, tmp_path, learner, kind):
    """What is saved, loaded and applied by three commands is what a fit in memory predicts."""
    path, answers = tmp_path / "m.skops", tmp_path / "p.csv.gz"
    fitted = run("fit", fruit, "--learner", learner, "--out", path)
    assert fitted.code == 0, fitted.err
    in_memory, _ = fit_file(fruit, tmp_path / "other.skops", learner=learner)
    assert type(in_memory[-1]).__name__ == kind
    inspected = run("inspect", path)
    assert (inspected.code, f"learner: {learner}" in inspected.out, kind in inspected.out) == (0, True, True)
    assert run("predict", path, fruit, "--out", answers).code == 0
    with gzip.open(answers, "rt", encoding="utf-8", newline="") as file:
        predicted = [row["prediction"] for row in csv.DictReader(file)]
    table = tables.read(fruit)
    assert predicted == in_memory.predict(table.frame).tolist()
    wrong = np.mean(np.array(predicted) != np.asarray(table.target))
    assert f"{kind}, 45 rows, {100 * wrong:.2f} % wrong on them" in " ".join(fitted.out.split())


def test_a_code_is_described_and_saved(run, tmp_path):
    pytest.importorskip("matplotlib").use("Agg")
    M = codes.as_code("dense").draw(6, random_state=3).matrix()
    done = run("code", "dense", "-k", "6", "--seed", "3", "--out", tmp_path / "code.csv")
    assert done.code == 0, done.err
    assert str(codes.describe(M)) in done.out
    np.testing.assert_array_equal(np.loadtxt(tmp_path / "code.csv", delimiter=","), M)
    assert run("code", "dense", "-k", "6", "--out", tmp_path / "code.png").code == 0
    assert (tmp_path / "code.png").read_bytes().startswith(b"\x89PNG")


def test_data_sets_are_listed(run):
    done = run("datasets")
    assert done.code == 0
    assert "digits" in done.out
    assert "scikit-learn" in done.out
