"""One training of a race: an entry on some rows of a fold, and the scores of the rows that are held out."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.pipeline import Pipeline

from outputcodes._ground.counted_texts import CountedTexts
from outputcodes._ground.folds import Folds
from outputcodes._ground.validation import take_rows
from outputcodes._ground.words import in_words
from outputcodes.classifier import OutputCodeClassifier
from outputcodes.decoders.classifier import resolved_for
from outputcodes.selection.race.contestants import PAIRS, Contestant, Entry, build
from outputcodes.selection.race.views import COMPONENTS, Kinds, of_texts

Scores = NDArray[np.float32]

# The decoders that read the same margins. Votes know nothing of pairs that never saw the class, and often win there.
DECODERS = {PAIRS: ("loss", "vote"), "": ("",)}
OTHER_CODES = ("loss",)
# The logarithm of a probability of 0 is that of this.
LEAST = 1e-7
# What a class that was not trained has below the smallest score.
UNKNOWN = 10.0
# Rows of each class in the training that loads compiled code before time is taken.
WARMING = 3


@dataclass(frozen=True, eq=False)
class Field:
    """Who runs on what: columns and their kinds, class numbers, folds; training rows are taken in their order."""

    contestants: dict[str, Contestant]
    X: Any
    kinds: Kinds
    y: NDArray[np.intp]
    k: int
    folds: Folds
    seed: int
    counted: CountedTexts | None = None

    @property
    def width(self) -> int:
        """About how many features there are; texts have their components."""
        return int(self.X.shape[1] + COMPONENTS * len(self.kinds.sentences))

    def build(self, entry: Entry) -> Pipeline:
        """Return the model of an entry."""
        return build(self.contestants[entry.contestant], entry, self.X, self.kinds, self.seed, self.counted)


@dataclass(frozen=True)
class Task:
    """Train an entry on the first rows of a fold, or to stay if `fold` is None: then on all rows of the table.

    If `rows` are fewer than all of them, it stays as it is trained on the first rows of the first fold.
    """

    entry: Entry
    fold: int | None
    rows: int
    decoder: str = ""


@dataclass(frozen=True, eq=False)
class Trial:
    """The outcome of a task: seconds, held-out scores (n, k) by decoder, or the model that stays; or why it failed."""

    task: Task
    seconds: float = 0.0
    scores: dict[str, Scores] = field(default_factory=dict)
    model: Any = None
    failed: str = ""


_warm: set[tuple[str, str]] = set()


def run(data: Field, task: Task) -> Trial:
    """Train, and score what is held out; a contestant that breaks must not end the race."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            if (kind := (task.entry.contestant, task.entry.code)) not in _warm:
                _warm.add(kind)
                _warm_up(data, task)
            return _trained(data, task)
        except Exception as reason:  # however a foreign system breaks
            return Trial(task, failed=in_words(reason))


def _warm_up(data: Field, task: Task) -> None:
    """Train on a few rows: compiling and importing are no part of a training's time."""
    few = np.concatenate([np.flatnonzero(data.y == c)[:WARMING] for c in range(min(data.k, WARMING))])
    with suppress(Exception):  # a few rows may be too few
        data.build(task.entry).fit(take_rows(data.X, few), data.y[few])


def _trained(data: Field, task: Task) -> Trial:
    model = data.build(task.entry)
    if task.fold is None:
        if task.decoder:
            model.set_params(classifier__decoder=task.decoder)
        some = data.folds[0][0][: task.rows] if task.rows < len(data.y) else np.arange(len(data.y))
        start = time.perf_counter()
        model.fit(take_rows(data.X, some), data.y[some])
        return Trial(task, time.perf_counter() - start, model=of_texts(model))
    order, test = data.folds[task.fold]
    train = order[: task.rows]
    own, held_out = take_rows(data.X, train), take_rows(data.X, test)
    start = time.perf_counter()
    found = dict(_readings(model, own, data.y[train], held_out, task.entry.code))
    seconds = time.perf_counter() - start
    scores = {name: _of_all(D, known, data.k).astype(np.float32) for name, (D, known) in found.items()}
    if not all(np.isfinite(D).all() for D in scores.values()):
        return Trial(task, seconds, failed="Its scores are not finite.")
    return Trial(task, seconds, scores)


def _readings(model: Any, X: Any, y: NDArray[np.intp], held_out: Any, code: str) -> Iterator[tuple[str, Any]]:
    """The scores of held-out rows by each decoder, and the classes that they belong to."""
    final = model[-1]
    if not isinstance(final, OutputCodeClassifier) or len(np.unique(y)) == 2:
        model.fit(X, y)
        yield DECODERS.get(code, OTHER_CODES)[0], (scores_of(model, held_out), model.classes_)
        return
    view = model[:-1]
    trained = final.train(view.fit_transform(X, y), y)
    F = final.margins(view.transform(held_out))
    for name in DECODERS.get(code, OTHER_CODES):
        decoder = resolved_for(name, trained.loss, trained.code)
        if decoder.objection_to(trained.code) is None:
            M = decoder.as_read(trained.code)
            yield name, (trained.fit_decoder(decoder).scores(F, M), final.classes_)


def scores_of(model: Any, X: Any) -> NDArray[np.float64]:
    """Return the scores (n, k) of a fitted classifier: the logarithms of its probabilities, if it has them."""
    # As scikit-learn's own tools look it up.
    if hasattr(model, "predict_proba"):
        logs: NDArray[np.float64] = np.log(np.maximum(model.predict_proba(X), LEAST))
        return logs
    D = np.asarray(model.decision_function(X), dtype=np.float64)
    return np.outer(D, [-0.5, 0.5]) if D.ndim == 1 else D


def _of_all(D: NDArray[np.float64], known: NDArray[np.intp], k: int) -> NDArray[np.float64]:
    """Scores of all k classes; one that the training rows lack comes last."""
    if len(known) == k:
        return D
    every = np.repeat(D.min(axis=1, keepdims=True) - UNKNOWN, k, axis=1)
    every[:, known] = D
    return every
