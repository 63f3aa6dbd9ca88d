"""The report of a race: the winner's answers for rows that it has not seen, and the columns that matter to it."""

from __future__ import annotations

import time
from collections.abc import Iterable
from pathlib import Path

import numpy as np
from sklearn.pipeline import Pipeline

from outputcodes._ground import progress
from outputcodes._ground.folds import Rows
from outputcodes.app.report import Answers, answers, permuted_columns, race_data, report_data, write_report
from outputcodes.app.report.importance import seconds_per_row
from outputcodes.app.run.finishing import REPORTED_ROWS, pictures
from outputcodes.app.run.race.results import is_split
from outputcodes.app.run.race.winner import in_folds, model_of, view_of
from outputcodes.app.run.sources import Source
from outputcodes.app.run.writing import REPORT
from outputcodes.selection import Race, Result, Results

# The share of the time that answers may take, the rest is for the columns; predictions of a row that it has time for.
ANSWERS_SHARE, MOST_SECONDS, PREDICTIONS = 0.3, 30.0, 3
# In less than these seconds nothing is looked at closely.
LEAST_SECONDS, FEWEST_ROWS = 0.7, 50


def write_race_report(
    folder: Path,
    source: Source,
    race: Race,
    rows: Results,
    notes: Iterable[str],
    tested: Result | None,
    *,
    seconds: float = np.inf,
    seed: int = 0,
) -> None:
    """Write report.html; in few seconds, it looks at fewer rows."""
    table, end = source.table, time.monotonic() + min(seconds, MOST_SECONDS)
    importance, held = None, "held-out rows"
    asked = _from_probabilities(source, race)
    if seconds > LEAST_SECONDS and (found := _unseen(source, race)) is not None:
        model, unseen, called = found
        with progress.phase("report", 2, "parts"):
            each = PREDICTIONS * seconds_per_row(model, table.frame.iloc[unseen])
            most = min(REPORTED_ROWS, int(ANSWERS_SHARE * max(0.0, end - time.monotonic()) / each))
            if most >= FEWEST_ROWS:
                some = unseen[:: max(1, -(-len(unseen) // most))]
                # Of an average, the probabilities of all folds say more than a model of one.
                if (coded := _asked(model, source, some)).code is not None or asked is None:
                    asked, held = coded, called
            progress.reached(1, 2, "parts")
            y, left = table.target.to_numpy(), end - time.monotonic()
            frame = table.frame.iloc[unseen]
            importance = permuted_columns(model, frame, y[unseen], metric=race.metric, seconds=left, seed=seed)
    facts = {
        "rows": len(table.target),
        "features": len(table.schema.used),
        "classes": len(table.schema.classes),
        "tested by": in_folds(race.standings_[0]["folds"]) if tested is None else source.splits.title,
        "metric": rows.metric,
        **({} if asked is None else {"winner's details": f"on {len(asked.predicted)} {held}"}),
    }
    test = None
    if tested is not None and tested.losses is not None:
        test = {"loss": tested.error, "interval": tested.interval, "rows": len(tested.losses)}
    data = report_data(
        rows,
        asked,
        title=source.name,
        facts=facts,
        notes=notes,
        held_out=held,
        race=race_data(race, importance, test),
    )
    write_report(data, folder / REPORT)


def _from_probabilities(source: Source, race: Race) -> Answers | None:
    """The output for the rows that the folds of a race held out."""
    if race.held_out_probabilities_ is None or is_split(source):
        return None
    rows, P = race.held_out_probabilities_
    some = slice(None, None, max(1, -(-len(rows) // REPORTED_ROWS)))
    rows, probabilities = rows[some], P[some].astype(np.float64)
    frame = source.table.frame.iloc[rows]
    truth = np.searchsorted(race.classes_, source.table.target.to_numpy()[rows])
    return Answers(
        race.classes_,
        probabilities.argmax(axis=1),
        truth,
        probabilities,
        probabilities,
        None,
        None,
        None,
        list(frame.index),
        ", ".join(race.winner_),
        pictures(frame),
        frame,
    )


def _unseen(source: Source, race: Race) -> tuple[Pipeline, Rows, str] | None:
    """A model, rows of the table that it was not trained on, and what to call them."""
    if is_split(source):
        return model_of(race, source.table.schema), source.splits.pairs[0][1], "test rows"
    if race.held_out_ is None:
        return None
    blend, rows = race.held_out_
    return Pipeline([("table", view_of(source.table.schema)), ("classifier", blend)]), rows, "rows of the first fold"


def _asked(model: Pipeline, source: Source, rows: Rows) -> Answers:
    """The output for some rows; of a single output code, its margins too."""
    y = source.table.target.to_numpy()
    rows = rows[np.isin(y[rows], model.classes_)]
    frame = source.table.frame.iloc[rows]
    models = [one[-1] for one in model[-1].models]
    title = " + ".join(type(one).__name__ for one in models) if models[1:] else " ".join(repr(models[0]).split())
    return answers(model, frame, y[rows], title=title, images=pictures(frame))
