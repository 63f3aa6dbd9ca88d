"""The outcomes of a search as `cv_results_`, in the form of scikit-learn's searches."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata
from sklearn.exceptions import FitFailedWarning

from outputcodes._ground.choosing import sorting_keys
from outputcodes.selection.searches.scores import Outcome, Scores

Outcomes = list[list[Outcome]]


def cv_results(candidates: list[dict[str, Any]], outcomes: Outcomes, more: dict[str, list[Any]]) -> dict[str, Any]:
    """Return the arrays of `cv_results_`; `more` has further columns, with a value per candidate.

    Scores within 1e-9 of each other have the same rank.
    """
    results: dict[str, Any] = {name: np.asarray(values) for name, values in more.items()}
    _store(results, "fit_time", [[one.fit_time for one in row] for row in outcomes])
    _store(results, "score_time", [[one.score_time for one in row] for row in outcomes])
    results |= parameter_columns(candidates)
    results["params"] = candidates
    for name in names_of(outcomes):
        test = [[_named(one.test, name) for one in row] for row in outcomes]
        _store(results, f"test_{name}", test, splits=True)
        results[f"rank_test_{name}"] = _ranks(results[f"mean_test_{name}"])
        # A failure has a score on the training rows whether or not one is wanted.
        if all(one.train is not None for row in outcomes for one in row):
            train = [[_named(one.train, name) for one in row] for row in outcomes]
            _store(results, f"train_{name}", train, splits=True)
    return results


def names_of(outcomes: Outcomes) -> list[str]:
    """Return the names of the scores."""
    first = outcomes[0][0].test
    return list(first) if isinstance(first, dict) else ["score"]


def parameter_columns(candidates: list[dict[str, Any]]) -> dict[str, Any]:
    """Return a masked array for each parameter, masked where a candidate does not have it."""
    columns: dict[str, Any] = {}
    for name in dict.fromkeys(name for params in candidates for name in params):
        given = {i: params[name] for i, params in enumerate(candidates) if name in params}
        try:
            kind = np.array(list(given.values())).dtype
            plain = np.array(list(given.values())).ndim == 1 and kind.kind != "U"
        except ValueError:
            plain = False
        column = np.ma.MaskedArray(np.empty(len(candidates), dtype=kind if plain else object), mask=True)
        for i, value in given.items():
            column[i] = value
        columns[f"param_{name}"] = column
    return columns


def report_failures(outcomes: Outcomes, error_score: Any) -> None:
    """Warn about trainings that failed; raise ValueError if all did."""
    failures = [one.failure for row in outcomes for one in row if one.failure is not None]
    total = sum(map(len, outcomes))
    if not failures:
        return
    counts = {text: failures.count(text) for text in dict.fromkeys(failures)}
    details = "\n".join(f"{count} fits failed with the following error:\n{text}" for text, count in counts.items())
    if len(failures) == total:
        raise ValueError(
            f"All the {total} fits failed.\nIt is very likely that the model is misconfigured. With "
            f"error_score='raise', the first error is raised.\n{details}"
        )
    warnings.warn(
        f"{len(failures)} fits failed out of a total of {total}.\nThe score on these splits for these parameters is "
        f"set to {error_score}.\n{details}",
        FitFailedWarning,
        stacklevel=4,
    )


def _named(scores: Scores | None, name: str) -> float:
    assert scores is not None
    return scores[name] if isinstance(scores, dict) else scores


def _store(results: dict[str, Any], name: str, values: list[list[float]], splits: bool = False) -> None:
    table: NDArray[np.float64] = np.array(values, dtype=np.float64)
    if splits:
        results |= {f"split{s}_{name}": table[:, s] for s in range(table.shape[1])}
    with np.errstate(invalid="ignore"):
        results[f"mean_{name}"], results[f"std_{name}"] = table.mean(axis=1), table.std(axis=1)
    if splits and not np.isfinite(results[f"mean_{name}"]).all():
        side = name.split("_")[0]
        warnings.warn(f"One or more of the {side} scores are non-finite: {results[f'mean_{name}']}", stacklevel=5)


def _ranks(means: NDArray[np.float64]) -> NDArray[np.int32]:
    if np.isnan(means).all():
        return np.ones(len(means), dtype=np.int32)
    filled = np.where(np.isnan(means), np.nanmin(means) - 1, means)
    keys = sorting_keys(-filled) if np.isfinite(filled).all() else -filled
    ranks: NDArray[np.int32] = rankdata(keys, method="min").astype(np.int32)
    return ranks
