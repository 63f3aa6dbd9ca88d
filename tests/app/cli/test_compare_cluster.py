"""`outputcodes compare --cluster`: a race on a Dask cluster of this machine, resumed without it."""

import pytest

pytest.importorskip("distributed", reason="needs the extra dask")
pytestmark = pytest.mark.filterwarnings("ignore")


def test_a_race_on_a_local_cluster_is_resumed_without_it(run, fruit, tmp_path):
    out = tmp_path / "out"
    race = ("compare", fruit, "--learners", "decision-tree", "--cv", "3", "--time-limit", "inf", "--out", out)
    done = run(*race, "--cluster", "local", "--jobs", "1")
    assert done.code == 0, done.err
    assert "Expected error of the model on new rows" in done.out
    assert (out / "model.skops").exists()
    results = out / "results.jsonl"
    trained = results.read_text()

    again = run(*race, "--resume")
    assert again.code == 0, again.err
    # The first line describes the race, each other one a training.
    assert f"trainings: {len(trained.splitlines()) - 1} found in the folder, 0 done now" in again.out
    assert results.read_text() == trained


def test_a_cluster_is_for_races(run, fruit):
    done = run("compare", fruit, "--cluster", "local", "--exhaustive")
    assert done.code == 2
    assert "--cluster local is for races: leave out --exhaustive, or --cluster." in " ".join(done.err.split())
