"""The results of a comparison, ranked and set against each other: rows in, plain data out."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from scipy import stats

from outputcodes.selection import corrected_t_test
from outputcodes.selection.mcnemar import mcnemar

Row = dict[str, Any]

# What a row may tell, and what it tells otherwise. A system that is no output code has no code and no decoder.
FIELDS: Row = {
    "learner": "",
    "code": "",
    "decoder": "",
    "columns": None,
    "error": None,
    "fold_errors": (),
    "fit_seconds": None,
    "predict_seconds": None,
    "size_bytes": None,
    "losses": None,
}
LEVEL = 0.95


def ranked(rows: Iterable[Any], test_to_train: float | None = None, tested: int | None = None) -> list[Row]:
    """The rows as dicts, best first, each with an interval and the p-value of the test against the best.

    The test is the corrected paired t-test on the folds. With one split it is one on the test rows, where "losses"
    tells what each of them adds: McNemar's for booleans, which rows are missed, and a paired t-test for numbers.

    Parameters
    ----------
    rows : iterable of Comparison, or of mappings with some of the same names
    test_to_train : float, optional
        n_test/n_train of a fold; 1/(J − 1) by default, which is that of J folds.
    tested : int, optional
        The number of rows on which errors were counted, where there is one split and "losses" are not told; then the
        interval is Wilson's.

    Examples
    --------
    >>> rows = [{"learner": "SVC", "fold_errors": (0.1, 0.2)}, {"learner": "tree", "fold_errors": (0.3, 0.3)}]
    >>> [(row["rank"], row["learner"], round(row["error"], 2), row["p_value"]) for row in ranked(rows)]
    [(1, 'SVC', 0.15, None), (2, 'tree', 0.3, 0.333...)]
    """
    found = sorted(map(_row, rows), key=lambda row: (row["error"], row["columns"] or 0))
    if not found:
        raise ValueError("rows is empty: a report needs at least one result.")
    for rank, row in enumerate(found, start=1):
        row["rank"] = rank
        row["interval"] = _interval(row, test_to_train, tested)
        row["p_value"] = None if rank == 1 else _against(row, found[0], test_to_train)
        row["frontier"] = _on_frontier(row, found)
    return found


def decoders_by_code(rows: list[Row]) -> list[Row]:
    """For each learner and code its decoders, best first, as places in `rows`; in the order of the best of each."""
    groups: dict[tuple[str, str], list[int]] = {}
    for i, row in enumerate(rows):
        if row["code"] and row["decoder"]:
            groups.setdefault((row["learner"], row["code"]), []).append(i)
    return [{"learner": learner, "code": code, "rows": places} for (learner, code), places in groups.items()]


def codes_pairwise(rows: list[Row], test_to_train: float | None = None) -> list[Row]:
    """Every pair of codes under the learners and decoders that served both.

    Each entry holds the two codes, how many (learner, decoder) they share, how many of them the first wins and ties,
    the mean difference of errors (first − second), and the p-value of the paired test on the folds' means.
    """
    served: dict[str, dict[tuple[str, str], Row]] = {}
    for row in rows:
        if row["code"] and row["decoder"]:
            # Of two rows by the same names, the better.
            served.setdefault(row["code"], {}).setdefault((row["learner"], row["decoder"]), row)
    codes, pairs = list(served), []
    for i, first in enumerate(codes):
        for second in codes[i + 1 :]:
            if not (shared := [key for key in served[first] if key in served[second]]):
                continue
            a, b = ([served[code][key] for key in shared] for code in (first, second))
            differences = np.array([x["error"] - y["error"] for x, y in zip(a, b, strict=True)])
            pairs.append(
                {
                    "first": first,
                    "second": second,
                    "shared": len(shared),
                    "wins": int((differences < 0).sum()),
                    "ties": int((differences == 0).sum()),
                    "difference": float(differences.mean()),
                    "p_value": _p_value(_fold_means(a), _fold_means(b), test_to_train),
                }
            )
    return pairs


def _row(given: Any) -> Row:
    told = given if isinstance(given, Mapping) else dataclasses.asdict(given)
    row: Row = {name: told.get(name, default) for name, default in FIELDS.items()}
    row["fold_errors"] = [float(error) for error in row["fold_errors"]]
    if row["losses"] is not None:
        row["losses"] = np.asarray(row["losses"])
    if row["error"] is None:
        row["error"] = float(np.mean(row["fold_errors"])) if row["fold_errors"] else math.nan
    if not math.isfinite(row["error"]):
        raise ValueError(f"the result {told!r} has no finite error; leave it out and say why in `notes`.")
    return row


def _interval(row: Row, test_to_train: float | None, tested: int | None) -> list[float] | None:
    """At the level 95 %, with the variance of Nadeau & Bengio for folds."""
    errors, error = row["fold_errors"], row["error"]
    J = len(errors)
    if J > 1:
        ratio = 1 / (J - 1) if test_to_train is None else test_to_train
        quantile = stats.t.ppf((1 + LEVEL) / 2, J - 1)
        half = float(quantile * np.std(errors, ddof=1) * math.sqrt(1 / J + ratio))
        return [max(error - half, 0.0), error + half]
    losses = row["losses"]
    if losses is not None and losses.dtype != bool:
        half = float(stats.t.ppf((1 + LEVEL) / 2, len(losses) - 1) * stats.sem(losses)) if len(losses) > 1 else math.inf
        return [max(error - half, 0.0), error + half] if math.isfinite(half) else None
    if losses is not None:
        tested = len(losses)
    if tested is None:
        return None
    wilson = stats.binomtest(round(error * tested), tested).proportion_ci(LEVEL, method="wilson")
    return [float(wilson.low), float(wilson.high)]


def _against(row: Row, best: Row, test_to_train: float | None) -> float | None:
    a, b = row["losses"], best["losses"]
    if len(row["fold_errors"]) < 2 and a is not None and b is not None:
        if a.dtype == bool:
            return mcnemar(a, b).p_value
        # Of differences that are all the same no t can be taken.
        return float(stats.ttest_rel(a, b).pvalue) if np.ptp(a - b) > 0 else None if (a != b).any() else 1.0
    return _p_value(row["fold_errors"], best["fold_errors"], test_to_train)


def _p_value(errors: list[float], others: list[float], test_to_train: float | None) -> float | None:
    J = len(errors)
    if J < 2 or len(others) != J:
        return None
    return corrected_t_test(errors, others, 1 / (J - 1) if test_to_train is None else test_to_train).p_value


def _fold_means(rows: list[Row]) -> list[float]:
    lengths = {len(row["fold_errors"]) for row in rows}
    means: list[float] = np.mean([row["fold_errors"] for row in rows], axis=0).tolist() if len(lengths) == 1 else []
    return means


def _on_frontier(row: Row, rows: list[Row]) -> bool:
    """Whether no other row is both as good and as fast, and better in one of the two."""
    time, error = row["fit_seconds"], row["error"]
    if time is None:
        return False
    return not any(
        other["fit_seconds"] is not None
        and other["fit_seconds"] <= time
        and other["error"] <= error
        and (other["fit_seconds"] < time or other["error"] < error)
        for other in rows
    )
