"""Combinations, learners, codes and decoders ranked over data sets: what the defaults were chosen from."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

import numpy as np
from scipy.stats import rankdata

from outputcodes.selection import mean_ranks
from reproduce.experiment import Claim, Findings, Observation, TextTable, Verdict

CODES = ("one-vs-all", "all-pairs", "dense", "sparse", "complete")
# Groups of data sets, by the fewest and the most classes.
GROUPS = {"all": (0, 99), "k ≤ 7": (0, 7), "k = 8–12": (8, 12), "k > 12": (13, 99)}


class Combination(NamedTuple):
    """A learner, a code and a decoder."""

    learner: str
    code: str
    decoder: str

    def __str__(self) -> str:
        return " · ".join(self)


# The defaults of `OutputCodeClassifier`.
CURRENT = Combination("linear-svm", "all-pairs", "loss")

# Errors in percent: data set → combination → error.
Errors = dict[str, dict[Combination, float]]


def present(observations: list[Observation]) -> Findings:
    """Rank combinations, learners, codes and decoders, over all data sets and by the number of classes."""
    errors = _errors(observations)
    classes = {own.unit["data_set"]: own.found["classes"] for own in observations}
    groups = {
        group: {name: own for name, own in errors.items() if least <= classes[name] <= most}
        for group, (least, most) in GROUPS.items()
    }
    tables = [table for group, own in groups.items() if (table := _best(own, group))]
    for factor, fixed in (("learner", {"decoder": "loss"}), ("code", {"decoder": "loss"}), ("decoder", {})):
        ranked = {group: _marginal(own, factor, fixed) for group, own in groups.items()}
        tables += _factor(factor, fixed, {group: own for group, own in ranked.items() if own})
    tables.append(_seconds(observations))
    claims = [claim for group, own in groups.items() if (claim := _against_current(own, group))]
    return Findings([table for table in tables if table.rows], claims)


def _errors(observations: Iterable[Observation]) -> Errors:
    errors: Errors = {}
    for own in observations:
        for code, by_decoder in own.found["wrong"].items():
            for decoder, wrong in by_decoder.items():
                combination = Combination(own.unit["learner"], code, decoder)
                errors.setdefault(own.unit["data_set"], {})[combination] = 100 * wrong / own.found["tested"]
    return errors


def _shared(errors: Errors) -> list[Combination]:
    """Return the combinations that were measured on every data set."""
    return [
        combination
        for combination in next(iter(errors.values()), {})
        if all(combination in own for own in errors.values())
    ]


def _ranked(errors: Errors) -> list[tuple[float, Combination]]:
    """Return the mean ranks of the combinations, the best first."""
    if len(errors) < 2 or len(combinations := _shared(errors)) < 3:
        return []
    ranks = rankdata([[own[combination] for combination in combinations] for own in errors.values()], axis=1).mean(
        axis=0
    )
    return sorted(zip(ranks.tolist(), combinations, strict=True))


def _place(rank: float, ranked: Iterable[tuple[float, Combination]]) -> int:
    """Return the place of a mean rank; equal ranks share one."""
    return 1 + sum(other < rank for other, _ in ranked)


def _critical_difference(errors: Errors) -> float:
    combinations = _shared(errors)
    return mean_ranks(
        np.array([[own[combination] for combination in combinations] for own in errors.values()])
    ).critical_difference


def _best(errors: Errors, group: str, shown: int = 8) -> TextTable | None:
    ranked = _ranked(errors)
    rows = [
        (
            str(_place(rank, ranked)),
            *combination,
            f"{rank:.1f}",
            f"{np.mean([own[combination] for own in errors.values()]):.1f}",
        )
        for at, (rank, combination) in enumerate(ranked)
        if at < shown or combination == CURRENT
    ]
    header = ("place", "learner", "code", "decoder", "mean rank", "mean error")
    if not rows:
        return None
    remark = (
        f"{len(ranked)} combinations on {len(errors)} data sets: {', '.join(errors)}. The critical difference of mean "
        f"ranks is {_critical_difference(errors):.1f}."
    )
    return TextTable(f"The best combinations, {group}", header, rows, (remark,))


class Level(NamedTuple):
    """The mean rank and mean error of a level of a factor."""

    rank: float
    error: float


def _marginal(errors: Errors, factor: str, fixed: Mapping[str, str]) -> tuple[dict[str, Level], float, float] | None:
    """Rank the levels of one factor by mean error over the others; return Friedman's p and critical difference too."""
    if len(errors) < 2:
        return None
    combinations = [
        combination
        for combination in _shared(errors)
        if all(getattr(combination, at) == level for at, level in fixed.items())
    ]
    levels = list(dict.fromkeys(getattr(combination, factor) for combination in combinations))
    if len(levels) < 3:
        return None
    table = np.array(
        [
            [
                np.mean([own[combination] for combination in combinations if getattr(combination, factor) == level])
                for level in levels
            ]
            for own in errors.values()
        ]
    )
    ranks = mean_ranks(table)
    found = {
        level: Level(float(rank), float(error))
        for level, rank, error in zip(levels, ranks.mean_ranks, table.mean(axis=0), strict=True)
    }
    return found, ranks.p_value, ranks.critical_difference


def _factor(
    factor: str, fixed: Mapping[str, str], ranked: Mapping[str, tuple[dict[str, Level], float, float]]
) -> list[TextTable]:
    """Return a table with a row per level: mean rank (mean error) in each group of data sets."""
    if not ranked:
        return []
    levels = list(dict.fromkeys(level for found, _, _ in ranked.values() for level in found))
    first = next(iter(ranked.values()))[0]
    levels.sort(key=lambda level: first[level].rank if level in first else np.inf)
    rows = [
        (
            level,
            *(
                f"{own[level].rank:.2f} ({own[level].error:.1f})" if level in own else "–"
                for own, _, _ in ranked.values()
            ),
        )
        for level in levels
    ]
    rows.append(("critical difference", *(f"{difference:.2f}" for _, _, difference in ranked.values())))
    rows.append(("Friedman's p", *(f"{p:.2g}" for _, p, _ in ranked.values())))
    over = ", ".join(f"{at} {level}" for at, level in fixed.items())
    remark = "Mean rank (mean error in %), by the mean error over the other choices" + (f"; {over}." if over else ".")
    return [TextTable(f"By {factor}", (factor, *ranked), rows, (remark,))]


def _against_current(errors: Errors, group: str) -> Claim | None:
    """Claim that a combination is better than the defaults; the test allows for the number of combinations compared.

    Choosing the best on all data sets but one and comparing it on that one would be unfair to it: of two that are about
    equally good, the one chosen is the one that is worse on the data set left out.
    """
    ranked = _ranked(errors)
    rank_of = {combination: rank for rank, combination in ranked}
    if CURRENT not in rank_of:
        return None
    (best_rank, best), own_rank, reach = ranked[0], rank_of[CURRENT], _critical_difference(errors)
    place = _place(own_rank, ranked)
    verdict: Verdict = "undecided"
    if own_rank - best_rank > reach:
        verdict = "supported"
    elif place == 1:
        verdict = "not supported"
    evidence = f"{CURRENT} has place {place} of {len(ranked)}, mean rank {own_rank:.1f}"
    if place > 1:
        evidence += f"; {best} has the best mean rank, {best_rank:.1f}"
    rule = (
        f"supported if the best mean rank is lower by more than the critical difference, {reach:.1f}, not supported if "
        "no combination has a better mean rank"
    )
    return Claim(f"Defaults, {group}: another combination is better than {CURRENT}", verdict, f"{evidence}; {rule}")


def _seconds(observations: Iterable[Observation]) -> TextTable:
    """Return the median seconds of training a code."""
    times: dict[tuple[str, str], list[float]] = {}
    for own in observations:
        for code, seconds in own.found["fit_seconds"].items():
            times.setdefault((own.unit["learner"], code), []).append(seconds)
    learners = dict.fromkeys(learner for learner, _ in times)
    rows = [
        (learner, *(f"{np.median(times[learner, code]):.2g}" if (learner, code) in times else "–" for code in CODES))
        for learner in learners
    ]
    remark = "Over the data sets; rough where units ran at the same time (`--jobs` above 1)."
    return TextTable("Median seconds of training", ("learner", *CODES), rows, (remark,))
