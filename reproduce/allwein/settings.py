"""Which setting of the support vector machines comes closest to Table 3 of Allwein, Schapire & Singer."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np

from reproduce.allwein.cells import agreements, errors_by_cell
from reproduce.allwein.published import SOURCE, TABLE3
from reproduce.allwein.table3 import SHORT, SMALL, TABLE3_EXPERIMENT, measure
from reproduce.experiment import Experiment, Findings, Observation, TextTable, Unit
from reproduce.judging import signed

SETTINGS = tuple(
    (scaling, C, coef0)
    for (scaling, C), coef0 in product(
        (("unit", 1.0), ("unit", 10.0), ("length", 10.0), ("length", 100.0), ("standard", 1.0)), (0.0, 1.0)
    )
)


def units(data_sets: tuple[str, ...], quick: bool, **options: Any) -> list[Unit]:
    """Return a unit per data set and setting."""
    settings = SETTINGS[:3] if quick else SETTINGS
    return [
        {"data_set": name, "C": C, "coef0": coef0, "scaling": scaling, **options}
        for name in data_sets
        for scaling, C, coef0 in settings
    ]


def measure_setting(data_set: str, **setting: Any) -> dict[str, Any]:
    """Measure each code except the complete one as Table 3 does."""
    return {code: measure(data_set, code, **setting) for code in SHORT}


def present(observations: list[Observation]) -> Findings:
    """Count how many published errors each setting meets."""
    found = []
    for scaling, C, coef0 in SETTINGS:
        own = [
            Observation({"data_set": observation.unit["data_set"], "code": code}, by_code, 0.0)
            for observation in observations
            if tuple(observation.unit[name] for name in ("scaling", "C", "coef0")) == (scaling, C, coef0)
            for code, by_code in observation.found.items()
        ]
        judged = agreements(errors_by_cell(own), TABLE3).values()
        if judged:
            counts = tuple(sum(getattr(cell, side) for cell in judged) for side in ("within", "lower", "higher"))
            stopped = sum(observation.found["stopped"] for observation in own)
            difference = np.mean([cell.difference for cell in judged])
            setting = (scaling, f"{C:g}", f"{coef0:g}")
            found.append((setting, (*counts, stopped), signed(float(difference))))
    # The fewest cells that are higher first, then the most within.
    found.sort(key=lambda row: (row[1][2], -row[1][0]))
    rows = [(*setting, *map(str, counts), difference) for setting, counts, difference in found]
    header = ("scaling", "C", "coef0", "within two standard errors", "lower", "higher", "stopped", "mean difference")
    table = TextTable("Settings of the support vector machines, by cells that are not higher", header, rows)
    return Findings([table], remarks=_standing(found))


def _standing(found: Sequence[tuple[tuple[str, ...], tuple[int, ...], str]]) -> list[str]:
    """Say where the setting of Table 3 stands, and how many others are about as good."""
    used = tuple(TABLE3_EXPERIMENT.options[name] for name in ("scaling", "C", "coef0"))
    named = (used[0], *(f"{value:g}" for value in used[1:]))
    counts = {setting: own for setting, own, _ in found}
    if named not in counts:
        return []
    within, _, higher, _ = counts[named]
    place = list(counts).index(named) + 1
    near = sum(abs(own[0] - within) <= 2 and abs(own[2] - higher) <= 2 for own in counts.values()) - 1
    return [
        f"The setting of `allwein-table3` has place {place} of {len(counts)}. {near} others differ from it by at most "
        f"two of {sum(counts[named][:3])} cells, so the choice among them says nothing about the authors' setting."
    ]


SETTINGS_EXPERIMENT = Experiment(
    name="allwein-table3-settings",
    title="Allwein, Schapire & Singer, Table 3: which setting",
    source=f"{SOURCE}, Table 3",
    protocol="As `allwein-table3`, on its five small data sets and without the complete code, by scaling, C and coef0.",
    data_sets=SMALL,
    units=units,
    measure=measure_setting,
    present=present,
    options={"max_iter": 100_000, "folds": 10, "sparse_rule": "published", "seed": 0},
)
