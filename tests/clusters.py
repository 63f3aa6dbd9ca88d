"""Workers of a Dask cluster that die while something is computed; the fixture `client` is such a cluster."""

import os
import signal
import threading
from contextlib import contextmanager


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
