"""Table 2 of Allwein, Schapire & Singer: AdaBoost.MO with stumps, five codes, three decoders; and Figures 4 and 7."""

from __future__ import annotations

import time
from functools import partial
from typing import Any, Literal

import numpy as np

from outputcodes.boosting import AdaBoostMO
from reproduce.allwein.cells import agreement_table, agreements, errors_by_cell, headline, higher_cells, side_by_side
from reproduce.allwein.drawing import BAR_COLOURS, BEYOND, draw_codes, draw_decoders
from reproduce.allwein.published import CODES, EXCLUDED2, SOURCE, TABLE1, TABLE2, Cell
from reproduce.allwein.random_codes import SPARSE_RULE, SparseRule, drawn
from reproduce.allwein.rivals import decoder_claims, no_code_dominates, rank_tables
from reproduce.data import encoder, load_data_set, splits
from reproduce.experiment import Experiment, Findings, Observation, Picture, Unit

# Decoders, and their names in titles.
DECODERS = {"hamming": "Hamming", "randomised": "randomised loss", "exponential": "exponential loss"}
COLOURS = {"randomised": "0.65", "exponential": "black"}
# The data sets that take longest come first.
ORDER = ("isolet", "thyroid", "yeast", "segmentation", "letter", "pendigits", "vowel", "satimage")

PROTOCOL = f"""
One booster for all columns (the single-call variant), with stumps that all columns share. The three decoders use the
same margins. The partition is the official one where Table 1 lists one; elsewhere there are ten random folds, not
stratified. Cells with a dash are not measured.

- Not stated: the number of rounds, and whether stumps return ±1 or a confidence. 500 rounds of confidence-rated stumps
  come close to the published numbers and are used for all data sets; `allwein-choices` measures others. As this choice
  looked at published test errors, the agreement below is optimistic.
- Thresholds lie between all distinct values. Only isolet, whose 617 features have thousands of values each, has
  quantile bins instead, which take a fraction of the time (`isolet_bins`, a number or "exact").
- Stumps test whether a nominal feature equals a value, and return 0 where the value is missing
  (`nominal="questions"`). Alternatively nominal features are one-hot, with a column for missing values, and missing
  numbers are replaced by the mean (`nominal="one-hot"`).
- Random codes are the best of 10,000 by minimum distance between rows; one code is drawn per data set. A class that a
  fold lacks keeps its row.
{SPARSE_RULE}
- audiology: Table 1 lists no test set, but all its errors in Table 2 are multiples of 1/26, and 26 is the size of the
  official test set, so the official partition is used (`audiology="folds"` for ten folds).
- thyroid: 20 classes by the first letter of the diagnosis. glass: Table 1 counts 7 classes, of which 6 occur.
"""

THYROID = (
    "thyroid: the gap is unexplained. The paper does not state how 32 diagnoses became 20 classes; the first letter is "
    "a guess. Tried once, by hand, with one-vs-all on two of the ten folds, without closing the gap: missing values as "
    "values of their own, other numbers of rounds (`--datasets thyroid --set rounds=1000`), one-hot categories (`--set "
    "nominal=one-hot`), less smoothing, classes by the last letter, and leaving out the rows with several diagnoses."
)
ECOLI = " and ".join(f"{TABLE2['ecoli'][loss]['one-vs-all']}" for loss in ("randomised", "exponential"))
# Where ours is higher by more than two standard errors.
WHY: dict[Cell, str] = {
    **{
        (name, decoder, "sparse"): "perhaps the random code: `allwein-choices` draws others"
        for name in ("pendigits", "vowel")
        for decoder in DECODERS
    },
    **{
        ("thyroid", decoder, code): "unexplained, perhaps the classes: see the remark"
        for decoder in DECODERS
        for code in CODES
    },
}


def units(data_sets: tuple[str, ...], quick: bool, **options: Any) -> list[Unit]:
    """Return a unit per data set and code that has a published error."""
    if quick:
        options = {**options, "rounds": 30, "folds": 3, "isolet_bins": 16}
    audiology, bins = options.pop("audiology"), options.pop("isolet_bins")
    listed = [name for name in ORDER if name in data_sets] + [name for name in data_sets if name not in ORDER]
    return [
        {
            "data_set": name,
            "code": code,
            **options,
            "bins": bins if name == "isolet" else "exact",
            "official": audiology == "official" if name == "audiology" else TABLE1[name].test is not None,
        }
        for name in listed
        for code in reversed(CODES)
        if TABLE2[name]["hamming"][code] is not None
    ]


def measure(
    data_set: str,
    code: str,
    rounds: int,
    hypotheses: Literal["confidence", "discrete", "abstaining"],
    nominal: Literal["questions", "one-hot"],
    bins: int | Literal["exact"],
    folds: int,
    official: bool,
    seed: int,
    sparse_rule: SparseRule = "published",
) -> dict[str, Any]:
    """Return the number of wrong predictions of each decoder in each fold."""
    data = load_data_set(data_set)
    M = drawn(code, data.k, sparse_rule, seed)
    # By label, so that a class that a fold lacks keeps its row.
    rows = dict(enumerate(M.tolist()))
    categorical = list(range(len(data.categorical))) if nominal == "questions" else None
    wrong: dict[str, list[int]] = {decoder: [] for decoder in DECODERS}
    tested, seconds = [], 0.0
    for train, test in splits(data, folds, seed, official=official):
        encode = encoder(data, "codes" if nominal == "questions" else "unit")
        X = encode.fit_transform(data.X.iloc[train])
        model = AdaBoostMO(rows, rounds, hypotheses, bins=bins, categorical_features=categorical, n_jobs=1)
        start = time.perf_counter()
        model.fit(X, data.y[train])
        seconds += time.perf_counter() - start
        F = model.margins(encode.transform(data.X.iloc[test]))
        tested.append(len(test))
        for decoder in DECODERS:
            predicted = model.with_decoder(decoder).decoder_.predict(F, M)
            wrong[decoder].append(int(np.count_nonzero(predicted != data.y[test])))
    return {"wrong": wrong, "tested": tested, "columns": M.shape[1], "fit_seconds": round(seconds, 2)}


def present(observations: list[Observation]) -> Findings:
    """Present Table 2 once per decoder, the ranks of the codes, and Figures 4 and 7."""
    ours = errors_by_cell(observations)
    judged = agreements(ours, TABLE2, EXCLUDED2)
    names = [name for name in TABLE2 if any(cell[0] == name for cell in ours)]
    tables = [
        side_by_side(ours, TABLE2, name, f"Test error in %, {title}", EXCLUDED2) for name, title in DECODERS.items()
    ]
    tables.append(agreement_table(judged, "Agreement with the published errors of AdaBoost"))
    tables.append(higher_cells(judged, WHY, "Cells higher than published"))
    tables += rank_tables(ours, "exponential", "AdaBoost's codes ranked, exponential loss")
    claims = decoder_claims(ours, "exponential", statement="AdaBoost: exponential loss beats Hamming decoding")
    for loss, other, beaten in (
        ("randomised", "hamming", "Hamming decoding"),
        ("exponential", "randomised", "randomised loss"),
    ):
        claims += decoder_claims(ours, loss, other, statement=f"AdaBoost: {loss} loss beats {beaten}")[:1]
    claims.append(no_code_dominates(ours, "exponential", "AdaBoost: no code is persistently better than the others"))
    pictures = [
        Picture(
            "allwein-figure4",
            "Figure 4 of Allwein et al. from our numbers: error of loss-based decoding minus Hamming's, AdaBoost. "
            + BEYOND,
            partial(draw_decoders, ours=ours, names=names, losses=COLOURS, published=TABLE2),
        ),
        Picture(
            "allwein-figure7",
            "Figure 7 of Allwein et al. from our numbers: error of the row's code minus the column's, AdaBoost. "
            + BAR_COLOURS,
            partial(draw_codes, ours=ours, names=names, decoder="exponential"),
        ),
    ]
    remarks = [
        "Not judged: segmentation, published near 0, which stumps do not reach; and one-vs-all on ecoli with both "
        f"losses, which must give the same error and are published as {ECOLI}.",
        THYROID,
    ]
    return Findings(tables, claims, pictures, remarks, headline(judged, "Allwein et al., Table 2 (AdaBoost)"))


TABLE2_EXPERIMENT = Experiment(
    name="allwein-table2",
    title="Allwein, Schapire & Singer, Table 2: AdaBoost",
    source=f"{SOURCE}, Table 2, Figures 4 and 7",
    protocol=PROTOCOL,
    data_sets=tuple(TABLE2),
    units=units,
    measure=measure,
    present=present,
    options={
        "rounds": 500,
        "hypotheses": "confidence",
        "nominal": "questions",
        "isolet_bins": 255,
        "folds": 10,
        "audiology": "official",
        "sparse_rule": "published",
        "seed": 0,
    },
)
