"""Every decoder against its definition in plain loops, and the identities between decoders."""

from fractions import Fraction

import numpy as np
import oracles
import pytest
from scipy.special import logsumexp
from scipy.stats import rankdata

from outputcodes.decoders import DECODERS, AccuracyWeighted, LossBased, as_decoder
from outputcodes.losses import LOSSES

# Beam search has codes of its own, and tests of its own.
FIXED = [
    name for name in DECODERS if name != "loss" and as_decoder(name).needs is None and not as_decoder(name).searches
]


def codes_for(name, rng):
    """Codes that the decoder can serve: random ones with and without zeros, one-vs-all, all-pairs."""
    for k in (2, 3, 5):
        candidates = [oracles.all_pairs(k), oracles.random_code(rng, k, 6), oracles.random_code(rng, k, 6, zeros=False)]
        candidates += [oracles.one_vs_all(k)] if k > 2 else []
        yield from (M for M in candidates if as_decoder(name).objection(M) is None)


def margins(rng, n, L):
    F = rng.normal(scale=2, size=(n, L))
    F[rng.random(F.shape) < 0.1] = 0
    return F


def test_all_of_ours_have_a_reference_version():
    assert set(FIXED) <= set(oracles.DECODERS)


@pytest.mark.parametrize("name", FIXED)
def test_scores_are_the_definition(name):
    # Those of test_newcomers.py.
    if name not in oracles.DECODERS:
        pytest.skip("no reference version in tests/oracles.py")
    rng = np.random.default_rng(1)
    for M in codes_for(name, rng):
        F = margins(rng, 30, M.shape[1])
        D = as_decoder(name).scores(F, M)
        expected = np.array([oracles.DECODERS[name](f, M) for f in F])
        if name in oracles.ORDERS:
            D = np.array([np.lexsort((-np.arange(len(d)), d)) for d in D])
            expected = np.array([np.lexsort((-np.arange(len(d)), d)) for d in expected])
        assert np.allclose(D, expected, rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("loss", LOSSES)
def test_zeros_ignored_is_the_mean_over_the_entries_that_count(loss):
    rng = np.random.default_rng(2)
    M = oracles.random_code(rng, 4, 7)
    F = margins(rng, 20, 7)
    D = LossBased(loss, zeros="ignore").scores(F, M)
    d = np.array([oracles.loss_distances(f, M, oracles.loss(loss), zeros="ignore") for f in F])
    assert np.allclose(D, -np.log(d) if loss == "exponential" else -d)


def test_zeros_ignored_ranks_as_matlab():
    # fitcecoc's "lossweighted" with its losses scaled to 1/2 at 0; logit has half our margin.
    matlab = {
        "hamming": (lambda u: (1 - np.sign(u)) / 2, 1),
        "linear": (lambda u: (1 - u) / 2, 1),
        "hinge": (lambda u: np.maximum(0, 1 - u) / 2, 1),
        "exponential": (lambda u: np.exp(-u) / 2, 1),
        "logistic": (lambda u: np.log(1 + np.exp(-u)) / (2 * np.log(2)), 0.5),
        "squared": (lambda u: (1 - u) ** 2 / 2, 1),
        "binodeviance": (lambda u: np.log(1 + np.exp(-2 * u)) / (2 * np.log(2)), 1),
    }
    rng = np.random.default_rng(3)
    M = oracles.random_code(rng, 5, 8)
    F = rng.normal(size=(50, 8))
    for name, (loss, scale) in matlab.items():
        d = np.array([oracles.loss_distances(f, M, loss, zeros="ignore") for f in F])
        ours = LossBased({"binodeviance": "logistic"}.get(name, name), zeros="ignore").scores(scale * F, M)
        assert np.array_equal(rankdata(-d.round(12), axis=1), rankdata(ours.round(12), axis=1)), name


@pytest.mark.parametrize("loss", ["linear", "exponential", "hinge"])
def test_accuracy_weighted_is_the_definition(loss):
    rng = np.random.default_rng(4)
    M = oracles.random_code(rng, 4, 6)
    F, y, weight = margins(rng, 60, 6), rng.integers(0, 3, 60), rng.random(60)  # class 3 has no example
    decoder = AccuracyWeighted(loss).fit(F, y, M, weight)
    H = oracles.accuracy_weights(F, y, M, weight)
    assert np.allclose(decoder.accuracy_, H)
    d = [[sum(H[r] * [oracles.LOSSES[loss](z) for z in M[r] * f]) for r in range(4)] for f in F]
    assert np.allclose(decoder.scores(F, M), -np.log(d) if loss == "exponential" else np.negative(d))


@pytest.mark.parametrize("name", FIXED)
def test_invariant_under_permuted_and_mirrored_columns(name):
    rng = np.random.default_rng(5)
    for M in codes_for(name, rng):
        L = M.shape[1]
        F, order, flip = margins(rng, 20, L), rng.permutation(L), rng.choice([-1, 1], L)
        changed = as_decoder(name).scores((F * flip)[:, order], (M * flip)[:, order])
        assert np.allclose(as_decoder(name).scores(F, M), changed, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("name", [name for name in DECODERS if not as_decoder(name).searches])
def test_predict_is_the_first_largest_score_in_blocks_too(name, monkeypatch):
    rng = np.random.default_rng(6)
    decoder = as_decoder(name).for_loss("hinge")
    M = next(M for M in (oracles.all_pairs(4), oracles.one_vs_all(5)) if decoder.objection(M) is None)
    y = rng.integers(0, len(M), 101)
    F = margins(rng, 101, M.shape[1]) + M[y]  # decoders that learn need margins that have to do with the labels
    decoder = decoder.fit(F, y, M)
    whole = decoder.scores(F, M)
    assert np.array_equal(decoder.predict(F, M), whole.argmax(axis=1))
    monkeypatch.setattr("outputcodes._ground.blocks.BLOCK_VALUES", 64)
    assert np.allclose(decoder.scores(F, M), whole, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("loss", ["hinge", "exponential", "logistic", "squared", "linear", "randomised"])
def test_one_vs_all_decodes_to_the_largest_margin(loss):
    F = np.random.default_rng(7).normal(size=(500, 6))
    assert np.array_equal(as_decoder(loss).predict(F, oracles.one_vs_all(6)), F.argmax(axis=1))


def test_hamming_does_not_decode_one_vs_all_to_the_largest_margin():
    f = [[1.0, 2.0, -1.0]]
    assert as_decoder("hamming").predict(f, oracles.one_vs_all(3))[0] == 0
    assert np.array_equal(as_decoder("hamming").ties(f, oracles.one_vs_all(3)), [[True, True, False]])


@pytest.mark.parametrize("k", [3, 4, 6])
def test_all_pairs_hamming_is_the_majority_vote_with_its_tie_set(k):
    rng = np.random.default_rng(8)
    M = oracles.all_pairs(k)
    F = rng.choice([-1.0, 1.0], size=(300, M.shape[1])) * rng.random((300, M.shape[1]))
    votes = np.array([[sum(f[s] * row[s] > 0 for s in range(len(f))) for row in M] for f in F])
    assert np.array_equal(as_decoder("hamming").ties(F, M), votes == votes.max(axis=1, keepdims=True))
    winners = as_decoder("vote").predict(F, M)
    assert (votes[np.arange(300), winners] == votes.max(axis=1)).all()


def test_vote_breaks_ties_by_summed_margins_then_index():
    M = oracles.all_pairs(3)  # a circle: 0 beats 1, 1 beats 2, 2 beats 0
    assert as_decoder("vote").predict([[1.0, -1.0, 5.0]], M)[0] == 1
    assert as_decoder("vote").predict([[1.0, -1.0, 1.0]], M)[0] == 0
    assert as_decoder("vote").predict([[1e30, -1e30, 2e30]], M)[0] == 1


def test_dag_returns_the_best_linear_class_and_the_undefeated_one():
    rng = np.random.default_rng(9)
    W, X = rng.normal(size=(5, 3)), rng.normal(size=(200, 3))
    M = oracles.all_pairs(5)
    scores = X @ W.T
    F = np.column_stack([scores[:, a] - scores[:, b] for a in range(5) for b in range(a + 1, 5)])
    for decoder in ("dag", "vote"):
        assert np.array_equal(as_decoder(decoder).predict(F, M), scores.argmax(axis=1))


def test_exponential_compares_logarithms_where_the_sum_would_overflow():
    rng = np.random.default_rng(10)
    M = oracles.random_code(rng, 5, 9)
    F = rng.normal(size=(40, 9)) * rng.choice([1, 100, 1e4, 1e8], size=(40, 1))
    D = as_decoder("exponential").scores(F, M)
    exact = -logsumexp(-(F[:, None, :] * M).astype(np.longdouble), axis=2)
    assert np.isfinite(D).all()
    assert np.allclose(D, exact.astype(float), rtol=1e-12)


def test_exponential_has_no_false_ties_far_out():
    # Both classes carry e^800 once; the second also carries e^799.
    M = np.array([[-1, +1, +1], [-1, -1, +1], [+1, +1, -1]])
    assert as_decoder("exponential").ties([[800.0, 799.0, 900.0]], M).sum() == 1


@pytest.mark.parametrize("scale", [1.0, 400.0, 800.0, 1e9])
@pytest.mark.parametrize("name", FIXED)
def test_margins_on_a_codeword_however_large_decode_to_it(name, scale):
    M = next(M for M in (oracles.one_vs_all(5), oracles.all_pairs(4)) if as_decoder(name).objection(M) is None)
    assert np.array_equal(as_decoder(name).predict(scale * M.astype(float), M), np.arange(len(M)))
    assert np.isfinite(as_decoder(name).scores(scale * M.astype(float), M)).all()


@pytest.mark.parametrize("name", ["hamming", "inverse-hamming"])
@pytest.mark.parametrize("zeros", ["count", "ignore"])
def test_exact_ties_go_to_the_lowest_index(name, zeros):
    rng = np.random.default_rng(14)
    for _ in range(60):
        M = oracles.random_code(rng, 4, 6, zeros=name == "hamming")
        decoder = LossBased("hamming", zeros=zeros) if name == "hamming" else as_decoder(name)
        if decoder.objection(M) is not None:
            continue
        F = rng.choice([-1, 1], size=(40, 6))
        wrong = [
            [
                sum(
                    Fraction(1, 2) if m == 0 else Fraction(int(m != b))
                    for m, b in zip(row, f, strict=True)
                    if zeros == "count" or m != 0
                )
                for row in M.tolist()
            ]
            for f in F.tolist()
        ]
        if name == "hamming":
            divisor = [1 if zeros == "count" else np.count_nonzero(row) for row in M]
            best = [[-d / int(n) for d, n in zip(row, divisor, strict=True)] for row in wrong]
        else:
            delta = exact_inverse([[Fraction(int(6 - u @ v), 2) for v in M] for u in M])
            best = [
                [sum(a * b for a, b in zip(d, column, strict=True)) for column in zip(*delta, strict=True)]
                for d in wrong
            ]
        expected = [row.index(max(row)) for row in best]
        assert decoder.predict(F.astype(float), M).tolist() == expected


def exact_inverse(A):
    """Gauss–Jordan in exact fractions."""
    n = len(A)
    rows = [list(row) + [Fraction(int(i == j)) for j in range(n)] for i, row in enumerate(A)]
    for c in range(n):
        pivot = next(r for r in range(c, n) if rows[r][c] != 0)
        rows[c], rows[pivot] = rows[pivot], rows[c]
        rows[c] = [v / rows[c][c] for v in rows[c]]
        rows = [
            row if r == c else [v - row[c] * p for v, p in zip(row, rows[c], strict=True)] for r, row in enumerate(rows)
        ]
    return [row[n:] for row in rows]


def test_ties_are_relative_and_seen_before_they_are_broken():
    decoder = LossBased("logistic", zeros="ignore")
    assert decoder.ties([[16.0, 40.0]], [[1, 0], [0, 1], [-1, -1]]).tolist() == [[False, True, False]]
    # Equal hinge distances, broken by the linear score for the prediction.
    M = [[1, 1, 0], [1, 0, 1], [-1, -1, -1]]
    f = [[2.0, 3.0, 4.0]]
    assert as_decoder("hinge").ties(f, M).tolist() == [[True, True, False]]
    assert as_decoder("hinge").predict(f, M).tolist() == [1]


def test_a_loss_object_decodes_as_its_name():
    f = [[1.0, 2.0, -1.0]]
    M = oracles.one_vs_all(3)
    for name, loss in LOSSES.items():
        assert np.array_equal(LossBased(loss).scores(f, M), LossBased(name).scores(f, M))


def test_saturated_losses_fall_back_on_the_linear_score():
    M = oracles.one_vs_all(3)
    f = [[400.0, 500.0, -300.0]]
    scores = as_decoder("randomised").scores(f, M)[0]
    assert scores[0] == pytest.approx(scores[1], abs=1e-12)
    assert scores.argmax() == 1


@pytest.mark.parametrize("zero_free", [True, False])
def test_euclidean_ranks_as_the_linear_loss_exactly_on_zero_free_codes(zero_free):
    rng = np.random.default_rng(11)
    M = oracles.random_code(rng, 6, 8, zeros=not zero_free)
    F = rng.normal(size=(300, 8))
    same = np.array_equal(as_decoder("euclidean").predict(F, M), as_decoder("linear").predict(F, M))
    assert same == zero_free


@pytest.mark.parametrize("name", FIXED)
def test_two_classes_and_one_bit_agree_with_hamming(name):
    M, F = np.array([[-1], [1]]), np.array([[-1.0], [1.0]])
    assert np.array_equal(as_decoder(name).predict(F, M), [0, 1])


def test_laplacian_ranks_as_hamming_where_rows_have_equally_many_zeros():
    rng = np.random.default_rng(12)
    M = oracles.all_pairs(5)
    F = rng.choice([-1.0, 1.0], size=(200, M.shape[1]))
    ranks = [rankdata(as_decoder(name).scores(F, M).round(12), axis=1) for name in ("laplacian", "hamming")]
    assert np.array_equal(*ranks)


def test_inverse_hamming_recovers_the_unit_vectors_of_a_zero_free_code():
    M = oracles.random_code(np.random.default_rng(13), 6, 12, zeros=False)
    assert np.allclose(as_decoder("inverse-hamming").scores(3.0 * M, M), np.eye(6), atol=1e-10)


def test_silent_margins_have_shares_of_one_half():
    M = oracles.all_pairs(3)
    assert np.allclose(as_decoder("laplacian").scores(np.zeros((1, 3)), M), 0.5)
    assert np.allclose(as_decoder("beta-density").scores(np.zeros((1, 3)), M), 1 / 6)
