"""What to compare: cells of learner and code, each with its decoders, chosen for the size of a table."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from outputcodes._ground.planning import Planning, Size
from outputcodes._ground.validation import unknown_name
from outputcodes._kernel_machines.device.backend import as_device, check_device
from outputcodes.app.run.systems import SYSTEMS, System, learners_and_systems, uses_device
from outputcodes.codes import CODES
from outputcodes.decoders import DECODERS
from outputcodes.selection import Cell


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
    ordered: bool = False,
    device: str = "cpu",
) -> Plan:
    """Plan a comparison for n rows, k classes and so many features.

    Parameters
    ----------
    learners : names of learners and of systems, optional
        What is named is tried, however long it takes; None is what suits the size of the table: each learner, code
        and decoder says so itself, by its `planning`. Likewise `codes` and `decoders`.
    metric : {"error", "log-loss", "balanced"}
        For the log-loss only what has probabilities takes part; the scores of other decoders go through a softmax.
    quick : bool
        Few of each.
    ordered : bool
        The classes have an order: the ordinal code is tried too.
    device : {"cpu", "cuda", "auto"}
        Where kernel SVMs are trained: on a GPU they are tried on more rows.

    Examples
    --------
    >>> plan = make_plan(100_000, 3, learners=["ridge", "maxent"], codes=["one-vs-all"], decoders=["loss"])
    >>> [str(cell) for cell in plan.cells]
    ['ridge one-vs-all', 'maxent']
    >>> make_plan(100_000, 5, quick=True).left_out[-2]
    'svc, multiclass-svc: kernel methods are tried up to 10000 rows, and there are 100000.'
    """
    check_device(device)
    tables = {"learners": learners_and_systems(), "codes": CODES, "decoders": DECODERS}
    given = {"learners": learners, "codes": codes, "decoders": decoders}
    for part, names in given.items():
        _check_names(names, tables[part], part)
    chosen = {part: list(dict.fromkeys(names or ())) for part, names in given.items()}
    left_out: list[str] = []
    hurried: list[str] = []
    # A GPU that is not there is an error before anything is measured, or the CPU with a warning.
    asked = learners is None or any(map(uses_device, learners))
    size = Size(n, k, features, gpu=asked and as_device(device) is not None)
    for part, names in given.items():
        if names is not None or (part != "learners" and all(name in SYSTEMS for name in chosen["learners"])):
            continue
        planned = {name: planning for name, planning in _planned(tables[part]) if planning.tried}
        if part == "codes" and ordered:
            planned["ordinal"] = replace(CODES["ordinal"]().planning, tried=True, quick=True)
        if quick:
            slow = [name for name in planned if not planned[name].quick]
            hurried += [f"the {part} {', '.join(slow)}"] if slow else []
            planned = {name: planning for name, planning in planned.items() if planning.quick}
        reasons = {name: planning.unsuited(size) for name, planning in planned.items()}
        if part == "codes" and k == 2:
            reasons = dict.fromkeys(reasons, "two classes can be split in one way only")
            reasons[next(iter(reasons))] = None
        left_out += _by_reason(reasons)
        chosen[part] = [name for name, reason in reasons.items() if reason is None] or list(reasons)
    if hurried:
        left_out.insert(0, f"The quick plan leaves out {'; '.join(hurried)}.")
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


def _planned(table: Mapping[str, Callable[[], Any]]) -> list[tuple[str, Planning]]:
    """The names of a table with their planning, cheap ones first."""
    known = [(name, make.planning if isinstance(make, System) else make().planning) for name, make in table.items()]
    return sorted(known, key=lambda pair: pair[1].cost)


def _by_reason(reasons: Mapping[str, str | None]) -> list[str]:
    """A sentence for each reason with its names; none where everything would be left out."""
    if None not in reasons.values():
        return []
    groups: dict[str, list[str]] = {}
    for name, reason in reasons.items():
        if reason:
            groups.setdefault(reason, []).append(name)
    return [f"{', '.join(names)}: {reason}." for reason, names in groups.items()]


def _is_silent(name: str) -> bool:
    """Whether it is a system without probabilities; a code's scores can always go through a softmax."""
    # The method itself is how scikit-learn's classifiers declare it; there is no tag.
    return name in SYSTEMS and not hasattr(SYSTEMS[name](), "predict_proba")


def _check_names(names: Sequence[str] | None, known: Mapping[str, Any], parameter: str) -> None:
    for name in names or ():
        if name not in known and parameter == "decoders" and name == "softmax":
            raise ValueError(
                "decoders='softmax' is not the name of a decoder: with metric='log-loss' (--metric log-loss), the "
                "scores of every decoder go through a softmax."
            )
        if name not in known:
            raise unknown_name(parameter, name, known)
