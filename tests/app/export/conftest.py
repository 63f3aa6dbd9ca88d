"""A model and its ONNX form side by side, in onnxruntime."""

import numpy as np
import pytest

pytest.importorskip("skl2onnx")
runtime = pytest.importorskip("onnxruntime")


@pytest.fixture
def outputs_of():
    """What onnxruntime returns for rows, by name."""
    from outputcodes.app.export import onnx_inputs

    def run(onnx_model, X):
        session = runtime.InferenceSession(onnx_model.SerializeToString(), providers=["CPUExecutionProvider"])
        return dict(zip([one.name for one in session.get_outputs()], session.run(None, onnx_inputs(X)), strict=True))

    return run


@pytest.fixture
def agree(outputs_of):
    """Assert that the ONNX form of a model has its classes, scores and probabilities; return what it returned."""
    from outputcodes import to_onnx

    def check(model, X, sample=None):
        found = outputs_of(to_onnx(model, sample), X)
        for name, method in (("scores", "decision_function"), ("probabilities", "predict_proba")):
            assert (name in found) == hasattr(model, method)
            if name in found:
                expected = getattr(model, method)(X)
                assert found[name].shape == expected.shape
                np.testing.assert_allclose(found[name], expected, rtol=1e-9, atol=1e-9)
        np.testing.assert_array_equal(found["label"], model.predict(X))
        return found

    return check
