"""Drawn codes and row blocks: a code that is never written down, and X that is never in one piece."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import BaseEstimator
from sklearn.datasets import load_digits, load_iris
from sklearn.svm import SVC

from outputcodes import OutputCodeClassifier
from outputcodes._ground.drawn_code import MOST_ENTRIES, ColumnBlock, DrawnCode, MatrixCode
from outputcodes.codes import CODES, Code, OneVsAll, as_code
from outputcodes.decoders import Decoder
from outputcodes.learners import FittedColumns, Learner, Ridge
from outputcodes.training import Problem, RowBlocks

X, y = load_digits(return_X_y=True)
X = X / 16
DRAWN = [name for name, make in CODES.items() if not make().needs_problem]


class Pairs(DrawnCode):
    """Neighbouring classes against each other, in a matrix that would be far too large."""

    def __init__(self, k):
        self.shape = k, k - 1

    def rows(self, classes):
        a, s = np.asarray(classes)[:, None], np.arange(self.shape[1])
        return ((a == s).astype(np.int8) - (a == s + 1)).astype(np.int8)

    def blocks(self):
        for s in range(self.shape[1]):
            yield ColumnBlock(np.array([s]), np.array([s, s + 1]), np.array([[1], [-1]], dtype=np.int8))

    def take(self, columns):
        return SomePairs(self, np.asarray(columns))


class SomePairs(Pairs):
    def __init__(self, whole, columns):
        self.whole, self.columns, self.shape = whole, columns, (whole.shape[0], len(columns))

    def rows(self, classes):
        return self.whole.rows(classes)[:, self.columns]

    def blocks(self):
        for place, s in enumerate(self.columns):
            yield ColumnBlock(np.array([place]), np.array([s, s + 1]), np.array([[1], [-1]], dtype=np.int8))


class Neighbours(Code):
    def _draw(self, k, rng, problem):
        return Pairs(k)


class Centroids(Learner, BaseEstimator):
    """Difference of class means, column by column from `blocks`; X is read in blocks of rows."""

    loss = "squared"
    takes_blocks = True

    def prepare(self, X, like=None):
        return X if isinstance(X, RowBlocks) else RowBlocks([np.asarray(X)])

    def fit_columns(self, data, y, M, weight=None, column_weight=None, *, rows=None, init=None, n_jobs=None, seed=0):
        assert isinstance(M, DrawnCode)
        sums, counts, start = np.zeros((M.shape[0], data.shape[1])), np.zeros(M.shape[0]), 0
        for block in data:
            labels = y[start : start + len(block)]
            np.add.at(sums, labels, block)
            counts += np.bincount(labels, minlength=len(counts))
            start += len(block)
        W = np.empty((data.shape[1], M.shape[1]))
        means = sums / np.maximum(counts, 1)[:, None]
        for block in M.blocks():
            W[:, block.columns] = means[block.classes].T @ block.entries
        return Weights(W)


class Weights(FittedColumns):
    def __init__(self, W):
        self.W = W

    def margins(self, X, rows=None):
        return (X if rows is None else X[rows]) @ self.W


class BlockDecoder(Decoder):
    """The linear score of the block's classes alone."""

    reads_drawn = True

    def predict(self, F, M):
        D = np.zeros((len(F), M.shape[0]))
        for block in M.blocks():
            D[:, block.classes] += F[:, block.columns] @ block.entries.T
        return D.argmax(axis=1)


@pytest.mark.parametrize("name", DRAWN)
@pytest.mark.parametrize("k", [2, 3, 6])
def test_the_parts_of_a_code_are_those_of_its_matrix(name, k):
    code = as_code(name).draw(k, random_state=0)
    M = code.matrix()
    assert code.shape == M.shape == np.asarray(code).shape
    assert np.array_equal(code.rows([k - 1, 0]), M[[k - 1, 0]])
    rebuilt = np.zeros_like(M)
    for block in code.blocks():
        assert (block.entries != 0).all()
        rebuilt[np.ix_(block.classes, block.columns)] = block.entries
    assert np.array_equal(rebuilt, M)
    some = np.arange(0, M.shape[1], 2)
    assert np.array_equal(code.take(some), M[:, some])
    for classes in (np.array([0]), np.arange(k)):
        expected = (M[classes] > 0).any(axis=0), (M[classes] < 0).any(axis=0)
        for found in (code.signs(classes), DrawnCode.signs(code, classes)):
            assert np.array_equal(found, expected)


@pytest.mark.parametrize("k", [2, 5])
def test_signs_from_blocks_are_those_of_the_matrix(k):
    code = Pairs(k)
    written = MatrixCode(code.rows(np.arange(k)))
    for classes in (np.array([0]), np.arange(k), np.array([k - 1, 0])):
        for lazily, plainly in zip(code.signs(classes), written.signs(classes), strict=True):
            assert np.array_equal(lazily, plainly)


def test_a_code_that_is_too_large_is_trained_and_decoded_without_its_matrix():
    k = 40_000
    assert k * (k - 1) > MOST_ENTRIES
    rng = np.random.default_rng(0)
    labels = np.repeat(np.arange(30), 5)
    points = np.eye(30)[labels] + 0.01 * rng.normal(size=(150, 30))
    # 30 classes of the code's 40,000 have examples.
    trained = Problem(Centroids(), points, labels).train(Pairs(k))
    live = np.flatnonzero(trained.columns.live)
    assert live.tolist() == list(range(29))
    with pytest.raises(ValueError, match="too many for a matrix"):
        np.asarray(trained.code)
    small = Problem(Centroids(), points, labels).train(MatrixCode(Pairs(30).rows(np.arange(30))))
    assert np.array_equal(trained.margins(points)[:, :29], small.margins(points))
    F = trained.margins(points)
    assert np.array_equal(BlockDecoder().predict(F[:, :29], Pairs(30)), labels)


def test_a_classifier_never_writes_down_what_its_learner_and_decoder_read_in_parts(monkeypatch):
    monkeypatch.setattr(Pairs, "matrix", lambda self: pytest.fail("the code was written down"))
    model = OutputCodeClassifier(Centroids(), code=Neighbours(), decoder=BlockDecoder()).fit(X, y)
    means = np.array([X[y == r].mean(axis=0) for r in range(10)])
    F = X @ (means[:-1] - means[1:]).T
    assert np.allclose(model.margins(X), F)
    D = np.column_stack([F, np.zeros(len(F))]) - np.column_stack([np.zeros(len(F)), F])
    assert np.array_equal(model.predict(X), D.argmax(axis=1))


@pytest.mark.parametrize("learner", [Centroids(), Ridge()])
@pytest.mark.parametrize("sizes", [[1797], [600, 1, 1196], [900, 897]])
def test_blocks_of_rows_give_what_all_rows_give(learner, sizes):
    whole = OutputCodeClassifier(learner, code="dense", decoder="linear", random_state=0).fit(X, y)
    blocks = RowBlocks(np.split(X, np.cumsum(sizes)[:-1]))
    parts = OutputCodeClassifier(learner, code="dense", decoder="linear", random_state=0).fit(blocks, y)
    assert np.allclose(parts.margins(X), whole.margins(X), atol=1e-12)
    assert np.array_equal(parts.predict(blocks), whole.predict(X))


def test_blocks_keep_their_kind_and_zero_weights_are_left_out():
    features, labels = load_iris(return_X_y=True)
    weight = np.arange(150) % 3.0
    blocks = RowBlocks([sp.csr_array(features[:70]), sp.csr_array(features[70:])])
    assert sp.issparse(blocks.joined())
    fitted = [
        OutputCodeClassifier(Ridge(), code="one-vs-all").fit(data, labels, sample_weight=weight)
        for data in (blocks, sp.csr_array(features))
    ]
    assert np.allclose(fitted[0].margins(features), fitted[1].margins(features))


def test_blocks_are_read_when_they_are_needed():
    class Files:
        def __init__(self):
            self.read = []

        def __len__(self):
            return 3

        def __getitem__(self, b):
            if b >= 3:
                raise IndexError
            self.read.append(b)
            return X[600 * b : 600 * b + 600]

    files = Files()
    model = OutputCodeClassifier(Centroids(), code="one-vs-all", decoder="linear").fit(RowBlocks(files), y)
    assert files.read[:3] == [0, 1, 2]
    assert np.allclose(model.margins(X), OutputCodeClassifier(Centroids(), code="one-vs-all").fit(X, y).margins(X))


def test_odd_blocks_are_refused_by_name():
    with pytest.raises(ValueError, match="RowBlocks is empty"):
        RowBlocks([])
    with pytest.raises(ValueError, match=r"different numbers of columns, \[2, 3\]"):
        RowBlocks([np.ones((2, 2)), np.ones((2, 3))])
    broken = np.array([[1.0, np.nan]] * 75)
    with pytest.raises(ValueError, match="NaN"):
        OutputCodeClassifier(Ridge()).fit(RowBlocks([np.ones((75, 2)), broken]), np.arange(150) % 3)


def test_one_vs_all_is_one_block_and_all_pairs_are_many():
    assert len(list(OneVsAll().draw(5).blocks())) == 1
    assert len(list(as_code("all-pairs").draw(5).blocks())) == 10


def test_blocks_of_text_and_of_a_kernel_and_functions_in_turn():
    words = RowBlocks([["a b", "b"], ["a"]])
    assert words.shape == (3,)
    assert words.joined() == ["a b", "b", "a"]
    numbers = RowBlocks([np.ones((2, 1)), np.ones((1, 1))]).through(lambda B: B + 1).through(lambda B: 10 * B)
    assert numbers.joined().ravel().tolist() == [20, 20, 20]
    features, labels = load_iris(return_X_y=True)
    K = features @ features.T
    whole = OutputCodeClassifier(SVC(kernel="precomputed")).fit(K, labels)
    parts = OutputCodeClassifier(SVC(kernel="precomputed")).fit(RowBlocks([K[:40], K[40:]]), labels)
    assert np.array_equal(parts.margins(K), whole.margins(K))
