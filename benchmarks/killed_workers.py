"""Workers that die: kill -9 at 20 random moments of trainings and races on a local cluster.

python benchmarks/killed_workers.py [--quick]

All must end, with the bits of memory, and the workers must need no more memory afterwards than before.
"""

from __future__ import annotations

import gc
import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np
from blocks import cluster, made
from common import QUICK, print_table, save

from outputcodes import OutputCodeClassifier
from outputcodes.learners import BoostedStumps, Logistic
from outputcodes.training import RowBlocks

MEMORY_BACK = 1.25


def kills() -> None:
    """Kill workers at random moments of trainings and of a race; all must end, with the bits of memory."""
    from distributed import Client
    from sklearn.datasets import load_digits

    from outputcodes.selection import Race

    rows, features, count = 8_000 if QUICK else 80_000, 20, 4 if QUICK else 20
    parts = [made(rows // 8, features, number) for number in range(8)]
    blocks, labels = RowBlocks([X for X, _ in parts]), np.concatenate([y for _, y in parts])
    digits, rng, table = load_digits(return_X_y=True), np.random.default_rng(0), []
    race = {"time_limit": None, "contestants": ["ridge", "decision-tree"], "random_state": 0}
    with two_workers() as local, Client(local) as client:
        import dask.array as da

        X = da.from_array(np.concatenate([X for X, _ in parts]), chunks=(rows // 8, features))

        def trained(learner: Any, rows: Any = X) -> np.ndarray:
            model = OutputCodeClassifier(learner, code="all-pairs", random_state=0)
            return model.fit(rows, labels).margins(parts[0][0])

        stumps = BoostedStumps(20, bins=64)
        works = {
            "Logistic, all-pairs": (lambda: trained(Logistic()), trained(Logistic(), blocks)),
            "stumps, all-pairs": (lambda: trained(stumps), trained(stumps, blocks)),
            "a race": (
                lambda: Race(**race).fit(*digits, cluster=client).predict_proba(digits[0]),
                Race(**race).fit(*digits).predict_proba(digits[0]),
            ),
        }
        usual = {work: min(seconds_of(task) for _ in range(2)) for work, (task, _) in works.items()}
        before = memory(client)
        while len(table) < count:
            work = list(works)[len(table) % len(works)]
            task, expected = works[work]
            pids = client.run(os.getpid).values()
            pid, after = int(rng.choice(list(pids))), float(rng.uniform(0, usual[work]))
            struck = threading.Event()
            timer = threading.Timer(after, strike, (pid, struck))
            timer.start()
            start = time.perf_counter()
            found = task()
            seconds = time.perf_counter() - start
            timer.cancel()
            whole_again(local, client)
            if not struck.is_set():
                continue
            assert np.array_equal(found, expected), f"{work}: the bits differ after a kill"
            table.append({"work": work, "killed after s": after, "seconds": seconds, "usual s": usual[work]})
        afterwards = memory(client)
    print_table(table)
    for who, taken in afterwards.items():
        assert taken <= MEMORY_BACK * before[who], f"{who}: {before[who]:.2f} GB before the kills, {taken:.2f} after"
    for work in works:
        own = [row for row in table if row["work"] == work]
        longest = max(row["seconds"] for row in own)
        table.append({"work": work, "kills": len(own), "without a kill s": usual[work], "longest s": longest})
    table += [{"memory of": who, "before GB": before[who], "afterwards GB": afterwards[who]} for who in before]
    save("blocks_kills", table[count:])


def strike(pid: int, struck: threading.Event) -> None:
    """Kill a worker, unless it has left by itself."""
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)
        struck.set()


@contextmanager
def two_workers() -> Iterator[Any]:
    local = cluster(2)
    try:
        yield local
    finally:
        # Dask looks for a worker that died last, and is not listed any more.
        with suppress(KeyError):
            local.close()


def seconds_of(task: Any) -> float:
    start = time.perf_counter()
    task()
    return time.perf_counter() - start


def whole_again(local: Any, client: Any) -> None:
    """Wait until two workers answer: one that was killed at the end of a task may still be listed.

    The nanny of one that is killed while it starts gives up, and another one is asked for.
    """
    for _ in range(20):
        local.scale(2)
        with suppress(TimeoutError):
            client.wait_for_workers(2, timeout=15)
            if len(client.run(os.getpid, on_error="ignore")) == 2:
                return
        time.sleep(0.5)
    raise RuntimeError("The cluster has lost its workers.")


def memory(client: Any) -> dict[str, float]:
    """Return what the largest worker holds, and what this process does, which the scheduler is part of."""
    client.run(gc.collect)
    gc.collect()
    workers = map(resident, client.run(os.getpid).values())
    return {"the largest worker": max(workers), "client and scheduler": resident(os.getpid())}


def resident(pid: int) -> float:
    fields = dict(line.split(":", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines())
    return int(fields["VmRSS"].split()[0]) / 2**20


if __name__ == "__main__":
    kills()
