"""Cells beside the published ones, and codes compared with each other: counts and verdicts by hand."""

from __future__ import annotations

from reproduce.allwein.cells import Proportion, agreement_table, agreements, higher_cells, side_by_side
from reproduce.allwein.published import CODES, EXCLUDED2, TABLE2
from reproduce.allwein.rivals import beaten, no_code_dominates


def test_cells_are_judged_as_by_hand():
    ours = {
        ("glass", "hamming", "dense"): Proportion(286, 1000),
        ("glass", "hamming", "sparse"): Proportion(400, 1000),
        ("glass", "hamming", "all-pairs"): Proportion(200, 1000),
        ("segmentation", "hamming", "dense"): Proportion(50, 1000),
    }
    judged = agreements(ours, TABLE2, EXCLUDED2)
    assert {cell[2]: (own.within, own.lower) for cell, own in judged.items()} == {
        "dense": (True, False),
        "sparse": (False, False),
        "all-pairs": (False, True),
    }
    assert agreement_table(judged, "").rows[-1] == ("**all**", "3", *(f"1 ({33} %)",) * 3, "+1.4")
    (row,) = higher_cells(judged, {("glass", "hamming", "sparse"): "because"}, "").rows
    assert row == ("glass", "hamming", "sparse", "40.0", "27.1", "8.6", "because")
    table = side_by_side(ours, TABLE2, "hamming", "", EXCLUDED2)
    assert table.rows[0] == (
        "glass", "–", "–", "20.0 ± 2.5 (28.6, −8.6) ↓", "28.6 ± 2.9 (28.6, 0.0)", "40.0 ± 3.1 (27.1, +12.9) ↑"
    )  # fmt: skip
    assert table.rows[1][4] == "5.0 ± 1.4 [0.1, +4.9]"


def test_a_code_dominates_only_if_no_other_ever_beats_it():
    names = [f"set {i}" for i in range(6)]
    wrong = dict(zip(CODES, (100, 300, 310, 320, 330), strict=True))
    ours = {(name, "loss", code): Proportion(wrong[code] + i, 1000) for i, name in enumerate(names) for code in CODES}
    assert beaten(ours, "loss", 2.0) == {code: [] if code == "one-vs-all" else names for code in CODES}
    assert no_code_dominates(ours, "loss", "").verdict == "not supported"
    ours["set 3", "loss", "sparse"] = Proportion(20, 1000)
    assert no_code_dominates(ours, "loss", "").verdict == "supported"
    ours |= {(name, "loss", "sparse"): Proportion(101, 1000) for name in names}
    assert no_code_dominates(ours, "loss", "").verdict == "undecided"


def test_many_comparisons_divide_the_level():
    names = [f"set {i}" for i in range(6)]
    ours = {(name, "loss", code): Proportion(200, 1000) for name in names for code in CODES}
    # Lower by 2.9 standard errors of the difference: one in 530 by chance, but 120 pairs are compared.
    ours["set 1", "loss", "dense"] = Proportion(150, 1000)
    assert beaten(ours, "loss", 2.0)["sparse"] == ["set 1"]
    claim = no_code_dominates(ours, "loss", "")
    assert "sparse has the lowest error on 5 and is beaten on 0" in claim.evidence
    # 1 − Φ(3.34) = 0.05 / 120.
    assert "3.3 standard errors" in claim.evidence
    assert "120 comparisons" in claim.evidence
