"""Odd tables through the command line: `fit` or `compare`, then `predict` and `inspect`.

A verb either ends well or says what is wrong and exits with 2; it leaves no half-written file and no traceback. What it
predicts are labels of the training rows, one per row, and the probabilities beside them are probabilities.
"""

from __future__ import annotations

import csv
import os
import re
import tempfile
import warnings
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from typer.testing import CliRunner

from fuzzing.cases import check, check_message, generator, one_of
from fuzzing.models import summary as summary
from outputcodes.app.cli.app import app

SCRIPT = "<script>alert(1)</script>"
NAMES = ("a", "b", "width (cm)", SCRIPT, "", "a b", '"q"', "ä", "1", "target,x", "=1+1", "a")
LABELS = ("x", "y", "z", SCRIPT, "1", "01", "1.0", "true", "ä", "a,b", "long " * 30, "-", "'")

DAMAGES = ("short row", "long row", "blank lines", "no header", "quote left open", "NUL", "cut")
COLUMNS = ("numbers", "numbers", "whole", "texts", "constant", "missing", "all missing", "huge", "mixed", "dates", "=1")


@dataclass
class Case:
    """A file, and the words of the command line that trains on it."""

    name: str
    content: bytes
    options: list[str]
    verb: str
    words: str


def draw(number: int) -> Case:
    """Return the case with this number."""
    rng = generator(2, number)
    k = int(one_of(rng, 1, *[2, 3, 3, 4, 5] * 3))
    n = int(one_of(rng, 0, 1, 2, *[12, 30, 30, 60] * 4))
    y = rng.integers(k, size=n)
    labels = np.array(rng.permutation(np.array(LABELS, dtype=object))[:k], dtype=object)[y]
    names = [str(name) for name in rng.permutation(np.array(NAMES, dtype=object))[: int(rng.integers(1, 6))]]
    columns = {}
    kinds = []
    for j, name in enumerate(names):
        kind, values = _column(rng, y)
        kinds.append(kind)
        columns[j] = [name, *values]
    target = one_of(rng, "target", "target", "class", "label")
    table = [list(row) for row in zip(*columns.values(), [target, *labels], strict=True)]
    damage = one_of(
        rng, *["none"] * 8, "short row", "long row", "blank lines", "no header", "quote left open", "NUL", "cut"
    )
    form = one_of(rng, *["csv"] * 5, "tsv", "parquet", "arff")
    encoding = one_of(rng, *["utf-8"] * 12, "utf-8-sig", "latin-1", "utf-16", "cp1252")
    content = _written(rng, table, form, encoding, damage)
    options = ["--target", str(target)] if rng.random() < 0.95 else []
    if encoding != "utf-8" and rng.random() < 0.7:
        options += ["--encoding", encoding]
    verb = "compare" if rng.random() < 0.15 else "fit"
    options += _compare_options(rng) if verb == "compare" else _fit_options(rng)
    options += _table_options(rng, names, sorted(set(labels)), verb)
    words = f"{form}, {encoding}, {damage}; {n} rows, {k} classes, columns {kinds}, names {names}; {verb} {options}"
    return Case(f"table.{form}", content, options, verb, words)


def run(number: int) -> str:
    """Run a case in a folder of its own; return "trained", or the words of the refusal."""
    case = draw(number)
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        here = Path(folder)
        data = here / case.name
        data.write_bytes(case.content)
        out = here / "out"
        model = out / "model.skops" if case.verb == "compare" else here / "out.skops"
        given = out if case.verb == "compare" else model
        refusal = _call(case.verb, str(data), *case.options, "--out", str(given))
        left = sorted(
            path.name for path in here.iterdir() if path.name.startswith((".", "tmp")) or "part" in path.suffix
        )
        check(not left, f"files left behind: {left}")
        if refusal is not None:
            check(not model.exists(), "refused, and yet a model was written")
            return refusal
        check(model.exists(), "no refusal and no model")
        if case.verb == "compare":
            page = (out / "report.html").read_text(encoding="utf-8")
            check(SCRIPT not in page, "a name or a label became a script of the page")
        check(_call("inspect", str(model)) is None, "the model can't be inspected")
        _check_predictions(case, data, model, here / "predicted.csv")
    return "trained"


def _check_predictions(case: Case, data: Path, model: Path, out: Path) -> None:
    text = [
        word
        for name in ("--encoding", "--sep", "--decimal")
        if name in case.options
        for word in case.options[case.options.index(name) :][:2]
    ]
    proba = ["--proba"] if "--probability" in case.options else []
    refusal = _call("predict", str(model), str(data), "--out", str(out), *text, *proba)
    check(refusal is None, f"the table of training can't be predicted: {refusal}")
    with out.open(newline="", encoding="utf-8") as file:
        header, *rows = list(csv.reader(file))
    check(len(rows) > 0, "no predictions")
    predicted = header.index("prediction") if "prediction" in header else 0
    if proba:
        P = np.array([[float(cell) for j, cell in enumerate(row) if j > predicted] for row in rows])
        check(np.isfinite(P).all() and P.min() >= 0, "not probabilities")
        check(np.allclose(P.sum(axis=1), 1, atol=1e-4), "probabilities do not sum to 1")


def _call(*words: str) -> str | None:
    """Run the command line; None if it ended well, else its message."""
    done = CliRunner(env={"TERM": "dumb", "COLUMNS": "200", **os.environ}).invoke(app, list(words))
    if done.exit_code == 0:
        return None
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    check(done.exit_code == 2, f"exit code {done.exit_code}: {done.output[-300:]}")
    message = re.sub(r"\s+", " ", done.stderr)
    check_message(message.replace(words[1], "FILE"))
    return f"{words[0]}: {message.replace(words[1], 'FILE').strip()}"


def _column(rng: np.random.Generator, y: np.ndarray) -> tuple[str, list[str]]:
    n = len(y)
    kind = one_of(
        rng,
        "numbers",
        "numbers",
        "whole",
        "texts",
        "constant",
        "missing",
        "all missing",
        "huge",
        "mixed",
        "dates",
        "=1",
    )
    numbers = rng.normal(size=n) + y
    values = {
        "numbers": [f"{v:.4g}" for v in numbers],
        "whole": [str(round(v)) for v in numbers],
        "texts": [one_of(rng, "red", "green", SCRIPT, "") for _ in range(n)],
        "constant": ["7"] * n,
        "missing": [one_of(rng, "", "NA", "?", f"{v:.3g}") for v in numbers],
        "all missing": [""] * n,
        "huge": [one_of(rng, "1e300", "-1e200", "1e-320", "0") for _ in range(n)],
        "mixed": [one_of(rng, "12", "1,5", "x", "inf", "nan", "1e400") for _ in range(n)],
        "dates": [f"2024-{1 + i % 12:02}-0{1 + i % 9}" for i in range(n)],
        "=1": [one_of(rng, "=1+1", "@x", "+3", '"', "'") for _ in range(n)],
    }
    return str(kind), values[kind]


def _written(rng: np.random.Generator, table: list[list[str]], form: str, encoding: str, damage: str) -> bytes:
    header, rows = table[0], table[1:]
    if form == "parquet":
        frame = pd.DataFrame(
            rows, columns=[f"{j} {name}" if header.count(name) > 1 else name for j, name in enumerate(header)]
        )
        with tempfile.TemporaryDirectory() as folder:
            frame.to_parquet(Path(folder) / "t.parquet")
            return (Path(folder) / "t.parquet").read_bytes()
    if form == "arff":
        quoted = [f"@attribute '{name}' string" for name in header]
        text = "\n".join(["@relation odd", *quoted, "@data", *(",".join(f"'{cell}'" for cell in row) for row in rows)])
        return text.encode(encoding, "replace")
    lines = [list(row) for row in table]
    at = int(rng.integers(len(lines)))
    if damage == "short row":
        lines[at] = lines[at][:-1]
    elif damage == "long row":
        lines[at] = [*lines[at], "more"]
    elif damage == "no header":
        lines = lines[1:]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "t.csv"
        with path.open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(
                file,
                delimiter="\t" if form == "tsv" else one_of(rng, *[","] * 9, ";"),
                lineterminator=one_of(rng, "\n", "\r\n"),
                quoting=one_of(rng, csv.QUOTE_MINIMAL, csv.QUOTE_ALL),
            )
            writer.writerows(lines)
        text = path.read_text(encoding="utf-8")
    if damage == "blank lines":
        text = text.replace("\n", "\n\n", 2)
    elif damage == "quote left open":
        text += '"open'
    elif damage == "NUL":
        text = text[:5] + "\0" + text[5:]
    content = text.encode(encoding, "replace")
    return content[: len(content) // 2] if damage == "cut" else content


def _fit_options(rng: np.random.Generator) -> list[str]:
    options = []
    if rng.random() < 0.7:
        options += ["--learner", one_of(rng, "ridge", "tree", "logistic", "linear-svm", "stumps", "svc")]
    if rng.random() < 0.4:
        options += ["--code", one_of(rng, "one-vs-all", "all-pairs", "dense", "ordinal")]
    if rng.random() < 0.3:
        options += ["--decoder", one_of(rng, "hamming", "vote", "loss")]
    if rng.random() < 0.4:
        options += ["--probability", one_of(rng, "softmax", "likelihood", "coupling")]
    # A slip of the finger in one of the words.
    if options and rng.random() < 0.05:
        options[int(rng.integers(len(options)))] += "x"
    return options


def _table_options(rng: np.random.Generator, names: list[str], labels: list[str], verb: str) -> list[str]:
    """Options on columns, classes and parameters, most of which suit the table."""
    drawn = {
        "--drop": one_of(rng, *names),
        "--id": one_of(rng, *names, "nowhere"),
        "--order": ",".join(f'"{label}"' for label in rng.permutation(np.array(labels, dtype=object))),
        "--sep": one_of(rng, ",", ";", "tab", ""),
        "--decimal": one_of(rng, ".", ",", "x"),
    }
    if verb == "fit":
        drawn["--param"] = one_of(rng, "C=3", "alpha=2", "tol=abc", "C")
        drawn["--class-weight"] = one_of(rng, "balanced", *(f'"{label}=2"' for label in labels), "x", "=")
    return [word for name in drawn if rng.random() < 0.05 for word in (name, drawn[name])]


def _compare_options(rng: np.random.Generator) -> list[str]:
    options = [
        "--exhaustive",
        "--learners",
        one_of(rng, "ridge", "ridge,tree"),
        "--codes",
        "one-vs-all",
        "--cv",
        str(int(rng.integers(2, 4))),
    ]
    return options + (["--metric", one_of(rng, "error", "log-loss", "nonsense")] if rng.random() < 0.5 else [])
