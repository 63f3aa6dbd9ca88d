"""Every learner with every decoder, by the tables of names: the ONNX form returns what the classifier returns."""

from functools import cache

import numpy as np
import pytest

from outputcodes import OutputCodeClassifier, to_onnx
from outputcodes.app.export import NotExportableError
from outputcodes.codes import CODES
from outputcodes.decoders import DECODERS, Coupling, LossBased
from outputcodes.learners import LEARNERS
from outputcodes.losses import LOSSES

# What has iterations.
REFUSED = {"coupling"}
K = 4


@cache
def sample():
    rng = np.random.default_rng(3)
    y = np.arange(160) % K
    X = rng.standard_normal((160, 5)) + 1.5 * rng.standard_normal((K, 5))[y]
    # Ties of values, so that thresholds and equal rows occur.
    X[:, 0] = np.round(X[:, 0])
    return X, y


@cache
def trained(learner):
    X, y = sample()
    return OutputCodeClassifier(learner, code="all-pairs", random_state=0).fit(X[:120], y[:120])


def is_ours(thing):
    return type(thing).__module__.startswith("outputcodes.")


# Beams serve the tree code alone, and are refused: see test_inputs_and_refusals.py.
@pytest.mark.parametrize("decoder", [name for name in DECODERS if name != "beam"])
@pytest.mark.parametrize("learner", LEARNERS)
def test_every_learner_with_every_decoder(agree, learner, decoder):
    X, y = sample()
    model = trained(learner).with_decoder(decoder, X[:120], y[:120])
    named_by_a_plugin = decoder in LOSSES and not LOSSES[decoder].value.__module__.startswith("outputcodes.")
    fitted = model.columns_.fitted
    if decoder in REFUSED or named_by_a_plugin or not is_ours(model.decoder_) or not is_ours(fitted):
        with pytest.raises(NotExportableError, match="cannot be exported to ONNX"):
            to_onnx(model)
    else:
        agree(model, X)


# Softmax along the paths of a tree code is refused too.
@pytest.mark.parametrize(
    ("probability", "code"),
    [(p, code) for p in ("likelihood", "softmax") for code in CODES if (p, code) != ("softmax", "tree")],
)
def test_every_code_with_probabilities(agree, code, probability):
    X, y = sample()
    agree(OutputCodeClassifier("ridge", code=code, probability=probability, random_state=0).fit(X, y), X)


@pytest.mark.parametrize("zeros", ["count", "ignore"])
@pytest.mark.parametrize("loss", ["exponential", "hinge", "linear"])
def test_zeros_of_a_code(agree, loss, zeros):
    X, y = sample()
    code = np.array([[1, 1, 0], [1, -1, 1], [-1, 0, 1], [-1, 1, -1]])
    agree(OutputCodeClassifier("ridge", code=code, decoder=LossBased(loss, zeros)).fit(X, y), X)


def test_coupling_without_iterations(agree):
    X, y = sample()
    for learner in ("tree", "ridge"):
        agree(trained(learner).with_decoder(Coupling("wu-lin-weng"), X, y), X)


def test_classes_that_share_codewords(agree):
    """Rows without opposite signs: the likelihood shares their codewords."""
    X, y = sample()
    code = np.array([[1, 0, 0, 1], [0, 1, 0, 1], [-1, -1, 1, 0], [0, 0, -1, -1]])
    with pytest.warns(UserWarning, match="rows that no column opposes"):
        model = OutputCodeClassifier("ridge", code=code, probability="likelihood").fit(X, y)
    agree(model, X)


def test_margins_too_large_for_exponentials(agree):
    X, y = sample()
    model = OutputCodeClassifier("ridge", decoder="exponential").fit(X, y)
    far = X * np.where(np.arange(len(X)) % 3, 1.0, 1e4)[:, None]
    assert np.abs(model.margins(far)).max() > 700
    agree(model, far)
