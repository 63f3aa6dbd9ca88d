"""A race on a table: the best model within a time limit, and what is said of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline

from outputcodes._ground.folds import Rows
from outputcodes._ground.validation import unknown_name
from outputcodes._ground.words import quoted
from outputcodes.app.run.systems import learners_and_systems
from outputcodes.app.tables import AsNumbersAndCategories, Schema, Table, errors
from outputcodes.selection import CONTESTANTS, Race
from outputcodes.selection.race import Recorder

# How long a race is, unless its time limit is given.
RACE_SECONDS = 60.0
# The share of the time that is left to write the file of the model.
LEFT_TO_SAVE = 0.05


def race_on(
    table: Table,
    time_limit: float | None,
    *,
    rows: Rows | None = None,
    contestants: Sequence[str] | None = None,
    metric: str = "error",
    cv: int | None = None,
    device: str = "cpu",
    seed: int = 0,
    n_jobs: int | None = None,
    recorder: Recorder | None = None,
    cluster: Any = None,
) -> Race:
    """Return a race on a table, or on some of its rows; groups of the table stay together in folds.

    Examples
    --------
    >>> from outputcodes.app.run.sources import open_table
    >>> table = open_table("iris")
    >>> race = race_on(table, None, contestants=["ridge", "decision-tree"])
    >>> model_of(race, table.schema).predict(table.frame).shape, facts_of(race)["learner"]
    ((150,), 'race')
    """
    if not table.schema.used:
        raise errors.MissingColumnsError("The table has no column that a model could read.")
    race = Race(
        time_limit,
        contestants=named_contestants(contestants, len(table.schema.classes)),
        metric=metric,
        cv=cv,
        device=device,
        n_jobs=n_jobs,
        random_state=seed,
    )
    some = np.arange(len(table.target)) if rows is None else rows
    groups = None if table.group is None else table.group.to_numpy()[some]
    X, y = view_of(table.schema).transform(table.frame.iloc[some]), table.target.to_numpy()[some]
    return race.fit(X, y, groups=groups, recorder=recorder, cluster=cluster)


def never_tested(table: Table, rows: Rows | None = None) -> list[str]:
    """Return a note on the classes of a race that have one row, or one group where folds keep groups together.

    >>> import pandas as pd
    >>> from outputcodes.app.tables import from_frame
    >>> never_tested(from_frame(pd.DataFrame({"x": range(5)}), pd.Series([*"aabbc"])))
    ["One row only: 'c'. It is trained on and never tested, so that the error says nothing about this class."]
    """
    some = slice(None) if rows is None else rows
    target, group = table.target.iloc[some], table.group
    counts = target.value_counts() if group is None else group.iloc[some].groupby(target).nunique()
    if not (alone := sorted(counts.index[counts == 1])):
        return []
    it, its, this = ("It is", "its", "this class") if len(alone) == 1 else ("They are", "their", "these classes")
    if group is not None:
        return [f"In one group only: {quoted(alone)}. {it} never trained on where {its} rows are tested."]
    note = f"{it} trained on and never tested, so that the error says nothing about {this}."
    return [f"One row only: {quoted(alone)}. {note}"]


def named_contestants(names: Sequence[str] | None, k: int) -> list[str]:
    """Return those who take part: named ones, or all that are installed and suit k classes.

    >>> named_contestants(["ridge"], 3)
    ['ridge']
    """
    here = {name: one for name, one in CONTESTANTS.items() if one.is_here}
    for name in names or ():
        if name in CONTESTANTS and name not in here:
            raise ValueError(f"learners={name!r} needs a package: pip install {CONTESTANTS[name].needs}.")
        if name not in here and name in learners_and_systems():
            raise ValueError(
                f"learners={name!r} takes no part in races: add --exhaustive, or choose from {', '.join(here)}."
            )
        if name not in here:
            raise unknown_name("learners", name, here)
    return list(dict.fromkeys(names)) if names else [name for name, one in here.items() if one.suits(k)]


def view_of(schema: Schema) -> AsNumbersAndCategories:
    """Return the step from raw tables to those of a race."""
    kinds = {"numbers": "number", "dates": "date", "categories": "category", "words": "words"}
    return AsNumbersAndCategories(**{name: schema.names(kind) for name, kind in kinds.items()})  # type: ignore[arg-type]


def model_of(race: Race, schema: Schema) -> Pipeline:
    """Return the winner, or the best so far, as a model that takes raw tables."""
    return Pipeline([("table", view_of(schema)), ("classifier", race.model_)])


def facts_of(race: Race) -> dict[str, Any]:
    """Return plain data on a race."""
    return {
        "learner": "race",
        "rows": race.n_rows_,
        "winner": race.winner_,
        "weights": race.model_.weights,
        "metric": race.metric,
        "error": race.loss_,
        "interval": list(race.interval_),
        "standings": race.standings_,
        "departures": race.departures_,
    }


def race_in_words(summary: dict[str, Any]) -> list[str]:
    """Return lines on a race: what the winner consists of, who was next, and who left.

    >>> row = {"name": "ridge dense (C=10), decoder loss", "loss": 0.1, "rows": 80, "folds": 5}
    >>> gone = {"entry": "tree dense", "rows": 80, "loss": 0.25, "why": "It is clearly behind ridge dense."}
    >>> last = {"entry": "ridge dense (C=10)", "rows": 80, "loss": 0.1, "why": "There is no time for another lap."}
    >>> facts = {"winner": [row["name"]], "weights": [1.0], "metric": "error"}
    >>> print(*race_in_words({**facts, "standings": [row], "departures": [gone, last]}), sep="\\n")
    winner: ridge dense (C=10), decoder loss
    finalists, by the error of held-out rows:
        0.1000  ridge dense (C=10), decoder loss (5 folds, 80 rows each)
    left the race:
        0.2500  tree dense (80 rows). It is clearly behind ridge dense.
    """
    lines = [f"winner: {', '.join(_weighted(summary))}"]
    lines.append(f"finalists, by the {summary['metric']} of held-out rows:")
    for row in summary["standings"]:
        lines.append(f"    {row['loss']:.4f}  {row['name']} ({in_folds(row['folds'])}, {row['rows']} rows each)")
    finalists = {row["name"].partition(", decoder ")[0] for row in summary["standings"]}
    left = [one for one in summary["departures"] if one["entry"] not in finalists]
    if left:
        lines.append("left the race:")
    for one in left:
        loss = "     –" if one["loss"] is None else f"{one['loss']:.4f}"
        lines.append(f"    {loss}  {one['entry']} ({one['rows']} rows). {one['why']}")
    return lines


def in_folds(count: int) -> str:
    """Return a number of folds in words.

    >>> in_folds(1), in_folds(5)
    ('1 fold', '5 folds')
    """
    return "1 fold" if count == 1 else f"{count} folds"


def _weighted(summary: dict[str, Any]) -> list[str]:
    if len(summary["winner"]) == 1:
        return [str(summary["winner"][0])]
    return [f"{100 * w:.0f} % {name}" for name, w in zip(summary["winner"], summary["weights"], strict=True)]
