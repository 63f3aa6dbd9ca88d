"""How do I use my own code? A hand-written ternary code for wine, given as a mapping from label to row.

python examples/own_code.py

The first column separates barolo from the others. The second separates the other two and ignores barolo. The third
separates barbera from the others.
"""

import numpy as np
from sklearn.datasets import load_wine
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from outputcodes import OutputCodeClassifier, codes, diagnostics

CODE = {
    "barbera": [-1, +1, +1],
    "barolo": [+1, 0, -1],
    "grignolino": [-1, -1, -1],
}


def main() -> None:
    X, y = load_wine(return_X_y=True)
    y = np.array(["barolo", "grignolino", "barbera"])[y]
    X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.4, stratify=y, random_state=0)

    model = OutputCodeClassifier(make_pipeline(StandardScaler(), LogisticRegression()), code=CODE)
    model.fit(X_train, y_train)
    M = model.code_matrix_

    _, counts = np.unique(y_train, return_counts=True)
    print(codes.describe(M, class_counts=counts))
    print(f"\nrows, from the top: {', '.join(model.classes_)}\n")

    labels = np.searchsorted(model.classes_, y_test)
    errors = diagnostics.column_errors(model.margins(X_test), labels, M)
    for j, error in enumerate(errors):
        sides = [", ".join(model.classes_[M[:, j] == sign]) for sign in (1, -1)]
        print(f"column {j}: {sides[0]} against {sides[1]}: {error:.1%} of its test examples misclassified")
    print(f"\ntest error of the classifier: {1 - model.score(X_test, y_test):.1%}")


if __name__ == "__main__":
    main()
