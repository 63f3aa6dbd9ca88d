"""A race on a table: the best model within a time limit, and what is said of it."""

from __future__ import annotations

from typing import Any

from sklearn.pipeline import Pipeline

from outputcodes.app.tables import AsNumbersAndCategories, Table, errors
from outputcodes.selection import CONTESTANTS, Race

# Seconds that are kept for the file of the model, of those that are given.
SAVING_SHARE = 0.05


def race_on(
    table: Table, time_limit: float, *, metric: str = "error", seed: int = 0, n_jobs: int | None = None
) -> tuple[Pipeline, dict[str, Any]]:
    """Return the winner of a race, which takes raw tables, and plain data on the race.

    Only contestants whose models can be saved take part.

    Examples
    --------
    >>> from outputcodes.app.run.sources import open_table
    >>> table = open_table("iris")
    >>> model, facts = race_on(table, 5)
    >>> model.predict(table.frame).shape, facts["learner"]
    ((150,), 'race')
    """
    schema = table.schema
    if not schema.used:
        raise errors.MissingColumnsError("The table has no column that a model could read.")
    kinds = {"numbers": "number", "dates": "date", "categories": "category", "words": "words"}
    view = AsNumbersAndCategories(**{name: schema.names(kind) for name, kind in kinds.items()})  # type: ignore[arg-type]
    savable = [name for name, one in CONTESTANTS.items() if not one.needs]
    race = Race(time_limit * (1 - SAVING_SHARE), contestants=savable, metric=metric, n_jobs=n_jobs, random_state=seed)
    race.fit(view.transform(table.frame), table.target.to_numpy())
    facts = {
        "learner": "race",
        "winner": race.winner_,
        "weights": race.model_.weights,
        "metric": metric,
        "error": race.loss_,
        "interval": list(race.interval_),
        "standings": race.standings_,
        "departures": race.departures_,
    }
    return Pipeline([("table", view), ("classifier", race.model_)]), facts


def in_words(summary: dict[str, Any]) -> list[str]:
    """Return lines on a race: what the winner consists of, who was next, and who left.

    >>> row = {"contestant": "ridge", "code": "dense", "decoder": "loss", "loss": 0.1, "rows": 80, "folds": 5}
    >>> gone = {"entry": "tree dense", "rows": 80, "loss": 0.25, "why": "It is clearly behind ridge dense."}
    >>> facts = {"winner": ["ridge dense, decoder loss"], "weights": [1.0], "metric": "error"}
    >>> print(*in_words({**facts, "standings": [row], "departures": [gone]}), sep="\\n")
    winner: ridge dense, decoder loss
    finalists, by the error of held-out rows:
        0.1000  ridge dense loss (5 folds, 80 rows each)
    left the race:
        0.2500  tree dense (80 rows). It is clearly behind ridge dense.
    """
    lines = [f"winner: {', '.join(_weighted(summary))}"]
    lines.append(f"finalists, by the {summary['metric']} of held-out rows:")
    for row in summary["standings"]:
        name = " ".join(filter(None, (row["contestant"], row["code"], row["decoder"])))
        lines.append(f"    {row['loss']:.4f}  {name} ({row['folds']} folds, {row['rows']} rows each)")
    if summary["departures"]:
        lines.append("left the race:")
    for one in summary["departures"]:
        loss = "     –" if one["loss"] is None else f"{one['loss']:.4f}"
        lines.append(f"    {loss}  {one['entry']} ({one['rows']} rows). {one['why']}")
    return lines


def _weighted(summary: dict[str, Any]) -> list[str]:
    if len(summary["winner"]) == 1:
        return [str(summary["winner"][0])]
    return [f"{100 * w:.0f} % {name}" for name, w in zip(summary["winner"], summary["weights"], strict=True)]
