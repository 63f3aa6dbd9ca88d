"""Stumps on folders with more values than blocks can count: the command line sets their bins."""

import numpy as np
import pytest

from outputcodes.app import run

pd = pytest.importorskip("pandas")
pytest.importorskip("skops")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Two files with 20,000 different values in all, more than the 16,384 that blocks count exactly."""
    path, x = tmp_path_factory.mktemp("parts"), np.random.default_rng(0).permutation(20_000) / 7
    frame = pd.DataFrame({"x": x, "class": np.where(x > x.mean(), "high", "low")})
    for number, part in enumerate((frame[:12_000], frame[12_000:])):
        part.to_csv(path / f"{number}.csv", index=False)
    return path


@pytest.mark.parametrize(("given", "bins"), [({}, 128), ({"bins": "64"}, 64)])
def test_stumps_on_blocks_have_bins(folder, tmp_path, given, bins):
    how = {"target": "class", "learner": "stumps", "params": {"n_rounds": 3, **given}}
    model, summary = run.fit_file(str(folder), tmp_path / "m.skops", **how)
    assert model[-1].estimator.bins == bins
    assert summary["rows"] == 20_000


def test_bins_that_blocks_cannot_count_are_refused_with_a_remedy(folder, tmp_path):
    how = {"target": "class", "learner": "stumps", "params": {"bins": "exact"}}
    with pytest.raises(ValueError, match=r"bins='exact'.* more than 16384 .* Set bins to a number, such as 128"):
        run.fit_file(str(folder), tmp_path / "m.skops", **how)
