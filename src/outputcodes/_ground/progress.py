"""The progress of long work: engines report how far they are; those who asked see a bar, or lines in a file.

Nobody watches by default, and a report then costs one look at a variable. `showing` makes the reports visible while its
block runs; `phase` names a piece of work; `reached` says how much of it is done. Reports come from the thread that
called `showing`: worker threads see no watcher.
"""

from __future__ import annotations

import math
import shutil
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TextIO

# Seconds between two drawings of the bar.
REDRAW = 0.1
# Elsewhere a line is written for each of these shares of the work, but not more often, and not more seldom, than after
# so many seconds.
SHARE, OFTEN, SELDOM = 0.1, 1.0, 30.0
BAR = 20


@dataclass
class Phase:
    """A piece of work: its name, how much is done of how much (0 if that is not known), and when it began."""

    name: str
    total: int
    unit: str
    first: int
    began: float
    done: int = 0
    # When the last unit was done.
    at: float = 0.0
    detail: str = ""
    inner: str = ""
    shown_at: float = -float("inf")
    shown_share: float = 0.0
    worst: float = 0.0

    @property
    def share(self) -> float:
        """The share of the work that is done, from 0 to 1; what was there before it began does not count."""
        if self.total <= self.first:
            return 0.0
        return min(1.0, max(0.0, (self.done - self.first) / (self.total - self.first)))


class Progress:
    """Writes the progress of one phase after the other: a bar in a terminal, lines elsewhere.

    Parameters
    ----------
    stream : text file, optional
        By default the standard error stream, so that results can be redirected.
    clock : callable
        Returns seconds.
    least : float
        Work that took fewer seconds leaves no line behind.
    """

    def __init__(
        self, stream: TextIO | None = None, clock: Callable[[], float] = time.monotonic, least: float = 0.0
    ) -> None:
        self.stream = sys.stderr if stream is None else stream
        self.clock = clock
        self.least = least
        self.terminal = self.stream.isatty()
        self.phase: Phase | None = None
        # How many `inside` blocks the reports come from.
        self.depth = 0

    def update(self, done: int, total: int, unit: str, detail: str) -> None:
        """Note how far the present phase is, or the unit at hand, and show it unless it was shown just before."""
        if (phase := self.phase) is None:
            return
        if self.depth:
            phase.inner = f" ({done} of {total} {unit})"
        else:
            phase.at = self.clock() if done != phase.done else phase.at
            phase.done, phase.total, phase.unit, phase.detail, phase.inner = done, total, unit, detail, ""
        self._show_if_due(phase)

    def _show_if_due(self, phase: Phase) -> None:
        now = self.clock()
        if self.terminal:
            due = now - phase.shown_at >= REDRAW
        else:
            quiet = now - max(phase.shown_at, phase.began)
            due = quiet >= SELDOM or (quiet >= OFTEN and phase.share - phase.shown_share >= SHARE - 1e-9)
        # The last line of a phase is written when it ends.
        if due and phase.share < 1:
            phase.shown_at, phase.shown_share = now, phase.share
            self._show(phase, now)

    def near(self, violation: float, tol: float, detail: str) -> None:
        """Note a violation on its way to `tol`: it falls about geometrically, so its logarithm counts."""
        if (phase := self.phase) is None or not math.isfinite(violation):
            return
        detail = f"{detail}, violation {violation:.2g}"
        if self.depth:
            phase.inner = f" ({detail})"
            self._show_if_due(phase)
            return
        phase.worst = max(phase.worst, violation)
        way = math.log(phase.worst / tol) if phase.worst > tol else 0.0
        gone = math.log(phase.worst / max(violation, tol)) / way if way else 1.0
        # A violation that grows again for a while takes nothing back.
        self.update(max(phase.done, math.floor(100 * gone)), 100, "%", detail)

    def _show(self, phase: Phase, now: float) -> None:
        elapsed, share = now - phase.began, phase.share
        times = duration(elapsed)
        if 0 < share < 1:
            # The unit at hand began when the last one was done.
            left = (phase.at - phase.began) * (1 - share) / share - (now - phase.at)
            times += f", about {duration(max(left, 0.0))} left"
        what = (f"{phase.name}: {phase.detail}" if phase.detail else phase.name) + phase.inner
        if not self.terminal:
            count = f"{phase.done} of {phase.total}" if phase.total else str(phase.done)
            print(f"{what}: {count} {phase.unit}, {times}", file=self.stream, flush=True)
            return
        drawn = ("=" * round(BAR * share)).ljust(BAR, ".")
        count = f"[{drawn}] {phase.done}/{phase.total}" if phase.total else str(phase.done)
        text = f"{count} {phase.unit}, {times}  {what}"
        # A line that wraps could not be drawn over.
        width = shutil.get_terminal_size().columns - 1
        print(f"\r\x1b[K{text[:width]}", end="", file=self.stream, flush=True)

    def finish(self, whole: bool) -> None:
        """End the present phase; if it is whole, say how long it took."""
        assert self.phase is not None
        start = "\r\x1b[K" if self.terminal else ""
        if whole and (taken := self.clock() - self.phase.began) >= self.least:
            count = f"{self.phase.total} of {self.phase.total}" if self.phase.total else str(self.phase.done)
            text = f"{start}{self.phase.name}: {count} {self.phase.unit}, {duration(taken)}"
            print(text, file=self.stream, flush=True)
        elif start:
            print(start, end="", file=self.stream, flush=True)


_watcher: ContextVar[Progress | None] = ContextVar("progress", default=None)


@contextmanager
def showing(verbose: object = True, progress: Progress | None = None) -> Iterator[None]:
    """Show the reports made inside, unless `verbose` is false; inside another such block, that one shows them."""
    if not verbose or _watcher.get() is not None:
        yield
        return
    token = _watcher.set(Progress() if progress is None else progress)
    try:
        yield
    finally:
        _watcher.reset(token)


@contextmanager
def unwatched() -> Iterator[None]:
    """Ignore the reports made inside: they are details of work that is reported as a whole."""
    token = _watcher.set(None)
    try:
        yield
    finally:
        _watcher.reset(token)


@contextmanager
def inside() -> Iterator[None]:
    """Show the reports made inside as details of the unit at hand: they neither count nor begin phases."""
    progress = _watcher.get()
    if progress is not None:
        progress.depth += 1
    try:
        yield
    finally:
        if progress is not None:
            progress.depth -= 1


@contextmanager
def phase(name: str, total: int, unit: str, done: int = 0) -> Iterator[None]:
    """Report a piece of work: `total` units of it (0 if that is not known), some of them perhaps `done` before.

    >>> seconds = iter([0.0, 3.0, 3.0, 5.0])
    >>> with showing(progress=Progress(sys.stdout, clock=lambda: next(seconds))), phase("training", 2, "columns"):
    ...     reached(1, 2, "columns")
    training: 1 of 2 columns, 3 s, about 3 s left
    training: 2 of 2 columns, 5 s
    """
    progress = _watcher.get()
    if progress is None or progress.depth:
        yield
        return
    outer, progress.phase = progress.phase, Phase(name, total, unit, done, progress.clock(), done)
    whole = False
    try:
        yield
        whole = True
    finally:
        progress.finish(whole)
        progress.phase = outer


def reached(done: int, total: int, unit: str = "columns", detail: str = "") -> None:
    """Report that `done` of `total` units of the present phase are done; `detail` names what comes next."""
    if (progress := _watcher.get()) is not None:
        progress.update(done, total, unit, detail)


def nearing(violation: float, tol: float, detail: str) -> None:
    """Report a violation of optimality conditions that has to fall to `tol`; `detail` says how far the solver is."""
    if (progress := _watcher.get()) is not None:
        progress.near(float(violation), tol, detail)


def is_watched() -> bool:
    """Return whether reports are shown."""
    return _watcher.get() is not None


def duration(seconds: float) -> str:
    """Return seconds in words.

    >>> [duration(seconds) for seconds in (0.04, 3.25, 59.7, 75, 3725)]
    ['0 s', '3.2 s', '1 min 0 s', '1 min 15 s', '1 h 2 min']
    """
    if seconds < 9.95:
        return f"{seconds:.1f}".removesuffix(".0") + " s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"
