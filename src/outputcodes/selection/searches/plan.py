"""What candidates share: one training that several of them read, and paths of trainings that start from each other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from numbers import Real
from typing import Any

import joblib

from outputcodes.boosting import Booster, GradientBoost
from outputcodes.classifier import OutputCodeClassifier
from outputcodes.decoders import as_decoder
from outputcodes.decoders.classifier import DecodingClassifier
from outputcodes.learners.base import Learner
from outputcodes.learners.names import as_learner

# Parameters that read a training and don't change it.
READING = ("decoder", "probability")


@dataclass
class Training:
    """A training, and the candidates that read it.

    Attributes
    ----------
    model : classifier
        What is trained: of candidates that differ in their rounds, the one with the most.
    readers : list of (int, classifier)
        The numbers of the candidates, and the candidates.
    place : tuple of float
        The values of the parameters of the path, negative for those in descending order.
    """

    model: Any
    readers: list[tuple[int, Any]]
    place: tuple[float, ...] = ()


@dataclass
class Path:
    """Trainings that differ only in the parameters of a path.

    Attributes
    ----------
    segments : list of lists of Training
        In ascending order; the trainings of a segment share what the learner prepares.
    shares_rows : bool
        Whether folds share it too.
    """

    segments: list[list[Training]] = field(default_factory=list)
    shares_rows: bool = False


def paths(models: Sequence[tuple[int, Any]]) -> list[Path]:
    """Return what is to be trained for numbered classifiers."""
    found: dict[Any, tuple[dict[tuple[float, ...], Training], bool]] = {}
    for index, model in models:
        key, place, shares_rows = _described(index, model)
        trainings, _ = found.setdefault(key, ({}, shares_rows))
        training = trainings.setdefault(place, Training(model, [], place))
        training.readers.append((index, model))
        if _rounds(model) > _rounds(training.model):
            training.model = model
    return [_in_segments(trainings, shares_rows) for trainings, shares_rows in found.values()]


def _in_segments(trainings: dict[tuple[float, ...], Training], shares_rows: bool) -> Path:
    path = Path(shares_rows=shares_rows)
    for place in sorted(trainings):
        if not path.segments or path.segments[-1][-1].place[:-1] != place[:-1]:
            path.segments.append([])
        path.segments[-1].append(trainings[place])
    return path


def reads_rounds(model: Any) -> bool:
    """Return whether fewer rounds of a classifier can be read from one training."""
    if isinstance(model, GradientBoost):
        return model.in_stages
    if isinstance(model, Booster):
        return model.in_stages and as_decoder(model.decoder).needs is None
    if isinstance(model, OutputCodeClassifier):
        # Held-out margins are those of all rounds.
        held_out = model.probability is not None or as_decoder(model.decoder).needs == "held-out"
        return learner_of(model).in_stages and not held_out
    return False


def rounds_of(model: Any) -> int:
    """Return the rounds that a classifier asks for."""
    owner: Any = learner_of(model) if isinstance(model, OutputCodeClassifier) else model
    return int(owner.n_rounds)


def _rounds(model: Any) -> int:
    try:
        return rounds_of(model) if reads_rounds(model) else 0
    except (TypeError, ValueError):
        return 0  # refused by the training


def learner_of(model: OutputCodeClassifier) -> Learner:
    """Return the learner that a classifier trains."""
    return as_learner(model.estimator, model.variant)


def _described(index: int, model: Any) -> tuple[Any, tuple[float, ...], bool]:
    """Return what two classifiers of one path have in common, the place on it, and whether folds share data."""
    alone: tuple[Any, tuple[float, ...], bool] = (index, (), False)
    if not isinstance(model, DecodingClassifier | GradientBoost):
        return alone
    try:
        own = {name: value for name, value in model.get_params(deep=False).items() if name not in READING}
        staged, named, shares_rows = reads_rounds(model), [], False
        place: tuple[float, ...] = ()
        if isinstance(model, OutputCodeClassifier):
            learner = learner_of(model)
            inner: dict[str, Any] = learner.get_params(deep=False) if hasattr(learner, "get_params") else {}
            named = [name for name in learner.path if _is_number(inner.get(name.lstrip("-")))]
            place = tuple((-1 if name[0] == "-" else 1) * float(inner.pop(name.lstrip("-"))) for name in named)
            if staged:
                inner.pop("n_rounds")
            shares_rows = learner.shares_rows
            own |= {"estimator": (type(learner).__name__, inner)}
        elif staged:
            own.pop("n_rounds")
        return joblib.hash((type(model).__name__, own, named)), place, shares_rows
    except Exception:  # what can't be resolved or compared is trained on its own, where errors are reported
        return alone


def _is_number(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)
