"""The winner of a comparison: fitted to all rows, and its answers for held-out rows; nothing is written."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline

from outputcodes._ground import progress
from outputcodes.app.report import Answers, answers
from outputcodes.app.run.fitting import training_summary
from outputcodes.app.run.probable import fit_with_probabilities
from outputcodes.app.run.sources import Source
from outputcodes.app.run.systems import build
from outputcodes.decoders import as_decoder
from outputcodes.selection import Result

# About so many held-out rows are looked at in the report: more would make it slow, and say no more.
REPORTED_ROWS = 5_000


@dataclass(frozen=True, eq=False)
class Winner:
    """The best of a comparison.

    Attributes
    ----------
    result : Result
    model : Pipeline
        Fitted to all rows, with probabilities.
    summary : dict
        Plain data on the model and its errors on the training rows.
    held_out : Answers
        Those of such a model, fitted to the training rows of the first split, for its test rows.
    """

    result: Result
    model: Pipeline
    summary: dict[str, Any]
    held_out: Answers


def finish(
    source: Source,
    best: Result,
    metric: str = "error",
    *,
    seed: int = 0,
    n_jobs: int | None = None,
    device: str = "cpu",
) -> Winner:
    """Fit the best system to the first split and to all rows.

    Examples
    --------
    >>> from outputcodes.app.run import open_source
    >>> source = open_source("iris", cv=3)
    >>> winner = finish(source, Result("ridge", "all-pairs", "hamming", fold_errors=(0.1, 0.2, 0.1)))
    >>> winner.model[-1].decoder, winner.summary["rows"], len(winner.held_out.predicted)
    ('hamming', 150, 50)
    """
    data, decoder = source.table, best.decoder or "loss"
    # Predictions stay the decoder's; the report has a reliability curve, and `predict` can add probabilities.
    probability = None if as_decoder(decoder).has_probabilities else "softmax"
    how: dict[str, Any] = {"probability": probability, "seed": seed, "n_jobs": n_jobs, "device": device}

    def fitted(frame: Any, y: Any) -> Pipeline:
        model = build(data.schema, best.learner, best.code or None, decoder, rows=len(y), **how)
        with progress.inside():
            return fit_with_probabilities(model, frame, y, seed)

    y = data.target.to_numpy()
    train, test = source.splits.pairs[0]
    test = test[:: max(1, len(test) // REPORTED_ROWS)]
    with progress.phase("the winner", 2, "models"):
        first = fitted(data.frame.iloc[train], y[train])
        progress.reached(1, 2, "models")
        model = fitted(data.frame, y)
    test = test[np.isin(y[test], first.classes_)]
    frame = data.frame.iloc[test]
    held_out = answers(first, frame, y[test], title=best.name, images=pictures(frame))
    facts: dict[str, Any] = {name: best.as_dict()[name] for name in ("learner", "code", "decoder", "error", "interval")}
    facts |= {"metric": metric, "tested_by": source.splits.title, "data": source.name}
    return Winner(best, model, training_summary(model, data, **facts), held_out)


def pictures(frame: Any) -> Any:
    """Return the rows as images, where the columns are called pixel_0_0, pixel_0_1 and so on."""
    places = [re.fullmatch(r"pixel_(\d+)_(\d+)", str(name)) for name in frame.columns]
    if not all(places):
        return None
    height, width = (1 + max(int(place[part]) for place in places if place) for part in (1, 2))
    return frame.to_numpy().reshape(-1, height, width) if height * width == len(places) else None
