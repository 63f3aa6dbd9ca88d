"""Tables 2 to 6 of Jin & Zhang: smoothed boosting against AdaBoost.OC and a random code, with and without noise."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np

from outputcodes.selection import corrected_t_test
from reproduce.experiment import Claim, Experiment, Findings, Observation, TextTable, Unit
from reproduce.jin.published import DATA_SETS, published
from reproduce.jin.trial import TRAINING_SHARE, measure
from reproduce.judging import lower_claim, signed

# A method, its number of rounds and the share of wrong labels.
Row = tuple[str, int, float]

SPLITS = 10
NAMES = {
    "ecoc": "ECOC",
    "oc": "AdaBoost.OC",
    "one-vs-all": "one-vs-all SmoothBoost (BinBoost.Reg)",
    "random": "SmoothBoost, random code",
    "probabilistic": "probabilistic code",
    "deterministic": "deterministic code",
}
CLEAN: tuple[Row, ...] = (("ecoc", 50, 0.0), ("oc", 50, 0.0), ("one-vs-all", 50, 0.0), ("random", 50, 0.0))
NOISY: tuple[Row, ...] = tuple((method, rounds, 0.2) for method, rounds, _ in CLEAN)
CODES: tuple[Row, ...] = tuple((method, rounds, 0.0) for rounds in (50, 20) for method in ("random", "probabilistic"))
NOISY_CODES: tuple[Row, ...] = (("random", 50, 0.2), ("probabilistic", 50, 0.2))
DETERMINISTIC: tuple[Row, ...] = (("deterministic", 50, 0.0), ("probabilistic", 50, 0.0))

PROTOCOL = """
60 % of the rows are for training, drawn ten times with the shares of the classes kept, and the rest for testing. All
methods use stumps. Noise makes a fifth of the training labels wrong. Errors in percent: the mean of the splits ± two
standard errors (the splits overlap, so it is less certain than that), then the published mean and the difference. Rows
and classes are those of the paper's Table 1 where UCI's data allow it: ecoli without its three smallest classes, glass
and yeast without the smallest, 2,000 rows of pendigits.

The paper does not state λ: here it is chosen for every split among `lambdas` by the error on a fifth of its training
rows, held out `trials` times. The probabilistic and deterministic codes use the λ chosen with the random code, which
affects Tables 4 to 6. γ is chosen as the paper says, on one fifth of the training rows, from 0, ½, 1, 2, 4, 8, 16 for φ
scaled to max|φ| = 1, a grid that the paper does not state (`gamma` sets one γ instead). AdaBoost.OC is the "binary"
variant, whose coefficients come from the weighted error, not from the pseudo-loss. ECOC is one stump per column of a
random code, with Hamming decoding. BinBoost.Reg is not described in the paper: one-vs-all SmoothBoost takes its place,
with as many stumps per class as the others have in all (pendigits: 500 against 50). `seed` draws other splits, noise
and codes.

The published levels cannot be reached, in both directions (ecoli and pendigits are lower there, wine and glass higher),
so the data or the protocol must differ: only orderings and gaps can be compared.
"""

WHY_NO_GAIN = "Is the choice of γ the reason? `jin-fixed-gamma` measures the same with one γ for all splits."
REMARK = (
    "Ours ± two standard errors (published ± its spread over ten splits, difference). The paper calls the spread a "
    "variance; it is probably a standard deviation, and would be divided by √10 and doubled to compare it with ours."
)
IDENTICAL = "The published rows are identical for glass and vehicle, which is unlikely for a random scheme."


def _units(rows: tuple[Row, ...], data_sets: tuple[str, ...], quick: bool, **options: Any) -> list[Unit]:
    splits = 2 if quick else SPLITS
    # The data sets that take longest come first.
    order = sorted(data_sets, key=lambda name: name not in ("pendigits", "yeast"))
    return [
        {"data_set": name, "method": method, "rounds": rounds, "noise": noise, "splits": splits, **options}
        for name in order
        for method, rounds, noise in rows
    ]


def _errors(observations: list[Observation], row: Row) -> dict[str, list[float]]:
    """Return the errors of a row of the tables, by data set."""
    return {
        r.unit["data_set"]: r.found["errors"]
        for r in observations
        if (r.unit["method"], r.unit["rounds"], r.unit["noise"]) == row
    }


def _claim(statement: str, observations: list[Observation], lower: Row, higher: Row) -> Claim:
    """Claim that one row is lower than another, and count the data sets on which that is significant."""
    low, high = _errors(observations, lower), _errors(observations, higher)
    claim = lower_claim(statement, *({s: float(np.mean(e)) for s, e in errors.items()} for errors in (low, high)))
    tests = [corrected_t_test(low[s], high[s], (1 - TRAINING_SHARE) / TRAINING_SHARE) for s in low if s in high]
    for_, against = (sum(t.p_value < 0.05 and sign * t.difference < 0 for t in tests) for sign in (1, -1))
    alone = f"; significant data sets: {for_} for, {against} against (resampled t-test)"
    return Claim(statement, claim.verdict, claim.evidence + alone)


def _table(title: str, observations: list[Observation], rows: tuple[Row, ...]) -> TextTable:
    """Return a table with a line per data set and a column per method."""
    errors = [_errors(observations, row) for row in rows]
    measured = [name for name in DATA_SETS if any(name in own for own in errors)]
    columns = list(zip(rows, errors, strict=True))
    body = [
        (name, *(_cell(own[name], *published(*row, name)) if name in own else "" for row, own in columns))
        for name in measured
    ]
    several = len({rounds for _, rounds, _ in rows}) > 1
    header = (f"{NAMES[method]}, {rounds} stumps" if several else NAMES[method] for method, rounds, _ in rows)
    return TextTable(title, ("data set", *header), body, (REMARK,))


def _cell(errors: list[float], there: float, spread: float) -> str:
    mean, reach = np.mean(errors), 2 * np.std(errors, ddof=1) / np.sqrt(len(errors))
    return f"{mean:.1f} ± {reach:.1f} ({there:.1f} ± {spread:.1f}, {signed(float(mean) - there)})"


def _gammas(observations: list[Observation], pairs: tuple[tuple[Row, Row], ...]) -> list[str]:
    """Report which γ the probabilistic code chose, and whether a γ other than the random code's paid."""
    chosen: Counter[float] = Counter()
    gained = []
    for low, high in pairs:
        other = _errors(observations, high)
        for r in observations:
            name = r.unit["data_set"]
            if (r.unit["method"], r.unit["rounds"], r.unit["noise"]) == low and name in other:
                gammas = r.found.get("gammas", [])
                chosen.update(gammas)
                both = zip(gammas, r.found["errors"], other[name], strict=False)
                gained += [ours - theirs for gamma, ours, theirs in both if gamma > 0]
    if not gained:
        return []
    listed = ", ".join(f"{gamma:g} in {count}" for gamma, count in sorted(chosen.items()))
    return [
        f"γ chosen: {listed} of {chosen.total()} splits. With γ = 0 the code is the random one; where another was "
        f"chosen, the error differs from the random code's by {signed(float(np.mean(gained)))} on average."
    ]


def _robustness(observations: list[Observation]) -> list[Claim]:
    """Claim that wrong labels cost SmoothBoost less than AdaBoost.OC."""
    harm = {}
    for method in ("oc", "random"):
        clean, noisy = (_errors(observations, (method, 50, noise)) for noise in (0.0, 0.2))
        harm[method] = {s: float(np.mean(noisy[s]) - np.mean(clean[s])) for s in noisy if s in clean}
    return [lower_claim("Wrong labels raise SmoothBoost's error less than AdaBoost.OC's", harm["random"], harm["oc"])]


def _table2(observations: list[Observation]) -> Findings:
    claims = [
        _claim("AdaBoost.OC is better than a random code of independent stumps", observations, CLEAN[1], CLEAN[0]),
        _claim("SmoothBoost is better than AdaBoost.OC on clean labels", observations, CLEAN[3], CLEAN[1]),
    ]
    return Findings([_table("Clean labels, 50 stumps", observations, CLEAN)], claims)


def _table3(observations: list[Observation]) -> Findings:
    claims = [
        _claim(
            "With a fifth of the labels wrong, SmoothBoost is better than AdaBoost.OC", observations, NOISY[3], NOISY[1]
        ),
        *_robustness(observations),
    ]
    return Findings([_table("A fifth of the training labels wrong, 50 stumps", observations, NOISY)], claims)


def _table4(observations: list[Observation]) -> Findings:
    claims = [
        _claim(f"With {rounds} stumps the probabilistic code is better than the random one", observations, low, high)
        for rounds, low, high in ((50, CODES[1], CODES[0]), (20, CODES[3], CODES[2]))
    ]
    table = _table("Random and probabilistic codes, clean labels", observations, CODES)
    return Findings(
        [table], claims, remarks=[*_gammas(observations, ((CODES[1], CODES[0]), (CODES[3], CODES[2]))), WHY_NO_GAIN]
    )


def _table5(observations: list[Observation]) -> Findings:
    statement = "With a fifth of the labels wrong, the probabilistic code is better than the random one"
    remarks = [*_gammas(observations, ((NOISY_CODES[1], NOISY_CODES[0]),)), WHY_NO_GAIN, IDENTICAL]
    table = _table("Random and probabilistic codes, a fifth of the labels wrong", observations, NOISY_CODES)
    return Findings([table], [_claim(statement, observations, *NOISY_CODES[::-1])], remarks=remarks)


def _table6(observations: list[Observation]) -> Findings:
    statement = "The probabilistic code is better than the deterministic one"
    table = _table("Deterministic and probabilistic codes, clean labels", observations, DETERMINISTIC)
    remark = "The γ of the probabilistic code are those chosen in Table 4."
    return Findings([table], [_claim(statement, observations, *DETERMINISTIC[::-1])], remarks=[remark])


def _experiment(number: int, title: str, rows: tuple[Row, ...], present: Any) -> Experiment:
    return Experiment(
        name=f"jin-table{number}",
        title=f"Jin & Zhang, Table {number}: {title}",
        source="Jin & Zhang, A smoothed boosting algorithm using probabilistic output codes, ICML 2005",
        protocol=PROTOCOL if number == 2 else "As Table 2.",
        data_sets=DATA_SETS,
        units=lambda data_sets, quick, **options: _units(rows, data_sets, quick, **options),
        measure=measure,
        present=present,
        options={"lambdas": [0.1, 0.2, 0.5, 1.0], "trials": 5, "gamma": None, "seed": 0},
        record="jin",
    )


TABLES = (
    _experiment(2, "boosting with clean labels", CLEAN, _table2),
    # The cost of wrong labels is the difference to clean ones.
    _experiment(3, "boosting with wrong labels", (*CLEAN, *NOISY), _table3),
    _experiment(4, "random and probabilistic codes", CODES, _table4),
    _experiment(5, "random and probabilistic codes with wrong labels", NOISY_CODES, _table5),
    _experiment(6, "deterministic and probabilistic codes", DETERMINISTIC, _table6),
)
