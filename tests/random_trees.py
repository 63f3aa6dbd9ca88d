"""Random trees of classes, for tests."""

import numpy as np

from outputcodes._ground.tree_code import grown


def random_tree(rng, k, n_trees=1):
    def split(classes, _):
        if len(classes) <= rng.integers(1, 4):
            return None
        cuts = np.sort(rng.choice(np.arange(1, len(classes)), min(len(classes) - 1, rng.integers(1, 4)), False))
        return [(part, None) for part in np.split(rng.permutation(classes), cuts)]

    return grown(k, [(np.arange(k), None)] * n_trees, split)
