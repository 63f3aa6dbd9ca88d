"""The theorems of boosting hold on random rounds, whatever the hypotheses were; their worked numbers come out."""

import math

import numpy as np
import oracles
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import hamming_loss, label_ranking_loss

from colouring_oracles import adaboost_oc, phi, updated
from outputcodes.bounds import boosting, training_error
from outputcodes.codes import min_distance

seeds = st.integers(0, 2**32)


def boosted(rng, Y, T, kind="discrete"):
    """T rounds of random hypotheses on signs Y (0 = absent): margins F, errors, coefficients and normalisers."""
    D = (Y != 0) / np.count_nonzero(Y)
    F, errors, alphas, Z = np.zeros(Y.shape), [], [], []
    for _ in range(T):
        h = np.where(rng.random(Y.shape) < rng.uniform(0.3, 1), Y, rng.choice([-1, 1], size=Y.shape))
        h = np.where(h == 0, rng.choice([-1, 1], size=Y.shape), h)
        error = D[h * Y < 0].sum()
        if error > 0.5:
            h, error = -h, 1 - error
        error = max(error, 1e-6)
        alpha = math.log((1 - error) / error) / 2
        step = alpha * h if kind == "discrete" else h * rng.uniform(0, 2, size=Y.shape)
        errors.append(error)
        alphas.append(alpha)
        F += step
        D = D * np.exp(-Y * step)
        Z.append(D.sum())
        D /= D.sum()
    return F, np.array(errors), np.array(alphas), np.array(Z)


@settings(max_examples=60, deadline=None)
@given(seed=seeds, kind=st.sampled_from(["discrete", "confidence"]))
def test_hamming_loss_and_single_label_error_of_mh(seed, kind):
    rng = np.random.default_rng(seed)
    n, k = 30, int(rng.integers(2, 6))
    Y = rng.choice([-1, 1], size=(n, k))
    F, *_, Z = boosted(rng, Y, int(rng.integers(1, 8)), kind)
    product = boosting.normaliser_product(Z)
    assert product == pytest.approx(np.exp(-Y * F).mean())
    assert hamming_loss(Y > 0, F > 0) <= product + 1e-12
    y = rng.integers(k, size=n)
    F, *_, Z = boosted(rng, oracles.one_vs_all(k)[y], int(rng.integers(1, 8)), kind)
    assert training_error(F, y) <= boosting.mh_error_bound(Z, k) + 1e-12
    assert boosting.mh_error_bound(Z, k) == pytest.approx(k / 2 * np.prod(Z))


@settings(max_examples=60, deadline=None)
@given(seed=seeds)
def test_rank_loss_and_single_label_error_of_mr(seed):
    rng = np.random.default_rng(seed)
    n, k = 20, int(rng.integers(3, 6))
    y = rng.integers(k, size=n)
    Y = (np.arange(k) == y[:, None]) | (rng.random((n, k)) < (0.3 if seed % 2 else 0))
    Y[Y.all(axis=1), 0] = False
    counted = [(i, l0, l1) for i in range(n) for l0 in np.flatnonzero(~Y[i]) for l1 in np.flatnonzero(Y[i])]
    D = {(i, l0, l1): 1 / (n * Y[i].sum() * (~Y[i]).sum()) for i, l0, l1 in counted}
    F, Z = np.zeros((n, k)), []
    for _ in range(int(rng.integers(1, 6))):
        h = np.where(rng.random((n, k)) < 0.6, 2 * Y - 1, rng.choice([-1, 1], size=(n, k)))
        alpha = rng.uniform(0, 1)
        F += alpha * h
        D = {(i, a, b): d * math.exp(alpha / 2 * (h[i, a] - h[i, b])) for (i, a, b), d in D.items()}
        Z.append(sum(D.values()))
        D = {pair: d / Z[-1] for pair, d in D.items()}
    assert label_ranking_loss(Y, F) <= boosting.normaliser_product(Z) + 1e-12
    if (Y.sum(axis=1) == 1).all():
        assert training_error(F, Y.argmax(axis=1)) <= boosting.mr_error_bound(Z, k) + 1e-12
        assert boosting.mr_error_bound(Z, k) == pytest.approx((k - 1) * np.prod(Z))


@settings(max_examples=100, deadline=None)
@given(seed=seeds, theta=st.floats(-0.5, 0.8))
def test_theorem_6_without_zeros(seed, theta):
    rng = np.random.default_rng(seed)
    M = oracles.random_code(rng, int(rng.integers(2, 6)), 5, zeros=False)
    y = rng.integers(len(M), size=40)
    F, errors, alphas, _ = boosted(rng, M[y], int(rng.integers(1, 12)))
    margins = boosting.normalised_margins(F, y, M, alphas.sum())
    share = (margins <= theta + 1e-12).mean()
    assert share <= boosting.mo_margin_bound(errors, M, theta + 1e-12) + 1e-9
    edge = 0.5 - errors.max()
    assert share <= boosting.mo_margin_bound_by_edge(edge, len(errors), M, theta) + 1e-9
    expected = M.shape[1] / min_distance(M) * np.prod(2 * np.sqrt(errors ** (1 - theta) * (1 - errors) ** (1 + theta)))
    assert boosting.mo_margin_bound(errors, M, theta) == pytest.approx(expected)


@settings(max_examples=100, deadline=None)
@given(seed=seeds, theta=st.floats(0, 0.8), kind=st.sampled_from(["discrete", "confidence"]))
def test_theorem_6_with_zeros(seed, theta, kind):
    rng = np.random.default_rng(seed)
    M = oracles.random_code(rng, int(rng.integers(2, 6)), 6)
    y = rng.integers(len(M), size=40)
    F, _, alphas, Z = boosted(rng, M[y], int(rng.integers(1, 12)), kind)
    eta = alphas.sum()
    share = (boosting.normalised_margins(F, y, M, eta) <= theta + 1e-12).mean()
    bound = boosting.mo_margin_bound_by_zeros(Z, eta, y, M, theta + 1e-12)
    assert share <= bound + 1e-9
    # Without zeros and at θ = 0 it is the other form, and Theorem 1 with the exponential loss.
    at_zero = boosting.mo_margin_bound_by_zeros(Z, eta, y, M)
    assert at_zero == pytest.approx(M.shape[1] / min_distance(M) * np.exp(-M[y] * F).mean())


def test_worked_numbers_of_theorem_6():
    M = oracles.one_vs_all(3)
    assert boosting.mo_margin_bound([0.2, 0.3, 0.25], M) == pytest.approx(0.952470, abs=1e-6)
    assert boosting.mo_margin_bound([0.2, 0.3, 0.25], M, 0.1) == pytest.approx(1.125147, abs=1e-6)
    Z = 2 * np.sqrt(np.array([0.2, 0.3, 0.25]) * [0.8, 0.7, 0.75])
    assert boosting.mo_margin_bound_by_zeros(Z, 1.0, [0, 1, 2], M) == pytest.approx(0.952470, abs=1e-6)
    assert boosting.mo_margin_bound_by_edge(0.2, 3, M) == pytest.approx(boosting.mo_margin_bound([0.3] * 3, M))


@settings(max_examples=60, deadline=None)
@given(seed=seeds)
def test_normalised_scores_and_margins(seed):
    rng = np.random.default_rng(seed)
    M = oracles.random_code(rng, 4, 6, zeros=bool(seed % 2))
    y = rng.integers(4, size=25)
    alphas = rng.uniform(0, 2, size=5)
    F = np.einsum("t,tis->is", alphas, rng.choice([-1, 1], size=(5, 25, 6)))
    eta = alphas.sum()
    nu = boosting.normalised_scores(F, M, eta)
    for i in range(25):
        for r in range(4):
            mean = sum(math.exp(-m * f) for m, f in zip(M[r], F[i], strict=True)) / 6
            assert nu[i, r] == pytest.approx(-math.log(mean) / eta)
    assert (np.abs(nu) <= 1 + 1e-12).all()
    margins = boosting.normalised_margins(F, y, M, eta)
    others = np.where(np.arange(4) == y[:, None], -np.inf, nu)
    assert np.allclose(margins, (nu[np.arange(25), y] - others.max(axis=1)) / 2)
    assert (margins > 1e-12).mean() == pytest.approx(1 - training_error(nu, y))
    assert not boosting.normalised_margins(np.zeros((25, 6)), y, M, 0.0).any()
    # −ν is A(η, z) = (1/η) ln mean e^(ηz), z = −M f: it rises with η, by no more than this.
    f, n1, n2 = F / eta, 0.7, 2.9
    rise = boosting.normalised_scores(n1 * f, M, n1) - boosting.normalised_scores(n2 * f, M, n2)
    assert (rise >= -1e-12).all()
    assert (rise <= (1 / n1 - 1 / n2) * math.log(6) + 1e-12).all()


def test_the_factor_of_ocs_bounds_is_needed():
    # Examples 2 and 3 look alike, so that one of them is wrong for ever.
    X, y = np.array([[0.0], [1.0], [2.0], [2.0]]), [0, 1, 2, 3]
    rounds = adaboost_oc(X, y, 4, [[+1, -1, -1, -1], [-1, -1, +1, +1]])
    scores = sum(r["alpha"] * np.outer(r["h"], r["f"]) for r in rounds)
    error = (scores.argmax(axis=1) != y).mean()
    e, U = ([r[name] for r in rounds] for name in ("e", "U"))
    assert U == pytest.approx([1 / 2, 2 / 3], rel=1e-4)
    assert error == 1 / 4
    assert boosting.oc_error_bound(e, U, 2) == pytest.approx(1 / 6, rel=1e-3)  # two classes: the factor is 1
    assert error <= training_error(scores, y) <= boosting.oc_error_bound(e, U, 4)


@settings(max_examples=50, deadline=None)
@given(seed=seeds)
def test_ocs_two_bounds(seed):
    rng = np.random.default_rng(seed)
    e, U, k = rng.uniform(0, 0.5, size=4), rng.random(4), int(rng.integers(2, 9))
    binary, pseudo = (boosting.oc_error_bound(e, U, k, variant) for variant in ("binary", "pseudo"))
    assert binary <= pseudo + 1e-12
    assert binary == pytest.approx(
        (k - 1) * math.prod(1 - u + 2 * u * math.sqrt(a * (1 - a)) for a, u in zip(e, U, strict=True))
    )
    assert pseudo == pytest.approx(
        (k - 1) * math.prod(math.sqrt(1 - 4 * ((0.5 - a) * u) ** 2) for a, u in zip(e, U, strict=True))
    )


@settings(max_examples=80, deadline=None)
@given(seed=seeds, lam=st.sampled_from([0.0, 0.1, 0.5, 2.0]))
def test_the_potential_of_smooth_boost_falls_as_promised(seed, lam):
    rng = np.random.default_rng(seed)
    n, k = 15, int(rng.integers(2, 6))
    y, weight = rng.integers(k, size=n), rng.uniform(0.1, 2, size=n)
    weight /= weight.sum()
    mu, S = np.full((n, k), 1 / (1 + lam * (k - 1))), np.zeros((n, k))
    for _ in range(5):
        f = rng.choice([-1, 1], size=k)
        own = mu[np.arange(n), y]
        pairs = (weight * own)[:, None] * np.where(np.arange(k) == y[:, None], 0, mu)
        D = (pairs * (f != f[y][:, None])).sum(axis=1)
        if D.sum() == 0:
            continue
        h = np.where(rng.random(n) < 0.7, f[y], -f[y])
        e = np.clip((D * (h != f[y])).sum() / D.sum(), 1e-6, 1 - 1e-6)
        a, U = math.log((1 - e) / e) / 4, D.sum() / pairs.sum()
        before = boosting.smooth_potential(mu, y, lam, weight)
        drop = boosting.smooth_potential_drop(mu, y, lam, e, U, weight)
        mu, S = updated(mu, y, f, h, a, lam), S + a * np.outer(h, f)
        after = boosting.smooth_potential(mu, y, lam, weight)
        assert after <= before - drop + 1e-9
        assert drop >= 0
        assert np.allclose(boosting.smooth_weights(S, y, lam), mu)
        own = mu[np.arange(n), y]
        assert np.allclose(own + lam * (mu.sum(axis=1) - own), 1)
        wrong = np.array([any(S[i, r] >= S[i, y[i]] - 1e-12 for r in range(k) if r != y[i]) for i in range(n)])
        assert weight[wrong].sum() <= after + 1e-9
        if lam:
            assert ((1 + lam) * (mu.sum(axis=1) - own) <= 1 + 1 / lam + 1e-9).all()


@settings(max_examples=50, deadline=None)
@given(seed=st.integers(0, 10**6), lam=st.sampled_from([0.1, 0.5, 2.0]), spread=st.sampled_from([0.1, 3.0, 40.0]))
def test_no_example_of_smooth_boost_weighs_more_than_a_quarter_of_one_over_lambda(seed, lam, spread):
    rng = np.random.default_rng(seed)
    y = rng.integers(4, size=20)
    own = np.arange(4) == y[:, None]
    mu = boosting.smooth_weights(spread * rng.normal(size=(20, 4)), y, lam)
    assert np.allclose(mu[own] + lam * np.where(own, 0, mu).sum(axis=1), 1)
    of_example = mu[own] * np.where(own, 0, mu).sum(axis=1)
    assert of_example.max() <= (1 + 1e-12) / (4 * lam)
    assert np.allclose(of_example, mu[own] * (1 - mu[own]) / lam)
    assert (1 + lam) * np.where(own, 0, mu).sum(axis=1).max() <= (1 + 1 / lam) * (1 + 1e-12)


@pytest.mark.parametrize("lam", [0.1, 0.5, 2.0])
def test_the_bound_of_smooth_boosts_weights_is_reached_and_their_ratio_has_none(lam):
    def pair(score):
        mu = boosting.smooth_weights([[0.0, score]], [0], lam)[0]
        return mu[0] * mu[1]

    # e^0 = λ e^D gives μ(y) = ½; far to either side the weight vanishes: learned well, or hopelessly wrong.
    assert np.isclose(pair(-np.log(lam)), 1 / (4 * lam))
    assert pair(-30.0) < 1e-9
    assert pair(30.0) < 1e-9
    assert pair(-np.log(lam)) / pair(30.0) > 1e6 / lam


def test_worked_numbers_of_smooth_boost():
    y, f, h, lam = [0, 0, 1, 2], [1, -1, -1], [1, 1, 1, -1], 0.5
    mu = np.full((4, 3), 0.5)
    assert boosting.smooth_potential(mu, y, lam) == 1.5
    assert np.allclose(phi(mu, y, np.full(4, 0.25)), [-0.125, 0.0625, 0.0625])
    a = math.log(5) / 4
    assert a == pytest.approx(0.402359, abs=1e-6)
    mu = boosting.smooth_weights(a * np.outer(h, f), y, lam)
    first = [0.690983, 0.309017, 0.309017]
    expected = [first, first, [0.854102, 0.381966, 0.381966], [0.259464, 0.580179, 0.580179]]
    assert np.allclose(mu, expected, atol=1e-6)
    assert np.allclose(phi(mu, y, np.full(4, 0.25)), [-0.094332, 0.072881, 0.021452], atol=1e-6)
    assert boosting.smooth_potential(mu, y, lam) == pytest.approx(1.241917, abs=1e-6)
    assert boosting.smooth_potential_drop(np.full((4, 3), 0.5), y, lam, 1 / 6, 0.75) <= 1.5 - 1.241917


def test_what_the_theorems_do_not_cover_is_refused():
    with pytest.raises(ValueError, match="has zeros"):
        boosting.mo_margin_bound([0.1], oracles.all_pairs(3))
    with pytest.raises(ValueError, match="theta"):
        boosting.mo_margin_bound_by_zeros([0.5], 1.0, [0], oracles.all_pairs(3), -0.1)
    with pytest.raises(ValueError, match="errors"):
        boosting.mo_margin_bound([0.6], oracles.one_vs_all(3))
    with pytest.raises(ValueError, match="lam"):
        boosting.smooth_potential(np.ones((1, 2)), [0], -0.1)
    with pytest.raises(ValueError, match="lam"):
        boosting.smooth_weights(np.ones((1, 2)), [0], -0.1)
    with pytest.raises(ValueError, match="variant"):
        boosting.oc_error_bound([0.1], [0.1], 3, "ternary")
    for theta in (np.nan, 2.0):
        with pytest.raises(ValueError, match="theta"):
            boosting.mo_margin_bound([0.1], oracles.one_vs_all(3), theta)
    with pytest.raises(ValueError, match="eta"):
        boosting.normalised_scores([[1.0]], [[1], [-1]], -1.0)
    with pytest.raises(ValueError, match="eta"):
        boosting.mo_margin_bound_by_zeros([0.5], -1.0, [0], oracles.all_pairs(3))
    with pytest.raises(ValueError, match="one entry per round"):
        boosting.oc_error_bound([0.1, 0.2], [0.1], 3)
    for bound in (boosting.mh_error_bound, boosting.mr_error_bound, lambda Z, k: boosting.oc_error_bound(Z, Z, k)):
        with pytest.raises(ValueError, match="n_classes=1 must be at least 2"):
            bound([0.5], 1)
