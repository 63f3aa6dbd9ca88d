"""Processes that train for a race: several at a time, and stopped when the time is over."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import tempfile
import threading
import time
from collections import deque
from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import joblib
import numpy as np

from outputcodes._ground.words import in_words
from outputcodes.selection.race.interrupts import end_processes, held_back
from outputcodes.selection.race.trials import Field, Task, Trial, run

# One thread each: the processes share the processors.
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
# What a process loads and compiles (CUDA alone takes more than 300 MB) is no leak for which loky should restart it.
NO_RESTARTS = {"LOKY_MAX_MEMORY_LEAK_SIZE": "1e15"}
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
    """Trains in processes of their own, which read the sample once; what runs when the time is over is killed."""

    def __init__(self, data: Field, count: int) -> None:
        self.data, self.count = data, count
        self._folder = tempfile.TemporaryDirectory()
        self._path = str(Path(self._folder.name) / "sample")
        import cloudpickle

        # Classes of the user's, which may be defined anywhere, are stored by value.
        joblib.dump((cloudpickle.dumps(data.contestants), replace(data, contestants={})), self._path)
        self._workers: list[_Worker] = []
        try:
            with held_back():
                for _ in range(count):
                    self._workers.append(_Worker(self._path))
        except BaseException:
            self._stop()
            raise

    def run(self, tasks: deque[Task], last_start: float = np.inf, end: float = np.inf) -> Iterator[Trial]:
        """Yield the trials of tasks as they are done; none begins after `last_start`, and none goes on after `end`.

        Tasks may be added between two trials.
        """
        from loky.process_executor import TerminatedWorkerError

        running: dict[Future[Any], _Worker] = {}
        while True:
            free = [worker for worker in self._workers if worker not in running.values()]
            going_on = tasks and time.monotonic() < min(last_start, end)
            for worker in free:
                if tasks and going_on and worker.started.done():
                    task = tasks.popleft()
                    try:
                        running[worker.begin(task)] = worker
                    except Exception as reason:  # the process ended while it started
                        worker.begin_anew()
                        yield Trial(task, failed=in_words(reason))
            # What they import is no part of the time of a training.
            starting = [worker.started for worker in free if tasks and going_on and not worker.started.done()]
            if not running and not starting:
                return
            left = None if end == np.inf else max(0.0, end - time.monotonic())
            done, _ = wait([*running, *starting], timeout=left, return_when=FIRST_COMPLETED)
            if not done:
                for worker in running.values():
                    worker.begin_anew()
                    yield Trial(worker.task, failed=STOPPED)
                return
            for future in done & running.keys():
                worker = running.pop(future)
                try:
                    yield future.result()
                except TerminatedWorkerError:
                    worker.begin_anew()
                    yield Trial(worker.task, failed="Its process ended; there may be too little memory.")
                except Exception as reason:  # what came back can't be sent between processes
                    yield Trial(worker.task, failed=in_words(reason))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: Any, error: Any, trace: TracebackType | None) -> None:
        self._stop()

    def _stop(self) -> None:
        with held_back():
            for worker in self._workers:
                worker.stop()
            end_processes({pid for worker in self._workers for pid in worker.pids})
            self._folder.cleanup()


class _Worker:
    """One process, and the task that it has or had."""

    task: Task

    def __init__(self, path: str) -> None:
        self.path = path
        self.pids: set[int] = set()
        self._start()

    def _start(self) -> None:
        from loky import ProcessPoolExecutor

        self._pool = ProcessPoolExecutor(
            1, env=os.environ | ONE_THREAD | NO_RESTARTS, initializer=_follow, initargs=(os.getpid(),)
        )
        self.started: Future[int] = self._pool.submit(_read_first, self.path)

    def begin(self, task: Task) -> Future[Trial]:
        self.task = task
        with held_back():
            future: Future[Trial] = self._pool.submit(_run, self.path, task)
        return future

    def begin_anew(self) -> None:
        with held_back():
            self.stop()
            self._start()

    def stop(self) -> None:
        # One that is still reading trains nothing, and ends by itself.
        if self.started.done() and self.started.exception() is None:
            self.pids.add(self.started.result())
        self._pool.shutdown(wait=False, kill_workers=True)


def _follow(parent: int) -> None:
    """Let the process that asked for the work decide what Ctrl-C means, and end with it, however it ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_after, args=(parent,), daemon=True).start()


def _end_after(parent: int) -> None:
    if sys.platform == "win32":  # where a process that has lost its parent keeps the number of this one
        multiprocessing.parent_process().join()
    else:
        while os.getppid() == parent:
            time.sleep(1.0)
    os._exit(1)


_samples: dict[str, Field] = {}


def _read(path: str) -> Field:
    """The sample, read once by each process; large arrays are mapped, not copied."""
    if path not in _samples:
        _samples.clear()
        import cloudpickle

        contestants, data = joblib.load(path, mmap_mode="r")
        _samples[path] = replace(data, contestants=cloudpickle.loads(contestants))
    return _samples[path]


def _read_first(path: str) -> int:
    _read(path)
    return os.getpid()


def _run(path: str, task: Task) -> Trial:
    return run(_read(path), task)
