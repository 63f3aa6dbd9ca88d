"""What holds for every code: the checks at the door, seeds, cloning, pickling, names."""

import pickle
from functools import partial

import numpy as np
import pytest
from sklearn.base import clone

from outputcodes.codes import CODES, Code, Dense, Given, OneVsAll, as_code, check_code
from outputcodes.learners import as_learner
from outputcodes.training import Problem

NAMES = pytest.mark.parametrize("name", CODES)


def sample(k):
    """A problem for the codes that are made from data; the others ignore it."""
    y = np.repeat(np.arange(k), 6)
    X = np.random.default_rng(k).normal(size=(k, 4))[y] + np.sin(np.arange(6 * k))[:, None]
    return Problem(as_learner("logistic"), X, y)


@NAMES
@pytest.mark.parametrize("k", [3, 4, 5, 6, 7, 9])
def test_every_code_is_a_valid_code(name, k):
    M = as_code(name).draw(k, random_state=0, problem=sample(k)).matrix()
    assert M.dtype == np.int8
    assert M.flags.c_contiguous
    assert len(M) == k
    assert np.array_equal(check_code(M, strict=True), M)


@NAMES
@pytest.mark.parametrize("n_classes", [1, 0, -3, 2.0, "3", None, True])
def test_wrong_number_of_classes(name, n_classes):
    with pytest.raises(ValueError, match=f"n_classes must be an integer of at least 2, got {n_classes!r}: "):
        as_code(name).draw(n_classes).matrix()


@NAMES
def test_numpy_integers_are_integers(name):
    code = as_code(name)
    if "length" in code.get_params():
        code.set_params(length=np.int64(70))
    k = np.int32(8)
    given = code.draw(k, random_state=np.int64(5), problem=sample(8)).matrix()
    assert np.array_equal(given, code.draw(8, random_state=5, problem=sample(8)).matrix())


@NAMES
def test_same_seed_same_code(name):
    draw = partial(as_code(name).draw, problem=sample(7))
    first = draw(7, random_state=3)
    assert np.array_equal(first, draw(7, random_state=3))
    for make in (np.random.RandomState, np.random.default_rng):
        assert np.array_equal(draw(7, random_state=make(3)), draw(7, random_state=make(3)))
    if not as_code(name).needs_problem:  # the length of a designed code depends on what it tries
        assert draw(7).shape == first.shape


@pytest.mark.parametrize("name", ["dense", "sparse", "bch"])
@pytest.mark.parametrize("make", [np.random.RandomState, np.random.default_rng])
def test_a_generator_advances_and_seeds_differ(name, make):
    code, generator = as_code(name), make(0)
    assert not np.array_equal(code.draw(8, generator).matrix(), code.draw(8, generator).matrix())
    assert not np.array_equal(code.draw(8, 0).matrix(), code.draw(8, 1).matrix())


@pytest.mark.parametrize("random_state", [-1, "seed", 0.5])
def test_wrong_random_state(random_state):
    with pytest.raises(ValueError, match="random_state must be"):
        Dense().draw(6, random_state=random_state).matrix()


@NAMES
def test_clone_pickle_and_parameters(name):
    code = as_code(name)
    copies = [clone(code), pickle.loads(pickle.dumps(code))]
    for copy in copies:
        assert copy.get_params() == code.get_params()
        drawn = [one.draw(6, random_state=1, problem=sample(6)).matrix() for one in (copy, code)]
        assert np.array_equal(*drawn)


def test_parameters_are_checked_when_a_matrix_is_asked_for():
    code = Dense(length=0)  # storing it is allowed, as everywhere in scikit-learn
    with pytest.raises(ValueError, match="length must be an integer of at least 1, got 0"):
        code.draw(2).matrix()


def test_given_matrix():
    M = [[1, 0, -1], [-1, 1, 0], [0, -1, 1]]
    code = Given(M)
    assert code.draw(3).matrix().tolist() == M
    assert clone(code).draw(3).matrix().tolist() == M
    assert pickle.loads(pickle.dumps(code)).draw(3).matrix().tolist() == M
    with pytest.raises(ValueError, match="3 rows but there are n_classes=4"):
        code.draw(4).matrix()
    with pytest.raises(ValueError, match="the entries of a code are"):
        Given([[1, -1], [2, -1]]).draw(2).matrix()


def test_given_matrix_of_two_classes_is_kept():
    M = [[1, -1, 1], [-1, 1, -1]]
    assert Given(M).draw(2).matrix().tolist() == M


def test_as_code_resolves_names_objects_and_arrays():
    published = "one-vs-all all-pairs complete ternary-complete dense sparse ordinal hadamard bch designed decoc forest"
    assert {*published.split(), "ecoc-one"} <= CODES.keys()
    for name, kind in CODES.items():
        assert type(as_code(name)) is kind
    code = Dense(length=9)
    assert as_code(code) is code

    M = OneVsAll().draw(3).matrix()
    assert isinstance(as_code(M), Given)
    assert np.array_equal(as_code(M.tolist()).draw(3).matrix(), M)


def test_unknown_names_list_the_known_and_the_closest():
    with pytest.raises(ValueError, match=r"code='one_vs_all' is unknown; did you mean 'one-vs-all'\?.*all-pairs"):
        as_code("one_vs_all")
    for elsewhere, here in {"ovo": "all-pairs", "one-vs-one": "all-pairs", "OVR": "one-vs-all"}.items():
        with pytest.raises(ValueError, match=f"did you mean '{here}'"):
            as_code(elsewhere)
    with pytest.raises(ValueError, match=f"code='qqq' is unknown\\. Known names: {', '.join(CODES)}\\.$"):
        as_code("qqq")


def test_a_code_without_matrix_says_so():
    class Unfinished(Code):
        pass

    with pytest.raises(NotImplementedError, match="Unfinished must implement _matrix"):
        Unfinished().draw(3).matrix()


def test_a_mapping_is_for_the_classifier_which_knows_the_labels():
    with pytest.raises(ValueError, match=r"give a mapping \{label: row\} as the code"):
        Given({2: [1, -1], 0: [-1, 1], 1: [1, 1]}).draw(3).matrix()


def test_what_a_new_code_returns_is_checked():
    class Short(Code):
        def _matrix(self, k, rng, problem):
            return np.eye(k - 1) * 2 - 1

    class Half(Code):
        def _matrix(self, k, rng, problem):
            return np.full((k, 3), 0.5)

    with pytest.raises(ValueError, match=r"Short\._matrix returned 3 rows for 4 classes"):
        Short().draw(4)
    with pytest.raises(ValueError, match=r"got 0\.5 in row 0"):
        Half().draw(4)
