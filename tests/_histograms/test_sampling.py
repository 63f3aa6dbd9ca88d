"""Trees that ask about some features: which, how often, and the same for any number of threads."""

import numpy as np
import pytest

from outputcodes.codes import as_code
from outputcodes.learners import ColumnTree

N, D = 200, 6
BINARY = np.array([[-1], [1]], dtype=np.int8)


@pytest.fixture(scope="module")
def sample():
    """The first feature tells most about the sign, and the last the least."""
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=N)
    X = np.column_stack([(2 * y - 1) * (1.5 - 0.2 * f) + rng.normal(size=N) for f in range(D)])
    return X, y


def first_feature(sample, share, seed):
    X, y = sample
    return int(ColumnTree(max_depth=1, max_features=share, random_state=seed).fit(X, y).columns_.nodes.feature[0])


def test_the_question_is_the_best_about_the_features_that_were_drawn(sample):
    X, y = sample
    ranks = []  # the features from the best to the worst
    for f in range(D):
        nodes = ColumnTree(max_depth=1).fit(X[:, [f]], y).columns_
        p, m = nodes.weights[1:].T
        ranks.append((-p * np.log(p / (p + m)) - m * np.log(m / (p + m))).sum())
    best_first = np.argsort(ranks)
    draws = 400
    for n_asked in (1, 2, 4):
        found = np.array([first_feature(sample, n_asked / D, seed) for seed in range(draws)])
        # Of n from D features, the best one drawn has rank r with the probability C(D - 1 - r, n - 1) / C(D, n).
        chances = np.zeros(D)
        for r in range(D):
            ways = [np.prod([(a - q) / (q + 1) for q in range(n)]) for a, n in ((D - 1 - r, n_asked - 1), (D, n_asked))]
            chances[best_first[r]] = ways[0] / ways[1]
        assert chances.sum() == pytest.approx(1)
        counts = np.bincount(found, minlength=D)
        spread = np.sqrt(draws * chances * (1 - chances))
        assert (np.abs(counts - draws * chances) <= 4 * spread + 1e-9).all()


def test_other_nodes_draw_other_features(sample):
    X, y = sample
    nodes = ColumnTree(max_features=1 / D).fit(X, y).columns_.nodes
    assert set(nodes.feature[nodes.kind >= 0].tolist()) == set(range(D))


def test_features_without_two_values_are_passed_over(sample):
    X, y = sample
    lonely = np.zeros((N, 40))
    lonely[:, 17] = X[:, 0]
    for seed in range(10):
        model = ColumnTree(max_features=1 / 40, random_state=seed).fit(lonely, y)
        assert model.score(lonely, y) == 1.0


def test_all_features_are_those_of_a_tree_without_draws(sample):
    X, y = sample
    one, other = (ColumnTree(max_features=1.0, random_state=seed).fit(X, y).columns_ for seed in (0, 1))
    assert all(np.array_equal(a, b) for a, b in zip(one.nodes, other.nodes, strict=True))


@pytest.mark.parametrize("bins", ["exact", 255, 4])
def test_a_column_has_draws_of_its_own(sample, bins):
    X, _ = sample
    X = np.where(np.random.default_rng(1).random(X.shape) < 0.1, np.nan, X)
    y = np.arange(N) % 5
    learner, M = ColumnTree(max_features=0.5, bins=bins), as_code("dense").draw(5, random_state=0).matrix()
    M = np.concatenate([M, M[:, :1]], axis=1)
    data = learner.prepare(X)
    one, two, few = (
        learner.fit_columns(data, y, code, n_jobs=n, seed=7) for code, n in ((M, 1), (M, 2), (M[:, :3], 1))
    )
    assert np.array_equal(one.margins(X), two.margins(X))
    assert np.array_equal(one.margins(X)[:, :3], few.margins(X))
    # Two equal columns have the same rows and signs, and other draws.
    assert not np.array_equal(one.margins(X)[:, 0], one.margins(X)[:, -1])
    other = learner.fit_columns(data, y, M, seed=8)
    assert not np.array_equal(one.margins(X), other.margins(X))
