"""Trainings of a race as tasks on the workers of a Dask cluster."""

from __future__ import annotations

import logging
import time
from collections import Counter, deque
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from types import TracebackType
from typing import Any, Self

import numpy as np

from outputcodes._ground.words import in_words
from outputcodes.selection.race.trials import Field, Task, Trial, run
from outputcodes.selection.race.workers import STOPPED

# Seconds until the first worker must have come.
PATIENCE = 60.0
# What becomes of a task whose sample is lost with all workers that had it.
GONE = ("cancelled", "lost")
# How often a task is begun again after the cluster, not its training, broke.
MOST_ATTEMPTS = 5


class ClusterWorkers:
    """Trains on a cluster, as many at a time as its workers have threads.

    The sample goes to one worker, and the others fetch it with their first task. A task whose worker is lost is
    computed again by another one; one that several workers were lost with has failed. What runs when the time is over
    is given up: the workers of a cluster that was started here are restarted, those of others end it by themselves, and
    its result is dropped.

    Parameters
    ----------
    data : Field
    cluster : str or distributed.Client
        The address of a scheduler, "local" for a cluster on this machine until the race is over, or a client.
    count : int
        The number of workers of a "local" cluster.
    """

    def __init__(self, data: Field, cluster: Any, count: int) -> None:
        self._stack = ExitStack()
        self._own = isinstance(cluster, str) and cluster == "local"
        try:
            self.client = self._connected(cluster, count)
            import cloudpickle

            # Classes of the user's, which may be defined anywhere, are stored by value.
            self._bytes = cloudpickle.dumps(data)
            self._send()
            # Two hands each are no faster: a training has one thread.
            self.count = max(1, sum(self.client.ncores().values()))
        except BaseException:
            self._stack.close()
            raise

    def _connected(self, cluster: Any, count: int) -> Any:
        try:
            from distributed import Client, LocalCluster
        except ImportError as reason:
            raise ImportError("A race on a cluster needs Dask: pip install outputcodes[dask].") from reason
        if isinstance(cluster, Client):
            client = cluster
        elif self._own:
            how: dict[str, Any] = {"threads_per_worker": 1, "dashboard_address": None, "memory_limit": 0}
            # Workers that are stopped in the middle of a training are no news; failures come with the futures.
            how["silence_logs"] = logging.CRITICAL
            client = self._stack.enter_context(Client(self._stack.enter_context(LocalCluster(n_workers=count, **how))))
        elif isinstance(cluster, str):
            try:
                client = self._stack.enter_context(Client(cluster, timeout=10))
            except (OSError, ValueError) as reason:
                raise ValueError(
                    f"cluster={cluster!r} (--cluster {cluster}) can't be reached: give the address of a scheduler, "
                    "such as tcp://10.0.0.1:8786, or 'local' for a cluster on this machine."
                ) from reason
        else:
            raise ValueError(
                f"cluster={cluster!r} must be the address of a scheduler, 'local', or a distributed.Client."
            )
        try:
            client.wait_for_workers(1, timeout=PATIENCE)
        except TimeoutError as reason:
            raise ValueError(f"cluster={cluster!r} has no workers: start some, by `dask worker ADDRESS`.") from reason
        return client

    def run(self, tasks: deque[Task], last_start: float = np.inf, end: float = np.inf) -> Iterator[Trial]:
        """Yield the trials of tasks as they are done; none begins after `last_start`, and none is awaited after `end`.

        Tasks may be added between two trials.
        """
        from distributed import CancelledError, KilledWorker, wait

        running: dict[Any, Task] = {}
        attempts: Counter[Task] = Counter()
        try:
            while True:
                while tasks and len(running) < self.count and time.monotonic() < min(last_start, end):
                    task = tasks.popleft()
                    running[self._begun(task)] = task
                if not running:
                    return
                left = None if end == np.inf else max(0.01, end - time.monotonic())
                try:
                    done = wait(list(running), timeout=left, return_when="FIRST_COMPLETED").done
                except CancelledError:
                    done = {future for future in running if future.status in GONE}
                except TimeoutError:
                    for task in running.values():
                        yield Trial(task, failed=STOPPED)
                    return
                lost = []
                for future in done:
                    task = running.pop(future)
                    attempts[task] += 1
                    try:
                        trial = future.result()
                    except Exception as reason:  # a training that breaks returns a trial: this is the cluster
                        if not isinstance(reason, KilledWorker) and attempts[task] < MOST_ATTEMPTS:
                            lost.append(task)
                            continue
                        trial = Trial(task, failed=in_words(reason))
                    yield trial
                if not lost:
                    continue
                try:
                    self._send(end)
                except OSError as reason:  # no worker is left, and so nothing runs
                    lost += running.values()
                    running.clear()
                    for task in lost:
                        yield Trial(task, failed=in_words(reason))
                    return
                running |= {self._begun(task): task for task in lost}
        finally:
            self._give_up(running)

    def _send(self, end: float = np.inf) -> None:
        """Send the sample to a worker that lives, if one comes before `end`; the others fetch it there.

        Dask would try for ever to send it to all, if one of them has died and is still listed.
        """
        for attempt in range(1, MOST_ATTEMPTS + 1):
            try:
                self.client.wait_for_workers(1, timeout=max(0.01, min(PATIENCE, end - time.monotonic())))
                self._sample = self.client.scatter(self._bytes, hash=False)
                return
            except OSError:
                if attempt == MOST_ATTEMPTS or time.monotonic() >= end:
                    raise

    def _begun(self, task: Task) -> Any:
        return self.client.submit(_run, self._sample, task, pure=False)

    def _give_up(self, running: dict[Any, Task]) -> None:
        if not running:
            return
        with suppress(Exception):  # a cluster that is gone has nothing to give up
            self.client.cancel(list(running), force=True)
            if self._own:
                self.client.restart()
                self._send()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: Any, error: Any, trace: TracebackType | None) -> None:
        self._stack.close()


_samples: dict[int, Field] = {}


def _run(sample: bytes, task: Task) -> Trial:
    """Train on a worker, which unpacks the sample once."""
    key = hash(sample)
    if key not in _samples:
        import cloudpickle

        _samples.clear()
        _samples[key] = cloudpickle.loads(sample)
    return run(_samples[key], task)
