"""A model that an earlier release saved is opened, and returns what it returned then."""

import json

import numpy as np
import pytest

pytest.importorskip("skops")
pytest.importorskip("pandas")

import saved_models

EXPECTED = json.loads(saved_models.EXPECTED.read_text())


# The steps of tables are scikit-learn's own; it warns of any other version than the one that saved them.
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.InconsistentVersionWarning")
@pytest.mark.parametrize("name", EXPECTED)
def test_a_kept_model_returns_what_it_returned(name):
    model, manifest = saved_models.persistence.load(saved_models.FOLDER / f"{name}.skops")
    rows = saved_models.rows_of(name)
    if manifest.schema is not None:
        rows = manifest.schema.conform(rows)
    found = saved_models.returned(model, rows)
    assert found["label"] == EXPECTED[name]["label"]
    np.testing.assert_allclose(found["scores"], EXPECTED[name]["scores"], rtol=1e-9, atol=1e-9)


def test_every_kind_has_a_file():
    ours = set(saved_models.kinds())
    files = {path.stem for path in saved_models.FOLDER.glob("*.skops")}
    assert ours == set(EXPECTED) == files, "Run PYTHONPATH=tests python -m saved_models for what is missing."


def test_the_files_are_small():
    assert sum(path.stat().st_size for path in saved_models.FOLDER.iterdir()) < 1_000_000
