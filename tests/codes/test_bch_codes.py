"""BCH codes: dimensions, weights, the choice of codewords, truncation, what is reported."""

import builtins

import galois
import numpy as np
import pytest

from outputcodes.codes import (
    BCH,
    Complete,
    algebraic,
    check_code,
    min_distance,
    mirrored_columns,
    repeated_columns,
)
from outputcodes.codes._cyclic import (
    bch_parameters,
    bch_zeros,
    essential_columns,
    generator_matrix,
    random_codewords,
)

DIMENSIONS = {(3, 1): 4, (4, 1): 11, (4, 2): 7, (4, 3): 5, (5, 2): 21, (5, 3): 16, (5, 5): 11, (5, 7): 6}
DIMENSIONS |= {(6, 1): 57, (6, 15): 7}
WEIGHTS = {(3, 1): 3, (4, 2): 5, (4, 3): 7, (5, 5): 11, (5, 7): 15, (6, 15): 31}


@pytest.mark.parametrize(("code", "dimension"), DIMENSIONS.items())
def test_dimensions_and_zeros(code, dimension):
    r, t = code
    generator = generator_matrix(r, t)
    assert generator.shape == (dimension, 2**r - 1)
    assert 2**r - 1 - len(bch_zeros(r, t)) == dimension
    assert np.array_equal(generator[:, :dimension], np.eye(dimension))
    # Every codeword, as a polynomial, vanishes at alpha..alpha^(2t).
    field = galois.GF(2**r, compile="python-calculate")
    powers = field.primitive_element ** np.outer(np.arange(1, 2 * t + 1), np.arange(2**r - 1))
    for row in generator[:3]:
        assert not (powers * field(row.astype(int))).sum(axis=1).any()


@pytest.mark.parametrize(("code", "weight"), WEIGHTS.items())
def test_minimum_weights(code, weight):
    generator = generator_matrix(*code).astype(int)
    messages = (np.arange(1, 2 ** len(generator))[:, None] >> np.arange(len(generator))) & 1
    assert (messages @ generator % 2).sum(axis=1).min() == weight


def test_the_smallest_code_and_then_the_largest_distance():
    assert bch_parameters(26, 78) == (7, 31)  # dimension 8; t = 32 would leave 1
    assert bch_parameters(16, 7) == (3, 1)
    assert bch_parameters(17, 7) == (4, 3)  # no code of length 7 has 17 codewords
    assert bch_parameters(100, 15) == (4, 2)
    for k in (3, 10, 26, 100, 200):
        r, t = bch_parameters(k, 3 * k)
        dimensions = [2**r - 1 - len(bch_zeros(r, s)) for s in range(1, 2 ** (r - 1))]
        assert 2 ** (r - 1) - 1 < 3 * k <= 2**r - 1
        assert t == max(s for s, d in enumerate(dimensions, 1) if 2**d >= k)


@pytest.mark.parametrize("k", [*range(5, 28), 40, 64, 65, 100, 200])
def test_default_codes_have_3k_good_columns(k):
    M = BCH().draw(k, random_state=0).matrix()
    assert M.shape == (k, 3 * k)
    check_code(M, strict=True)
    assert not repeated_columns(M).size
    assert not mirrored_columns(M).size
    assert min_distance(M) >= 0.35 * 3 * k


@pytest.mark.parametrize("k", [3, 4, 5])
def test_few_classes_get_the_complete_code(k):
    assert np.array_equal(BCH().draw(k).matrix(), Complete().draw(k).matrix())


def test_an_untruncated_code_keeps_its_designed_distance():
    M = BCH(length=31).draw(12, random_state=0).matrix()
    assert M.shape == (12, 31)
    assert min_distance(M) >= 15


def test_spanning_messages_leave_every_column():
    rng = np.random.default_rng(0)
    generator = generator_matrix(4, 3)
    for _ in range(50):
        words = random_codewords(generator, 8, 15, rng)
        assert not words[0].any()
        rank = np.linalg.matrix_rank(galois.GF2(words[:, :5].astype(int)))
        left = essential_columns(words)
        assert left.shape[1] == len({min(tuple(c), tuple(1 - c)) for c in words.T} - {(0,) * 8})
        if rank == 5:
            assert left.shape[1] == 15


def test_chosen_rows_are_codewords():
    M = BCH(length=63).draw(20, random_state=1).matrix()
    generator = galois.GF2(generator_matrix(*bch_parameters(20, 63)).astype(int))
    words = galois.GF2((M + 1) // 2)
    dimension = len(generator)
    assert np.array_equal(words[:, :dimension] @ generator, words)


@pytest.mark.parametrize(("k", "length"), [(100, 7), (128, 7), (100, 10), (200, 8), (8, 3), (9, 4), (16, 5)])
def test_short_codes_keep_distinct_rows(k, length):
    M = BCH(length=length).draw(k, random_state=0).matrix()
    assert M.shape == (k, length)
    assert len({tuple(row) for row in M}) == k


def test_too_short_is_refused():
    with pytest.raises(ValueError, match=r"length=6 is impossible for n_classes=100.*at least 7"):
        BCH(length=6).draw(100).matrix()


@pytest.mark.parametrize(("k", "length"), [(3, 20), (4, 12), (6, 200)])
def test_fewer_columns_than_asked_are_reported(k, length):
    with pytest.warns(UserWarning, match=rf"The code has \d+ columns instead of length={length}") as caught:
        M = BCH(length=length).draw(k, random_state=0).matrix()
    assert caught[0].filename == __file__
    assert M.shape[1] < length
    assert f"{M.shape[1]} columns" in str(caught[0].message)
    assert np.array_equal(M, Complete().draw(k).matrix())


def test_columns_lost_to_a_poor_choice_are_reported(monkeypatch):
    monkeypatch.setattr(algebraic, "_MAX_CHOICES", 1)
    with pytest.warns(UserWarning, match=r"The code has (\d+) columns instead of length=62"):
        M = BCH(length=62).draw(7, random_state=0).matrix()
    assert 20 < M.shape[1] < 62
    check_code(M, strict=True)
    assert not repeated_columns(M).size
    assert not mirrored_columns(M).size


def test_missing_galois_is_named(monkeypatch):
    def refuse(name, *args, real=builtins.__import__, **kwargs):
        if name == "galois":
            raise ImportError(name)
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", refuse)
    with pytest.raises(ImportError, match=r'pip install "outputcodes\[bch\]"'):
        BCH().draw(6).matrix()
