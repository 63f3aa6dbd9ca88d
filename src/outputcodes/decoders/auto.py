"""Auto: the decoder with the fewest errors on held-out margins."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone

from outputcodes._ground.choosing import first_smallest
from outputcodes._ground.planning import Planning
from outputcodes.decoders.around import AroundAnother, whole_rows
from outputcodes.decoders.base import Decoder, Scorer, check_fitted_on
from outputcodes.decoders.loss import LossBased
from outputcodes.decoders.pairwise import Vote


class Auto(AroundAnother):
    """The decoder, of several, with the fewest errors on held-out margins; the first one of equals.

    Parameters
    ----------
    decoders : sequence of Decoder, optional
        Decoders that don't learn; those that can't serve the code are left out. None is loss-based decoding with the
        loss of the learner, the vote (with all pairs), and loss-based decoding with the Hamming, the exponential and
        the linear loss.
    cv : int, splitter or None, default=3
        The folds of the held-out margins, as for `Likelihood`.

    Attributes
    ----------
    decoder_ : Decoder
        The decoder that was chosen.
    errors_ : ndarray
        The share of wrong rows of each decoder in `decoders_`.
    decoders_ : list of Decoder

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from outputcodes import OutputCodeClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = OutputCodeClassifier("kernel-svm", decoder="auto", random_state=0).fit(X, y)
    >>> model.decoder_.decoder_
    LossBased(loss='hinge')
    """

    planning = Planning(tried=False)

    def __init__(self, decoders: Sequence[Decoder] | None = None, cv: Any = 3) -> None:
        self.decoders = decoders
        self.cv = cv

    @property
    def inner(self) -> Decoder:
        """The decoder that was chosen, or the first one before that."""
        chosen: Decoder = getattr(self, "decoder_", None) or self._given()[0]
        return chosen

    @property
    def reads_sizes(self) -> bool:  # type: ignore[override]
        """Return False: whatever the margins are, the best of several decoders is chosen."""
        return False

    def for_loss(self, loss: Any) -> Decoder:
        """Return the decoder with the loss of the learner filled in where it was left open."""
        return Auto([one.for_loss(loss) for one in self._given()], self.cv)

    def objection(self, M: NDArray[Any]) -> str | None:
        """Return an objection if every decoder has one."""
        if hasattr(self, "decoder_"):
            return self.inner.objection(M)
        objections = [one.objection(M) for one in self._given()]
        return None if None in objections else objections[0]

    def fit(self, F: ArrayLike, y: ArrayLike, M: ArrayLike, weight: ArrayLike | None = None) -> Auto:
        """Choose by the errors on margins F; rows with missing margins (NaN) are left out."""
        code = np.asarray(M)
        margins, labels, mass = whole_rows(F, y, len(code), weight)
        self.decoders_ = [clone(one) for one in self._given() if one.objection(code) is None]
        if not len(labels):
            self.errors_, self.decoder_ = np.full(len(self.decoders_), np.nan), self.decoders_[0]
        else:
            wrong = [one.predict(margins, code) != labels for one in self.decoders_]
            self.errors_ = np.array([np.average(each, weights=mass) for each in wrong])
            self.decoder_ = self.decoders_[int(first_smallest(self.errors_))]
        self.n_columns_ = np.empty(code.shape[1])
        return self

    def _scorer(self, M: NDArray[Any]) -> Scorer:
        check_fitted_on(self, "n_columns_", M)
        return super()._scorer(M)

    def _given(self) -> list[Decoder]:
        if self.decoders is None:
            return [LossBased(), Vote(), LossBased("hamming"), LossBased("exponential"), LossBased("linear")]
        given = list(self.decoders)
        if not given or any(not isinstance(one, Decoder) or one.needs is not None for one in given):
            raise ValueError(f"decoders={self.decoders!r} must hold at least one Decoder, and none that learns.")
        return given
