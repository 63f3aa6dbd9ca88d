"""Jin & Zhang (2005): smoothed boosting against AdaBoost.OC and a random code, with and without wrong labels."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.model_selection import StratifiedShuffleSplit

from outputcodes import OutputCodeClassifier
from outputcodes.boosting import AdaBoostOC, SmoothBoost
from outputcodes.boosting.colourings import random_colouring
from outputcodes.learners import BoostedStumps
from outputcodes.selection import corrected_t_test
from reproduce.comparing import lower_claim, signed
from reproduce.data import sample
from reproduce.experiment import Claim, Experiment, Findings, Result, Table, Unit
from reproduce.jin_published import DATA_SETS, published

Array = NDArray[np.float64]
Labels = NDArray[np.intp]
Row = tuple[str, int, float]

SPLITS, TRAINING_SHARE = 10, 0.6
# How many of the smallest classes the paper's counts of rows leave out, and how many rows it took of a larger set.
LEFT_OUT, TAKEN = {"ecoli": 3, "glass": 1, "yeast": 1}, {"pendigits": 2000}
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
60 % of the rows for training, drawn ten times with the classes' shares kept, the rest for testing; stumps; noise makes
a fifth of the training labels wrong. Errors in per cent: the mean of the splits ± two standard errors of it (the splits
overlap, so it is less certain than that), then the published mean and the difference. Rows and classes as in the
paper's Table 1 where UCI's data allow: ecoli without its three smallest classes, glass and yeast without the smallest,
2,000 rows of pendigits.

The text does not state λ: here it is chosen for every split among `lambdas` by the error on fifths of its training
rows, held out `trials` times. The probabilistic and deterministic codes take the λ chosen with the random code, which
bears on Tables 4 to 6. γ is chosen as the text says, on one fifth of the training rows, from 0, ½, 1, 2, 4, 8, 16 for φ
scaled to max|φ| = 1, a grid that the text does not state (`gamma` sets one γ instead). AdaBoost.OC is the "binary"
variant, whose coefficients come from the weighted error, not from the pseudo-loss. ECOC is one stump for each column of
a random code, Hamming decoding. BinBoost.Reg is not described in the texts: SmoothBoost, one-vs-all, stands in its
place, with as many stumps for each class as the others have in all (pendigits: 500 against 50). `seed` draws other
splits, noise and codes.

The published levels are out of reach in both directions (ecoli and pendigits lower there, wine, glass higher), so the
data or the protocol must differ: orderings and gaps are what can be compared.
"""

# Found once: by `outputcodes reproduce jin-table5 --set gamma=0.5` and so on (jin-table4 for clean labels), 50 stumps;
# the last number by hand, with λ held out three times.
WHY_NO_GAIN = (
    "Is it the choice of γ? With one γ for all splits, `--set gamma=…`, the mean error on ecoli, wine, iris, glass and "
    "vehicle for γ = 0 (the random code), ½, 1, 2, 4, 8, 16 was 16.7, 17.1, 16.9, 17.0, 17.1, 17.1, 17.4 % with clean "
    "labels and 20.9, 21.2, 21.1, 21.1, 21.0, 20.9, 21.4 % with wrong ones: flat, and nowhere lower than the random "
    "code's (on ecoli and iris with wrong labels most γ were lower, on glass all higher, by 1 to 3 points). Chosen for "
    "every split on a fifth of its wrong labels it was 21.9 %, and 21.6 % with λ chosen by the probabilistic code's "
    "own errors: on these five data sets neither γ nor λ hides a gain. Why the choice is worse than any fixed γ was "
    "not found; with seeds 1 and 2 the probabilistic code was 0.6 and 0.2 worse than the random one on them, not 1.1."
)
IDENTICAL = "The published rows are identical for glass and vehicle, which a random scheme would hardly bring about."


def reduced(name: str) -> tuple[Array, Labels]:
    """The rows and classes of the paper's Table 1, as far as known."""
    data = sample(name)
    rows = np.arange(len(data.y))
    if name in TAKEN:
        rows = np.random.default_rng(0).permutation(len(rows))[: TAKEN[name]]
    kept = np.isin(data.y[rows], np.argsort(np.bincount(data.y), kind="stable")[LEFT_OUT.get(name, 0) :])
    rows = rows[kept]
    return data.X.to_numpy(np.float64)[rows], np.unique(data.y[rows], return_inverse=True)[1]


def with_noise(y: Labels, share: float, k: int, rng: np.random.Generator) -> Labels:
    """Labels of which a share is made wrong."""
    wrong = rng.permutation(len(y))[: round(share * len(y))]
    noisy = y.copy()
    noisy[wrong] = (y[wrong] + rng.integers(1, k, size=len(wrong))) % k
    return noisy


def _contender(method: str, rounds: int, k: int, lam: float, seed: int, gamma: float | None = None) -> BaseEstimator:
    """The classifier of a row of the tables."""
    if method == "ecoc":
        rng = np.random.default_rng(seed)
        code = np.stack([random_colouring(k, rng) for _ in range(rounds)], axis=1)
        stump = BoostedStumps(n_rounds=1, hypotheses="discrete")
        return OutputCodeClassifier(stump, code=code, decoder="hamming", random_state=seed)
    if method == "oc":
        return AdaBoostOC(rounds, random_state=seed)
    if method == "one-vs-all":
        return OutputCodeClassifier(SmoothBoost(rounds, lam, random_state=seed), code="one-vs-all", decoder="linear")
    return SmoothBoost(rounds, lam, gamma=gamma, random_state=seed).set_params(coding=method)


def chosen_lambda(method: str, rounds: int, X: Array, y: Labels, lambdas: list[float], trials: int, seed: int) -> float:
    """The λ of the least error on held-out training rows, the smallest of several; all codes take the random code's."""
    method = "one-vs-all" if method == "one-vs-all" else "random"
    k = int(y.max()) + 1
    errors = np.zeros(len(lambdas))
    for kept, held in StratifiedShuffleSplit(trials, test_size=0.2, random_state=seed).split(X, y):
        for at, lam in enumerate(lambdas):
            model = _contender(method, rounds, k, lam, seed).fit(X[kept], y[kept])
            errors[at] += np.count_nonzero(model.predict(X[held]) != y[held])
    return lambdas[int(errors.argmin())]


def measure(
    data_set: str,
    method: str,
    rounds: int,
    noise: float,
    splits: int,
    lambdas: list[float],
    trials: int,
    gamma: float | None = None,
    seed: int = 0,
) -> dict[str, Any]:
    """Test errors in per cent of all splits, and the λ and γ chosen for each."""
    X, y = reduced(data_set)
    k = int(y.max()) + 1
    found: dict[str, Any] = {"errors": [], "lambdas": [], "gammas": []}
    parts = StratifiedShuffleSplit(splits, train_size=TRAINING_SHARE, random_state=seed).split(X, y)
    # Every split has random numbers of its own.
    for own, (train, test) in enumerate(parts, start=seed * splits):
        labels = with_noise(y[train], noise, k, np.random.default_rng(own))
        smooth = method not in ("ecoc", "oc")
        lam = chosen_lambda(method, rounds, X[train], labels, lambdas, trials, own) if smooth else 0.0
        model: Any = _contender(method, rounds, k, lam, own, gamma).fit(X[train], labels)
        found["errors"].append(round(100 * float(np.mean(model.predict(X[test]) != y[test])), 3))
        if smooth:
            found["lambdas"].append(lam)
        if method == "probabilistic":
            found["gammas"].append(model.gamma_)
    return found


def _units(rows: tuple[Row, ...], data_sets: tuple[str, ...], quick: bool, **options: Any) -> list[Unit]:
    splits = 2 if quick else SPLITS
    # The data sets that take longest come first.
    order = sorted(data_sets, key=lambda name: name not in ("pendigits", "yeast"))
    return [
        {"data_set": name, "method": method, "rounds": rounds, "noise": noise, "splits": splits, **options}
        for name in order
        for method, rounds, noise in rows
    ]


def _errors(results: list[Result], row: Row) -> dict[str, list[float]]:
    """The errors of a row of the tables, by data set."""
    return {
        r.unit["data_set"]: r.found["errors"]
        for r in results
        if (r.unit["method"], r.unit["rounds"], r.unit["noise"]) == row
    }


def _claim(statement: str, results: list[Result], lower: Row, higher: Row) -> Claim:
    """That one row is lower than another, over data sets; with the number of data sets on which each stands out."""
    low, high = _errors(results, lower), _errors(results, higher)
    claim = lower_claim(statement, *({s: float(np.mean(e)) for s, e in errors.items()} for errors in (low, high)))
    tests = [corrected_t_test(low[s], high[s], (1 - TRAINING_SHARE) / TRAINING_SHARE) for s in low if s in high]
    for_, against = (sum(t.p_value < 0.05 and sign * t.difference < 0 for t in tests) for sign in (1, -1))
    alone = f"; data sets significant by themselves: {for_} for, {against} against (resampled t-test)"
    return Claim(statement, claim.verdict, claim.evidence + alone)


def _table(title: str, results: list[Result], rows: tuple[Row, ...]) -> Table:
    """A line for each data set, a column for each method."""
    errors = [_errors(results, row) for row in rows]
    measured = [name for name in DATA_SETS if any(name in own for own in errors)]
    columns = list(zip(rows, errors, strict=True))
    body = [
        (name, *(_cell(own[name], published(*row, name)[0]) if name in own else "" for row, own in columns))
        for name in measured
    ]
    several = len({rounds for _, rounds, _ in rows}) > 1
    header = (f"{NAMES[method]}, {rounds} stumps" if several else NAMES[method] for method, rounds, _ in rows)
    return Table(title, ("data set", *header), body, ("Ours ± two standard errors (published, difference).",))


def _cell(errors: list[float], there: float) -> str:
    mean, reach = np.mean(errors), 2 * np.std(errors, ddof=1) / np.sqrt(len(errors))
    return f"{mean:.1f} ± {reach:.1f} ({there:.1f}, {signed(float(mean) - there)})"


def _gammas(results: list[Result], pairs: tuple[tuple[Row, Row], ...]) -> list[str]:
    """Which γ the probabilistic code chose, and whether a choice other than the random code's paid."""
    chosen: Counter[float] = Counter()
    gained = []
    for low, high in pairs:
        other = _errors(results, high)
        for r in results:
            name = r.unit["data_set"]
            if (r.unit["method"], r.unit["rounds"], r.unit["noise"]) == low and name in other:
                gammas = r.found.get("gammas", [])
                chosen.update(gammas)
                both = zip(gammas, r.found["errors"], other[name], strict=False)
                gained += [ours - theirs for gamma, ours, theirs in both if gamma > 0]
    if not gained:
        return []
    told = ", ".join(f"{gamma:g} in {count}" for gamma, count in sorted(chosen.items()))
    return [
        f"γ chosen: {told} of {chosen.total()} splits. With γ = 0 the code is the random one; where another was "
        f"chosen, the error differs from the random code's by {signed(float(np.mean(gained)))} on average."
    ]


def _robustness(results: list[Result]) -> list[Claim]:
    """Whether wrong labels cost SmoothBoost less than AdaBoost.OC."""
    harm = {}
    for method in ("oc", "random"):
        clean, noisy = (_errors(results, (method, 50, noise)) for noise in (0.0, 0.2))
        harm[method] = {s: float(np.mean(noisy[s]) - np.mean(clean[s])) for s in noisy if s in clean}
    return [lower_claim("Wrong labels raise SmoothBoost's error less than AdaBoost.OC's", harm["random"], harm["oc"])]


def _table2(results: list[Result]) -> Findings:
    claims = [
        _claim("AdaBoost.OC is better than a random code of independent stumps", results, CLEAN[1], CLEAN[0]),
        _claim("SmoothBoost is better than AdaBoost.OC on clean labels", results, CLEAN[3], CLEAN[1]),
    ]
    return Findings([_table("Clean labels, 50 stumps", results, CLEAN)], claims)


def _table3(results: list[Result]) -> Findings:
    claims = [
        _claim("With a fifth of the labels wrong, SmoothBoost is better than AdaBoost.OC", results, NOISY[3], NOISY[1]),
        *_robustness(results),
    ]
    return Findings([_table("A fifth of the training labels wrong, 50 stumps", results, NOISY)], claims)


def _table4(results: list[Result]) -> Findings:
    claims = [
        _claim(f"With {rounds} stumps the probabilistic code is better than the random one", results, low, high)
        for rounds, low, high in ((50, CODES[1], CODES[0]), (20, CODES[3], CODES[2]))
    ]
    table = _table("Random and probabilistic codes, clean labels", results, CODES)
    return Findings(
        [table], claims, remarks=[*_gammas(results, ((CODES[1], CODES[0]), (CODES[3], CODES[2]))), WHY_NO_GAIN]
    )


def _table5(results: list[Result]) -> Findings:
    statement = "With a fifth of the labels wrong, the probabilistic code is better than the random one"
    remarks = [*_gammas(results, ((NOISY_CODES[1], NOISY_CODES[0]),)), WHY_NO_GAIN, IDENTICAL]
    table = _table("Random and probabilistic codes, a fifth of the labels wrong", results, NOISY_CODES)
    return Findings([table], [_claim(statement, results, *NOISY_CODES[::-1])], remarks=remarks)


def _table6(results: list[Result]) -> Findings:
    statement = "The probabilistic code is better than the deterministic one"
    table = _table("Deterministic and probabilistic codes, clean labels", results, DETERMINISTIC)
    remark = "The γ of the probabilistic code are those chosen in Table 4."
    return Findings([table], [_claim(statement, results, *DETERMINISTIC[::-1])], remarks=[remark])


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


JIN = (
    _experiment(2, "boosting with clean labels", CLEAN, _table2),
    # What wrong labels cost is seen beside the clean ones.
    _experiment(3, "boosting with wrong labels", (*CLEAN, *NOISY), _table3),
    _experiment(4, "random and probabilistic codes", CODES, _table4),
    _experiment(5, "random and probabilistic codes with wrong labels", NOISY_CODES, _table5),
    _experiment(6, "deterministic and probabilistic codes", DETERMINISTIC, _table6),
)
