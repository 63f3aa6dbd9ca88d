"""What the benchmarks were meant to reach, as data: RESULTS.md says of each whether it was met."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Target:
    """A bound on a column of a results file, in the rows that fit `where`; `named_by` lists columns that name a row."""

    results: str
    column: str
    most: float | None = None
    least: float | None = None
    named_by: tuple[str, ...] = ("data",)
    where: Mapping[str, Any] = field(default_factory=dict)

    def met(self, value: float) -> bool:
        """Return whether a value is within the bound."""
        return (self.most is None or value <= self.most) and (self.least is None or value >= self.least)

    def __str__(self) -> str:
        bound = f"at most {_plainly(self.most)}" if self.most is not None else f"at least {self.least:g}"
        where = "".join(f", {value}" for value in self.where.values())
        return f"{self.column} {bound}{where}"


def _plainly(bound: float) -> str:
    """Write a bound with three digits and without powers of ten."""
    return np.format_float_positional(bound, precision=3, fractional=False, trim="-")


OWN = {"peer": "GridSearchCV, our estimator"}
TARGETS = (
    Target("decoding", "ours / floor", most=2.0, named_by=("n", "L", "k", "loss")),
    Target("decoding", "peak RSS MB", most=1000, named_by=("n", "L", "k", "loss")),
    Target("linear", "excess (worst column)", most=1e-4, named_by=("work",)),
    Target("linear", "ratio", least=1.0, named_by=("work",)),
    Target("ridge", "theirs / ours", least=1.0, named_by=("code",)),
    *(
        Target(f"search_{rows}", "theirs / ours", least=least, named_by=("search", "rows"), where=peer)
        for rows in ("kernel", "large")
        for least, peer in ((6.0, {"peer": "OneVsRestClassifier(SVC)"}), (3.0, {"peer": "SVC"}), (1.5, OWN))
    ),
    *(
        Target(f"search_{rows}", "scores differ by", most=1.0, named_by=("search", "peer"))
        for rows in ("kernel", "large")
    ),
    Target("search_mnist", "theirs / ours", least=3.0, named_by=("search",), where=OWN),
    Target("search_linear", "theirs / ours", least=15.0, named_by=("peer",), where={"search": "Ridge, 20 α, mnist"}),
    Target(
        "search_linear", "theirs / ours", least=3.0, named_by=("peer",), where={"search": "Logistic, 10 C, optdigits"}
    ),
    Target("search_decoders", "theirs / ours", least=8.0, named_by=("search",)),
    Target("kernel_svm", "fit ratio", least=1.0, named_by=("code",)),
    Target("stumps", "faster of LightGBM, XGBoost / ours", least=1.0, named_by=("data", "code")),
    Target("boosting_rounds", "faster peer / MO", least=1.0),
    *(
        Target("boosted_trees_tables", column, most=most, least=least, named_by=("threads",), where={"data": data})
        for data, column, most, least in (
            ("letter", "LightGBM / ours", None, 3.0),
            ("letter", "LightGBM / short", None, 10.0),
            ("letter", "ours error %", 2.7, None),
            ("letter", "short error %", 3.3, None),
            ("letter", "ours log-loss", 0.085, None),
            ("pendigits", "LightGBM / ours", None, 1.5),
            ("pendigits", "ours error %", 3.3, None),
            ("pendigits", "ours log-loss", 0.15, None),
            ("optdigits", "LightGBM / ours", None, 1.5),
            ("optdigits", "ours error %", 3.3, None),
            ("optdigits", "ours log-loss", 0.13, None),
            ("satimage", "LightGBM / ours", None, 1.5),
            ("satimage", "ours log-loss", 0.25, None),
            ("isolet", "LightGBM / ours", None, 20.0),
            ("isolet", "ours error %", 4.6, None),
        )
    ),
    *(
        Target("boosted_trees_many", f"{peer} / ours", least=20.0, named_by=("k",), where={"table": "traits"})
        for peer in ("LightGBM", "XGBoost")
    ),
    Target("boosted_trees_cost", "first use s", most=5.0, named_by=()),
    Target("boosted_trees_cost", "model MB", most=200, named_by=()),
    Target("calibration", "time ratio one-vs-all", most=3.0),
    Target("calibration", "time ratio all-pairs", most=3.0),
    Target("calibration", "time ratio dense", most=3.0),
    Target("loo_bounds", "bound / folds", most=1 / 3, named_by=("data", "code")),
    Target("loo_bounds", "bound / SVC", most=0.1, named_by=("data", "code")),
    Target("multiclass_svm", "ratio", least=1.0, named_by=("data", "C")),
    Target("trees_growing", "ours / scikit-learn", most=1.5, named_by=("criterion",)),
    Target("trees_columns", "scikit-learn / ours", least=5.0, named_by=("depth",)),
    *(
        Target(f"many_classes_{name}", column, most=most, least=least, named_by=("system",), where={"system": system})
        for name, system, column, most, least in (
            ("icd10", "tree", "accuracy %", None, 89.0),
            ("icd10", "tree", "fit s", 1.5, None),
            ("icd10", "tree", "napkinXC fit / this", None, 5.0),
            ("icd10", "tree", "model MB", 4.0, None),
            ("icd10", "tree", "µs per row", 25.0, None),
            ("icd10", "one-vs-all", "fit s", 5.0, None),
            ("icd10", "one-vs-all", "µs per row", 50.0, None),
            ("debian_paths", "tree", "accuracy %", None, 89.8),
            ("debian_paths", "tree", "fit s", 7.0, None),
            ("debian_paths", "tree", "napkinXC fit / this", None, 4.0),
            ("debian_paths", "tree", "model MB", 10.0, None),
            ("debian_paths", "tree", "µs per row", 25.0, None),
            ("debian_paths", "3 trees", "accuracy %", None, 90.1),
            ("debian_paths", "3 trees", "fit s", 10.0, None),
            ("debian_paths", "3 trees", "napkinXC fit / this", None, 4.0),
            ("debian_paths", "3 trees", "model MB", 25.0, None),
            ("debian_paths", "3 trees", "µs per row", 75.0, None),
        )
    ),
    *(
        Target(f"many_classes_{name}", column, most=most, least=least, named_by=("k",))
        for name, column, most, least in (
            ("k1e5_5rows", "accuracy %", None, 85.0),
            ("k1e5_5rows", "fit s", 25.0, None),
            ("k1e5_5rows", "model MB", 200.0, None),
            ("k1e5_5rows", "µs per row", 160.0, None),
            ("k1e5_5rows", "peak GB", 4.0, None),
            ("k1e6", "accuracy %", None, 50.0),
            ("k1e6", "fit s", 200.0, None),
            ("k1e6", "model MB", 1400.0, None),
            ("k1e6", "µs per row", 230.0, None),
            ("k1e6", "peak GB", 6.0, None),
        )
    ),
    Target("million_rows", "peak, GB", most=6.0, named_by=("step",)),
    Target("blocks_files", "time per row / array", most=1.5, named_by=("work",)),
    Target("blocks_files", "private memory GB", most=2.0, named_by=("work", "source")),
    Target("blocks_dask", "one worker / in memory", most=1.3, named_by=("work",)),
    Target("streams", "difference, points", most=1.0, named_by=("data", "learner", "late classes")),
)
