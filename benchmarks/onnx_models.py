"""Models in onnxruntime and here: the same classes and scores, the size of the files, the time of one row and of many.

    python benchmarks/onnx_models.py [--quick]

Every learner is trained on two thirds of up to 1,000 rows of each small data set, with the preprocessing of the
command line, and decoded by every decoder that can be exported; all rows are predicted here and in onnxruntime. So are
systems that need no code, and the winner of a short race, which may be an average of several models. Times are those
of all rows of satimage, in one thread; the rows are repeated up to 10,000. A row counts as moved if rounding its
numbers to single precision changes the class here.
"""

from __future__ import annotations

import statistics
import tempfile
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
from common import QUICK, print_table, save
from sklearn.model_selection import train_test_split
from sklearn.pipeline import Pipeline
from threadpoolctl import threadpool_limits

from outputcodes import to_onnx
from outputcodes.app import datasets, persistence, tables
from outputcodes.app.export import NotExportableError, onnx_inputs
from outputcodes.app.export.classifiers import CLASSIFIERS, FOREIGN
from outputcodes.app.run import SYSTEMS, build
from outputcodes.app.run.race.winner import model_of, named_contestants, view_of
from outputcodes.decoders import DECODERS
from outputcodes.learners import LEARNERS
from outputcodes.selection import CONTESTANTS, Race

SMALL = ["iris", "wine", "glass", "ecoli", "dermatology", "audiology", "soybean", "anneal", "vehicle", "vowel", "yeast"]
SMALL += ["segmentation", "thyroid", "satimage"]
TIMED, MANY, COMPARED, TOLERANCE = "satimage", 10_000, 1000, 1e-5
RACE, RACE_SECONDS = "race", 3 if QUICK else 10
# Systems that can be exported, ours and those of scikit-learn.
EXPORTED = [name for name, make in SYSTEMS.items() if type(make()) in CLASSIFIERS | FOREIGN]


def session(model: Any, X: Any = None) -> tuple[onnxruntime.InferenceSession, int]:
    """Return an exported model, and the size of its file."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    written = to_onnx(model, X).SerializeToString()
    return onnxruntime.InferenceSession(written, options, providers=["CPUExecutionProvider"]), len(written)


def sample(name: str) -> tuple[tables.Schema, Any, Any]:
    """Return the schema, the features and the labels of a data set."""
    found = datasets.load(name)
    schema = tables.infer(found.data, "class", found.target_names)
    return schema, schema.conform(found.data), found.target.to_numpy()


def fitted(schema: tables.Schema, learner: str, X: Any, y: Any) -> Any:
    """Return a fitted model for tables."""
    if learner != RACE:
        return build(schema, learner, rows=len(y)).fit(X, y)
    # Models of other libraries are refused.
    names = [name for name in named_contestants(None, len(schema.classes)) if not CONTESTANTS[name].needs]
    race = Race(RACE_SECONDS, contestants=names, n_jobs=1, random_state=0)
    return model_of(race.fit(view_of(schema).transform(X), y), schema)


def in_single_precision(frame: Any) -> Any:
    """Return a table with numbers of single precision."""
    return frame.astype({name: np.float32 for name in frame.columns if frame[name].dtype.kind == "f"})


def decided_by_rounding(model: Any, X: Any) -> Any:
    """Return the rows with a margin of 0, whose sign some decoders count, or with a tie for the last neighbour."""
    rows, last = model[:-1].transform(X), model[-1]
    if hasattr(last, "kneighbors"):
        near, next_one = last.kneighbors(rows, last.n_neighbors + 1)[0][:, -2:].T
        return next_one - near < 1e-9 * (1 + near)
    return (np.abs(last.margins(rows)) < 1e-12).any(axis=1) if hasattr(last, "margins") else np.zeros(len(X), bool)


def compare(model: Any, X: Any, single_too: bool) -> dict[str, float]:
    """Return how the classes and scores of all rows differ, and, if asked for, what single precision does."""
    exported, _ = session(model)
    names = [one.name for one in exported.get_outputs()]
    found = dict(zip(names, exported.run(None, onnx_inputs(X)), strict=True))
    predicted = model.predict(X)
    moved, there = np.zeros(len(predicted), dtype=bool), predicted
    if single_too:
        single = in_single_precision(X)
        moved = model.predict(single) != predicted
        there = session(model, single)[0].run(["label"], onnx_inputs(single))[0]
    differs = np.zeros(len(predicted))
    for name, method in (("scores", "decision_function"), ("probabilities", "predict_proba")):
        if name in found:
            apart = np.abs(found[name] - getattr(model, method)(X)).reshape(len(predicted), -1)
            differs = np.maximum(differs, apart.max(axis=1))
    by_rounding = decided_by_rounding(model, X) & (differs > TOLERANCE)
    return {
        "models": 1,
        "rows": len(predicted),
        "other classes": int(((found["label"] != predicted) & ~by_rounding).sum()),
        "decided by rounding": int(by_rounding.sum()),
        "largest difference": float(differs[~by_rounding].max()),
        "moved by float32": int(moved.sum()),
        "other classes, float32": int(((there != predicted) & ~moved & ~by_rounding).sum()),
    }


def of_data_set(name: str) -> list[dict[str, Any]]:
    """Return a line per learner or system."""
    schema, X, y = sample(name)
    some = np.random.default_rng(0).permutation(len(y))[:COMPARED]
    X, y = X.iloc[some], y[some]
    train = train_test_split(np.arange(len(y)), train_size=2 / 3, random_state=0)[0]
    lines = []
    for learner in [*LEARNERS, *EXPORTED, RACE]:
        model = fitted(schema, learner, X.iloc[train], y[train])
        each, refused = [compare(model, X, single_too=True)], []
        if learner in LEARNERS:
            table, classifier = model
            for decoder in DECODERS:
                try:
                    with warnings.catch_warnings():
                        warnings.simplefilter("ignore")
                        other = classifier.with_decoder(decoder, table.transform(X.iloc[train]), y[train])
                except ValueError:
                    continue  # it does not serve this code
                try:
                    each.append(compare(Pipeline([("table", table), ("classifier", other)]), X, single_too=False))
                except NotExportableError:
                    refused.append(decoder)
        worst = {"largest difference": max(one["largest difference"] for one in each)}
        sums = {key: sum(one[key] for one in each) for key in each[0] if key not in worst}
        lines.append({"learner": learner, "data sets": 1, **sums, **worst, "refused": ", ".join(refused)})
    return lines


def over_data_sets(lines: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return a line per learner or system, with the sums over all data sets and the largest difference."""
    table = []
    for learner in dict.fromkeys(line["learner"] for line in lines):
        own = [line for line in lines if line["learner"] == learner]
        how = {"largest difference": max, "refused": max, "learner": max}
        table.append({key: how.get(key, sum)(line[key] for line in own) for key in own[0]})
    return table


def seconds_of(call: Any, repeats: int) -> float:
    """Return the median time of a call."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def timed(learner: str) -> dict[str, Any]:
    """Return sizes and times of a model of satimage."""
    schema, X, y = sample(TIMED)
    model = fitted(schema, learner, X, y)
    many = X.iloc[np.arange(200 if QUICK else MANY) % len(X)]
    one = X.iloc[:1]
    exported, size = session(model)
    inputs, input_of_one = onnx_inputs(many), onnx_inputs(one)
    with tempfile.TemporaryDirectory() as folder, threadpool_limits(1):
        path = Path(folder) / "model.skops"
        persistence.save(model, path)
        repeats = 3 if QUICK else 9
        return {
            "learner": learner,
            "skops kB": path.stat().st_size / 1e3,
            "onnx kB": size / 1e3,
            "one row here ms": 1e3 * seconds_of(lambda: model.predict(one), 5 * repeats),
            "one row onnx ms": 1e3 * seconds_of(lambda: exported.run(["label"], input_of_one), 5 * repeats),
            "10,000 rows here ms": 1e3 * seconds_of(lambda: model.predict(many), repeats),
            "10,000 rows onnx ms": 1e3 * seconds_of(lambda: exported.run(["label"], inputs), repeats),
        }


def main() -> None:
    agreement = []
    for name in SMALL[:2] if QUICK else SMALL:
        agreement += of_data_set(name)
        print(name, flush=True)
    agreement = over_data_sets(agreement)
    print_table(agreement)
    save("onnx_agreement", agreement)
    speed = [timed(learner) for learner in [*LEARNERS, *EXPORTED, RACE]]
    print_table(speed)
    save("onnx_speed", speed)


if __name__ == "__main__":
    main()
