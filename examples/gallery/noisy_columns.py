"""
Which decoder tolerates noisy columns?
======================================

The margins of a trained code are disturbed more and more. Hamming decoding looks at signs only; decoding by a loss
uses how far a margin is from zero.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from outputcodes import OutputCodeClassifier
from outputcodes.decoders import as_decoder

X, y = load_digits(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X / 16, y, stratify=y, random_state=0)
model = OutputCodeClassifier("linear-svm", code="dense", random_state=0).fit(X_train, y_train)
M, F = model.code_matrix_, model.margins(X_test)
unit = F.std()

rng = np.random.default_rng(0)
noise = rng.standard_normal((10, *F.shape))
levels = np.linspace(0, 2, 9)
figure, ax = plt.subplots(figsize=(7, 4.2), layout="constrained")
for name in ("hamming", "hinge", "exponential", "linear", "euclidean"):
    decoder = as_decoder(name)
    errors = [np.mean([decoder.predict(F + s * unit * e, M) != y_test for e in noise]) for s in levels]
    ax.plot(levels, 100 * np.array(errors), marker="o", label=name)
ax.set(xlabel="noise, in standard deviations of the margins", ylabel="test error, %")
ax.legend(title="decoder")
