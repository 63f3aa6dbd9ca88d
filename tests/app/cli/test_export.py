"""The verb that writes models for other runtimes."""

import pytest

from outputcodes.app import persistence
from outputcodes.app.export import onnx_inputs

pd = pytest.importorskip("pandas")
pytest.importorskip("skl2onnx")
runtime = pytest.importorskip("onnxruntime")
saved_models = pytest.importorskip("saved_models")


def test_the_verb(run, fruit, tmp_path):
    saved, exported = tmp_path / "fruit.skops", tmp_path / "fruit.onnx"
    assert run("fit", fruit, "--learner", "stumps", "--code", "dense", "--out", saved).code == 0
    done = run("export", saved, "--to", exported)
    assert done.code == 0, done.err
    assert done.out.splitlines()[1:] == ["inputs: mass, skin, picked", "outputs: label, scores"]
    model, manifest = persistence.load(saved)
    frame = manifest.schema.conform(pd.read_csv(fruit))
    label = runtime.InferenceSession(exported).run(["label"], onnx_inputs(frame))[0]
    assert (label == model.predict(frame)).all()
    done = run("export", saved, "--to", tmp_path / "fruit.bin")
    assert done.code == 2
    assert "must end in .onnx" in done.err


# Another version of scikit-learn may have saved it.
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.InconsistentVersionWarning")
def test_what_the_command_line_saves_for_most(run, tmp_path):
    """The winner of a race, from the table to the file."""
    exported = tmp_path / "race.onnx"
    done = run("export", saved_models.FOLDER / "table-race.skops", "--to", exported)
    assert done.code == 0, done.err
    assert done.out.splitlines()[1:] == ["inputs: size, day, colour", "outputs: label, probabilities"]
    model, manifest = persistence.load(saved_models.FOLDER / "table-race.skops")
    frame = manifest.schema.conform(saved_models.rows_of("table-race"))
    label = runtime.InferenceSession(exported).run(["label"], onnx_inputs(frame))[0]
    assert (label == model.predict(frame)).all()
