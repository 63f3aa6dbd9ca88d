"""Races on a Dask cluster of real processes: the results of this process, also when workers die."""

import os
import signal
import threading
import time
import warnings
from collections import deque
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.datasets import load_digits, load_iris

from outputcodes.app.run import open_source, race_table
from outputcodes.selection import Race
from outputcodes.selection.race.on_cluster import ClusterWorkers
from outputcodes.selection.race.trials import Task

distributed = pytest.importorskip("distributed", reason="needs the extra dask")
pytestmark = pytest.mark.filterwarnings("ignore")
CONTESTANTS = ["ridge", "decision-tree"]


def raced(X, y, cluster, **options):
    options = {"time_limit": None, "contestants": CONTESTANTS, "random_state": 0} | options
    return Race(**options).fit(X, y, cluster=cluster)


def without_times(race):
    return [{name: value for name, value in row.items() if name != "seconds"} for row in race.standings_]


@pytest.fixture(scope="module")
def here():
    return raced(*load_digits(return_X_y=True), None)


@pytest.mark.parametrize("both", [False, True], ids=["one", "all"])
def test_a_race_on_a_cluster_is_that_of_this_process_also_if_workers_are_killed(client, here, both):
    X, y = load_digits(return_X_y=True)
    stop, rng = threading.Event(), np.random.default_rng(int(both))

    def kill():
        for number in range(2):
            if number:  # a worker that is killed while it starts is not started again
                client.wait_for_workers(2, timeout=60)
                time.sleep(0.5)
            if stop.wait(rng.uniform(0.2, 1.0)):
                return
            pids = list(client.run(os.getpid).values())
            for pid in pids if both else pids[:1]:
                os.kill(pid, signal.SIGKILL)

    killer = threading.Thread(target=kill)
    killer.start()
    there = raced(X, y, client)
    stop.set()
    killer.join()
    assert without_times(there) == without_times(here)
    assert np.array_equal(there.predict_proba(X), here.predict_proba(X))
    client.cluster.scale(2)
    client.wait_for_workers(1, timeout=60)


def test_what_runs_when_the_time_is_over_is_given_up(client):
    X, y = load_iris(return_X_y=True)
    start = time.monotonic()
    race = raced(X, y, client, time_limit=6)
    assert race.winner_
    assert time.monotonic() - start < 30


def test_a_journal_is_continued_elsewhere(client, tmp_path):
    source = open_source("iris", cv=3)
    how = {"time_limit": None, "out": tmp_path}
    first = race_table(source, CONTESTANTS, cluster=client, **how)
    again = race_table(source, CONTESTANTS, resume=True, **how)
    assert first.found == 0 < first.computed
    assert again.found > 0
    assert again.computed < first.computed
    assert [row.error for row in again.rows] == [row.error for row in first.rows]


def test_a_cluster_that_is_none_is_named():
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match=r"cluster=3 must be the address of a scheduler, 'local'"):
        raced(X, y, 3)
    with warnings.catch_warnings(), pytest.raises(ValueError, match=r"127.0.0.1:1.*can't be reached"):
        raced(X, y, "tcp://127.0.0.1:1")


class WithoutWorkers:
    """Answers as a client of a cluster that loses every task, whose workers are gone after some samples were sent."""

    def __init__(self, samples):
        self.samples, self.restarted = samples, False

    def wait_for_workers(self, n, timeout):
        if not self.samples:
            time.sleep(timeout)
            raise TimeoutError("no worker has come")

    def scatter(self, data, hash):
        self.samples -= 1

    def submit(self, function, *arguments, pure):
        return LostFuture()

    def ncores(self):
        return {"worker": 3}

    def cancel(self, futures, force):
        pass

    def restart(self):
        self.restarted = True


class LostFuture:
    def result(self):
        raise OSError("the worker is gone")


@pytest.mark.parametrize("own", [False, True])
def test_a_race_whose_workers_are_all_gone_ends_in_time(monkeypatch, own):
    # One task is lost at a time, while others run.
    monkeypatch.setattr(distributed, "wait", lambda running, **how: SimpleNamespace(done={running[0]}))
    client = WithoutWorkers(samples=3)
    monkeypatch.setattr(ClusterWorkers, "_connected", lambda self, *given: client)
    workers, tasks = (
        ClusterWorkers(None, "local" if own else client, 1),
        [Task(None, fold, 10, None) for fold in range(4)],
    )
    start = time.monotonic()
    trials = list(workers.run(deque(tasks), end=start + 0.5))
    assert 0.4 < time.monotonic() - start < 5
    # The sample is sent once at first, and once for every task that is lost.
    assert client.samples == 0
    assert not client.restarted
    assert sorted(trial.task.fold for trial in trials) == [0, 1, 2]
    assert all("no worker has come" in trial.failed for trial in trials)
