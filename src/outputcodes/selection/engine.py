"""The engine of a comparison: measure every cell on every fold unless a journal has it, and gather the results."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

from outputcodes.selection.journal import Journal
from outputcodes.selection.results import Cell, Measurement, Result, key_of

Watch = Callable[[str, int, int], None]


@dataclass
class Progress:
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
) -> Progress:
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
        Called as watch(cell, done, total) before each training, and at the end.
    """
    lines = [Measurement.from_dict(line) for line in journal.lines]
    # Of a failure and the next attempt, the latter counts.
    latest = {(key_of(one), one.fold): one for one in lines}
    progress = Progress(known=sum(not one.failed for one in lines))
    total, start = len(cells) * n_folds, time.monotonic()
    for number, cell in enumerate(cells):
        own: list[Measurement] = []
        progress.found.append(own)
        broken = False
        for fold in range(n_folds):
            before = latest.get((key_of(cell), fold))
            if before is not None and not before.failed:
                own.append(before)
                continue
            if broken:
                continue
            if time_limit is not None and time.monotonic() - start > time_limit:
                progress.late.append(cell)
                break
            if watch is not None:
                watch(str(cell), number * n_folds + fold, total)
            line = measured(number, fold).as_dict()
            # What fails as before is in the journal already.
            if not line["failed"] or line not in journal.lines:
                journal.add(line)
            # Read back, so that a resumed run has the same digits.
            own.append(Measurement.from_dict(line))
            broken = own[-1].failed is not None
            progress.computed += 1
    if watch is not None and not progress.late:
        watch("", total, total)
    return progress


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
    >>> [(str(row), row.fold_errors) for row in rows]
    [('ridge dense hamming', (0.0, 0.1))]
    """
    results: list[Result] = []
    notes: list[str] = []
    early: list[str] = []
    for cell, measured in zip(cells, found, strict=True):
        folds = list(measured)
        notes += [f"{cell}: {one.failed}" for one in folds if one.failed]
        if len(folds) < n_folds or any(one.failed for one in folds):
            continue
        early += [str(cell)] if any(one.unconverged for one in folds) else []
        served = [name for name in cell.decoders or ("",) if all(name in one.decoders for one in folds)]
        if not served:
            notes.append(f"{cell}: none of the decoders {', '.join(cell.decoders)} can serve it.")
        results += [_result(cell, name, folds) for name in served]
    if early:
        notes.append(f"Solvers stopped before they converged: {', '.join(early)}.")
    return results, notes


def _result(cell: Cell, decoder: str, folds: list[Measurement]) -> Result:
    decoded = [one.decoders[decoder] for one in folds]
    lengths = [one.columns for one in folds if one.columns is not None]
    sizes = [one.size_bytes for one in folds if one.size_bytes is not None]
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
    )
