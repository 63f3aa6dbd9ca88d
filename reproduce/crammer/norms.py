"""Crammer & Singer (2002), section 6: continuous codes of three norms on the same margins."""

from __future__ import annotations

import time
from typing import Any, Literal

import numpy as np

from outputcodes import OutputCodeClassifier
from outputcodes.codes import Dense
from outputcodes.decoders import Continuous, Decoder
from outputcodes.learners import as_learner
from reproduce.crammer.general_solver import SOURCE
from reproduce.data import encoder, load_data_set, splits
from reproduce.experiment import Experiment, Findings, Observation, TextTable, Unit
from reproduce.judging import lower_claim

NORMS: tuple[Literal["l1", "l2", "linf"], ...] = ("l1", "l2", "linf")
PLAIN = ("hamming", "loss")
DATA_SETS = ("satimage", "segmentation", "yeast", "vowel", "ecoli", "dermatology", "glass")


def measure(data_set: str, columns_per_bit: float, learner: str, beta: float, folds: int) -> dict[str, Any]:
    """Return the test errors of decoders on the same margins, and the seconds that each took to fit."""
    data = load_data_set(data_set)
    length = int(np.ceil(columns_per_bit * np.log2(data.k)))
    decoders: dict[str, str | Decoder] = {name: name for name in PLAIN}
    decoders |= {norm: Continuous(norm=norm, beta=beta) for norm in NORMS}
    wrong, seconds, tested = dict.fromkeys(decoders, 0), dict.fromkeys(decoders, 0.0), 0
    for train, test in splits(data, folds):
        encode = encoder(data, "unit")
        X, X_test = encode.fit_transform(data.X.iloc[train]), encode.transform(data.X.iloc[test])
        y, y_test = data.y[train], data.y[test]
        model = OutputCodeClassifier(as_learner(learner), code=Dense(length=length), random_state=0).fit(X, y)
        for name, decoder in decoders.items():
            start = time.perf_counter()
            other = model.with_decoder(decoder, X, y)
            seconds[name] += time.perf_counter() - start
            wrong[name] += int(np.count_nonzero(other.predict(X_test) != y_test))
        tested += len(test)
    return {
        "errors": {name: round(100 * count / tested, 3) for name, count in wrong.items()},
        "seconds": {name: round(taken, 3) for name, taken in seconds.items()},
        "columns": length,
        "tested": tested,
    }


def _units(data_sets: tuple[str, ...], quick: bool, folds: int, **options: Any) -> list[Unit]:
    chosen = [name for name in data_sets if not quick or name not in ("satimage", "segmentation", "yeast")]
    return [{"data_set": name, **options, "folds": 2 if quick else folds} for name in chosen]


def _present(observations: list[Observation]) -> Findings:
    errors = {r.unit["data_set"]: r.found["errors"] for r in observations}
    header = ("data set", "columns", *(f"{name} %" for name in (*PLAIN, *NORMS)), *(f"{name} s" for name in NORMS))
    rows = [
        (
            r.unit["data_set"],
            str(r.found["columns"]),
            *(f"{r.found['errors'][name]:.1f}" for name in (*PLAIN, *NORMS)),
            *(f"{r.found['seconds'][name]:.2f}" for name in NORMS),
        )
        for r in observations
    ]
    claims = [
        lower_claim(
            f"A continuous code with the {norm} norm is better than the plain code with its loss",
            {name: found[norm] for name, found in errors.items()},
            {name: found["loss"] for name, found in errors.items()},
        )
        for norm in NORMS
    ]
    remark = "Seconds are sums over all folds, and rough where units ran at the same time (`--jobs` above 1)."
    return Findings([TextTable("Test errors, and the time to learn the matrix", header, rows, (remark,))], claims)


NORMS_EXPERIMENT = Experiment(
    name="crammer-norms",
    title="Crammer & Singer, section 6: the norms of continuous codes",
    source=SOURCE,
    protocol="""
The paper derives the programs for three norms and measures none of them on data. Here all three learn their matrix from
the training margins of one dense code of `columns_per_bit`·log₂ k columns. Official partitions are used, or `folds`
folds (also for segmentation, whose partition has 210 rows for training). For comparison, the same code is decoded with
Hamming and with loss-based decoding.
""",
    data_sets=DATA_SETS,
    units=_units,
    measure=measure,
    present=_present,
    options={"columns_per_bit": 2.0, "learner": "logistic", "beta": 1.0, "folds": 5},
)
