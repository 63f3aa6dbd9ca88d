"""The table of experiments."""

from __future__ import annotations

from outputcodes._validation import unknown_name
from outputcodes.experiments.allwein_boosting import ALLWEIN_TABLE2
from outputcodes.experiments.allwein_svm import ALLWEIN_TABLE3, ALLWEIN_TABLE3_SETTINGS
from outputcodes.experiments.allwein_synthetic import ALLWEIN_FIGURE3
from outputcodes.experiments.crammer_figure5 import CRAMMER_FIGURE5
from outputcodes.experiments.crammer_norms import CRAMMER_NORMS
from outputcodes.experiments.defaults import DEFAULTS
from outputcodes.experiments.experiment import Experiment
from outputcodes.experiments.jin import JIN
from outputcodes.experiments.mohri_approaches import MOHRI_APPROACHES
from outputcodes.experiments.mohri_comparison import MOHRI_COMPARISON
from outputcodes.experiments.passerini import PASSERINI

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
