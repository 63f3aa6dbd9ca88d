"""What to compare: cells of learner and code, each with its decoders, chosen for the size of a table."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from importlib.util import find_spec

from outputcodes._ground.validation import unknown_name
from outputcodes.app.workflow.models import SYSTEMS
from outputcodes.codes import CODES
from outputcodes.decoders import DECODERS
from outputcodes.learners import LEARNERS

# What is tried where nobody says it, in this order: the cheap ones first, as a time limit should cut off the dear ones.
TRIED: dict[str, tuple[str, ...]] = {
    "learners": (
        *("maxent", "decision-tree", "ridge", "logistic", "svc", "kernel-svm", "multiclass-svc", "linear-svm"),
        *("adaboost-mh", "gradient-boosting", "tree", "stumps"),
        *("adaboost-mo", "adaboost-mr", "adaboost-oc", "smoothboost"),
    ),
    "codes": ("one-vs-all", "all-pairs", "dense", "sparse", "hadamard", "bch", "complete"),
    "decoders": ("hamming", "loss", "linear", "exponential", "vote", "inverse-hamming"),
}
QUICK = {
    "learners": ("maxent", "decision-tree", "logistic", "svc", "kernel-svm", "multiclass-svc", "adaboost-mh"),
    "codes": ("one-vs-all", "all-pairs", "dense", "hadamard"),
    "decoders": ("hamming", "loss", "vote"),
}
KERNEL_MACHINES = ("kernel-svm", "svc", "multiclass-svc")
KERNEL_ROWS, BOOSTED_VALUES, MOST_CLASSES_IN_PAIRS, MOST_CLASSES_SPLIT = 10_000, 50_000_000, 50, 7


@dataclass(frozen=True)
class Cell:
    """What is trained at once: a learner under a code, read by all decoders; or a system, with neither."""

    learner: str
    code: str = ""
    decoders: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.learner} {self.code}".rstrip()


@dataclass(frozen=True)
class Plan:
    """The cells in their order, and sentences on what was left out and why."""

    cells: tuple[Cell, ...]
    left_out: tuple[str, ...] = ()


def make_plan(
    n: int,
    k: int,
    features: int = 1,
    *,
    learners: Sequence[str] | None = None,
    codes: Sequence[str] | None = None,
    decoders: Sequence[str] | None = None,
    metric: str = "error",
    quick: bool = False,
) -> Plan:
    """Plan a comparison for n rows, k classes and so many features.

    Parameters
    ----------
    learners : names of learners and of systems, optional
        What is named is tried, however long it takes; None is what suits the size of the table. Likewise `codes` and
        `decoders`.
    metric : {"error", "log-loss", "balanced"}
        For the log-loss only what answers probabilities takes part; the scores of other decoders go through a softmax.
    quick : bool
        Few of each.

    Examples
    --------
    >>> plan = make_plan(100_000, 3, learners=["ridge", "maxent"], codes=["one-vs-all"], decoders=["loss"])
    >>> [str(cell) for cell in plan.cells]
    ['ridge one-vs-all', 'maxent']
    >>> make_plan(100_000, 5, quick=True).left_out[-1]
    'svc, kernel-svm, multiclass-svc: kernel machines are tried up to 10000 rows, and there are 100000.'
    """
    _check_names(learners, {**LEARNERS, **SYSTEMS}, "learners")
    _check_names(codes, CODES, "codes")
    _check_names(decoders, DECODERS, "decoders")
    given = {"learners": learners, "codes": codes, "decoders": decoders}
    chosen = {part: list(TRIED[part] if names is None else dict.fromkeys(names)) for part, names in given.items()}
    left_out: list[str] = []
    if quick:
        hurried = {part: [name for name in TRIED[part] if name not in QUICK[part]] for part in given}
        told = [f"of the {part} {', '.join(names)}" for part, names in hurried.items() if given[part] is None]
        left_out += [f"A quick plan leaves out {'; '.join(told)}."] if told else []
        chosen |= {part: [name for name in TRIED[part] if name in QUICK[part]] for part in given if given[part] is None}
    for part, unfit, why in _rules(n, k, features):
        gone = [name for name in chosen[part] if name in unfit and given[part] is None]
        if gone and len(gone) < len(chosen[part]):
            left_out.append(f"{', '.join(gone)}: {why}.")
            chosen[part] = [name for name in chosen[part] if name not in gone]
    silent = [name for name in chosen["learners"] if metric == "log-loss" and _is_silent(name)]
    if silent:
        left_out.append(f"{', '.join(silent)}: no probabilities.")
    cells: list[Cell] = []
    for name in chosen["learners"]:
        if name in SYSTEMS:
            cells += [Cell(name)] if name not in silent else []
        else:
            cells += [Cell(name, code, tuple(chosen["decoders"])) for code in chosen["codes"]]
    if (codes or decoders) and not any(cell.code for cell in cells):
        named = ", ".join([*(codes or ()), *(decoders or ())])
        systems = ", ".join(cell.learner for cell in cells)
        is_one = "is a system by itself and takes" if len(cells) == 1 else "are systems by themselves and take"
        left_out.append(f"{named}: not tried, as {systems} {is_one} no code; codes need a binary learner.")
    if not cells:
        raise ValueError("The plan is empty: name learners or systems that can be compared.")
    return Plan(tuple(cells), tuple(left_out))


def _rules(n: int, k: int, features: int) -> Iterator[tuple[str, Sequence[str], str]]:
    """What does not suit a table unless it is asked for: the part of the plan, the names, the reason."""
    if n > KERNEL_ROWS:
        yield "learners", KERNEL_MACHINES, f"kernel machines are tried up to {KERNEL_ROWS} rows, and there are {n}"
    if n * features * k > BOOSTED_VALUES:
        boosters = [name for name in SYSTEMS if "boost" in name]
        yield "learners", boosters, f"hundreds of rounds over {n} rows, {features} features and {k} classes take long"
    if k == 2:
        yield "codes", [name for name in CODES if name != "one-vs-all"], "two classes can be split in one way only"
    if k == 3:
        yield "codes", ["dense", "hadamard", "bch", "complete"], "the splits of three classes are those of one-vs-all"
    if k > MOST_CLASSES_IN_PAIRS:
        yield "codes", ["all-pairs"], f"{k} classes have {k * (k - 1) // 2} pairs"
    if k > MOST_CLASSES_SPLIT:
        yield "codes", ["complete"], f"{k} classes can be split in 2^{k - 1} − 1 ways"
    if find_spec("galois") is None:
        yield "codes", ["bch"], "needs galois: pip install 'outputcodes[bch]'"


def _is_silent(name: str) -> bool:
    """Whether it is a system that answers no probabilities; a code's scores can always go through a softmax."""
    return name in SYSTEMS and not hasattr(SYSTEMS[name](), "predict_proba")


def _check_names(names: Sequence[str] | None, known: Iterable[str], parameter: str) -> None:
    known = list(known)
    for name in names or ():
        if name not in known:
            raise unknown_name(parameter, name, known)
