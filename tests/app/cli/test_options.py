"""Options of `fit` and `predict`: each does what the same choice does in Python, or is refused by its name."""

import csv

import numpy as np
import pandas as pd
import pytest

from outputcodes import OutputCodeClassifier
from outputcodes._kernel_machines.device import backend
from outputcodes.app import persistence, tables
from outputcodes.app.run import build
from outputcodes.decisions import DecisionClassifier
from outputcodes.learners.names import default_learner
from stand_in_device import StandIn


def rows_of(path):
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def predictions(run, model, data, out, *words):
    done = run("predict", model, data, "--out", out, *words)
    assert done.code == 0, done.err
    return rows_of(out)


@pytest.mark.parametrize("learner", ["svc", "adaboost-mh", "maxent"])
@pytest.mark.parametrize(
    "option", [("--code", "dense"), ("--decoder", "hamming"), ("--decoder", "loss"), ("--probability", "softmax")]
)
def test_what_a_system_would_ignore_is_refused(run, fruit, tmp_path, learner, option):
    done = run("fit", fruit, "--learner", learner, *option, "--out", tmp_path / "m.skops")
    assert done.code == 2
    assert f"--learner '{learner}' is a classifier by itself and takes no {option[0][2:]}" in done.err
    assert " ".join(option) in done.err
    assert not (tmp_path / "m.skops").exists()


def test_without_a_learner_the_default_is_that_of_python(run, fruit, tmp_path):
    done = run("fit", fruit, "--code", OutputCodeClassifier().code, "--out", tmp_path / "m.skops")
    assert done.code == 0, done.err
    model, manifest = persistence.load(tmp_path / "m.skops")
    fitted, ours = model[-1], OutputCodeClassifier()
    assert type(fitted.estimator) is type(default_learner())
    assert fitted.estimator.get_params() == default_learner().get_params()
    assert (fitted.code, fitted.decoder) == (ours.code, ours.decoder)
    table = tables.read(fruit)
    X = model[:-1].transform(table.frame)
    expected = OutputCodeClassifier(random_state=0).fit(X, table.target).decision_function(X)
    np.testing.assert_array_equal(fitted.decision_function(X), expected)
    named = {name: manifest.summary[name] for name in ("learner", "code", "decoder")}
    assert ", ".join(named.values()) in done.out


@pytest.mark.parametrize(
    ("words", "decodes"),
    [((), "hamming"), (("--probability", "softmax"), "hamming"), (("--probability", "likelihood"), "likelihood")],
)
def test_the_decoder_that_is_named_is_the_one_that_predicts(run, fruit, tmp_path, words, decodes):
    path = tmp_path / "m.skops"
    done = run("fit", fruit, "--learner", "ridge", "--decoder", "hamming", *words, "--out", path)
    assert done.code == 0, done.err
    assert f"(ridge, all-pairs, {decodes})" in done.out
    model, manifest = persistence.load(path)
    assert manifest.summary["decoder"] == decodes
    X, fitted = model[:-1].transform(tables.read(fruit).frame), model[-1]
    own = fitted.decoder_.predict(fitted.margins(X), fitted.code_matrix_)
    np.testing.assert_array_equal(fitted.predict(X), fitted.classes_[own])


def test_parameters_of_a_learner(run, fruit, tmp_path):
    words = ("--learner", "kernel-svm", "--param", "C=10", "--param", "gamma=0.5", "--out", tmp_path / "m.skops")
    assert run("fit", fruit, *words).code == 0
    learner = persistence.load(tmp_path / "m.skops")[0][-1].estimator
    assert (learner.C, learner.gamma) == (10, 0.5)
    words = ("--learner", "svc", "--param", "kernel=poly", "--param", "shrinking=false", "--out", tmp_path / "m.skops")
    assert run("fit", fruit, *words).code == 0
    svc = persistence.load(tmp_path / "m.skops")[0][-1]
    assert (svc.kernel, svc.shrinking) == ("poly", False)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--learner", "svc", "--param", "c=10"], "--learner 'svc' has no parameter 'c' (--param); did you mean 'C'?"),
        (["--learner", "svc", "--param", "depth=10"], "It has: C, break_ties, cache_size"),
        (["--param", "C=abc"], "Error: --param C='abc' must be a finite number"),
        (["--param", "fit_intercept=maybe"], "Error: --param fit_intercept='maybe' must be true or false."),
        (["--learner", "adaboost-mo", "--param", "code=x"], "Error: --param code='x' is unknown"),
        (["--param", "C"], "--param C must have the form name=value"),
        (["--class-weight", "apple"], "'apple' must have the form label=number"),
        (["--class-weight", ""], "must have the form label=number"),
        (["--class-weight", "apple=1,apple=2"], "'apple' has two numbers"),
        (["--encoding", "utf-9"], "--encoding 'utf-9' is unknown; usual ones are utf-8"),
        (["--class-weight", "appel=2"], "--class-weight 'appel' is unknown; did you mean 'apple'?"),
        (["--class-weight", "balanced", "--learner", "adaboost-mh"], "has no class weights (--class-weight)"),
        (["--decoder", "softmax"], "is not the name of a decoder: --probability softmax turns the scores"),
        (["--learner", "rigde"], "--learner 'rigde' is unknown; did you mean 'ridge'?"),
        (["--order", "lemon,apple,pear"], "--code ordinal"),
        (["--order", "lemon,apple", "--code", "ordinal"], "it lacks 'pear'"),
        (["--drop", "weight"], "no column 'weight' to leave out"),
        (["--id", "name"], "no column 'name' to leave out"),
        (["--sep", ";;"], "Error: --sep ';;' must be one character"),
        (["--plugin", "no_such_module_anywhere"], "--plugin 'no_such_module_anywhere' can't be imported"),
        (["--plugin", "nowhere.py"], "--plugin 'nowhere.py': there is no such file"),
    ],
)
def test_refused_by_name(run, fruit, tmp_path, words, message):
    done = run("fit", fruit, *words, "--out", tmp_path / "m.skops")
    assert (done.code, message in done.err) == (2, True), done.err
    assert not (tmp_path / "m.skops").exists()


@pytest.mark.parametrize(
    ("text", "weight"), [("balanced", "balanced"), ("apple=5,pear=0.5", {"apple": 5, "pear": 0.5, "lemon": 1})]
)
@pytest.mark.parametrize("learner", ["ridge", "maxent"])
def test_class_weights(run, fruit, tmp_path, text, weight, learner):
    words = ("--learner", learner, "--class-weight", text, "--out", tmp_path / "m.skops")
    assert run("fit", fruit, *words).code == 0
    model, _ = persistence.load(tmp_path / "m.skops")
    table = tables.read(fruit)
    expected = build(table.schema, learner)
    expected[-1].set_params(class_weight=weight)
    expected.fit(table.frame, table.target.to_numpy())
    np.testing.assert_allclose(model.decision_function(table.frame), expected.decision_function(table.frame), rtol=1e-9)


def test_an_order_makes_the_ordinal_code(run, tmp_path):
    path = tmp_path / "sizes.csv"
    path.write_text("x,size\n" + "".join(f"{i},{('low', 'mid', 'high')[i // 10]}\n" for i in range(30)))
    words = ("fit", path, "--target", "size", "--learner", "ridge", "--code", "ordinal", "--out", tmp_path / "m.skops")
    assert run(*words, "--order", "low,mid,high").code == 0
    fitted = persistence.load(tmp_path / "m.skops")[0][-1]
    rows = dict(zip(fitted.classes_.tolist(), fitted.code_matrix_.tolist(), strict=True))
    assert rows == {"low": [-1, -1], "mid": [1, -1], "high": [1, 1]}
    assert "order of the classes: low, mid, high" in run("inspect", tmp_path / "m.skops").out
    done = run(
        "compare",
        "--exhaustive",
        path,
        "--target",
        "size",
        "--order",
        "low,mid,high",
        "--learners",
        "ridge",
        "--cv",
        "3",
    )
    assert (done.code, "ordinal" in done.out) == (0, True), done.err
    done = run("compare", "--exhaustive", path, "--target", "size", "--learners", "ridge", "--cv", "3")
    assert "ordinal" not in done.out
    done = run("compare", "--exhaustive", path, "--target", "size", "--order", "low,mid,high", "--codes", "dense")
    assert (done.code, "--order low,mid,high is for the ordinal code" in done.err) == (2, True)


def test_a_folder_compared_in_another_order_is_another_run(run, tmp_path):
    path = tmp_path / "sizes.csv"
    path.write_text("x,class\n" + "".join(f"{i % 3 + i / 40},{'abc'[i % 3]}\n" for i in range(30)))
    words = (
        "--learners",
        "ridge",
        "--codes",
        "ordinal",
        "--decoders",
        "hamming",
        "--cv",
        "2",
        "--out",
        tmp_path / "out",
    )
    assert run("compare", "--exhaustive", path, *words, "--order", "a,b,c").code == 0
    assert run("compare", "--exhaustive", path, *words, "--order", "a,b,c", "--resume").code == 0
    assert persistence.load(tmp_path / "out" / "model.skops")[0][-1].code_matrix_.tolist() == [
        [-1, -1],
        [1, -1],
        [1, 1],
    ]
    assert run("compare", "--exhaustive", path, *words, "--order", "b,a,c", "--resume").code == 2
    words = (*words[:-1], tmp_path / "other")
    assert run("compare", "--exhaustive", path, *words, "--order", "b,a,c").code == 0
    assert persistence.load(tmp_path / "other" / "model.skops")[0][-1].code_matrix_.tolist() == [
        [1, -1],
        [-1, -1],
        [1, 1],
    ]


def test_the_order_of_a_parquet_column_is_that_of_the_ordinal_code(run, tmp_path):
    sizes = pd.Categorical([("low", "mid", "high")[i // 10] for i in range(30)], ["low", "mid", "high"], ordered=True)
    pd.DataFrame({"x": range(30), "size": sizes}).to_parquet(tmp_path / "t.parquet")
    words = ("--target", "size", "--learner", "ridge", "--code", "ordinal", "--out", tmp_path / "m.skops")
    assert run("fit", tmp_path / "t.parquet", *words).code == 0
    fitted = persistence.load(tmp_path / "m.skops")[0][-1]
    rows = dict(zip(fitted.classes_.tolist(), fitted.code_matrix_.tolist(), strict=True))
    assert rows == {"low": [-1, -1], "mid": [1, -1], "high": [1, 1]}


def test_separator_decimal_mark_and_columns_left_out(run, fruit, tmp_path):
    german, lines = tmp_path / "german.csv", fruit.read_text().splitlines()
    head, *rows = [line.replace(",", ";").replace(".", ",") for line in lines]
    german.write_text("\n".join([f"{head};key;noise", *(f"{row};k{i};{i}" for i, row in enumerate(rows))]))
    how = ("--sep", ";", "--decimal", ",")
    words = ("--learner", "ridge", "--id", "key", "--drop", "noise", *how, "--out", tmp_path / "g.skops")
    assert run("fit", german, *words).code == 0
    assert run("fit", fruit, "--learner", "ridge", "--out", tmp_path / "f.skops").code == 0
    assert persistence.describe(tmp_path / "g.skops").schema.used == ["mass", "skin", "picked"]
    ours = predictions(run, tmp_path / "g.skops", german, tmp_path / "g.csv", *how, "--chunk", "7")
    plain = predictions(run, tmp_path / "f.skops", fruit, tmp_path / "f.csv")
    assert [row["prediction"] for row in ours] == [row["prediction"] for row in plain]
    assert [row["key"] for row in ours] == [f"k{i}" for i in range(45)]
    assert list(ours[0]) == ["key", "prediction"]
    done = run("compare", "--exhaustive", german, *words[2:-2], "--learners", "maxent", "--cv", "2")
    assert (done.code, "key" in done.out) == (0, False), done.err


def test_the_identifier_of_a_prediction(run, fruit, model, tmp_path):
    head, *lines = fruit.read_text().splitlines()
    new = tmp_path / "new.csv"
    new.write_text("\n".join([f"key,{head}", *(f"{i:03d},{line}" for i, line in enumerate(lines))]))
    rows = predictions(run, model, new, tmp_path / "p.csv", "--id", "key")
    assert [row["key"] for row in rows] == [f"{i:03d}" for i in range(45)]
    done = run("predict", model, new, "--id", "mass", "--out", tmp_path / "q.csv")
    assert (done.code, "Error: --id 'mass' is a feature of the model" in done.err) == (2, True), done.err
    done = run("predict", model, new, "--id", "code", "--out", tmp_path / "q.csv")
    assert (done.code, "no column 'code'" in done.err) == (2, True)
    assert not (tmp_path / "q.csv").exists()


COSTS = "true,pear,apple,lemon,rejected\nlemon,2,1,0,0.4\napple,9,0,1,0.4\npear,0,1,1,0.4\n"


@pytest.mark.parametrize(
    ("words", "how"),
    [
        (["--reject-below", "0.7"], {"reject_below": 0.7}),
        (["--reject-beyond", "0.2"], {"reject_beyond": 0.2}),
        (["--priors", "apple=0.9,lemon=0.05,pear=0.05"], {"priors": [0.9, 0.05, 0.05]}),
        (["--cost", "costs.csv"], {"cost": [[0, 1, 9, 0.4], [1, 0, 2, 0.4], [1, 1, 0, 0.4]]}),
        (["--reject-below", "0.9", "--rejected", "ask"], {"reject_below": 0.9, "rejected": "ask"}),
    ],
)
@pytest.mark.parametrize("weights", [(), ("--class-weight", "apple=3")])
def test_decisions_are_those_of_python(run, fruit, tmp_path, monkeypatch, words, how, weights):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "costs.csv").write_text(COSTS)
    named = ("--learner", "ridge", "--code", "dense", "--probability", "softmax", *weights)
    assert run("fit", fruit, *named, "--out", "m.skops").code == 0
    rows = predictions(run, "m.skops", fruit, tmp_path / "p.csv", *words, "--proba", "--chunk", "7")
    table = tables.read(fruit)
    pipeline = persistence.load("m.skops")[0]
    X = pipeline[:-1].transform(table.frame)
    python = OutputCodeClassifier(
        "ridge", code="dense", probability="softmax", random_state=0, class_weight={"apple": 3} if weights else None
    )
    expected = DecisionClassifier(python, **how).fit(X, table.target.to_numpy())
    assert [row["prediction"] for row in rows] == expected.predict(X).tolist()
    P = [[float(row[f"p({label})"]) for label in expected.classes_] for row in rows]
    np.testing.assert_allclose(P, expected.predict_proba(X), rtol=1e-9, atol=1e-12)
    if "rejected" in how or "cost" in how:
        assert expected.rejected_ in {row["prediction"] for row in rows}


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--reject-below", "2"], "--reject-below 2.0 must be a number between 0 and 1"),
        (["--reject-beyond", "-1"], "--reject-beyond -1.0 must be a number between 0 and 1"),
        (["--priors", "apple=1"], "it lacks lemon, pear"),
        (["--priors", "aple=1"], "--priors 'aple' is unknown; did you mean 'apple'"),
        (["--reject-below", "0.5", "--rejected", "pear"], "--rejected 'pear' is one of the classes"),
        (["--rejected", "ask"], "--rejected 'ask' is the label of rejected rows, and nothing is rejected"),
        (["--cost", "nowhere.csv"], "nowhere.csv (--cost) can't be read"),
        (["--cost", "few.csv"], "few.csv (--cost) must have a row for each true class, apple, lemon, pear"),
        (["--cost", "empty.csv"], "It has the rows none and the columns none."),
        (["--cost", "nan.csv"], "the cost of deciding 'pear' where 'apple' is true must be a number, not 'nan'"),
        (["--cost", "words.csv"], "the cost of deciding 'lemon' where 'apple' is true must be a number, not 'much'"),
    ],
)
def test_decisions_refused_by_name(run, fruit, model, tmp_path, monkeypatch, words, message):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "few.csv").write_text("true,apple,pear\napple,0,1\npear,1,0\n")
    (tmp_path / "empty.csv").write_text("")
    (tmp_path / "nan.csv").write_text("true,apple,lemon,pear\napple,0,1,nan\nlemon,1,0,1\npear,1,1,0\n")
    (tmp_path / "words.csv").write_text("true,apple,lemon,pear\napple,0,much,1\nlemon,1,0,1\npear,1,1,0\n")
    done = run("predict", model, fruit, *words, "--out", "p.csv")
    assert (done.code, message in done.err) == (2, True), done.err
    assert not (tmp_path / "p.csv").exists()


def test_decisions_need_probabilities(run, fruit, tmp_path):
    run("fit", fruit, "--learner", "ridge", "--out", tmp_path / "m.skops")
    done = run("predict", tmp_path / "m.skops", fruit, "--reject-below", "0.5", "--out", tmp_path / "p.csv")
    assert (done.code, "no probabilities: fit it with --probability softmax" in done.err) == (2, True)


def test_rejected_rows_of_numbers_are_minus_one(run, tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("x,class\n" + "".join(f"{i % 3 + i % 7 / 5},{i % 3}\n" for i in range(60)))
    words = ("--learner", "ridge", "--probability", "softmax", "--out", tmp_path / "m.skops")
    assert run("fit", path, *words).code == 0
    rows = predictions(run, tmp_path / "m.skops", path, tmp_path / "p.csv", "--reject-below", "0.7")
    model, table = persistence.load(tmp_path / "m.skops")[0], tables.read(path)
    confident = model.predict_proba(table.frame).max(axis=1) >= 0.7
    expected = np.where(confident, model.predict(table.frame), -1)
    assert [row["prediction"] for row in rows] == expected.astype(str).tolist()
    assert set(expected) > {-1}


def test_a_changed_decision_is_explained_as_such(run, fruit, model, tmp_path):
    rows = predictions(run, model, fruit, tmp_path / "p.csv", "--reject-below", "1", "--explain")
    assert {row["prediction"] for row in rows} == {"rejected"}
    assert all(row["explanation"].startswith("Decided as rejected by costs, priors or rejection") for row in rows)


@pytest.mark.filterwarnings("always:device=")
def test_a_gpu_that_is_not_there(run, fruit, tmp_path, monkeypatch):
    def none():
        raise backend.DeviceError("no GPU was found")

    monkeypatch.setattr(backend, "_cuda", none)
    full = ("compare", "--exhaustive", fruit, "--codes", "one-vs-all", "--cv", "3", "--device")
    words = (*full[:-1], "--learners", "ridge,kernel-svm", "--device")
    race = ("compare", fruit, "--time-limit", "5", "--learners", "kernel-svm", "--device", "cuda")
    fit = ("fit", fruit, "--learner", "kernel-svm", "--out", tmp_path / "m.skops")
    asked = {"--device": run(*words, "cuda"), "--param": run(*fit, "--param", "device=cuda")}
    asked |= {"--device ": run(*fit, "--device", "cuda"), "--device  ": run(*race)}
    for option, refused in asked.items():
        own = f"{option} device=cpu" if option == "--param" else "--device cpu"
        assert (refused.code, refused.err.count("\n")) == (2, 1)
        assert refused.err.endswith(f"'cuda': no GPU was found; or use {own}.\n")
    done = run(*words, "auto")
    assert done.code == 0
    assert done.err.count("--device 'auto' uses the CPU: no GPU was found.") == 1
    assert "kernel-svm" in done.out
    # What needs no GPU does not ask for one.
    done = run(*full, "cuda", "--learners", "ridge")
    assert (done.code, done.err) == (0, "")
    done = run("fit", fruit, "--learner", "ridge", "--device", "cuda", "--out", tmp_path / "m.skops")
    assert "--device 'cuda' is for learners that can be trained on a GPU: name one of them, kernel-svm." in done.err


def test_a_model_says_where_it_was_trained(run, fruit, tmp_path, monkeypatch):
    monkeypatch.setattr(backend, "_cuda", StandIn)
    path = tmp_path / "m.skops"
    assert run("fit", fruit, "--learner", "kernel-svm", "--device", "cuda", "--out", path).code == 0
    assert "\ntrained on: cuda\n" in run("inspect", path).out
