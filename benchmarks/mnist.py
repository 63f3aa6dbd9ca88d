"""Train KernelSVM on all of MNIST, 60,000 × 784, with one-vs-all and a cache that holds a part of the Gram matrix.

    OUTPUTCODES_DATA=... python benchmarks/mnist.py [--quick]

rbf with γ = 0.02, C = 10, two jobs, the default cache. All columns must converge.
"""

from __future__ import annotations

import resource

from common import interleaved, load, print_table, save

from outputcodes import OutputCodeClassifier
from outputcodes.learners import KernelSVM


def main() -> None:
    X, y, train = load("mnist")
    X = X / 255
    learner = KernelSVM(C=10, gamma=0.02)
    model = OutputCodeClassifier(learner, code="one-vs-all", n_jobs=2)
    model.fit(X[train][:200], y[train][:200])  # compile before timing
    fit, _ = interleaved({"fit": lambda: model.fit(X[train], y[train])}, repeats=1)
    assert model.columns_.fitted.certificate.converged.all()
    predict, answers = interleaved({"predict": lambda: model.predict(X[~train])}, repeats=1)
    n = int(train.sum())
    row = {
        "n": n,
        "d": X.shape[1],
        "L": model.code_matrix_.shape[1],
        "cache MB": learner.cache_size,
        "cache / Gram matrix": learner.cache_size * 2**20 / (4 * n * n),
        "fit s": fit["fit"],
        "predicted rows": int((~train).sum()),
        "predict s": predict["predict"],
        "test error %": 100 * float((answers["predict"] != y[~train]).mean()),
        "peak RSS GB": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20,
    }
    print_table([row])
    save("mnist", [row])


if __name__ == "__main__":
    main()
