"""What a new user meets first: a narrow terminal, words in an order, decimal commas, a wrong file."""

import io
import re

import numpy as np
import pytest

from outputcodes.app import persistence, tables
from outputcodes.selection import Result, ranked


def test_a_narrow_terminal_cuts_no_number_of_the_ranking():
    from rich.console import Console

    from outputcodes.app.cli.compare import ranking_table

    errors = np.array([[1.1, 2.2, 3.3], [11.1, 12.3, 13.2], [31.1, 42.3, 33.2]]) / 100
    decoders = ["hamming", "a decoder of many words, more than fit", "inverse-hamming"]
    rows = ranked(
        [
            Result("linear-svm", "one-vs-all", decoder, 123, fold_errors=list(one))
            for decoder, one in zip(decoders, errors, strict=True)
        ]
    )
    console = Console(width=80, file=io.StringIO())
    console.print(ranking_table(rows, "", 80))
    printed = console.file.getvalue()
    assert "…" not in printed
    for number, error in enumerate(errors, start=1):
        (line,) = [line for line in printed.splitlines() if re.match(rf" *\*?{number} ", line)]
        assert f" 123 {100 * error.mean():8.2f} " in line


def test_a_narrow_terminal_cuts_no_parameter():
    from rich.console import Console

    from outputcodes.app.cli.compare import ranking_table

    found = {"max_leaves": "auto", "learning_rate": 0.1, "min_rows": 30, "l2": 10.0}
    rows = [Result("gradient-boost", parameters={**found, "l2": l2}, fold_errors=(0.1, 0.2)) for l2 in (1.0, 10.0)]
    rows.append(Result("kernel-svm", "one-vs-all", "loss", 3, fold_errors=(0.1, 0.2), parameters={"gamma": 0.0669}))
    console = Console(width=80, file=io.StringIO())
    console.print(ranking_table(ranked(rows), "", 80))
    printed = console.file.getvalue()
    assert "…" not in printed
    assert "l2=10" in printed


def test_a_narrow_terminal_breaks_lines_between_parameters():
    from rich.console import Console

    from outputcodes.app.cli.compare import ranking_table

    found = {"n_rounds": 500, "learning_rate": 0.3}
    rows = [Result("adaboost-mh", parameters=found, fold_errors=(0.1, 0.2, 0.3))]
    kernel = {"gamma": 0.0769, "C": 100.0}
    rows += [Result("kernel-svm", "one-vs-all", "loss", 3, parameters=kernel, fold_errors=(0.2, 0.3, 0.4))]
    console = Console(width=80, file=io.StringIO())
    console.print(ranking_table(ranked(rows), "", 80))
    assert "learning_rate=0.3 " in console.file.getvalue()


@pytest.fixture
def grades(tmp_path):
    path = tmp_path / "grades.csv"
    path.write_text("x,class\n" + "".join(f"{i}.5,{['poor', 'fair', 'good'][i // 5]}\n" for i in range(15)))
    return path


def test_words_under_the_ordinal_code_are_in_alphabetical_order_and_a_note_says_so(run, grades, tmp_path):
    words = ("fit", grades, "--learner", "ridge", "--code", "ordinal", "--out", tmp_path / "m.skops")
    note = (
        "· The ordinal code takes the classes in alphabetical order, 'fair', 'good', 'poor'; if that is not their "
        "order from the lowest to the highest, give it: order=[…] (--order)."
    )
    assert run(*words).out.splitlines()[1:] == [note]
    assert run(*words, "--order", "poor,fair,good").out.splitlines()[1:] == []
    compared = ("compare", "--exhaustive", grades, "--learners", "ridge", "--codes", "ordinal", "--cv", "3")
    assert "in alphabetical order, 'fair'" in run(*compared).out.replace("\n", " ")
    assert "alphabetical" not in run(*compared, "--order", "poor,fair,good").out


def test_numbers_under_the_ordinal_code_need_no_note(run, tmp_path):
    path = tmp_path / "numbers.csv"
    path.write_text("x,class\n" + "".join(f"{i}.5,{i // 5}\n" for i in range(15)))
    done = run("fit", path, "--learner", "ridge", "--code", "ordinal", "--out", tmp_path / "m.skops")
    assert len(done.out.splitlines()) == 1


@pytest.mark.parametrize(
    ("words", "decoder"),
    [
        ((), "loss"),
        (("--probability", "softmax", "--decoder", "hamming"), "hamming"),
        (("--probability", "likelihood"), "likelihood"),
        (("--probability", "coupling", "--decoder", "hamming"), "coupling"),
    ],
)
def test_fit_names_the_decoder_that_predicts(run, fruit, tmp_path, words, decoder):
    path = tmp_path / "m.skops"
    done = run("fit", fruit, "--learner", "ridge", *words, "--out", path)
    assert f"(ridge, all-pairs, {decoder})" in done.out
    assert persistence.describe(path).summary["decoder"] == decoder


def test_a_decimal_comma_in_a_table_to_predict_is_named(run, tmp_path):
    train, new = tmp_path / "train.csv", tmp_path / "new.csv"
    train.write_text("x;class\n1,5;a\n2,5;b\n3,5;a\n")
    model, out = tmp_path / "m.skops", tmp_path / "out.csv"
    dialect = ("--sep", ";", "--decimal", ",")
    assert run("fit", train, "--learner", "ridge", *dialect, "--out", model).code == 0
    done = run("predict", model, train, "--sep", ";", "--out", out)
    assert done.code == 2
    assert done.err.endswith("row 1 has '1,5'. For a decimal comma, use --decimal ','.\n")
    new.write_text("x\nabc\n")
    assert run("predict", model, new, "--out", out).err.endswith("row 1 has 'abc'.\n")
    assert run("predict", model, train, *dialect, "--out", out).code == 0


def test_labels_that_are_empty_are_called_empty(tmp_path):
    path = tmp_path / "gaps.csv"
    path.write_text("x,class\n1,a\n2,NA\n3,b\n4,\n5,NA\n")
    assert tables.read(path).notes == ("3 rows without a label left out ('NA' 2, empty 1).",)


def test_a_long_table_in_the_place_of_costs_is_not_listed_in_full(run, model, fruit, tmp_path):
    done = run("predict", model, fruit, "--cost", fruit, "--out", tmp_path / "out.csv")
    assert done.code == 2
    assert " and 25 more and the columns 'skin', 'picked', 'class'." in done.err


@pytest.mark.parametrize(("name", "kind"), [("dense", "code"), ("vote", "decoder"), ("log-loss", "metric")])
def test_parameters_of_what_is_no_learner(run, name, kind):
    done = run("names", name)
    assert done.code == 2
    assert done.err.startswith(f"Error: '{name}' is a {kind}; parameters can be given for learners and systems: ")


def test_a_wrong_number_of_jobs_is_refused_before_any_training(run, fruit, tmp_path):
    out = tmp_path / "out"
    done = run(
        "compare", "--exhaustive", fruit, "--learners", "ridge,decision-tree", "--cv", "2", "--jobs", "0", "--out", out
    )
    assert done.err == "Error: --jobs 0 must be None or an integer other than 0; -1 uses all processors.\n"
    assert not out.exists()
