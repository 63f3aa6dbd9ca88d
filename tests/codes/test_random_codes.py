"""Random codes: lengths, rules, the law of the draws, the search, its budget."""

import itertools
import math
from collections import Counter

import numpy as np
import pytest
from scipy.stats import chisquare

from outputcodes.codes import Complete, Dense, Sparse, TernaryComplete, _search, min_distance
from outputcodes.codes._bitplanes import pack, random_plane, twice_rho, unpack
from outputcodes.codes._draws import dense_planes, distinct_numbers, sparse_planes

BOTH_RULES = pytest.mark.parametrize("rule", ["strict", "published"])


def all_matrices(planes, L):
    signs, nonzero = planes
    return [unpack(signs, nonzero, candidate, L) for candidate in range(signs.shape[2])]


def opposed(M):
    return all((u * v == -1).any() for u, v in itertools.combinations(M, 2))


def assert_uniform(counts, n_cells):
    """Every cell occurs, and the counts do not contradict equal probabilities."""
    assert len(counts) == n_cells
    assert chisquare(list(counts.values())).pvalue > 1e-3


@pytest.mark.parametrize(
    ("k", "L"),
    {6: 26, 7: 29, 8: 30, 10: 34, 11: 35, 19: 43, 20: 44, 24: 46, 26: 48}.items(),
)
def test_dense_lengths(k, L):
    M = Dense(n_candidates=50).draw(k, random_state=0).matrix()
    assert M.shape == (k, L)
    assert set(np.unique(M)) == {-1, 1}


@pytest.mark.parametrize(("k", "L"), {6: 39, 10: 50, 26: 71}.items())
def test_sparse_lengths(k, L):
    M = Sparse(n_candidates=50).draw(k, random_state=0).matrix()
    assert M.shape == (k, L)
    assert set(np.unique(M)) == {-1, 0, 1}


@BOTH_RULES
def test_small_defaults_are_the_complete_codes(rule):
    for k in (3, 4, 5):
        assert np.array_equal(Dense(rule=rule).draw(k).matrix(), Complete().draw(k).matrix())
    for k in (3, 4):
        assert np.array_equal(Sparse(rule=rule).draw(k).matrix(), TernaryComplete().draw(k).matrix())
    assert Sparse().draw(5, random_state=0).matrix().shape == (5, math.ceil(15 * math.log2(5)))


@BOTH_RULES
@pytest.mark.parametrize(("k", "L"), [(3, 4), (5, 24), (6, 26), (8, 30), (17, 12), (26, 48), (70, 70)])
def test_dense_codes_keep_their_rule(k, L, rule):
    for seed in range(3):
        M = Dense(length=L, n_candidates=300, rule=rule).draw(k, random_state=seed).matrix()
        assert len({tuple(row) for row in M}) == k
        assert len({tuple(column) for column in M.T}) == L
        if rule == "strict":
            assert all({-1, 1} == set(column) for column in M.T)


@pytest.mark.parametrize(("k", "L"), [(3, 4), (5, 35), (6, 12), (10, 50), (26, 71), (70, 100)])
def test_sparse_codes_keep_their_rule(k, L):
    for seed in range(3):
        strict = Sparse(length=L, n_candidates=300).draw(k, random_state=seed).matrix()
        assert all({-1, 1} <= set(column) for column in strict.T)
        assert opposed(strict)
        published = Sparse(length=L, n_candidates=300, rule="published").draw(k, random_state=seed).matrix()
        assert published.any(axis=0).all()
        assert published.any(axis=1).all()
        assert len({tuple(row) for row in published}) == k


def test_published_rules_really_allow_one_sided_columns():
    dense = Dense(length=8, rule="published").draw(3, random_state=0).matrix()
    assert {(1, 1, 1), (-1, -1, -1)} <= {tuple(column) for column in dense.T}
    sparse = np.concatenate(all_matrices(sparse_planes(np.random.default_rng(0), 6, 39, 500, False), 39), axis=1)
    one_sided = ((sparse == 1).any(axis=0) != (sparse == -1).any(axis=0)).mean()
    assert one_sided == pytest.approx(0.325, abs=0.01)  # by the law of a column at k = 6


@pytest.mark.parametrize(
    ("code", "k", "message"),
    [
        (Dense(length=7), 3, "length=7 is impossible for n_classes=3.*at most 6 distinct columns"),
        (Dense(length=9, rule="published"), 3, "at most 8"),
        (Dense(length=3), 9, "distinct rows need at least 4 columns"),
        (Sparse(length=3), 9, "length=3 is impossible for n_classes=9.*at least 4"),
        (Sparse(length=1, rule="published"), 3, "at least 2"),
        (Dense(length=4, n_candidates=3), 16, "none of 3 random draws.*larger length or n_candidates"),
        (Dense(rule="loose"), 6, "rule must be 'strict' or 'published', got 'loose'"),
        (Sparse(n_candidates=0), 6, "n_candidates must be an integer of at least 1, got 0"),
        (Sparse(length=2.5), 6, "length must be an integer of at least 1, got 2.5"),
    ],
)
def test_refusals(code, k, message):
    with pytest.raises(ValueError, match=message):
        code.draw(k, random_state=0).matrix()


def test_the_shortest_and_longest_dense_codes_exist():
    assert sorted(map(tuple, Dense(length=2).draw(4, random_state=0).matrix())) == [
        (-1, -1),
        (-1, 1),
        (1, -1),
        (1, 1),
    ]
    every_column = {c for c in itertools.product((-1, 1), repeat=4) if len(set(c)) == 2}
    assert {tuple(column) for column in Dense(length=14).draw(4, random_state=0).matrix().T} == every_column


@pytest.mark.parametrize(("n_numbers", "length"), [(6, 2), (5, 3), (9, 2)])
def test_distinct_tuples_are_uniform(n_numbers, length):
    drawn = distinct_numbers(np.random.default_rng(1), n_numbers, length, 20_000)
    counts = Counter(map(tuple, drawn.tolist()))
    assert set(counts) <= set(itertools.permutations(range(n_numbers), length))
    assert_uniform(counts, math.perm(n_numbers, length))


@pytest.mark.parametrize("strict", [True, False])
def test_dense_columns_are_uniform_over_the_admissible(strict):
    matrices = all_matrices(dense_planes(np.random.default_rng(2), 3, 2, 20_000, strict), 2)
    counts = Counter(tuple(M.T.ravel().tolist()) for M in matrices)
    n_columns = 6 if strict else 8
    assert_uniform(counts, n_columns * (n_columns - 1))
    assert all(columns[:3] != columns[3:] for columns in counts)


@pytest.mark.parametrize("strict", [True, False])
def test_sparse_columns_follow_the_conditional_law(strict):
    matrices = all_matrices(sparse_planes(np.random.default_rng(3), 3, 5, 8000, strict), 5)
    counts = Counter(tuple(column) for M in matrices for column in M.T.tolist())
    law = {
        column: 0.5 ** column.count(0) * 0.25 ** (3 - column.count(0))
        for column in itertools.product((-1, 0, 1), repeat=3)
        if ({-1, 1} <= set(column) if strict else any(column))
    }
    assert set(counts) == set(law)
    expected = np.array(list(law.values())) * 40_000 / sum(law.values())
    assert chisquare([counts[column] for column in law], expected).pvalue > 1e-3
    # Different columns of one matrix are independent: the first says nothing about the second.
    first, second = np.array([M[0, :2] for M in matrices], dtype=float).T
    assert abs(np.corrcoef(first, second)[0, 1]) < 0.05


def test_mean_distance_of_symmetric_entries_is_half_the_length():
    rng = np.random.default_rng(4)
    for matrices in (all_matrices(dense_planes(rng, 63, 40, 50, True), 40),
                     all_matrices(sparse_planes(rng, 63, 40, 50, False), 40)):  # fmt: skip
        distances = [(40 - int(u @ v)) / 2 for M in matrices for u, v in zip(M[:-1:2], M[1::2], strict=False)]
        assert np.mean(distances) == pytest.approx(20, abs=0.3)


@pytest.mark.parametrize("L", [1, 5, 63, 64, 65, 127, 128, 300])
def test_bit_planes_agree_with_the_matrices(L):
    rng = np.random.default_rng(L)
    signs, nonzero = random_plane(rng, 5, L, 7), random_plane(rng, 5, L, 7)
    for plane in (None, nonzero):
        scores = twice_rho(signs, plane, L)
        for M, score in zip(all_matrices((signs, plane), L), scores, strict=True):
            wide = M.astype(int)
            assert score == min(L - u @ v for u, v in itertools.combinations(wide, 2))


def test_packing_and_unpacking():
    bits = np.random.default_rng(0).integers(2, size=(4, 9, 70))
    assert np.array_equal(all_matrices((pack(bits), None), 70), 2 * bits - 1)


@pytest.mark.parametrize("chunk_words", [2**16, 60])
def test_the_search_keeps_the_first_admissible_of_largest_rho(monkeypatch, chunk_words):
    monkeypatch.setattr(_search, "CHUNK_WORDS", chunk_words)
    rng = np.random.default_rng(5)
    drawn = []

    def draw(n):
        planes = sparse_planes(rng, 6, 6, n, True)
        drawn.extend(all_matrices(planes, 6))
        return planes

    best = _search.best_of(400, 6, 6, draw, opposed)
    assert len(drawn) == 400
    wanted = max(filter(opposed, drawn), key=min_distance)  # max keeps the first of equals
    assert not opposed(max(drawn, key=min_distance))  # the rule matters here
    assert np.array_equal(best, wanted)


def test_more_candidates_never_give_a_smaller_rho():
    for code in (Dense, Sparse):
        few, many = (code(n_candidates=n).draw(12, random_state=0).matrix() for n in (1, 2000))
        assert min_distance(many) > min_distance(few)


def test_the_budget_counts_work():
    assert _search.affordable_candidates(26, 48) >= 10_000
    assert _search.affordable_candidates(100, 100) >= 10_000
    assert _search.affordable_candidates(1000, 100) == 10**9 // (499_500 * 2 + 100_000)
    assert _search.affordable_candidates(10**6, 200) == 1


def test_thousands_of_classes(monkeypatch):
    monkeypatch.setattr(_search, "WORK_BUDGET", 10**7)  # a few candidates are enough to see it work
    for code, L in ((Dense, 110), (Sparse, 165)):
        M = code().draw(2000, random_state=0).matrix()
        assert M.shape == (2000, L)
        assert min_distance(M) > L / 5
