"""Workers of a Dask cluster that die, and what passes through its client; the fixture `client` is such a cluster."""

import os
import pickle
import signal
import threading
from contextlib import contextmanager

from outputcodes._ground.on_dask import DaskBlocks
from outputcodes._ground.travelling import n_bytes


@contextmanager
def killing(client, rng, times=2):
    """Kill a worker at some random moments; yield the list of those killed. Afterwards there are two workers again."""
    stop, killed = threading.Event(), []

    def kill():
        for _ in range(times):
            if stop.wait(rng.uniform(0.05, 0.8)):
                return
            pids = list(client.run(os.getpid).values())
            if pids:
                killed.append(int(rng.choice(pids)))
                os.kill(killed[-1], signal.SIGKILL)

    killer = threading.Thread(target=kill)
    killer.start()
    try:
        yield killed
    finally:
        stop.set()
        killer.join()
        whole_again(client)


def whole_again(client):
    """Wait for the workers; the nanny of one that is killed while it starts gives up, and another one is asked for."""
    for _ in range(10):
        client.cluster.scale(2)
        try:
            return client.wait_for_workers(2, timeout=10)
        except TimeoutError:
            continue
    raise AssertionError("The cluster has lost its workers.")


def watched_passes(monkeypatch):
    """Return a list to which every pass adds its function's name, the bytes of its state and of the sums' arrays."""
    passes = []

    def tasks(self, task, *fixed, state, given=None, before=DaskBlocks._tasks):
        passes.append([fixed[0].__name__, len(pickle.dumps(state)), 0])
        return before(self, task, *fixed, state=state, given=given)

    def summed(self, parts, combine, before=DaskBlocks._summed):
        found = before(self, parts, combine)
        # Not those of its pickle: they depend on which arrays came from another process.
        passes[-1][2] = n_bytes(found)
        return found

    monkeypatch.setattr(DaskBlocks, "_tasks", tasks)
    monkeypatch.setattr(DaskBlocks, "_summed", summed)
    return passes
