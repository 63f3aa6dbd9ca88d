"""Ranked results seen code by code: the decoders of each, and every pair of codes."""

from __future__ import annotations

from typing import Any

import numpy as np

from outputcodes._ground.choosing import TIE
from outputcodes.selection import Result, Results
from outputcodes.selection.ranking import folds_p_value


def decoders_by_code(rows: Results) -> list[dict[str, Any]]:
    """Return the decoders of each learner and code, best first, as places in `rows`; the best code first."""
    groups: dict[tuple[str, str], list[int]] = {}
    for i, row in enumerate(rows):
        if row.code and row.decoder:
            groups.setdefault((row.learner, row.code), []).append(i)
    return [{"learner": learner, "code": code, "rows": places} for (learner, code), places in groups.items()]


def codes_pairwise(rows: Results) -> list[dict[str, Any]]:
    """Return every pair of codes, compared under the learners and decoders that served both.

    Each entry holds the two codes, how many (learner, decoder) they share, how many of them the first wins and ties,
    the mean difference of errors (first − second), and the p-value of the paired test on the folds' means.
    """
    served: dict[str, dict[tuple[str, str], Result]] = {}
    for row in rows:
        if row.code and row.decoder:
            # Of two rows by the same names, the better.
            for decoder in (row.decoder, *row.also):
                served.setdefault(row.code, {}).setdefault((row.learner, decoder), row)
    codes, pairs = list(served), []
    for i, first in enumerate(codes):
        for second in codes[i + 1 :]:
            if not (shared := [key for key in served[first] if key in served[second]]):
                continue
            a, b = ([served[code][key] for key in shared] for code in (first, second))
            errors = np.array([[x.error, y.error] for x, y in zip(a, b, strict=True)])
            differences = errors[:, 0] - errors[:, 1]
            ties = np.abs(differences) <= TIE * errors.max(axis=1)
            pairs.append(
                {
                    "first": first,
                    "second": second,
                    "shared": len(shared),
                    "wins": int(((differences < 0) & ~ties).sum()),
                    "ties": int(ties.sum()),
                    "difference": float(differences.mean()),
                    "p_value": folds_p_value(_fold_means(a), _fold_means(b), rows.test_to_train),
                }
            )
    return pairs


def _fold_means(rows: list[Result]) -> list[float]:
    """The mean error on each fold; empty if the rows were measured on different numbers of folds."""
    if len({len(row.fold_errors) for row in rows}) > 1:
        return []
    means: list[float] = np.mean([row.fold_errors for row in rows], axis=0).tolist()
    return means
