"""Which learner, code and decoder should be the defaults: all of them on the data sets of the texts, by mean ranks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import rankdata

from outputcodes.app.run import build
from outputcodes.app.tables import infer
from outputcodes.selection import compare, mean_ranks
from reproduce.comparing import lower_claim
from reproduce.data import sample, splits
from reproduce.experiment import Claim, Experiment, Findings, Result, Table, Unit

LEARNERS = ("ridge", "logistic", "linear-svm", "kernel-svm", "stumps", "tree")
CODES = ("one-vs-all", "all-pairs", "dense", "sparse", "complete")
DECODERS = ("hamming", "loss", "linear", "accuracy-weighted", "likelihood")
# Up to so many classes the complete code is tried.
COMPLETE_UP_TO = 7
# Those that take longest first.
DATA_SETS = (
    *("thyroid", "letter", "audiology", "pendigits", "yeast", "soybean", "satimage", "vowel"),
    *("segmentation", "ecoli", "vehicle", "dermatology", "glass", "wine", "iris"),
)
# The fewest and the most classes.
GROUPS = {"all": (0, 99), "k ≤ 7": (0, 7), "k = 8–12": (8, 12), "k > 12": (13, 99)}


class System(NamedTuple):
    """A learner, a code and a decoder."""

    learner: str
    code: str
    decoder: str

    def __str__(self) -> str:
        return " · ".join(self)


# What `OutputCodeClassifier()` does.
CURRENT = System("linear-svm", "all-pairs", "loss")

# Errors in per cent: data set → system → error.
Errors = dict[str, dict[System, float]]

PROTOCOL = """
Every learner under its name, with its own default parameters, every code and every decoder, on tables preprocessed as
`outputcodes compare` does: for stumps and trees as they are; for the others standardised, categories one-hot. The
official partition of a data set, else five folds (also for segmentation and audiology); of larger training sets `rows`
random rows. isolet is left out, whose 617 features would take boosted stumps longer than all the rest. Random codes are
drawn once for a data set. The complete code is tried up to 7 classes. Systems are ranked on every data set by their
test error; differences of mean ranks below the critical difference of Nemenyi's test at 5 % may be chance.

The defaults of `OutputCodeClassifier` were chosen from these tables: of all systems the one of the least mean rank,
linear-svm · all-pairs, with loss-based decoding, which needs no margins held out as likelihood decoding does and is
level with it. Before, they were logistic · all-pairs · loss. No k asks for another code by more than chance.
"""


def _units(data_sets: tuple[str, ...], quick: bool, **options: Any) -> list[Unit]:
    learners: tuple[str, ...] = LEARNERS
    if quick:
        data_sets = tuple(name for name in data_sets if name in ("wine", "iris", "glass"))
        learners, options = ("ridge", "logistic", "kernel-svm"), {**options, "folds": 2}
    return [{"data_set": name, "learner": learner, **options} for name in data_sets for learner in learners]


def measure(data_set: str, learner: str, rows: int, folds: int, seed: int) -> dict[str, Any]:
    """Wrong predictions of every code and decoder, how many were tested, and the seconds that a fit takes."""
    data = sample(data_set)
    codes = [code for code in CODES if code != "complete" or data.k <= COMPLETE_UP_TO]
    wrong: dict[str, dict[str, int]] = {code: dict.fromkeys(DECODERS, 0) for code in codes}
    seconds: dict[str, list[float]] = {code: [] for code in codes}
    tested = 0
    rng = np.random.default_rng(seed)
    for train, test in splits(data, folds, seed):
        train = np.sort(rng.permutation(train)[:rows])
        model = build(infer(data.X), learner, rows=len(train))
        X = model[:-1].fit(data.X.iloc[train]).transform(data.X)
        found = compare(X, data.y, model[-1].estimator, codes, DECODERS, [(train, test)], n_jobs=1, random_state=seed)
        for row in found:
            wrong[row.code][row.decoder] += round(row.error * len(test))
            if row.decoder == "loss":
                seconds[row.code].append(row.fit_seconds)
        tested += len(test)
    return {
        "classes": data.k,
        "tested": tested,
        "wrong": wrong,
        "fit_seconds": {code: round(float(np.mean(own)), 3) for code, own in seconds.items()},
    }


def present(results: list[Result]) -> Findings:
    """Systems, learners, codes and decoders ranked, over all data sets and by the number of classes."""
    errors, classes = _errors(results), {result.unit["data_set"]: result.found["classes"] for result in results}
    groups = {
        group: {name: own for name, own in errors.items() if least <= classes[name] <= most}
        for group, (least, most) in GROUPS.items()
    }
    tables = [table for group, own in groups.items() if (table := _systems(own, group))]
    for factor, fixed in (("learner", {"decoder": "loss"}), ("code", {"decoder": "loss"}), ("decoder", {})):
        ranked = {group: _marginal(own, factor, fixed) for group, own in groups.items()}
        tables += _factor(factor, fixed, {group: own for group, own in ranked.items() if own})
    tables.append(_seconds(results))
    claims = [claim for group, own in groups.items() if (claim := _against_current(own, group))]
    return Findings([table for table in tables if table.rows], claims)


def _errors(results: Iterable[Result]) -> Errors:
    errors: Errors = {}
    for result in results:
        for code, by_decoder in result.found["wrong"].items():
            for decoder, wrong in by_decoder.items():
                system = System(result.unit["learner"], code, decoder)
                errors.setdefault(result.unit["data_set"], {})[system] = 100 * wrong / result.found["tested"]
    return errors


def _shared(errors: Errors) -> list[System]:
    """The systems that were measured on every data set."""
    return [system for system in next(iter(errors.values()), {}) if all(system in own for own in errors.values())]


def _ranked(errors: Errors) -> list[tuple[float, System]]:
    """Mean ranks of the systems, the best first."""
    if len(errors) < 2 or len(systems := _shared(errors)) < 3:
        return []
    ranks = rankdata([[own[system] for system in systems] for own in errors.values()], axis=1).mean(axis=0)
    return sorted(zip(ranks.tolist(), systems, strict=True))


def _critical_difference(errors: Errors) -> float:
    systems = _shared(errors)
    return mean_ranks(np.array([[own[system] for system in systems] for own in errors.values()])).critical_difference


def _systems(errors: Errors, group: str, shown: int = 8) -> Table | None:
    ranked = _ranked(errors)
    rows = [
        (str(place), *system, f"{rank:.1f}", f"{np.mean([own[system] for own in errors.values()]):.1f}")
        for place, (rank, system) in enumerate(ranked, start=1)
        if place <= shown or system == CURRENT
    ]
    header = ("place", "learner", "code", "decoder", "mean rank", "mean error")
    if not rows:
        return None
    remark = (
        f"{len(ranked)} systems on {len(errors)} data sets: {', '.join(errors)}. The critical difference of mean ranks "
        f"is {_critical_difference(errors):.1f}."
    )
    return Table(f"The best systems, {group}", header, rows, (remark,))


class Level(NamedTuple):
    """Of a factor: its mean rank and mean error."""

    rank: float
    error: float


def _marginal(errors: Errors, factor: str, fixed: Mapping[str, str]) -> tuple[dict[str, Level], float, float] | None:
    """The levels of one factor ranked by their mean error over the other factors; Friedman's p, critical difference."""
    if len(errors) < 2:
        return None
    systems = [system for system in _shared(errors) if all(getattr(system, at) == level for at, level in fixed.items())]
    levels = list(dict.fromkeys(getattr(system, factor) for system in systems))
    if len(levels) < 3:
        return None
    table = np.array(
        [
            [np.mean([own[system] for system in systems if getattr(system, factor) == level]) for level in levels]
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
) -> list[Table]:
    """A row for each level: mean rank (mean error) in each group of data sets."""
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
    remark = "Mean rank (mean error in %) of the mean error over the other choices" + (f"; {over}." if over else ".")
    return [Table(f"By {factor}", (factor, *ranked), rows, (remark,))]


def _against_current(errors: Errors, group: str) -> Claim | None:
    """Whether choosing by mean rank beats what the classifier does now, on data sets that had no part in the choice.

    The best of a hundred systems is better than another by chance alone on the data sets that made it the best.
    """
    chosen = {
        name: ranked[0][1]
        for name in errors
        if (ranked := _ranked({other: own for other, own in errors.items() if other != name}))
    }
    if not chosen or CURRENT not in _shared(errors):
        return None
    lower = {name: errors[name][system] for name, system in chosen.items()}
    claim = lower_claim(
        f"Defaults, {group}: the best by mean rank on the other data sets is better than {CURRENT}",
        lower,
        {name: errors[name][CURRENT] for name in chosen},
    )
    counts = Counter(map(str, chosen.values())).most_common()
    return replace(claim, evidence=f"{claim.evidence}. Chosen: {', '.join(f'{one} ({n})' for one, n in counts)}")


def _seconds(results: Iterable[Result]) -> Table:
    """Median seconds of training a code."""
    times: dict[tuple[str, str], list[float]] = {}
    for result in results:
        for code, seconds in result.found["fit_seconds"].items():
            times.setdefault((result.unit["learner"], code), []).append(seconds)
    learners = dict.fromkeys(learner for learner, _ in times)
    rows = [
        (learner, *(f"{np.median(times[learner, code]):.2g}" if (learner, code) in times else "–" for code in CODES))
        for learner in learners
    ]
    remark = "Over the data sets; rough where units ran side by side (`--jobs` above 1)."
    return Table("Median seconds of training", ("learner", *CODES), rows, (remark,))


DEFAULTS = Experiment(
    name="defaults",
    title="Defaults: learner, code and decoder by mean rank",
    source="the data sets of the texts; no published numbers",
    protocol=PROTOCOL,
    data_sets=DATA_SETS,
    units=_units,
    measure=measure,
    present=present,
    options={"rows": 2000, "folds": 5, "seed": 0},
)
