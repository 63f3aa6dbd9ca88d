"""Table 2 of Allwein, Schapire & Singer: observations are what plain loops find, and any subset is presented."""

from __future__ import annotations

import itertools
import math
import os
import re

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure
from sklearn.model_selection import KFold

from boosting_oracles import margins, pairs_rounds
from outputcodes.codes import as_code
from reproduce import Observation, run_experiment, write_page
from reproduce.allwein import table2
from reproduce.allwein.published import CODES, TABLE2, cells
from reproduce.allwein.table2 import TABLE2_EXPERIMENT, measure, present
from reproduce.data import DataSet

OPTIONS = dict(TABLE2_EXPERIMENT.options)


def test_units_are_the_published_cells_with_partitions_as_listed():
    units = TABLE2_EXPERIMENT.units(TABLE2_EXPERIMENT.data_sets, False, **OPTIONS)
    measured = {(unit["data_set"], decoder, unit["code"]) for unit in units for decoder in table2.DECODERS}
    assert measured == set(cells(TABLE2))
    assert 3 * len(units) == len(measured)
    official = {unit["data_set"] for unit in units if unit["official"]}
    assert official == {"satimage", "pendigits", "vowel", "soybean", "isolet", "letter", "audiology"}
    folded = TABLE2_EXPERIMENT.units(("audiology",), False, **OPTIONS | {"audiology": "folds"})
    assert not any(unit["official"] for unit in folded)


def small_sample():
    """Two nominal features and a number, values missing in all, and a class of one row only."""
    rng = np.random.default_rng(3)
    y = np.append(np.arange(21) % 3, 3)
    colour = np.array(["red", "blue", None, "green"], dtype=object)[(y + (rng.random(22) < 0.4)) % 4]
    shape = rng.choice(["round", "square"], 22)
    number = np.where(rng.random(22) < 0.1, np.nan, np.round(y + rng.normal(size=22), 1))
    X = pd.DataFrame({"number": number, "colour": colour, "shape": shape})
    return DataSet(X, y, ["colour", "shape"], None)


@pytest.mark.parametrize("code", ["one-vs-all", "all-pairs"])
@pytest.mark.parametrize("hypotheses", ["confidence", "discrete"])
@pytest.mark.filterwarnings("ignore:.*column.*:UserWarning")
def test_errors_are_those_of_plain_loops_with_a_class_that_a_fold_lacks(code, hypotheses, monkeypatch):
    data = small_sample()
    monkeypatch.setattr(table2, "load_data_set", lambda name: data)
    found = measure("small", code, 6, hypotheses, "questions", "exact", folds=3, official=True, seed=1)
    M = as_code(code).draw(4).matrix()
    numbers = {word: place for place, word in enumerate(["blue", "green", "red", "round", "square"])}
    X = np.array(
        [[numbers.get(row.colour, math.nan), numbers[row.shape], row.number] for row in data.X.itertuples(index=False)]
    )
    for fold, (train, test) in enumerate(KFold(3, shuffle=True, random_state=1).split(X)):
        seen = X[test].copy()
        for f in (0, 1):
            seen[[value not in X[train, f] for value in seen[:, f]], f] = math.nan
        Y = M[data.y[train]]
        live = [s for s in range(M.shape[1]) if {-1, 1} <= set(Y[:, s])]
        rounds = pairs_rounds(X[train], Y[:, live], np.ones(len(train)), 6, hypotheses, categorical=(0, 1))
        F = np.zeros((len(test), M.shape[1]))
        for s in range(M.shape[1]):
            F[:, s] = np.sign(Y[:, s].sum())
        F[:, live] = margins(seen, rounds, len(live), categorical=(0, 1))
        for decoder, loss in {
            "hamming": lambda z: (1 - np.sign(z)) / 2,
            "randomised": lambda z: 1 / (1 + math.exp(2 * z)),
            "exponential": lambda z: math.exp(-z),
        }.items():
            wrong = 0
            for f, label in zip(F, data.y[test], strict=True):
                distances = [round(sum(loss(m * z) for m, z in zip(row, f, strict=True)), 9) for row in M]
                wrong += distances.index(min(distances)) != label
            assert found["wrong"][decoder][fold] == wrong
    assert found["tested"] == [8, 7, 7]
    assert found["columns"] == M.shape[1]


def test_one_hot_and_questions_agree_where_every_category_is_present_or_binary(monkeypatch):
    y = np.arange(30) % 3
    X = pd.DataFrame({"shape": np.where(np.arange(30) % 4 < 2, "a", "b"), "number": np.sin(np.arange(30.0)) + y})
    monkeypatch.setattr(table2, "load_data_set", lambda name: DataSet(X, y, ["shape"], None))
    ways = [measure("s", "all-pairs", 8, "confidence", way, "exact", 3, True, 0) for way in ("questions", "one-hot")]
    assert ways[0]["wrong"] == ways[1]["wrong"]


def made_up(shift=0.0, names=("glass", "ecoli", "segmentation")):
    """Observations with the published errors plus a shift in percent."""
    return [
        Observation(
            {"data_set": name, "code": code},
            {
                "wrong": {decoder: [round(10 * (row[code] + shift)), 0] for decoder, row in TABLE2[name].items()},
                "tested": [600, 400],
            },
            1.0,
        )
        for name in names
        for code in CODES
    ]


def bars(panel):
    return [bar.get_height() for bar in panel.patches]


def test_any_subset_is_presented():
    empty = present([])
    assert [len(table.rows) for table in empty.tables[:3]] == [0, 0, 0]
    assert {claim.verdict for claim in empty.claims} == {"undecided"}
    # One cell of the published numbers: glass with one-vs-all has 31.0, 26.7 and 26.7.
    one = present(made_up()[:1])
    assert [table.rows[0][:2] for table in one.tables[:3]] == [
        ("glass", "31.0 ± 2.9 (31.0, 0.0)"),
        ("glass", "26.7 ± 2.8 (26.7, 0.0)"),
        ("glass", "26.7 ± 2.8 (26.7, 0.0)"),
    ]
    for found, expected in ((empty, []), (one, [-4.3, -4.3])):
        decoders, codes = (Figure(), Figure())
        for picture, figure in zip(found.pictures, (decoders, codes), strict=True):
            picture.draw(figure)
        # Losses minus Hamming in the panel of one-vs-all; between codes nothing but a code with itself.
        assert bars(decoders.axes[0]) == pytest.approx(expected)
        assert [height for panel in codes.axes for height in bars(panel)] == pytest.approx([0.0] * (len(expected) // 2))


def test_figures_are_differences_of_the_published_errors_if_those_are_observed():
    found = present(made_up(names=("glass", "ecoli")))
    decoders, codes = Figure(), Figure()
    for picture, figure in zip(found.pictures, (decoders, codes), strict=True):
        picture.draw(figure)
    for panel, code in zip(decoders.axes, CODES, strict=True):
        rows = [TABLE2[name] for name in ("glass", "ecoli")]
        expected = [row[loss][code] - row["hamming"][code] for loss in ("randomised", "exponential") for row in rows]
        assert bars(panel) == pytest.approx(expected, abs=1e-9)
    for panel, (row, column) in zip(codes.axes, itertools.product(CODES, CODES), strict=True):
        errors = [TABLE2[name]["exponential"] for name in ("glass", "ecoli")]
        assert bars(panel) == pytest.approx([own[row] - own[column] for own in errors], abs=1e-9)


def test_the_agreement_of_the_published_errors_with_themselves_is_whole():
    judged = next(table for table in present(made_up()).tables if table.title.startswith("Agreement"))
    assert judged.rows[-1][1:3] == ("28", "28 (100 %)")


@pytest.mark.skipif(not os.environ.get("OUTPUTCODES_DATA"), reason="OUTPUTCODES_DATA is not set")
def test_a_quick_run_ends_in_a_page(tmp_path):
    results = run_experiment(TABLE2_EXPERIMENT, data_sets=["glass", "soybean"], quick=True, out=tmp_path)
    assert len(results) == 9
    assert all(sum(result.found["tested"]) in (214, 376) for result in results)
    write_page([TABLE2_EXPERIMENT], tmp_path, tmp_path / "page.md")
    page = (tmp_path / "page.md").read_text()
    assert "allwein-figure4.svg" in page
    # Only these two data sets are finished, and their cells are the counts divided by the rows.
    for at, decoder in enumerate(table2.DECODERS):
        (table,) = re.findall(rf"### Test error in %, {table2.DECODERS[decoder]}\n\n(.*?)\n\n", page, re.DOTALL)
        lines = [line.strip("| ").split(" | ") for line in table.splitlines()[2:]]
        assert [line[0] for line in lines] == ["glass", "soybean"], at
        for line in lines:
            for code, cell in zip(CODES, line[1:], strict=True):
                errors = [
                    100 * sum(own.found["wrong"][decoder]) / sum(own.found["tested"])
                    for own in results
                    if (own.unit["data_set"], own.unit["code"]) == (line[0], code)
                ]
                assert cell.split(" ")[0] == (f"{errors[0]:.1f}" if errors else "–")
