"""Run the units of an experiment, writing each result as it comes."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from joblib import Parallel, delayed

from outputcodes.experiments.experiment import Experiment, Result, Unit, unit_key
from outputcodes.workflow.journal import Journal, Line

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
    chosen = _data_sets(experiment, data_sets)
    settings = {**experiment.options, **_known(experiment, options or {})}
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


def _data_sets(experiment: Experiment, asked: Sequence[str] | None) -> tuple[str, ...]:
    if asked is None:
        return experiment.data_sets
    if unknown := [name for name in asked if name not in experiment.data_sets]:
        known = ", ".join(experiment.data_sets) or "none, it makes its own data"
        raise ValueError(f"datasets={unknown} are not of {experiment.name}. Choose from: {known}.")
    return tuple(name for name in experiment.data_sets if name in asked)


def _known(experiment: Experiment, options: Mapping[str, Any]) -> Mapping[str, Any]:
    if unknown := sorted(set(options) - set(experiment.options)):
        known = ", ".join(experiment.options) or "none"
        raise ValueError(f"{experiment.name} has no option {', '.join(unknown)}. Its options: {known}.")
    return options


def _told(unit: Unit) -> str:
    return " ".join(str(value) for value in unit.values() if isinstance(value, str | int | float))
