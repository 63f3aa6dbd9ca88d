"""Decoders that predict the same are one row, and rows print as people read them."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_digits

from outputcodes.selection import Cell, Decoded, Measurement, Result, compare, one_row_each, ranked
from outputcodes.selection.engine import gather

X, y = load_digits(return_X_y=True)
X, y = X[:400], y[:400]


def test_decoders_that_cannot_differ_are_one_row():
    """For one-vs-all every decreasing loss predicts the largest margin; Hamming decoding does not."""
    rows = compare(X, y, "ridge", ["one-vs-all", "dense"], ["linear", "exponential", "logistic", "hamming"], 3)
    assert len(rows) == 8
    merged = {(row.code, row.decoder): set(row.also) for row in one_row_each(rows)}
    single = {
        names for (code, first), also in merged.items() if code == "one-vs-all" for names in [frozenset({first, *also})]
    }
    assert single == {frozenset({"linear", "exponential", "logistic"}), frozenset({"hamming"})}
    assert sum(1 + len(also) for also in merged.values()) == 8


def test_only_equal_predictions_of_the_same_columns_are_one_row():
    same = {"fold_errors": (0.5, 0.25), "marks": ("a", "b")}
    rows = [
        Result("ridge", "dense", "loss", **same),
        Result("ridge", "dense", "linear", **same),
        Result("ridge", "sparse", "loss", **same),
        Result("tree", "dense", "loss", **same),
        Result("ridge", "dense", "hamming", fold_errors=(0.5, 0.25), marks=("a", "c")),
        Result("ridge", "dense", "vote", fold_errors=(0.5, 0.25)),
        Result("ridge", "dense", "dag", fold_errors=(0.5, 0.25)),
    ]
    found = one_row_each(rows)
    assert [(row.name, row.also) for row in found] == [
        ("ridge dense loss", ("linear",)),
        *((row.name, ()) for row in rows[2:]),
    ]
    assert Result.from_dict(found[0].as_dict()) == found[0]


def test_a_reason_is_given_once_with_all_that_it_concerns():
    cells = [Cell(name, "dense", ("vote",)) for name in ("ridge", "tree", "stumps")]
    found = [
        [Measurement("ridge", "dense", 0, failed="too many columns."), Measurement("ridge", "dense", 1)],
        [Measurement("tree", "dense", 0, failed="too many columns.")],
        [Measurement("stumps", "dense", f, 3, 0.1, 1, {"loss": Decoded(0.1, 0.1)}) for f in range(2)],
    ]
    results, notes = gather(cells, found, 2)
    assert results == []
    assert notes == [
        "ridge dense, tree dense: too many columns.",
        "stumps dense: the decoder vote can't be used with this code.",
    ]


@pytest.mark.parametrize("error", [-5, 1.5, float("nan"), "0.5", None, True])
def test_impossible_errors_are_refused(error):
    found = Measurement("svc", "", 0, fit_seconds=0.1, decoders={"": Decoded(error, 0.1)})
    with pytest.raises(ValueError, match=r"an error of .* is impossible: it must be between 0 and 1"):
        found.check()


def test_other_metrics_and_times_are_checked_as_they_can_be():
    Measurement("svc", "", 0, fit_seconds=0.1, decoders={"": Decoded(1.5, 0.1)}).check("log-loss")
    Measurement("svc", "", 0, failed="no memory").check()
    for times in ((float("inf"), 0.1), (0.1, -1), (None, 0.1)):
        found = Measurement("svc", "", 0, fit_seconds=times[0], decoders={"": Decoded(0.5, times[1])})
        with pytest.raises(ValueError, match=r"a time of .* seconds is impossible"):
            found.check()


def test_a_result_prints_its_error():
    row = Result("ridge", "dense", "loss", fold_errors=(0.1, 0.2))
    assert (str(row), repr(row)) == ("ridge dense loss: 0.15", "Result('ridge dense loss', error=0.15, folds=2)")
    (best, other) = ranked([row, Result("x" * 1000, fold_errors=(0.3, 0.4))])
    assert str(best) == f"ridge dense loss: 0.15 (0 to {best.interval[1]:.4g})"
    assert len(str(other)) < 120


def test_ranked_results_print_as_a_table():
    rows = ranked(
        [
            Result("ridge", "dense", "loss", 10, fold_errors=(0.1, 0.2), fit_seconds=1.0, marks=("a", "b")),
            Result("ridge", "dense", "linear", 10, fold_errors=(0.1, 0.2), fit_seconds=1.0, marks=("a", "b")),
            Result("svc", fold_errors=(0.5, 0.6), fit_seconds=2.0),
        ]
    )
    *table, note = str(rows).splitlines()
    assert table == [
        "#   learner  code   decoder         L  error %  ± 95 %      p  fit s",
        "1*  ridge    dense  loss = linear  10    15.00  110.04         1.000",
        "3   svc                                  55.00  110.04  <.001  2.000",
    ]
    assert note.startswith("With 2 folds the test against the best has one degree of freedom")
    many = ranked([Result(f"l{i}", fold_errors=(i / 100,)) for i in range(30)])
    assert repr(many).splitlines()[-1] == "5 more rows"
    assert "degree of freedom" not in str(many)
    assert "degree of freedom" in rows._repr_html_()
    assert np.char.str_len(str(rows).splitlines()).max() <= 120
