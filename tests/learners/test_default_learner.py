"""The default learner is the one that its name stands for, with its own tolerance."""

import scipy.sparse as sp
from sklearn.datasets import load_digits

from outputcodes import OutputCodeClassifier
from outputcodes.learners import LEARNERS, as_learner


def test_the_default_is_the_named_learner():
    assert repr(as_learner(None)) == repr(LEARNERS["linear-svm"]())
    assert as_learner(None).get_params() == LEARNERS["linear-svm"]().get_params()


def test_sparse_data_converge_without_a_warning():
    X, y = load_digits(return_X_y=True)
    model = OutputCodeClassifier().fit(sp.csr_array(X / 16), y)
    certificate = model.columns_.fitted.certificate
    assert certificate.converged.all()
    assert (certificate.gap <= 1e-4).all()
