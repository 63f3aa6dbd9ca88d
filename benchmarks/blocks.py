"""Rows beyond memory and beyond one machine: parquet files and a Dask cluster.

python benchmarks/blocks.py [files] [dask] [bytes] [peers] [--quick]

"files" trains on 20,000,000 × 20 rows of parquet files, within 2 GB of private memory, against arrays (the median of
three); "dask" trains on 2,000,000 × 50 rows by one worker; "bytes" measures what a pass sends; "peers" boosts stumps
on the same cluster with xgboost.dask. Without words, all. `killed_workers.py` is about workers that die. Files
are written to a temporary folder (TMPDIR), about 10 GB with the working files.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from functools import partial
from operator import itemgetter
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
from common import QUICK, WORDS, interleaved, print_table, save

from outputcodes import OutputCodeClassifier
from outputcodes.learners import BoostedStumps, Logistic
from outputcodes.training import RowBlocks

CLASSES, FEATURES, ROWS_PER_FILE = 6, 20, 5_000 if QUICK else 200_000
FILE_ROWS, ARRAY_ROWS = (40_000, 20_000) if QUICK else (20_000_000, 2_000_000)
CLUSTER_SHAPE, CLUSTER_BLOCKS = (20_000 if QUICK else 2_000_000, 50), 4
ROUNDS = 10 if QUICK else 100
WORK = {"Logistic, one-vs-all": Logistic(), f"{ROUNDS} rounds of stumps, 128 bins": BoostedStumps(ROUNDS, bins=128)}


def made(rows: int, features: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return classes around random centres."""
    rng = np.random.default_rng((seed, 1))
    centres = np.random.default_rng(0).standard_normal((CLASSES, features))
    y = rng.integers(CLASSES, size=rows).astype(np.int8)
    return centres[y] + 2 * rng.standard_normal((rows, features)), y


def write(folder: Path, rows: int) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    for number in range(rows // ROWS_PER_FILE):
        X, y = made(ROWS_PER_FILE, FEATURES, number)
        columns = {f"x{f}": X[:, f] for f in range(FEATURES)} | {"class": y}
        pq.write_table(pa.table(columns), folder / f"part-{number:04}.parquet", compression="none")


def blocks_of(folder: Path) -> tuple[RowBlocks, np.ndarray]:
    """Return the features of a folder as blocks that are read again whenever they are needed, and the labels."""
    import pyarrow.parquet as pq

    files = sorted(folder.glob("*.parquet"))
    names = [f"x{f}" for f in range(FEATURES)]

    def every() -> Iterator[np.ndarray]:
        for path in files:
            table = pq.read_table(path, columns=names)
            yield np.column_stack([table[name].to_numpy() for name in names])

    y = np.concatenate([pq.read_table(path, columns=["class"])["class"].to_numpy() for path in files])
    sizes = [pq.ParquetFile(path).metadata.num_rows for path in files]
    return RowBlocks.counted(every, sizes, FEATURES), y


class PrivateMemory:
    """The largest private memory of this process: what is mapped from files is not counted."""

    def __init__(self) -> None:
        self.peak, self._stop = 0.0, threading.Event()

    def __enter__(self) -> PrivateMemory:
        self._thread = threading.Thread(target=self._watch)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._stop.wait(0.02):
            fields = dict(line.split(":") for line in Path("/proc/self/status").read_text().splitlines())
            self.peak = max(self.peak, int(fields["RssAnon"].split()[0]) / 2**20)


def child(source: str, work: str) -> dict[str, Any]:
    """Train in this process; the first pass, which reads, checks and prepares all rows, is timed apart."""
    X, y = made(ARRAY_ROWS, FEATURES, 0) if source == "array" else blocks_of(Path(source))
    model = OutputCodeClassifier(WORK[work], code="one-vs-all", random_state=0)
    # Compile, or load what is compiled.
    model.fit(RowBlocks([made(2000, FEATURES, 0)[0]]), made(2000, FEATURES, 0)[1])
    model.fit(*made(2000, FEATURES, 0))
    with PrivateMemory() as memory:
        start = time.perf_counter()
        posed = model.pose(X, y)
        between, cpu = time.perf_counter(), time.process_time()
        trained = model.solve(posed)
        end, cpu = time.perf_counter(), time.process_time() - cpu
    return {
        "rows": len(y),
        "first pass s": between - start,
        "training s": end - between,
        "training CPU s": cpu,
        "training ns per row": 1e9 * (end - between) / len(y),
        "iterations": int(trained.columns.fitted.certificate.iterations.max()),
        "private memory GB": memory.peak,
    }


def in_a_process(source: str, work: str) -> dict[str, Any]:
    words = [sys.executable, __file__, "--child", source, work, *(["--quick"] if QUICK else [])]
    return json.loads(subprocess.run(words, check=True, capture_output=True, text=True).stdout.splitlines()[-1])


def files() -> None:
    table = []
    with tempfile.TemporaryDirectory(prefix="outputcodes-blocks-") as name:
        write(Path(name), FILE_ROWS)
        size = sum(path.stat().st_size for path in Path(name).iterdir()) / 2**30
        for work in WORK:
            first, found, *others = (in_a_process(source, work) for source in ("array", name, "array", "array"))
            array = sorted([first, *others], key=itemgetter("training s"))[1]
            ratio = found["training ns per row"] / array["training ns per row"]
            table += [
                {"work": work, "source": "array in memory"} | array,
                {"work": work, "source": f"parquet files, {size:.1f} GB"} | found | {"time per row / array": ratio},
            ]
    print_table(table)
    save("blocks_files", table)


def cluster(n_workers: int) -> Any:
    from distributed import LocalCluster

    return LocalCluster(n_workers=n_workers, threads_per_worker=1, dashboard_address=None, memory_limit=0)


def on_the_workers(n_workers: int) -> tuple[Any, Any]:
    """Return a Dask array whose blocks the workers make and keep, and its labels."""
    import dask
    import dask.array as da
    from distributed import wait

    rows, features = CLUSTER_SHAPE[0] // CLUSTER_BLOCKS, CLUSTER_SHAPE[1]
    parts = [dask.delayed(made)(rows, features, number) for number in range(CLUSTER_BLOCKS)]
    X, y = (
        da.concatenate(
            [
                da.from_delayed(dask.delayed(lambda pair, place: pair[place])(part, place), shape, dtype)
                for part in parts
            ]
        ).persist()
        for place, shape, dtype in ((0, (rows, features), np.float64), (1, (rows,), np.int8))
    )
    wait([X, y])
    return X, y


def loopback() -> int:
    """Return the bytes that this machine has sent to itself: every connection of a local cluster is one of these."""
    line = next(line for line in Path("/proc/net/dev").read_text().splitlines() if line.strip().startswith("lo:"))
    return int(line.split()[1])


def on_dask() -> None:
    rows, features = CLUSTER_SHAPE[0] // CLUSTER_BLOCKS, CLUSTER_SHAPE[1]
    parts = [made(rows, features, number) for number in range(CLUSTER_BLOCKS)]
    sample = RowBlocks([X for X, _ in parts]), np.concatenate([y for _, y in parts])
    table = [{"work": work} | beside_memory(learner, *sample) for work, learner in WORK.items()]
    print_table(table)
    save("blocks_dask", table)


def beside_memory(learner: Any, blocks: RowBlocks, labels: np.ndarray) -> dict[str, Any]:
    """Train in memory and on one worker in turn; return median seconds and where they go."""
    from distributed import Client, get_task_stream

    make, streams = partial(OutputCodeClassifier, learner, code="one-vs-all", random_state=0), []
    with cluster(1) as local, Client(local):
        X, y = on_the_workers(1)

        def on_the_worker() -> Any:
            with get_task_stream() as stream:
                model = make().fit(X, y)
            streams.append(stream.data)
            return model

        make().fit(X[:4000].rechunk((2000, -1)), y[:4000])  # compiles
        work = {"in memory": lambda: make().fit(blocks, labels), "one worker": on_the_worker}
        seconds, models = interleaved(work, repeats=3)
    some = made(1000, CLUSTER_SHAPE[1], 99)[0]
    here, there = (model.decision_function(some) for model in models.values())
    assert np.array_equal(here, there), "the bits differ"
    inside = statistics.median(
        sum(s["stop"] - s["start"] for task in tasks for s in task["startstops"] if s["action"] == "compute")
        for tasks in streams
    )
    return {
        **{f"{name} s": taken for name, taken in seconds.items()},
        "one worker / in memory": seconds["one worker"] / seconds["in memory"],
        "computing in tasks s": inside,
        "tasks": len(streams[-1]),
        "scheduling and sending s": seconds["one worker"] - inside,
    }


def bytes_sent() -> None:
    """Measure what a pass sends in a cluster of two workers, beside the formula, and calculate it for more workers.

    State of s bytes goes with the task of each of B blocks, through the scheduler. Sums of r bytes go along a tree, at
    most B - 1 of them between workers, and the last one to the scheduler and from there to the client. Each task, of
    a block or of a sum of four, has messages of its own, as a pass with next to no state has. Passes are measured
    alone, with state and sums of these sizes, and in a training: the median, as Dask may move a block now and then.
    """
    from distributed import Client

    from outputcodes._ground.on_dask import TOGETHER, DaskBlocks, DaskRows

    d, table = CLUSTER_SHAPE[1], []
    linear, histograms = 8 * (d + 1) * CLASSES, 8 * d * 129 * 16
    passes = {
        "Logistic, a gradient": (linear, linear, Logistic(tol=1e-6)),
        "stumps, a round": (2 * 8 * (8 * 8 + 2 * d), histograms, BoostedStumps(ROUNDS, bins=128)),
    }
    with cluster(2) as local, Client(local):
        X, y = on_the_workers(2)
        repeats = 20

        def n_tasks(n_blocks: int) -> int:
            return n_blocks if n_blocks == 1 else n_blocks + n_tasks(-(-n_blocks // TOGETHER))

        def measured(state: int, result: int) -> float:
            """The median of some passes, without what clusters send when they are idle."""
            found, idle = [], []
            for _ in range(repeats):
                before, start = loopback(), time.perf_counter()
                blocks.total(_of_size, np.ones(state // 8), result // 8)
                found.append((loopback() - before, time.perf_counter() - start))
                before = loopback()
                time.sleep(0.1)
                idle.append((loopback() - before) / 0.1)
            return statistics.median(sent - statistics.median(idle) * seconds for sent, seconds in found)

        before = loopback()
        time.sleep(5)
        when_idle = (loopback() - before) / 5

        def of_a_training(learner: Any) -> tuple[float, int]:
            """The bytes of the median pass of a training, and of all of it."""
            marks = [(loopback(), time.perf_counter())]

            def noted(self: Any, *sums: Any, add: Any = DaskBlocks._summed) -> Any:
                total = add(self, *sums)
                marks.append((loopback(), time.perf_counter()))
                return total

            with patch.object(DaskBlocks, "_summed", noted):
                OutputCodeClassifier(learner, code="one-vs-all", random_state=0).fit(X, y)
            sent, seconds = np.diff(marks, axis=0).T
            return float(np.median(sent - when_idle * seconds)), int(sent.sum())

        # First, as Dask learns how long tasks take, and passes alone are short.
        trainings = [of_a_training(learner) for _, _, learner in passes.values()]
        blocks = DaskRows(X).kept(_own_piece)
        few = len(blocks.blocks)
        per_task = measured(8, 8) / n_tasks(few)
        for (work, (state, result, _)), (in_training, of_all) in zip(passes.items(), trainings, strict=True):
            for workers in (2, 16, 64, 256):
                # One block per worker, and four of them on the two workers of the measurement.
                B = few if workers == 2 else workers
                formula = B * state + (B + 1) * result + n_tasks(B) * per_task
                found = measured(state, result) if workers == 2 else "calculated"
                table.append(
                    {
                        "pass": work,
                        "workers": workers,
                        "state bytes": state,
                        "sum bytes": result,
                        "bytes by the formula": int(formula),
                        "bytes measured": int(found) if workers == 2 else found,
                        "bytes per pass of a training": int(in_training) if workers == 2 else "",
                        "bytes of the training": of_all if workers == 2 else "",
                        "bytes per task": int(per_task),
                    }
                )
    print_table(table)
    save("blocks_bytes", table)


def _own_piece(block: Any, start: int) -> Any:
    from outputcodes._ground.stored_rows import Part

    return Part(block)


def _of_size(piece: Any, state: np.ndarray, size: int) -> tuple[np.ndarray]:
    return (np.full(size, state[0]),)


def peers() -> None:
    from distributed import Client
    from xgboost import dask as xgb

    with cluster(2) as local, Client(local) as client:
        X, y = on_the_workers(2)
        held, truth = made(20_000, CLUSTER_SHAPE[1], 99)
        ours = OutputCodeClassifier(BoostedStumps(ROUNDS, bins=128), code="one-vs-all", random_state=0)
        ours.fit(X[:4000].rechunk((2000, -1)), y[:4000])
        start = time.perf_counter()
        ours.fit(X, y)
        seconds = {"outputcodes": time.perf_counter() - start}
        errors = {"outputcodes": np.mean(ours.predict(held) != truth)}
        how = {"objective": "multi:softprob", "num_class": CLASSES, "max_depth": 1, "max_bin": 128, "nthread": 1}
        start = time.perf_counter()
        data = xgb.DaskQuantileDMatrix(client, X, y, max_bin=128)
        booster = xgb.train(client, {**how, "tree_method": "hist"}, data, num_boost_round=ROUNDS)["booster"]
        seconds["xgboost.dask"] = time.perf_counter() - start
        errors["xgboost.dask"] = np.mean(booster.inplace_predict(held).argmax(axis=1) != truth)
    table = [{"library": name, "seconds": seconds[name], "error %": 100 * float(errors[name])} for name in seconds]
    print_table(table)
    save("blocks_peers", table)


PARTS = {"files": files, "dask": on_dask, "bytes": bytes_sent, "peers": peers}

if __name__ == "__main__":
    if WORDS[:1] == ["--child"]:
        print(json.dumps(child(*WORDS[1:])))
    else:
        for part in WORDS or PARTS:
            PARTS[part]()
