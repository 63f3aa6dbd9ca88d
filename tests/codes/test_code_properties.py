"""Distances and error correction against brute force and the worked example of Mohri's lecture."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from outputcodes.codes import (
    AllPairs,
    Complete,
    Dense,
    OneVsAll,
    Sparse,
    column_distances,
    correctable_errors,
    min_column_distance,
    min_distance,
    mirrored_columns,
    one_sided_columns,
    properties,
    repeated_columns,
    repeated_rows,
    row_distances,
    unseparated_pairs,
)
from outputcodes.codes.properties import row_distance_range

MATRICES = arrays(np.int8, st.tuples(st.integers(2, 6), st.integers(1, 7)), elements=st.sampled_from([-1, 0, 1]))
DENSE = arrays(np.int8, st.tuples(st.integers(2, 5), st.integers(1, 7)), elements=st.sampled_from([-1, 1]))


def distance(u, v):
    """The definition, entry by entry."""
    return sum(0.5 if a == 0 or b == 0 else float(a != b) for a, b in zip(u, v, strict=True))


def pairs_of(items):
    return list(itertools.combinations(range(len(items)), 2))


@given(MATRICES)
def test_row_distances(M):
    D = row_distances(M)
    assert np.array_equal(D, [[distance(u, v) for v in M] for u in M])
    off_diagonal = [D[a, b] for a, b in pairs_of(M)]
    assert min_distance(M) == min(off_diagonal)
    smallest, mean, largest = row_distance_range(M)
    assert (smallest, largest) == (min(off_diagonal), max(off_diagonal))
    assert mean == pytest.approx(np.mean(off_diagonal))


@given(MATRICES)
def test_column_distances(M):
    columns = M.T
    D = column_distances(M)
    assert np.array_equal(D, [[min(distance(c, d), distance(c, -d)) for d in columns] for c in columns])
    assert min_column_distance(M) == min((D[a, b] for a, b in pairs_of(columns)), default=np.inf)


@given(MATRICES)
def test_faults(M):
    pairs = pairs_of(M)
    assert unseparated_pairs(M).tolist() == [[a, b] for a, b in pairs if not (M[a] * M[b] == -1).any()]
    assert one_sided_columns(M).tolist() == [s for s, c in enumerate(M.T) if not {-1, 1} <= set(c.tolist())]

    def first_matches(vectors, sign):
        tuples = [tuple(v.tolist()) for v in vectors]
        found = []
        for b, v in enumerate(tuples):
            earlier = [a for a in range(b) if tuples[a] == tuple(sign * e for e in v)]
            found += [[earlier[0], b]] if earlier else []
        return found

    assert repeated_columns(M).tolist() == first_matches(M.T, 1)
    assert mirrored_columns(M).tolist() == first_matches(M.T, -1)
    assert repeated_rows(M).tolist() == first_matches(M, 1)


def test_blocks_give_what_one_block_gives(monkeypatch):
    M = Sparse(length=9, n_candidates=1, rule="published").draw(14, random_state=0).matrix()
    whole = min_distance(M), min_column_distance(M), unseparated_pairs(M).tolist(), row_distance_range(M)
    monkeypatch.setattr(properties, "_BLOCK_ENTRIES", 30)
    cut = min_distance(M), min_column_distance(M), unseparated_pairs(M).tolist(), row_distance_range(M)
    assert whole == cut
    assert whole[2]  # the example has unseparated pairs


def decoded_uniquely(M, v, y):
    distances = [distance(v, row) for row in M]
    return all(distances[y] < d for r, d in enumerate(distances) if r != y)


def survives(M, n_errors):
    """Flip every set of `n_errors` non-zero bits of every row, fill its zeros in every way, and decode."""
    for y, row in enumerate(M):
        zeros, bits = np.flatnonzero(row == 0), np.flatnonzero(row)
        for fill in itertools.product((-1, 1), repeat=len(zeros)):
            for wrong in itertools.combinations(bits, min(n_errors, len(bits))):
                v = row.copy()
                v[zeros] = fill
                v[list(wrong)] *= -1
                if not decoded_uniquely(M, v, y):
                    return False
    return True


@settings(max_examples=40, deadline=None)
@given(DENSE)
def test_correctable_errors_of_zero_free_codes_are_exact(M):
    rho, promised = min_distance(M), correctable_errors(M)
    assert promised == max(0, (rho - 1) // 2)
    if rho:
        assert survives(M, promised)
        assert not survives(M, promised + 1)


@settings(max_examples=60, deadline=None)
@given(MATRICES)
def test_correctable_errors_are_corrected(M):
    promised = correctable_errors(M)
    most_zeros = (M == 0).sum(axis=1).max()
    # The promise: w + zeros/2 < rho/2, and no larger w fulfils it.
    assert promised == max([0, *(w for w in range(8) if w + most_zeros / 2 < min_distance(M) / 2)])
    if most_zeros < min_distance(M):
        assert survives(M, promised)


def test_a_ternary_code_that_corrects():
    M = np.array([[1, 1, 1, 1, 1, 1, 0], [-1, -1, -1, -1, -1, -1, 1]])
    assert min_distance(M) == 6.5
    assert correctable_errors(M) == 2
    assert survives(M, 2)


@pytest.mark.parametrize(
    ("code", "k", "errors"),
    [(OneVsAll(), 7, 0), (Complete(), 5, 3), (Complete(), 15, 4095), (AllPairs(), 10, 0)],
)
def test_known_codes(code, k, errors):
    assert correctable_errors(code.draw(k).matrix()) == errors


def test_worked_example():
    rows = ["000100", "100000", "011010", "110000", "110010", "001101", "001000", "010100"]
    M = np.array([[2 * int(bit) - 1 for bit in row] for row in rows])
    output = np.array([-1, 1, 1, -1, 1, 1])
    distances = [distance(output, row) for row in M]
    assert distances == [5, 5, 1, 4, 3, 3, 3, 4]
    assert np.argmin(distances) == 2
    assert min_distance(M) == 1
    assert correctable_errors(M) == 0


def test_zero_rows_have_a_large_rho_and_are_found_all_the_same():
    M = np.zeros((3, 4), dtype=int)
    assert min_distance(M) == 2
    assert unseparated_pairs(M).tolist() == [[0, 1], [0, 2], [1, 2]]


def test_large_codes_stay_small_in_memory():
    assert min_column_distance(Complete().draw(13).matrix()) == 1
    M = Dense(n_candidates=1).draw(3000, random_state=0).matrix()
    assert not unseparated_pairs(M).size
    assert min_distance(M) > 20
