"""The verb that writes models for other runtimes."""

import pytest

from outputcodes.app import persistence
from outputcodes.app.export import onnx_inputs

pd = pytest.importorskip("pandas")
pytest.importorskip("skl2onnx")
runtime = pytest.importorskip("onnxruntime")


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
