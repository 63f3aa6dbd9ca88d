"""The data of a race that its report shows: who ran how far, the learning curve, the winner's parts and columns."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from outputcodes.selection import Race

# Entries that are listed; of more, those that were worst are counted.
MOST_ENTRIES = 200


def race_data(
    race: Race, importance: Mapping[str, Any] | None = None, tested: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """Return what the report shows of a fitted race; `importance` is that of `permuted_columns`.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> race = Race(None, contestants=["ridge", "decision-tree"], random_state=0).fit(*load_iris(return_X_y=True))
    >>> facts = race_data(race)
    >>> [lap["rows"] for lap in facts["laps"]], len(facts["members"]) == len(race.winner_)
    ([120], True)
    """
    entries: dict[str, dict[str, Any]] = {}

    def entry(name: str, family: str = "") -> dict[str, Any]:
        return entries.setdefault(name, {"name": name, "family": family, "points": [], "left": None})

    for number, lap in enumerate(race.laps_):
        for one in lap["entries"]:
            point = {"lap": number, "loss": one["loss"], "seconds": one["seconds"], "decoder": one["decoder"]}
            entry(one["entry"], one["family"])["points"].append(point)
    for gone in race.departures_:
        entry(gone["entry"])["left"] = {"rows": gone["rows"], "loss": gone["loss"], "why": gone["why"]}
    # Those that came furthest first, the better first among them.
    order = sorted(entries.values(), key=_place)
    members = [
        {"name": name, "weight": weight, **_parts(race, name)}
        for name, weight in zip(race.winner_, race.model_.weights, strict=True)
    ]
    laps = [{name: lap[name] for name in ("rows", "folds", "estimated", "seconds")} for lap in race.laps_]
    return {
        "laps": [{**lap, "entries": len(one["entries"])} for lap, one in zip(laps, race.laps_, strict=True)],
        "entries": order[:MOST_ENTRIES],
        "more": max(0, len(order) - MOST_ENTRIES),
        "members": members,
        "rows": race.n_rows_,
        "expected": {"loss": race.loss_, "interval": list(race.interval_)},
        "tested": tested,
        "curve": race.curve_,
        "best": race.standings_[0]["name"],
        "importance": importance,
    }


def _place(entry: Mapping[str, Any]) -> tuple[int, float]:
    points = entry["points"]
    return (-points[-1]["lap"], points[-1]["loss"]) if points else (1, 0.0)


def _parts(race: Race, name: str) -> dict[str, Any]:
    """The parameters of a member of the winner."""
    for row in race.standings_:
        parameters = {long.rpartition("__")[2]: value for long, value in row["parameters"].items()}
        if name == row["name"]:
            return {
                "contestant": row["contestant"],
                "code": row["code"],
                "decoder": row["decoder"],
                "parameters": parameters,
                "loss": row["loss"],
            }
    return {"contestant": name, "code": "", "decoder": "", "parameters": {}, "loss": None}
