"""The results of a race: its finalists ranked, sentences on it, and the winner on test rows."""

from __future__ import annotations

from outputcodes.app.run.race.winner import model_of
from outputcodes.app.run.sources import Source
from outputcodes.selection import Race, Result, Results, ranked
from outputcodes.selection.metrics import row_losses
from outputcodes.selection.ranking import interval

# Of more that could not be trained, the others are counted.
MOST_NAMED = 5


def is_split(source: Source) -> bool:
    """Return whether a table has test rows of its own."""
    return len(source.splits.pairs) == 1


def tested_on(race: Race, source: Source) -> Result:
    """Return the result of a race's model on the test rows of a table, with its interval."""
    frame, y = source.table.frame, source.table.target.to_numpy()
    test = source.splits.pairs[0][1]
    P = model_of(race, source.table.schema).predict_proba(frame.iloc[test])
    losses = row_losses(race.metric, y[test], race.classes_[P.argmax(axis=1)], P, race.classes_)
    found = Result("race", fold_errors=(float(losses.mean()),), losses=losses)
    return Result("race", fold_errors=found.fold_errors, losses=losses, interval=interval(found))


def rows_of(race: Race) -> Results:
    """Return the finalists of a race, ranked, and the average if it has won; tests are on the rows of all folds."""
    rows = [
        Result(
            row["contestant"],
            row["code"],
            row["decoder"],
            fold_errors=(row["loss"],),
            losses=losses,
            fit_seconds=row["seconds"],
            parameters={name.rpartition("__")[2]: value for name, value in row["parameters"].items()},
        )
        for row, losses in zip(race.standings_, race.finalist_losses_.T, strict=True)
    ]
    if len(race.winner_) > 1:
        rows.insert(
            0, Result(f"average of {len(race.winner_)}", fold_errors=(float(race.losses_.mean()),), losses=race.losses_)
        )
    return ranked(rows, metric=race.metric)


def why_this_model(race: Race, trained: int) -> list[str]:
    """Return sentences on what is unusual about the winner of a race that had so many rows."""
    (name, *others), best, notes = race.winner_, race.standings_[0], []
    if race.chosen_ == "average" and not others:
        notes.append(
            f"The choice of an average ended with all weight on {name}, clearly better than the best finalist."
        )
    if race.chosen_ == "substitute":
        notes.append(f"{best['name']} was best, and could not be trained on all rows in time: the model is {name}.")
    if race.n_rows_ < trained:
        notes.append(f"There was no time to train the model on all rows: it knows {race.n_rows_} of {trained}.")
    if best["rows"] < trained / 2:
        notes.append(
            f"There was no time to measure the model with more than {best['rows']} of the {trained} training rows; "
            "with more, it may be better."
        )
    return notes


def notes_on(race: Race, rows: Results, tested: Result | None, trained: int) -> list[str]:
    """Return sentences on a race: what the winner is, what to expect of it, and who was left out.

    `trained` is the number of rows that the race had.
    """
    scale, unit = (1, "") if race.metric == "log-loss" else (100, " %")
    low, high = race.interval_
    metric = "balanced error" if race.metric == "balanced" else race.metric
    notes = []
    if len(race.winner_) > 1:
        parts = zip(race.winner_, race.model_.weights, strict=True)
        notes.append(
            "The model is the average: " + "; ".join(f"{100 * weight:.0f} % {name}" for name, weight in parts) + "."
        )
    notes += why_this_model(race, trained)
    # The weights of an average were not chosen on the rows that they are scored on; what replaces the best was chosen
    # because it is there.
    corrected = ", corrected for being the best of several" if race.chosen_ == "best" else ""
    notes.append(
        f"Expected {metric} of the model on new rows: {scale * race.loss_:.4g}{unit} ({scale * low:.4g} to "
        f"{scale * high:.4g}{unit}){corrected}."
    )
    if tested is not None:
        assert tested.losses is not None
        low, high = (tested.error, tested.error) if tested.interval is None else tested.interval
        notes.append(
            f"{metric.capitalize()} on the {len(tested.losses)} test rows, which had no part in the race: "
            f"{scale * tested.error:.4g}{unit} ({scale * low:.4g} to {scale * high:.4g}{unit})."
        )
    # The winner may have had no time for another lap.
    won = {name.partition(", decoder ")[0] for name in race.winner_}
    failed = [one for one in race.departures_ if one["loss"] is None and one["entry"] not in won]
    notes += [f"{one['entry']}: {one['why']}" for one in failed[:MOST_NAMED]]
    if len(failed) > MOST_NAMED:
        more = len(failed) - MOST_NAMED
        notes.append(f"{more} more could not be trained: report.html in the folder of --out names them.")
    return notes
