"""Decode short dense codes of ridge columns with a continuous code, learned column by column and at once.

    OUTPUTCODES_DATA=... python benchmarks/continuous_columns.py [--quick]

As many columns as classes, the official partition of each data set, at most so many random training rows, features
standardised on them, one seed. The table is in docs/learned-codes.md.
"""

from __future__ import annotations

import numpy as np
from common import load, print_table, save
from sklearn.preprocessing import StandardScaler

from outputcodes import OutputCodeClassifier
from outputcodes.codes import Dense
from outputcodes.decoders import Continuous

MOST_ROWS = {"vowel": 528, "pendigits": 3000, "letter": 4000, "satimage": 3000}


def measure(name: str, most: int) -> dict[str, object]:
    X, y, train = load(name)
    rows, rest = np.random.default_rng(0).permutation(np.flatnonzero(train))[:most], np.flatnonzero(~train)
    scaler = StandardScaler().fit(X[rows].astype(np.float64))
    X, k = scaler.transform(X.astype(np.float64)), int(y.max()) + 1
    model = OutputCodeClassifier("ridge", code=Dense(length=k), random_state=0).fit(X[rows], y[rows])
    decoders = {"column by column": Continuous(incremental=True), "at once": Continuous()}
    models = {"the code itself": model}
    models |= {how: model.with_decoder(decoder, X[rows], y[rows]) for how, decoder in decoders.items()}
    errors = {how: 100 * (1 - one.score(X[rest], y[rest])) for how, one in models.items()}
    return {"data": name, "rows": len(rows), "classes and columns": k, **errors}


def main() -> None:
    table = [measure(name, most) for name, most in MOST_ROWS.items()]
    print_table(table)
    save("continuous_columns", table)


if __name__ == "__main__":
    main()
