"""Auto chooses the decoder with the fewest errors on held-out margins: a brute force over decoders is the oracle."""

import numpy as np
import pytest
from sklearn.datasets import load_digits, load_iris

from outputcodes import OutputCodeClassifier
from outputcodes.codes import AllPairs, OneVsAll
from outputcodes.decoders import Auto, Dag, Likelihood, LossBased, Vote
from outputcodes.learners import KernelSVM, Ridge

X, y = load_digits(return_X_y=True)
X, y = X[:300] / 16, y[:300]


@pytest.mark.parametrize("code", ["all-pairs", "one-vs-all"])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_choice_is_that_of_a_brute_force(code, weighted):
    weight = np.where(y < 5, 4.0, 1.0) if weighted else None
    trained = OutputCodeClassifier("kernel-svm", code=code, random_state=0).train(X, y, weight)
    F, M = trained.held_out_margins(3), trained.code.matrix()
    auto = trained.decoder("auto")
    tried = [LossBased("hinge"), Vote(), LossBased("hamming"), LossBased("exponential"), LossBased("linear")]
    able = [one for one in tried if code == "all-pairs" or not isinstance(one, Vote)]
    errors = [np.average(one.predict(F, M) != y, weights=weight) for one in able]
    np.testing.assert_allclose(auto.errors_, errors)
    assert repr(auto.decoder_) == repr(able[int(np.argmin(errors))])
    new = trained.margins(X)
    np.testing.assert_array_equal(auto.predict(new, M), auto.decoder_.predict(new, M))
    np.testing.assert_array_equal(auto.scores(new, M), auto.decoder_.scores(new, M))
    np.testing.assert_array_equal(auto.contributions(new[:3], M), auto.decoder_.contributions(new[:3], M))


def test_rows_without_margins_are_left_out_and_the_first_of_equals_wins():
    M = OneVsAll().draw(3).matrix()
    F = np.array([[1.0, -1, -1], [-1, 1, -1], [np.nan, 1, -1], [-1, -1, 1]])
    auto = Auto().for_loss("hinge").fit(F, [0, 1, 0, 2], M)
    assert (auto.errors_ == 0).all()
    assert repr(auto.decoder_) == "LossBased(loss='hinge')"
    assert np.isnan(Auto().for_loss("hinge").fit(F[2:3], [0], M).errors_).all()


def test_own_decoders_and_those_that_learn():
    M = AllPairs().draw(3).matrix()
    F, labels = np.array([[1.0, 1, -1], [-1, 1, 1]]), [0, 1]
    assert isinstance(Auto([Dag()]).fit(F, labels, M).decoder_, Dag)
    for wrong in ([], [Likelihood()], ["loss"]):
        with pytest.raises(ValueError, match="none that learns"):
            Auto(wrong).fit(F, labels, M)
    with pytest.raises(ValueError, match="not all-pairs"):
        OutputCodeClassifier("ridge", code="one-vs-all", decoder=Auto([Vote()])).fit(X, y)


def test_what_is_done_without_a_name():
    A, b = load_iris(return_X_y=True)

    def used(learner, **options):
        return type(OutputCodeClassifier(learner, **options).fit(A, b).decoder_)

    assert used("kernel-svm") is Vote
    assert used(KernelSVM(), code=AllPairs()) is Vote
    assert used(KernelSVM(kernel="linear")) is LossBased
    assert used("kernel-svm", code="one-vs-all") is LossBased
    assert used("kernel-svm", decoder="loss") is LossBased
    assert used(Ridge()) is LossBased
    assert used(None) is LossBased
    assert used("kernel-svm", probability="likelihood") is Likelihood
