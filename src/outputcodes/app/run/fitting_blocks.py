"""Models fitted to tables that are read in blocks: folders, patterns of files, and files that are large."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sklearn.pipeline import Pipeline

from outputcodes.app import tables
from outputcodes.app.run.systems import DEFAULT, SYSTEMS, build, default_name
from outputcodes.app.tables.ordering import check_one_order
from outputcodes.app.tables.unusual import unlabelled_rows
from outputcodes.classifier import OutputCodeClassifier
from outputcodes.codes import CODES
from outputcodes.learners import LEARNERS

# Larger files are read in blocks, for learners that can train on them.
LARGE_FILE = 1 << 29


def reads_blocks(data: str, learner: str | None) -> bool:
    """Return whether a table is read in blocks: a folder, a pattern, or a large file for a learner that takes blocks.

    >>> reads_blocks("iris", "ridge"), reads_blocks("parts/*.csv", "ridge")
    (False, True)
    """
    path = Path(data)
    if path.is_dir() or tables.is_pattern(data):
        return True
    return learner in trains_on_blocks() and path.is_file() and path.stat().st_size > LARGE_FILE


def trains_on_blocks() -> list[str]:
    """Return the names of the learners and systems that train on blocks of rows.

    >>> trains_on_blocks()
    ['boosted-trees', 'linear-svm', 'logistic', 'ridge', 'stumps', 'tree', 'adaboost-mh', ...]
    """
    learners = sorted(name for name, make in LEARNERS.items() if make().takes_blocks)
    return learners + sorted(name for name, system in SYSTEMS.items() if system.takes_blocks)


def fit_blocks(
    data: str,
    target: str | None,
    learner: str | None,
    code: str | None,
    decoder: str | None,
    reading: Mapping[str, Any],
    **how: Any,
) -> tuple[Pipeline, tables.BlockTable, dict[str, Any]]:
    """Return a model, the table that it was fitted to, and facts for its summary.

    Medians and scales are those of a sample of the rows. A learner that does not take blocks gets all rows in memory.
    """
    if learner is None and code is None and decoder is None and not how["params"]:
        raise ValueError(
            f"{data} is read in blocks, and a race needs one table in memory: name a learner (--learner); "
            f"{', '.join(trains_on_blocks())} train on blocks, without holding all rows."
        )
    if reading.get("group") is not None:
        raise ValueError(f"group={reading['group']!r} (--group {reading['group']}) is for folds of a table in memory.")
    if learner in SYSTEMS and not SYSTEMS[learner].takes_blocks:
        raise ValueError(
            f"learner={learner!r} needs one table in memory, and {data} is read in blocks: join its files, or choose "
            f"one that trains on blocks: {', '.join(trains_on_blocks())}."
        )
    table = tables.read_blocks(data, target, **{name: value for name, value in reading.items() if name != "group"})
    if code in CODES and CODES[code]().ordered and reading.get("order") is None:
        check_one_order(table.orders, table.schema.target)
    model = build(table.schema, learner, code, decoder, rows=len(table.target), **how)
    before, final = model[0], model[-1]
    before.fit(table.sample.frame, table.sample.target.to_numpy())
    final.fit(table.frames.through(before.transform), table.target)
    facts: dict[str, Any] = {"learner": learner or default_name(), "data": Path(data).name, "rows": len(table.target)}
    facts |= facts_of_code(final, code, decoder, how["probability"])
    if table.unlabelled:
        facts["notes"] = [unlabelled_rows(table.unlabelled)]
    return model, table, facts


def facts_of_code(final: Any, code: str | None, decoder: str | None, probability: str | None) -> dict[str, str]:
    """Return the names of the code and of the decoder of a model, where it has them."""
    if not isinstance(final, OutputCodeClassifier):
        return {}
    # These probabilities decode in place of the decoder.
    decodes = probability if probability in ("likelihood", "coupling") else decoder
    return {"code": code or DEFAULT.code, "decoder": decodes or final.default_decoder()}
