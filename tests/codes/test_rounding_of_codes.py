"""The code that is made from data is the same whatever the last digits of the data: see `rounding.py`."""

import numpy as np
import pytest
from sklearn.datasets import load_digits

from outputcodes import OutputCodeClassifier
from outputcodes.codes import Dense, DiscriminantTree, Forest
from outputcodes.codes.assignment import Assigned, assign, centroid_similarity
from outputcodes.codes.column_rule import first_column
from outputcodes.codes.confusion_guided import ConfusionGuided
from outputcodes.codes.designed import Designed
from outputcodes.learners import ColumnTree, Ridge
from rounding import equal_weights, nudged, nudged_values, tied

SEEDS = pytest.mark.parametrize("seed", range(4))


def symmetric_noise(S, seed):
    return np.triu(nudged(S, seed), 1) + np.triu(nudged(S, seed), 1).T


@pytest.mark.parametrize("k", [5, 7, 8, 12, 20])
@pytest.mark.parametrize("similar", ["near", "distant"])
def test_rows_are_dealt_alike(k, similar):
    # Classes on a circle: every assignment has turned and mirrored ones that are as good.
    apart = np.abs(np.subtract.outer(np.arange(k), np.arange(k)))
    S = np.exp(-np.minimum(apart, k - apart) / 3)
    for seed in range(4):
        M = Dense(length=12, n_candidates=10).draw(k, seed).matrix()
        rows = assign(M, S, similar).tolist()
        for other in (symmetric_noise(S, seed), S / 3, np.full((k, k), 0.1) + S):
            assert assign(M, other, similar).tolist() == rows


@pytest.mark.parametrize("n", [120, 300, 600])
def test_rows_are_dealt_alike_to_real_classes(n):
    X, y = load_digits(return_X_y=True)
    X, y = X[:n], y[:n]
    order = np.random.default_rng(0).permutation(n)
    for seed in range(6):
        M = Dense(length=12).draw(10, seed).matrix()
        found = {assign(M, centroid_similarity(X, y, 10, w)).tobytes() for w in equal_weights(n, seed)}
        found.add(assign(M, centroid_similarity(X[order], y[order], 10)).tobytes())
        found.add(assign(M, centroid_similarity(nudged(X, seed), y, 10)).tobytes())
        assert len(found) == 1


def test_first_columns_are_alike():
    for seed in range(200):
        rng = np.random.default_rng(seed)
        k, n = int(rng.integers(3, 9)), int(rng.integers(10, 60))
        y = np.append(np.arange(k), rng.integers(0, k, size=n))
        h = rng.choice([-1, 1], size=len(y))
        order = rng.permutation(len(y))
        found = {first_column(h, y, k, w)[0].tobytes() for w in equal_weights(len(y), seed)}
        found.add(first_column(h[order], y[order], k, np.full(len(y), 0.1))[0].tobytes())
        assert len(found) == 1


@SEEDS
@pytest.mark.parametrize("learner", [Ridge(), ColumnTree(max_depth=2)], ids=["ridge", "tree"])
@pytest.mark.parametrize(
    "code",
    [
        Assigned(Dense(length=10)),
        Assigned(Dense(length=10), "confusions"),
        Designed(max_length=5, n_candidates=4),
        ConfusionGuided(max_columns=3),
        DiscriminantTree(features="margins"),
        DiscriminantTree(features="margins", exhaustive_up_to=2),
    ],
    ids=["centroids", "confusions", "designed", "confusion-guided", "tree", "floating-tree"],
)
def test_codes_made_with_a_learner_are_alike(code, learner, seed):
    X, y = tied(seed, n_classes=9, n=72)
    found = set()
    for nudge in range(4):
        weight = None if nudge == 0 else nudged(np.ones(len(y)), nudge)
        # A held-out value may be the threshold itself, halfway between two others: trees see X as it is.
        other = X if nudge == 0 or isinstance(learner, ColumnTree) else nudged(X, nudge)
        model = OutputCodeClassifier(learner, code=code, random_state=seed).fit(other, y, sample_weight=weight)
        found.add(model.code_matrix_.tobytes())
    assert len(found) == 1


@SEEDS
@pytest.mark.parametrize("exhaustive_up_to", [2, 8])
def test_trees_of_classes_are_alike(exhaustive_up_to, seed):
    X, y = tied(seed, n_classes=6, n=96)
    order = np.random.default_rng(seed).permutation(len(y))
    code = Forest(n_trees=3, exhaustive_up_to=exhaustive_up_to)
    found = set()
    for weight in equal_weights(len(y), seed):
        for other, labels in ((X, y), (nudged_values(X, seed), y), (X[order], y[order])):
            model = OutputCodeClassifier("ridge", code=code).fit(other, labels, sample_weight=weight)
            found.add(model.code_matrix_.tobytes())
    assert len(found) == 1
