"""Run the units of an experiment, writing each result as it comes."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from joblib import Parallel, delayed

from outputcodes.selection.journal import Journal, Line
from reproduce.experiment import Experiment, Result, Unit, unit_key

Watch = Callable[[str, int, int], None]


def run(
    experiment: Experiment,
    *,
    data_sets: Sequence[str] | None = None,
    quick: bool = False,
    options: Mapping[str, Any] | None = None,
    out: Path | None = None,
    resume: bool = False,
    n_jobs: int = 1,
    watch: Watch | None = None,
) -> list[Result]:
    """Measure what has not been measured yet; the results of all units that were asked for, in their order.

    Parameters
    ----------
    experiment : Experiment
    data_sets : sequence of str, optional
        Some of the experiment's.
    quick : bool
        A smaller trial of the same kind.
    options : mapping, optional
        Other values for some of the experiment's options.
    out : Path, optional
        The folder of the file of results. With `resume`, results that it holds are not measured again.
    n_jobs : int
        How many units run at a time, unless the experiment measures time.
    watch : callable, optional
        Called with what was done last, how many units are done, and how many there are.
    """
    ((_, chosen, given),) = shared_out([experiment], data_sets, options or {})
    settings = {**experiment.options, **given}
    units = experiment.units(chosen, quick, **settings)
    description = {"record": experiment.stem, "quick": quick, "options": settings}
    path = None if out is None else out / f"{experiment.stem}.jsonl"
    with Journal(path, description, resume=resume) as journal:
        done = {unit_key(line["unit"]): line for line in journal.lines if "unit" in line}
        missing = [unit for unit in units if unit_key(unit) not in done]
        tell = watch or (lambda what, done, total: None)
        tell(experiment.name, len(units) - len(missing), len(units))
        start, jobs = time.perf_counter(), 1 if experiment.timed else n_jobs
        for line in _measured(experiment, missing, jobs):
            journal.add(line)
            done[unit_key(line["unit"])] = line
            tell(_told(line["unit"]), sum(unit_key(unit) in done for unit in units), len(units))
        if missing:
            journal.add({"session": {"units": len(missing), "seconds": time.perf_counter() - start, "jobs": jobs}})
    return [Result(unit, done[unit_key(unit)]["found"], done[unit_key(unit)]["seconds"]) for unit in units]


def _measured(experiment: Experiment, units: list[Unit], n_jobs: int) -> Iterator[Line]:
    if n_jobs == 1:
        yield from (_measure(experiment.measure, unit) for unit in units)
        return
    tasks = (delayed(_measure)(experiment.measure, unit) for unit in units)
    yield from Parallel(n_jobs=n_jobs, return_as="generator_unordered", batch_size=1)(tasks)


def _measure(measure: Callable[..., Any], unit: Unit) -> Line:
    start = time.perf_counter()
    with warnings.catch_warnings():
        # Rare classes: folds without a row of one, columns without a side. What did not converge is part of the result.
        warnings.simplefilter("ignore", UserWarning)
        found = measure(**unit)
    return {"unit": unit, "found": found, "seconds": round(time.perf_counter() - start, 3)}


def shared_out(
    experiments: Sequence[Experiment], data_sets: Sequence[str] | None, options: Mapping[str, Any]
) -> list[tuple[Experiment, tuple[str, ...], dict[str, Any]]]:
    """For each experiment its own among the data sets and options asked for, each of which must be somebody's.

    An experiment that has none of the data sets is left out.

    >>> from reproduce import find
    >>> [(each.name, names) for each, names, _ in shared_out([find("jin-table6")], ["iris"], {})]
    [('jin-table6', ('iris',))]
    """
    _check("datasets", data_sets or (), [name for each in experiments for name in each.data_sets])
    _check("options", options, [name for each in experiments for name in each.options])
    shares = []
    for each in experiments:
        own = tuple(name for name in each.data_sets if not data_sets or name in data_sets)
        if own or not data_sets:
            shares.append((each, own, {name: value for name, value in options.items() if name in each.options}))
    return shares


def _check(what: str, asked: Iterable[str], known: Iterable[str]) -> None:
    known = list(dict.fromkeys(known))
    if unknown := [name for name in asked if name not in known]:
        raise ValueError(f"{what}: {', '.join(unknown)} unknown here. Choose from: {', '.join(known) or 'none'}.")


def _told(unit: Unit) -> str:
    return " ".join(str(value) for value in unit.values() if isinstance(value, str | int | float))
