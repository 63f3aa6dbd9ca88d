"""The table of experiments."""

from __future__ import annotations

from outputcodes._ground.validation import unknown_name
from reproduce.allwein_boosting import ALLWEIN_TABLE2
from reproduce.allwein_svm import ALLWEIN_TABLE3, ALLWEIN_TABLE3_SETTINGS
from reproduce.allwein_synthetic import ALLWEIN_FIGURE3
from reproduce.crammer_figure5 import CRAMMER_FIGURE5
from reproduce.crammer_norms import CRAMMER_NORMS
from reproduce.defaults import DEFAULTS
from reproduce.experiment import Experiment
from reproduce.jin import JIN
from reproduce.mohri_approaches import MOHRI_APPROACHES
from reproduce.mohri_comparison import MOHRI_COMPARISON
from reproduce.passerini import PASSERINI

EXPERIMENTS: dict[str, Experiment] = {
    experiment.name: experiment
    for experiment in (
        ALLWEIN_TABLE2,
        ALLWEIN_TABLE3,
        ALLWEIN_TABLE3_SETTINGS,
        ALLWEIN_FIGURE3,
        *JIN,
        *PASSERINI,
        CRAMMER_FIGURE5,
        CRAMMER_NORMS,
        MOHRI_COMPARISON,
        MOHRI_APPROACHES,
        DEFAULTS,
    )
}


def find(name: str) -> Experiment:
    """An experiment by name."""
    if name not in EXPERIMENTS:
        raise unknown_name("name", name, EXPERIMENTS)
    return EXPERIMENTS[name]
