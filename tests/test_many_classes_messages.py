"""What users with many classes are told: what is refused or warned of, by its name and with what to use instead."""

import re
import warnings

import numpy as np
import pytest
import scipy.sparse as sp

from outputcodes import OutputCodeClassifier
from outputcodes._ground.tree_code import flat
from outputcodes.codes import AllPairs, Tree
from outputcodes.decoders import Coupling, as_decoder
from outputcodes.learners import LinearSVM


def texts(k):
    """Two rows per class with a word of their own and one of their group."""
    y = np.repeat(np.arange(k), 2)
    words = np.stack([y, k + y // 10], axis=1).astype(np.int32)
    X = sp.csr_array(
        (np.full(4 * k, 0.7, dtype=np.float32), words.ravel(), np.arange(0, 4 * k + 1, 2, dtype=np.int32)),
        shape=(2 * k, k + k // 10 + 1),
    )
    return X, y


X, y = texts(60)
SMALL = Tree(4, 10)


def test_a_tree_without_probabilities_names_the_beam_and_softmax_alone():
    model = OutputCodeClassifier("linear-svm", code=SMALL).fit(X, y)
    message = "as its decoder 'beam' has no probabilities; set probability='softmax' before fit."
    with pytest.raises(AttributeError, match=re.escape(message)):
        model.predict_proba(X)
    with pytest.raises(
        ValueError, match=re.escape("no probabilities to return; set probability='softmax' before fit.")
    ):
        model.predict_topk(X, 2, probabilities=True)
    with pytest.raises(AttributeError, match="as its decoder 'hamming' has no probabilities"):
        model.with_decoder("hamming").predict_proba(X)


def test_coupling_is_refused_for_trees_of_many_classes_before_they_are_trained(monkeypatch):
    many, labels = texts(201)
    monkeypatch.setattr(LinearSVM, "fit_columns", lambda *_, **__: pytest.fail("columns were trained"))
    for how in ({"probability": "coupling"}, {"decoder": "coupling"}, {"decoder": Coupling()}):
        with pytest.raises(ValueError, match=r"'coupling' solves a problem of 201 classes.*probability='softmax'"):
            OutputCodeClassifier("linear-svm", code=Tree(), **how).fit(many, labels)
    # A matrix of as many classes is the user's own choice.
    assert Coupling().too_large(np.eye(201)) is None
    assert Coupling().too_large(flat(200)) is None


def test_coupling_serves_small_trees():
    model = OutputCodeClassifier("ridge", code=Tree(2, 2), probability="coupling").fit(X[:12].toarray(), y[:12])
    assert np.allclose(model.predict_proba(X[:12].toarray()).sum(axis=1), 1)


def test_decoders_that_read_the_whole_code_are_refused_at_a_stated_size(monkeypatch):
    model = OutputCodeClassifier("linear-svm", code=SMALL, random_state=0).fit(X, y)
    k, L = model.code_.shape
    assert model.with_decoder("hamming").predict(X).shape == (120,)
    monkeypatch.setattr("outputcodes.decoders.base.MOST_WRITTEN", k * L - 1)
    monkeypatch.setattr(type(model.code_), "matrix", lambda self: pytest.fail("the code was written down"))
    for decoder in ("hamming", "likelihood", "euclidean"):
        message = rf"decoder=.* compares margins with all {k} × {L} entries .* refused above {k * L - 1}: .*'beam'"
        with pytest.raises(ValueError, match=message):
            model.with_decoder(decoder)
    assert np.array_equal(model.with_decoder("beam").predict(X), model.predict(X))


def test_the_matrix_of_20000_classes_is_refused():
    # 400 million entries, and several arrays of as many float64.
    assert "refused above 33554432" in as_decoder("hamming").too_large(flat(20_000))


def test_all_pairs_by_name_warns_above_200_classes(monkeypatch):
    many, labels = texts(201)
    monkeypatch.setattr(LinearSVM, "prepare", lambda *_, **__: (_ for _ in ()).throw(RuntimeError("trained")))
    for model in (OutputCodeClassifier(), OutputCodeClassifier("linear-svm", code="all-pairs")):
        monkeypatch.setattr("outputcodes._ground.user_warnings._shown", set())
        told = r"20100 columns for 201 classes.*'one-vs-all' or code='tree'.*AllPairs\(\)"
        with pytest.warns(UserWarning, match=told), pytest.raises(RuntimeError, match="trained"):
            model.fit(many, labels)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for model in (OutputCodeClassifier(code=AllPairs()), OutputCodeClassifier(code="one-vs-all")):
            with pytest.raises(RuntimeError, match="trained"):
                model.fit(many, labels)
        few = labels < 200
        with pytest.raises(RuntimeError, match="trained"):
            OutputCodeClassifier().fit(many[few], labels[few])


@pytest.mark.parametrize("prune", [True, False, 0, 0.0])
def test_prune_of_nothing_names_none(prune):
    with pytest.raises(ValueError, match=rf"prune={prune!r} must be a number greater than 0, 'auto', or None"):
        OutputCodeClassifier(LinearSVM(prune=prune), code=SMALL).fit(X, y)


@pytest.mark.parametrize("code", [SMALL, "one-vs-all"])
def test_dropping_every_weight_warns(code):
    with pytest.warns(UserWarning, match=r"prune=10 dropped all \d+ weights.*lower it, or use prune=None"):
        model = OutputCodeClassifier(LinearSVM(prune=10), code=code).fit(X, y)
    assert model.columns_.fitted.weights.nnz == 0


def test_what_was_dropped_is_reported_in_words():
    pruned = OutputCodeClassifier(LinearSVM(prune=0.3), code=SMALL).fit(X, y).columns_.fitted.pruned
    total = pruned.dropped + pruned.left
    words = f"{pruned.dropped} of {total} weights dropped, {pruned.changed} of {pruned.rows} rows changed"
    assert repr(pruned) == f"Pruned(limit=0.3: {words})"
    assert 0 < pruned.dropped < total


def test_one_tree_is_not_trees():
    assert repr(flat(3)) == "TreeCode of 3 classes: 1 tree, 1 node, 3 columns"
    assert repr(Tree(2, 2, 2, "random").draw(4, 0)) == "TreeCode of 4 classes: 2 trees, 6 nodes, 12 columns"
