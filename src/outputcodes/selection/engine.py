"""The engine of a comparison: measure every cell on every fold unless a journal has it, and gather the results."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

from outputcodes._ground import progress
from outputcodes._ground.words import listed
from outputcodes.selection.journal import Journal
from outputcodes.selection.results import Cell, Measurement, Result, key_of

Watch = Callable[[str, int, int], None]


@dataclass
class Measured:
    """What has been measured.

    Attributes
    ----------
    found : list of lists of Measurement
        Those of each cell, fold by fold; fewer than there are folds where one failed or the time was up.
    computed, known : int
        How many trainings were done now, and how many were in the journal.
    late : list of Cell
        Those that the time limit left out.
    """

    found: list[list[Measurement]] = field(default_factory=list)
    computed: int = 0
    known: int = 0
    late: list[Cell] = field(default_factory=list)


def measure_all(
    cells: Sequence[Cell],
    n_folds: int,
    measured: Callable[[int, int], Measurement],
    journal: Journal,
    *,
    time_limit: float | None = None,
    watch: Watch | None = None,
) -> Measured:
    """Measure every cell on every fold, unless the journal has it.

    What failed in an earlier run is tried again; after a failure in this one the other folds of the cell are not.

    Parameters
    ----------
    cells : sequence of Cell
    n_folds : int
    measured : callable
        Called as measured(number of the cell, fold).
    journal : Journal
        Each measurement is appended to it at once.
    time_limit : float, optional
        Seconds after which no training begins.
    watch : callable, optional
        Called as watch(cell, done, total) before each training, and at the end; what the journal has is done from the
        beginning.
    """
    lines = [Measurement.from_dict(line) for line in journal.lines]
    # Of a failure and the next attempt, the latter counts.
    latest = {(key_of(one), one.fold): one for one in lines}
    known = {key: one for key, one in latest.items() if not one.failed}
    have = sum((key_of(cell), fold) in known for cell in cells for fold in range(n_folds))
    result, total, start = Measured(known=sum(not one.failed for one in lines)), len(cells) * n_folds, time.monotonic()
    with progress.phase("comparison", total, "trainings", done=have):
        for number, cell in enumerate(cells):
            own: list[Measurement] = []
            result.found.append(own)
            for fold in range(n_folds):
                if (before := known.get((key_of(cell), fold))) is not None:
                    own.append(before)
                    continue
                if any(one.failed for one in own):
                    have += 1
                    continue
                if time_limit is not None and time.monotonic() - start > time_limit:
                    result.late.append(cell)
                    break
                progress.reached(have, total, "trainings", str(cell))
                if watch is not None:
                    watch(str(cell), have, total)
                with progress.inside():
                    line = measured(number, fold).as_dict()
                # What fails as before is in the journal already.
                if not line["failed"] or line not in journal.lines:
                    journal.add(line)
                # Read back, so that a resumed run has the same digits.
                own.append(Measurement.from_dict(line))
                result.computed += 1
                have += 1
        if result.late:
            progress.reached(have, have, "trainings")
    if watch is not None and not result.late:
        watch("", total, total)
    return result


def unusable(decoders: Sequence[str]) -> str:
    """Return the beginning of a sentence on decoders that a code does not suit.

    >>> unusable(["vote"]), unusable(["vote", "dag"])
    ("the decoder vote can't be used", 'none of the decoders vote, dag can be used')
    """
    if len(decoders) == 1:
        return f"the decoder {decoders[0]} can't be used"
    return f"none of the decoders {', '.join(decoders)} can be used"


def gather(
    cells: Iterable[Cell], found: Iterable[Iterable[Measurement]], n_folds: int
) -> tuple[list[Result], list[str]]:
    """Return a result per cell and decoder that was measured on every fold, and sentences on the others.

    `found` has the measurements of each cell. A cell that lacks a fold is left out, and so is a decoder.

    Examples
    --------
    >>> from outputcodes.selection import Decoded
    >>> cell = Cell("ridge", "dense", ("hamming", "vote"))
    >>> folds = [Measurement("ridge", "dense", f, 10, 0.5, 80, {"hamming": Decoded(0.1 * f, 0.1)}) for f in range(2)]
    >>> rows, notes = gather([cell], [folds], 2)
    >>> [(row.name, row.fold_errors) for row in rows]
    [('ridge dense hamming', (0.0, 0.1))]
    """
    results: list[Result] = []
    failed: dict[str, list[str]] = {}
    early: list[str] = []
    for cell, measured in zip(cells, found, strict=True):
        folds = list(measured)
        for reason in dict.fromkeys(one.failed for one in folds if one.failed):
            failed.setdefault(reason, []).append(str(cell))
        if len(folds) < n_folds or any(one.failed for one in folds):
            continue
        early += [str(cell)] if any(one.unconverged for one in folds) else []
        served = [name for name in cell.decoders or ("",) if all(name in one.decoders for one in folds)]
        if not served:
            reason = f"{unusable(cell.decoders)} with this code."
            failed.setdefault(reason, []).append(str(cell))
        results += [_result(cell, name, folds) for name in served]
    # A reason is given once, with all that it concerns.
    notes = [f"{listed(names)}: {reason}" for reason, names in failed.items()]
    if early:
        notes.append(f"Solvers stopped before they converged: {listed(early)}.")
    return results, notes


def _result(cell: Cell, decoder: str, folds: list[Measurement]) -> Result:
    decoded = [one.decoders[decoder] for one in folds]
    lengths = [one.columns for one in folds if one.columns is not None]
    sizes = [one.size_bytes for one in folds if one.size_bytes is not None]
    marks = [one.mark for one in decoded if one.mark is not None]
    return Result(
        cell.learner,
        cell.code,
        decoder,
        columns=round(float(np.mean(lengths))) if lengths else None,
        fold_errors=tuple(one.error for one in decoded),
        # Medians, as the first training of a kind may include its compilation.
        fit_seconds=float(np.median([one.fit_seconds for one in folds])),
        predict_seconds=float(np.median([one.predict_seconds for one in decoded])),
        size_bytes=round(float(np.mean(sizes))) if sizes else None,
        parameters=cell.parameters,
        share=cell.share,
        stage=cell.stage,
        losses=decoded[0].losses if len(folds) == 1 else None,
        marks=tuple(marks) if len(marks) == len(folds) else (),
    )
