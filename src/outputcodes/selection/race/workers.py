"""Processes that train for a race: several at a time, and stopped when the time is over."""

from __future__ import annotations

import os
import tempfile
import time
from collections import deque
from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, Future, wait
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import joblib
import numpy as np
from loky import ProcessPoolExecutor
from loky.process_executor import TerminatedWorkerError

from outputcodes.selection.race.trials import Field, Task, Trial, run

# One thread each: the processes share the processors.
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
STOPPED = "It was stopped: the time was over."


class Here:
    """Trains in this process, one after the other; nothing begins when the time is over."""

    count = 1

    def __init__(self, data: Field) -> None:
        self.data = data

    def run(self, tasks: deque[Task], last_start: float = np.inf, end: float = np.inf) -> Iterator[Trial]:
        """Yield the trials of tasks as they are done; none begins after `last_start`, a time of `time.monotonic`.

        Tasks may be added between two trials.
        """
        while tasks and time.monotonic() < min(last_start, end):
            yield run(self.data, tasks.popleft())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: Any, error: Any, trace: TracebackType | None) -> None:
        pass


class Workers:
    """Trains in processes of their own, which read the sample once and are killed when the time is over."""

    def __init__(self, data: Field, count: int) -> None:
        self.data, self.count = data, count
        self._pool: ProcessPoolExecutor | None = None
        self._folder = tempfile.TemporaryDirectory()
        self._path = str(Path(self._folder.name) / "sample")
        joblib.dump(data, self._path)
        self._start()  # their imports run while the first tasks are made

    def run(self, tasks: deque[Task], last_start: float = np.inf, end: float = np.inf) -> Iterator[Trial]:
        """Yield the trials of tasks as they are done; none begins after `last_start`, and none goes on after `end`.

        Tasks may be added between two trials.
        """
        running: dict[Future[Trial], Task] = {}
        while tasks or running:
            while tasks and len(running) < self.count and time.monotonic() < min(last_start, end):
                task = tasks.popleft()
                running[self._start().submit(_run, self._path, task)] = task
            if not running:
                return
            left = None if end == np.inf else max(0.0, end - time.monotonic())
            done, _ = wait(running, timeout=left, return_when=FIRST_COMPLETED)
            if not done:
                self._stop()
                yield from (Trial(task, failed=STOPPED) for task in running.values())
                return
            for future in done:
                task = running.pop(future)
                try:
                    yield future.result()
                except TerminatedWorkerError:
                    # The others ended with it, and begin again.
                    yield Trial(task, failed="Its process ended; there may be too little memory.")
                    tasks.extendleft(running.values())
                    running.clear()
                    self._pool = None
                    break

    def _start(self) -> ProcessPoolExecutor:
        if self._pool is None:
            self._pool = ProcessPoolExecutor(self.count, env=os.environ | ONE_THREAD)
            for _ in range(self.count):
                self._pool.submit(_read, self._path)
        return self._pool

    def _stop(self) -> None:
        if self._pool is not None:
            self._pool.shutdown(wait=False, kill_workers=True)
            self._pool = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: Any, error: Any, trace: TracebackType | None) -> None:
        self._stop()
        self._folder.cleanup()


_samples: dict[str, Field] = {}


def _read(path: str) -> Field:
    """The sample, read once by each process; large arrays are mapped, not copied."""
    if path not in _samples:
        _samples.clear()
        _samples[path] = joblib.load(path, mmap_mode="r")
    return _samples[path]


def _run(path: str, task: Task) -> Trial:
    return run(_read(path), task)
