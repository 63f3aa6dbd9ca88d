"""Run the units of an experiment and write each result as soon as it is known."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from joblib import Parallel, delayed

from outputcodes.selection import Journal
from reproduce.experiment import Experiment, Observation, Unit, check_known, unit_key

Watch = Callable[[str, int, int], None]
# A line of a file of results, as plain data.
Line = dict[str, Any]


def run_experiment(
    experiment: Experiment,
    *,
    data_sets: Sequence[str] | None = None,
    quick: bool = False,
    options: Mapping[str, Any] | None = None,
    out: Path | None = None,
    resume: bool = False,
    n_jobs: int = 1,
    watch: Watch | None = None,
) -> list[Observation]:
    """Measure the requested units that have no result yet; return the observations of all of them, in their order.

    Parameters
    ----------
    experiment : Experiment
    data_sets : sequence of str, optional
        Some of the experiment's data sets.
    quick : bool
        Run a smaller trial of the same kind.
    options : mapping, optional
        Other values for some of the experiment's options.
    out : Path, optional
        The folder of the file of results. With `resume`, units that have a result there are not measured again.
    n_jobs : int
        The number of units that run at the same time, unless the experiment measures time.
    watch : callable, optional
        Called with a description of the last unit, the number of finished units and the number of all units.
    """
    ((_, chosen, given),) = requests([experiment], data_sets, options or {})
    settings = {**experiment.options, **given}
    units = experiment.units(chosen, quick, **settings)
    description = {"record": experiment.stem, "quick": quick, "options": settings}
    path = None if out is None else out / f"{experiment.stem}.jsonl"
    with Journal(path, description, resume=resume) as journal:
        done = {unit_key(line["unit"]): line for line in journal.lines if "unit" in line}
        missing = [unit for unit in units if unit_key(unit) not in done]
        report = watch or (lambda what, done, total: None)
        report(experiment.name, len(units) - len(missing), len(units))
        start, jobs = time.perf_counter(), 1 if experiment.timed else n_jobs
        for line in _measured(experiment, missing, jobs):
            journal.add(line)
            done[unit_key(line["unit"])] = line
            report(_described(line["unit"]), sum(unit_key(unit) in done for unit in units), len(units))
        if missing:
            journal.add({"session": {"units": len(missing), "seconds": time.perf_counter() - start, "jobs": jobs}})
    return [Observation(unit, done[unit_key(unit)]["found"], done[unit_key(unit)]["seconds"]) for unit in units]


def _measured(experiment: Experiment, units: list[Unit], n_jobs: int) -> Iterator[Line]:
    if n_jobs == 1:
        yield from (_measure(experiment.measure, unit) for unit in units)
        return
    tasks = (delayed(_measure)(experiment.measure, unit) for unit in units)
    yield from Parallel(n_jobs=n_jobs, return_as="generator_unordered", batch_size=1)(tasks)


def _measure(measure: Callable[..., Any], unit: Unit) -> Line:
    start = time.perf_counter()
    with warnings.catch_warnings():
        # Rare classes give folds without a class and columns without a sign. Solvers that stopped early are counted.
        warnings.simplefilter("ignore", UserWarning)
        found = measure(**unit)
    return {"unit": unit, "found": found, "seconds": round(time.perf_counter() - start, 3)}


def requests(
    experiments: Sequence[Experiment], data_sets: Sequence[str] | None, options: Mapping[str, Any]
) -> list[tuple[Experiment, tuple[str, ...], dict[str, Any]]]:
    """Return for each experiment those of the requested data sets and options that it has.

    An experiment that has none of the requested data sets is left out. A data set or option that no experiment has is
    an error.

    >>> from reproduce import find
    >>> [(each.name, names) for each, names, _ in requests([find("jin-table6")], ["iris"], {})]
    [('jin-table6', ('iris',))]
    """
    check_known("data set", data_sets or (), [name for each in experiments for name in each.data_sets])
    check_known("option", options, [name for each in experiments for name in each.options])
    found = []
    for each in experiments:
        own = tuple(name for name in each.data_sets if not data_sets or name in data_sets)
        if own or not data_sets:
            found.append((each, own, {name: value for name, value in options.items() if name in each.options}))
    return found


def _described(unit: Unit) -> str:
    return " ".join(str(value) for value in unit.values() if isinstance(value, str | int | float))
