"""Models fitted to tables, and a summary of what they learned; nothing is written before it is fitted."""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.pipeline import Pipeline

from outputcodes._ground.class_weights import class_weights
from outputcodes._ground.tree_code import TreeCode
from outputcodes._ground.words import quoted
from outputcodes._kernel_machines.device.backend import check_device
from outputcodes.app import persistence
from outputcodes.app.run.fitting_blocks import facts_of_code, fit_blocks, reads_blocks
from outputcodes.app.run.labels import by_label
from outputcodes.app.run.paths import check_out
from outputcodes.app.run.race.results import why_this_model
from outputcodes.app.run.race.winner import LEFT_TO_SAVE, RACE_SECONDS, facts_of, model_of, never_tested, race_on
from outputcodes.app.run.sources import open_table
from outputcodes.app.run.systems import SYSTEMS, build, default_name, uses_device
from outputcodes.app.run.tuning import tuned_parameters
from outputcodes.app.tables import Table
from outputcodes.bounds import hamming_error_bound
from outputcodes.codes import CODES, min_distance
from outputcodes.decoders.classifier import DecodingClassifier
from outputcodes.diagnostics import column_errors
from outputcodes.learners import LEARNERS

# Errors of a fitted model are counted on about so many of its training rows.
SUMMARISED_ROWS, FEW_ROWS = 100_000, 1000
# The columns of a larger code are not summarised one by one.
LARGEST_SUMMARISED = 1 << 20


def fit_file(
    data: str,
    out: str | Path,
    target: str | None = None,
    learner: str | None = None,
    code: str | None = None,
    decoder: str | None = None,
    *,
    probability: str | None = None,
    class_weight: Mapping[Any, float] | Literal["balanced"] | None = None,
    params: Mapping[str, Any] | None = None,
    tune: bool = False,
    time_limit: float | None = None,
    device: str = "cpu",
    seed: int = 0,
    n_jobs: int | None = None,
    started: float | None = None,
    **reading: Any,
) -> tuple[Pipeline, dict[str, Any]]:
    """Fit a model to a table and save it; return the model and the summary in its file.

    Parameters
    ----------
    data : str
        A file, or the name of a data set. A folder of files, a pattern such as "parts/*.parquet", and a file of more
        than 512 MB are read in blocks: learners and systems that take these train without holding all rows.
    out : path
        A file whose name ends in .skops.
    learner, code, decoder, probability, class_weight, params
        As for `build`. Where none of them is given, a race finds the best model.
    tune : bool
        Whether the parameters of the learner, but for those in `params`, are searched on folds.
    time_limit : float, optional
        Seconds of the race, from `started` to the file of the model; 60 by default.
    device : {"cpu", "cuda", "auto"}
        Where `learner`, or the kernel SVMs of a race, are trained.
    started : float, optional
        The time of `time.monotonic` from which the limit counts; by default that of this call.
    **reading
        How to read the table, see `tables.read`: drop, identifier, order, encoding, separator, decimal; and group, a
        column whose equal values stay together in the folds of the race, or of the search.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "iris.skops"
    >>> model, summary = fit_file("iris", path, learner="ridge", code="all-pairs")
    >>> summary["rows"], summary["learner"]
    (150, 'ridge')
    """
    started = time.monotonic() if started is None else started
    check_out(out, (".skops",), data)
    _check_alone(learner, code=code, decoder=decoder, probability=probability)
    check_device(device)
    if reading.get("order") is not None and code != "ordinal":
        raise ValueError(
            "An order of the classes (--order) is for the ordinal code: add code='ordinal' (--code ordinal)."
        )
    if reads_blocks(data, learner):
        if time_limit is not None:
            raise ValueError(f"time_limit={time_limit} (--time-limit) is for the race on one table in memory.")
        if tune:
            raise ValueError("tune=True (--tune) needs one table in memory, and this one is read in blocks.")
        model, read, known = fit_blocks(
            data,
            target,
            learner,
            code,
            decoder,
            reading,
            probability=probability,
            class_weight=class_weight,
            params=params,
            seed=seed,
            n_jobs=n_jobs,
        )
        whole = replace(read.sample, target=read.labels)
        known["class_shares"] = class_shares(whole, class_weight)
        if notes := [*known.get("notes", ()), *sorted_as_text(whole, [code])]:
            known["notes"] = notes
        return _saved(model, training_summary(model, read.sample, **known), read.sample, out)
    races = all(one is None for one in (learner, code, decoder, probability, class_weight)) and not params
    if device != "cpu" and not (races or uses_device(learner)):
        able = ", ".join(filter(uses_device, LEARNERS))
        raise ValueError(f"device={device!r} is for learners that can be trained on a GPU: name one of them, {able}.")
    if races and tune:
        raise ValueError("tune=True (--tune) is for a learner: name it (--learner), or leave it out; a race tunes too.")
    if reading.get("group") is not None and not (races or tune):
        raise ValueError(
            f"group={reading['group']!r} (--group {reading['group']}) is for the folds of a race or a search: leave it "
            "out, or add tune=True (--tune)."
        )
    table = open_table(data, target, **reading)
    if races:
        left = max(1.0, (RACE_SECONDS if time_limit is None else time_limit) - (time.monotonic() - started))
        race = race_on(table, left * (1 - LEFT_TO_SAVE), device=device, seed=seed, n_jobs=n_jobs)
        notes = [*table.notes, *never_tested(table), *why_this_model(race, len(table.target))]
        told = {"notes": notes} if notes else {}
        raced = model_of(race, table.schema)
        summary = training_summary(raced, table, most=FEW_ROWS, **facts_of(race), data=Path(data).name, **told)
        return _saved(raced, summary, table, out)
    if time_limit is not None:
        raise ValueError(
            f"time_limit={time_limit} (--time-limit) is for the race, which runs if no learner, code, decoder, "
            "probability, class weight or parameter is given: leave it out."
        )
    how: dict[str, Any] = {"rows": len(table.target), "seed": seed, "n_jobs": n_jobs}
    how |= {"probability": probability, "class_weight": class_weight, "params": params, "device": device}
    labels = table.target.to_numpy()
    model = build(table.schema, learner, code, decoder, **how)
    facts: dict[str, Any] = {"learner": learner or default_name(), "data": Path(data).name}
    if tune:
        # Probabilities are fitted to the parameters that are found.
        searched = build(table.schema, learner, code, decoder, **{**how, "probability": None})
        weights = None if class_weight is None else weights_of_classes(table, class_weight)
        best, facts["tuned"] = tuned_parameters(
            searched, table, facts["learner"], fixed=params or (), class_weights=weights, seed=seed, n_jobs=n_jobs
        )
        model.set_params(**best)
    model.fit(table.frame, labels)
    if notes := [*table.notes, *sorted_as_text(table, [code])]:
        facts["notes"] = notes
    facts |= facts_of_code(model[-1], code, decoder, probability)
    if class_weight is not None:
        facts["class_shares"] = class_shares(table, class_weight)
    return _saved(model, training_summary(model, table, **facts), table, out)


def _saved(model: Pipeline, summary: dict[str, Any], table: Table, out: str | Path) -> tuple[Pipeline, dict[str, Any]]:
    persistence.save(model, out, schema=table.schema, summary=summary)
    return model, summary


def _check_alone(learner: str | None, **given: str | None) -> None:
    """Refuse what a system would ignore."""
    for name, value in given.items():
        if learner in SYSTEMS and value is not None:
            raise ValueError(
                f"learner={learner!r} is a classifier by itself and takes no {name}: leave out {name}={value!r} "
                f"(--{name} {value}), or choose a binary learner: {', '.join(LEARNERS)}."
            )


def sorted_as_text(table: Table, codes: Collection[str | None]) -> list[str]:
    """Return a note where an ordinal code takes words in alphabetical order, which is seldom that of their meaning."""
    classes = table.schema.classes
    if table.schema.order or table.target.dtype.kind == "i":
        return []
    return [
        f"The {name} code takes the classes in alphabetical order, {quoted(classes)}; if that is not their order from "
        "the lowest to the highest, give it: order=[…] (--order)."
        for name in CODES
        if name in codes and CODES[name]().ordered
    ]


def class_shares(table: Table, class_weight: Mapping[Any, float] | Literal["balanced"] | None = None) -> list[float]:
    """Return the share of each class in the training, as weighted: what `priors` are compared with."""
    labels = table.target.to_numpy()
    counts = np.array([np.count_nonzero(labels == label) for label in table.schema.classes], dtype=np.float64)
    if class_weight is not None:
        counts *= weights_of_classes(table, class_weight)
    shares: list[float] = (counts / counts.sum()).tolist()
    return shares


def weights_of_classes(table: Table, class_weight: Mapping[Any, float] | Literal["balanced"]) -> NDArray[np.float64]:
    """Return the weight of each class of a table."""
    classes = table.schema.classes
    given = class_weight if isinstance(class_weight, str) else by_label(class_weight, classes, "class_weight")
    numbers = {label: number for number, label in enumerate(classes)}
    weights = class_weights(given, np.array(classes), table.target.map(numbers).to_numpy(), None)
    assert weights is not None  # as class_weight is not
    return weights


def training_summary(model: Pipeline, table: Table, *, most: int = SUMMARISED_ROWS, **facts: Any) -> dict[str, Any]:
    """Return plain data on a model that was fitted to a table: the facts given, and its errors on about `most` rows.

    For an output code these are the error of each column on the training rows, and the bound on the training error
    under Hamming decoding that follows (Allwein, Schapire & Singer, JMLR 1, 2000), except for tree codes.
    """
    final = model[-1]
    summary = {"rows": len(table.target), "class_shares": class_shares(table), **facts}
    some = slice(None, None, max(1, len(table.target) // most))
    frame, labels = table.frame.iloc[some], table.target.to_numpy()[some]
    if not isinstance(final, DecodingClassifier):
        return {**summary, "training_error": float(np.mean(model.predict(frame) != labels))}
    k, L = final.code_.shape
    if k * L > LARGEST_SUMMARISED:
        return {**summary, "training_error": float(np.mean(model.predict(frame) != labels))}
    y, M = np.searchsorted(final.classes_, labels), final.code_matrix_
    F = final.margins(model[:-1].transform(frame))
    summary["training_error"] = float(np.mean(final.decoder_.predict(F, final.decoder_.as_read(final.code_)) != y))
    summary["column_errors"] = column_errors(F, y, M).round(6).tolist()
    # The beam of a tree reads a few columns only, and a bound for all of them is far above 1.
    if not isinstance(final.code_, TreeCode) and min_distance(M) > 0:
        summary["hamming_bound"] = float(hamming_error_bound(F, y, M))
    return summary
