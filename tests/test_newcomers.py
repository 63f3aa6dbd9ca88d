"""Adding a thing is what CONTRIBUTING says: one line in a table, and everything finds it."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).parent

EVERYWHERE = """
import newcomers
import numpy as np
from sklearn.datasets import load_iris
from outputcodes import OutputCodeClassifier
from outputcodes.app import persistence
from outputcodes.app.report import explain
from outputcodes.app.run import make_plan
from outputcodes.selection import compare

newcomers.register()

# In the plan of a comparison that names nothing, and in the comparison.
plan = make_plan(1000, 5)
assert any(cell.code == "circle" for cell in plan.cells)
assert any(cell.learner == "means" for cell in plan.cells)
assert all({"correlation", "cubed-hinge"} <= set(cell.decoders) for cell in plan.cells if cell.code)
X, y = load_iris(return_X_y=True)
rows = compare(X, y, ["means", "ridge"], codes=["circle", "dense"], decoders=["correlation", "cubed-hinge", "loss"])
assert len(rows) == 12

# In persistence, with types of its own, and in the explanations.
for decoder in ("correlation", "cubed-hinge", "loss"):
    model = OutputCodeClassifier("means", code="circle", decoder=decoder).fit(X, y)
    persistence.save(model, "model.skops")
    loaded, _ = persistence.load("model.skops")
    assert np.array_equal(loaded.decision_function(X), model.decision_function(X))
    told = str(explain(model, X[60], truth=y[60]))
    assert "column" in told
    F = model.margins(X[:5])
    parts = model.decoder_.contributions(F, model.code_)
    assert parts.shape == (5, *model.code_matrix_.shape)
    # Columns that speak for a class more than for another raise its score: the leads have the sign of the whole.
    D = model.decoder_.scores(F, model.code_)
    best, worst = D.argmax(axis=1), D.argmin(axis=1)
    at = np.arange(5)
    assert (parts.sum(axis=2)[at, best] > parts.sum(axis=2)[at, worst]).all()
"""


def run(arguments, folder=None):
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(TESTS), os.environ.get("PYTHONPATH", "")])}
    return subprocess.run(
        [sys.executable, *arguments], cwd=folder or TESTS.parent, env=environment, capture_output=True, text=True
    )


def test_newcomers_are_compared_explained_saved_and_loaded(tmp_path):
    done = run(["-c", EVERYWHERE], tmp_path)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("name", "files"),
    [
        ("circle", ["codes/test_code_protocol.py"]),
        ("cubed-hinge", ["test_losses.py", "decoders/test_decoders.py"]),
        ("correlation", ["decoders/test_decoders.py"]),
        ("means", ["test_paths_agree.py"]),
    ],
)
def test_common_tests_find_newcomers(name, files):
    chosen = [str(TESTS / file) for file in files]
    done = run(["-m", "pytest", "-q", "-p", "newcomers", "-p", "no:xdist", "-k", name, *chosen])
    assert done.returncode == 0, done.stdout
    passed = re.search(r"(\d+) passed", done.stdout)
    assert passed is not None
    assert int(passed[1]) >= 3, done.stdout
