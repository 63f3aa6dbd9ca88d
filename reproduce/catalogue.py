"""The table of experiments."""

from __future__ import annotations

from reproduce import allwein, crammer, defaults, jin, mohri, passerini
from reproduce.experiment import Experiment, check_known

EXPERIMENTS: dict[str, Experiment] = {
    experiment.name: experiment
    for paper in (allwein, jin, passerini, crammer, mohri, defaults)
    for experiment in paper.EXPERIMENTS
}


def find(name: str) -> Experiment:
    """Return an experiment by name."""
    check_known("experiment", [name], EXPERIMENTS)
    return EXPERIMENTS[name]
