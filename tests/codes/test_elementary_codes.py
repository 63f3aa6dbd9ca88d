"""The codes that are written down: sizes, entries, orders, closed forms and refusals."""

import itertools

import numpy as np
import pytest

from outputcodes.codes import (
    CODES,
    AllPairs,
    Complete,
    Hadamard,
    OneVsAll,
    Ordinal,
    TernaryComplete,
    min_distance,
    row_distances,
)

SIZES = range(3, 9)


def columns(M):
    return [tuple(int(entry) for entry in column) for column in M.T]


@pytest.mark.parametrize("name", CODES)
def test_two_classes_are_one_column(name):
    M = CODES[name]().draw(2, random_state=0).matrix()
    assert M.dtype == np.int8
    assert M.tolist() == [[-1], [1]]


@pytest.mark.parametrize("k", SIZES)
def test_one_vs_all(k):
    M = OneVsAll().draw(k).matrix()
    assert M.shape == (k, k)
    assert all(M[r, s] == (1 if r == s else -1) for r in range(k) for s in range(k))
    assert min_distance(M) == 2


@pytest.mark.parametrize("k", SIZES)
def test_all_pairs_in_lexicographic_order(k):
    M = AllPairs().draw(k).matrix()
    for (a, b), column in zip(itertools.combinations(range(k), 2), M.T, strict=True):
        assert column[a] == 1
        assert column[b] == -1
        assert np.count_nonzero(column) == 2
    L = k * (k - 1) // 2
    assert min_distance(M) == (L - 1) / 2 + 1 == (L + 1) / 2


@pytest.mark.parametrize("k", SIZES)
def test_complete_holds_every_split_once(k):
    M = Complete().draw(k).matrix()
    wanted = [(1, *rest) for rest in itertools.product((-1, 1), repeat=k - 1) if -1 in rest]
    assert columns(M) == wanted
    assert M.shape == (k, 2 ** (k - 1) - 1)
    distances = row_distances(M)[np.triu_indices(k, 1)]
    assert set(distances) == {2 ** (k - 2)} == {(M.shape[1] + 1) / 2}


@pytest.mark.parametrize("k", SIZES)
def test_ternary_complete_holds_every_two_sided_column_up_to_sign(k):
    M = TernaryComplete().draw(k).matrix()
    wanted = [
        column
        for column in itertools.product((-1, 0, 1), repeat=k)
        if {-1, 1} <= set(column) and next(entry for entry in column if entry) == 1
    ]
    assert columns(M) == wanted
    L = M.shape[1]
    assert (3**k - 2 ** (k + 1) + 1) // 2 == L
    assert set(row_distances(M)[np.triu_indices(k, 1)]) == {(L + 2 ** (k - 2)) / 2}


@pytest.mark.parametrize("k", SIZES)
def test_ordinal(k):
    M = Ordinal().draw(k).matrix()
    assert M.shape == (k, k - 1)
    assert all(M[r, s] == (1 if r > s else -1) for r in range(k) for s in range(k - 1))
    assert min_distance(M) == 1


@pytest.mark.parametrize("k", [*range(3, 18), 32, 33])
def test_hadamard_rows_are_equidistant(k):
    order = 2 ** (k - 1).bit_length()
    sylvester = np.ones((1, 1), dtype=int)
    while len(sylvester) < order:
        sylvester = np.kron([[1, 1], [1, -1]], sylvester)
    M = Hadamard().draw(k).matrix()
    assert M.dtype == np.int8
    assert np.array_equal(M, sylvester[:k, 1:])
    assert set(row_distances(M)[np.triu_indices(k, 1)]) == {order / 2}
    assert len({min(c, tuple(-e for e in c)) for c in columns(M)}) == M.shape[1]
    assert all({-1, 1} == set(c) for c in columns(M))


@pytest.mark.parametrize(("code", "k", "n_columns"), [(Complete(), 16, "32767"), (TernaryComplete(), 11, "86526")])
def test_explosion_is_refused_with_size_and_alternatives(code, k, n_columns):
    with pytest.raises(ValueError, match=f"{n_columns} columns for n_classes={k}.*code='dense'"):
        code.draw(k).matrix()
    assert code.set_params(max_classes=k).draw(k).matrix().shape == (k, int(n_columns))


def test_the_limits_themselves_are_accepted():
    assert Complete().draw(15).matrix().shape == (15, 16383)
    assert TernaryComplete().draw(10).matrix().shape == (10, 28501)
    with pytest.raises(ValueError, match="max_classes must be an integer of at least 2, got 1"):
        Complete(max_classes=1).draw(3).matrix()


def test_a_huge_number_of_columns_is_still_readable():
    with pytest.raises(ValueError, match=r"more than 10\^6020 columns for n_classes=20000"):
        Complete().draw(20_000).matrix()
