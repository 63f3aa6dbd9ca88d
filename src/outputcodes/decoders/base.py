"""The base class of decoders: from margins and the rows of a code to class scores; larger is better."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, ClassVar, Literal, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import assert_all_finite
from sklearn.utils.validation import check_is_fitted

from outputcodes._ground.blocks import row_blocks
from outputcodes._ground.drawn_code import AnyCode, DrawnCode, MatrixCode
from outputcodes._ground.margins_on_demand import MarginsOnDemand
from outputcodes._ground.planning import Planning

# Sums of third powers over any code stay finite.
LARGEST_MARGIN = 1e100
# Contributions that need more steps than this are not computed.
MOST_STEPS = 100_000_000
# A code that is not written down, such as a tree, is written down for a decoder if it has no more entries than this.
# Decoders make several arrays of its size in float64, of 256 MiB each at most.
MOST_WRITTEN = 1 << 25

Array = NDArray[np.float64]
Scorer = Callable[[Array], Array]


class Found(NamedTuple):
    """The best classes of each row, the best first, and their scores; (n, m) each."""

    classes: NDArray[np.intp]
    scores: Array


class Decoder(BaseEstimator):
    """Base of the decoders, which compare margins F (n, L) with a code M (k, L) and return class scores D (n, k).

    A subclass writes `_scorer(M)`, which computes once what depends only on the code and returns a function that is
    called on blocks of rows. A decoder that learns sets `needs` and writes `fit`.

    Examples
    --------
    >>> class Agreement(Decoder):
    ...     def _scorer(self, M):
    ...         return lambda F: F @ M.T
    >>> M = [[1, -1], [-1, 1], [-1, -1]]
    >>> Agreement().scores([[0.5, -2.0]], M)
    array([[ 2.5, -2.5,  1.5]])
    >>> Agreement().predict([[0.5, -2.0]], M)
    array([0])
    """

    # Margins to learn from: None, "train" (those of the training rows) or "held-out" (cross-fitted with the
    # decoder's own `cv`; NaN where a fold could not train the column).
    needs: ClassVar[Literal["train", "held-out"] | None] = None

    # How margins are held out for a decoder that needs them: a number of folds, a splitter, or None for 5.
    cv: Any = None

    # Whether it reads a drawn code by its `rows` and `blocks`; otherwise it receives the matrix.
    reads_drawn: ClassVar[bool] = False

    # Whether it asks for the margins that it needs, in a `search`, instead of receiving them all.
    searches: ClassVar[bool] = False

    # Whether exact ties of scores are broken by the linear score M·f before the index. Losses that saturate tie in
    # floating point where the margins still differ; ties of votes and of Hamming distances are real.
    breaks_ties: bool = True

    # Whether scores are −log of a distance, so that a relative difference of distances is an absolute one of scores.
    scores_are_logarithms: bool = False

    # Whether it weighs margins by their size: in margins of ±1 it sees no more than Hamming decoding does.
    reads_sizes: bool = False

    # How a comparison treats it if it is not named.
    planning: Planning = Planning()

    def _scorer(self, M: NDArray[Any]) -> Scorer:
        raise NotImplementedError

    @property
    def has_probabilities(self) -> bool:
        """Whether it writes `probabilities`."""
        return type(self).probabilities is not Decoder.probabilities

    def probabilities(self, F: ArrayLike, M: ArrayLike) -> Array:
        """Return class probabilities (n, k), largest for the prediction; only where the decoder has them."""
        raise NotImplementedError(f"{type(self).__name__} has no probabilities.")

    def as_read(self, code: AnyCode) -> Any:
        """Return a code as this decoder reads it: a matrix, unless it `reads_drawn` codes."""
        return code if self.reads_drawn else np.asarray(code)

    def objection_to(self, code: AnyCode) -> str | None:
        """Return why this decoder can't serve a code, drawn or a matrix, or None; a large one is not written down."""
        return self.too_large(code) or self.objection(self.as_read(code))

    def too_large(self, code: AnyCode) -> str | None:
        """Return why a code is too large for this decoder, without writing it down, or None."""
        if self.reads_drawn or isinstance(code, MatrixCode) or not isinstance(code, DrawnCode):
            return None
        k, L = code.shape
        if k * L <= MOST_WRITTEN:
            return None
        return (
            f"decoder={self!r} compares margins with all {k} × {L} entries of this code, and is refused above "
            f"{MOST_WRITTEN}: use decoder='beam', which reads the nodes of a tree."
        )

    def objection(self, M: NDArray[Any]) -> str | None:
        """Return why this decoder can't serve the code M, or None."""
        return None

    def loo_objection(self, M: NDArray[Any]) -> str | None:
        """Return why margins in favour of a class may decrease its score relative to others, or None if they never do.

        Only without this objection does decoding the worst margins bound the leave-one-out error; see `worst_margins`.
        """
        return "its scores are not known to increase with the margins of the own class"

    def worst_margins(self, F: Array, lowest: Array) -> Array:
        """Return the worst margins for the own class between F and `lowest`, which agrees less with its codeword."""
        return lowest

    def for_labels(self) -> Decoder | None:
        """Return the decoder for multilabel problems, where each label is predicted on its own; None if there is none.

        There is none if its probabilities are those of classes that exclude each other.
        """
        return EachLabel()

    def for_code(self, code: AnyCode) -> Decoder:
        """Return this decoder for a code; itself unless it is a default that another one replaces for such codes."""
        return self

    def for_loss(self, loss: Any) -> Decoder:
        """Return this decoder for a learner that minimises `loss`; itself unless its loss was left open."""
        return self

    def fit(self, F: ArrayLike, y: ArrayLike, M: ArrayLike, weight: ArrayLike | None = None) -> Self:
        """Learn from margins F, labels y in 0..k-1 and the code M; nothing to do unless `needs` is set."""
        return self

    def fit_on_demand(
        self, margins: MarginsOnDemand, y: ArrayLike, code: AnyCode, weight: ArrayLike | None = None
    ) -> Self:
        """Learn from margins on demand; for a decoder that `searches`."""
        return self

    def scores(self, F: ArrayLike, M: ArrayLike) -> Array:
        """Return class scores D (n, k); the prediction is the first largest score of each row."""
        F, M, scorer = self._open(F, M)
        D = np.empty((F.shape[0], M.shape[0]))
        for rows in blocks_of(F, M):
            block = scorer(F[rows])
            if self.breaks_ties:
                best, tied = winners(block, F[rows], M)
                # Increased by one unit in the last place, so that the argmax of the scores is the prediction.
                block[tied, best[tied]] = np.nextafter(block[tied, best[tied]], np.inf)
            D[rows] = block
        return D

    def predict(self, F: ArrayLike, M: ArrayLike) -> NDArray[np.intp]:
        """Return the class of each row, 0..k-1, without holding all scores in memory."""
        F, M, scorer = self._open(F, M)
        best = np.empty(F.shape[0], dtype=np.intp)
        for rows in blocks_of(F, M):
            block = scorer(F[rows])
            best[rows] = winners(block, F[rows], M)[0] if self.breaks_ties else block.argmax(axis=1)
        return best

    def search(self, margins: MarginsOnDemand, code: AnyCode, n: int = 1) -> Found:
        """Return the n best classes of each row of margins on demand; for a decoder that `searches`."""
        raise NotImplementedError(f"{type(self).__name__} receives all margins.")

    def all_scores(self, margins: MarginsOnDemand, code: AnyCode) -> Array:
        """Return class scores (n, k) of margins on demand; for a decoder that `searches`."""
        raise NotImplementedError(f"{type(self).__name__} receives all margins.")

    def all_probabilities(self, margins: MarginsOnDemand, code: AnyCode) -> Array:
        """Return class probabilities (n, k) of margins on demand; for a decoder that `searches` and has them."""
        raise NotImplementedError(f"{type(self).__name__} has no probabilities.")

    def best(self, F: ArrayLike, M: ArrayLike, n: int) -> Found:
        """Return the n best classes of each row, without holding all scores in memory; the first is the prediction."""
        F, M, _ = self._open(F, M)
        classes, scores = np.empty((len(F), n), dtype=np.intp), np.empty((len(F), n))
        for rows in blocks_of(F, M):
            D = self.scores(F[rows], M)
            classes[rows] = np.argsort(-D, axis=1, kind="stable")[:, :n]
            scores[rows] = np.take_along_axis(D, classes[rows], axis=1)
        return Found(classes, scores)

    def ties(self, F: ArrayLike, M: ArrayLike, tolerance: float = 1e-12) -> NDArray[np.bool_]:
        """Return the tied classes of each row before any tie is broken, as a mask (n, k).

        Hamming distances are multiples of ½, so their ties are exact; other distances are tied within a relative
        `tolerance`.
        """
        F, M, scorer = self._open(F, M)
        mask = np.empty((F.shape[0], M.shape[0]), dtype=bool)
        for rows in blocks_of(F, M):
            D = scorer(F[rows])
            best = D.max(axis=1, keepdims=True)
            mask[rows] = D >= best - tolerance * (1.0 if self.scores_are_logarithms else np.abs(best))
        return mask

    def contributions(self, F: ArrayLike, M: ArrayLike) -> Array | None:
        """Return the contribution of each column to each score, (n, k, L), or None if the code is too large.

        By default it is the score minus the score with the margin of that column set to 0. A decoder whose score is a
        sum over the columns returns the terms of the sum.
        """
        F, M, _ = self._open(F, M)
        L = M.shape[1]
        if M.size * L > MOST_STEPS:
            return None
        parts = np.empty((len(F), *M.shape))
        for f, part in zip(F, parts, strict=True):
            without = np.tile(f, (L, 1))
            np.fill_diagonal(without, 0.0)
            part[:] = (self.scores(f[None], M) - self.scores(without, M)).T
        return parts

    def _open(self, F: ArrayLike, M: ArrayLike) -> tuple[Array, NDArray[Any], Scorer]:
        F, M = np.asarray(F, dtype=np.float64), np.asarray(M)
        if F.ndim != 2 or M.ndim != 2 or F.shape[1] != M.shape[1]:
            raise ValueError(
                f"F of shape {F.shape} and M of shape {M.shape} don't match: they must be (n, L) and (k, L)."
            )
        if F.size and not max(F.max(), -F.min()) <= LARGEST_MARGIN:
            assert_all_finite(F, input_name="F")
            raise ValueError(f"F has margins beyond {LARGEST_MARGIN:g}, whose cubes overflow; scale them down.")
        if (reason := self.objection(M)) is not None:
            raise ValueError(reason)
        scorer = self._scorer(M)

        def checked(block: Array) -> Array:
            D = scorer(block)
            if D.shape != (len(block), len(M)):
                raise ValueError(
                    f"{type(self).__name__} returned scores of shape {D.shape} for {len(block)} rows and {len(M)} "
                    "classes."
                )
            return D

        return F, M, checked


class EachLabel(Decoder):
    """A decoder that scores each label by its margin and predicts the labels with a positive score.

    This is loss-based decoding among all 2^L label sets, for any loss: no other set is closer to the margins.

    >>> EachLabel().predict([[0.5, -2.0, 0.0]], np.ones((1, 3)))
    array([[1, 0, 0]])
    """

    def scores(self, F: ArrayLike, M: ArrayLike) -> Array:
        """Return the scores (n, L) of the labels."""
        return np.asarray(F, dtype=np.float64)

    def predict(self, F: ArrayLike, M: ArrayLike) -> NDArray[np.intp]:
        """Return indicators (n, L)."""
        return (self.scores(F, M) > 0).astype(np.intp)


def blocks_of(F: Array, M: NDArray[Any]) -> Iterator[slice]:
    """Return blocks of rows whose scores, and a few values per margin, stay in cache."""
    return row_blocks(F.shape[0], max(M.shape[0] + 2 * M.shape[1], 8 * M.shape[1]))


def check_fitted_on(decoder: Decoder, learned: str, M: NDArray[Any]) -> None:
    """Raise an error unless the decoder was fitted on a code with as many columns as M."""
    check_is_fitted(decoder, learned)
    if (columns := getattr(decoder, learned).shape[-1]) != M.shape[1]:
        raise ValueError(f"{type(decoder).__name__} was fitted on {columns} columns but this code has {M.shape[1]}.")


def signs_of(M: NDArray[Any]) -> tuple[Array, Array, Array]:
    """Return the code as three 0/1 matrices: where it is +1, where −1, where 0."""
    return (M > 0).astype(np.float64), (M < 0).astype(np.float64), (M == 0).astype(np.float64)


def matches(F: Array, M: NDArray[Any]) -> tuple[Array, Array]:
    """Return how many non-zero entries of each row agree with the signs of F, and how many contradict them."""
    plus, minus, _ = signs_of(M)
    up, down = (F > 0).astype(np.float64), (F < 0).astype(np.float64)
    return up @ plus.T + down @ minus.T, up @ minus.T + down @ plus.T


def winners(D: Array, F: Array, M: NDArray[Any]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the best class of each row, with ties broken by M·f and then by index, and the rows with ties."""
    best = D.argmax(axis=1)
    equal = D[np.arange(len(D)), best][:, None] == D
    # The whole block is counted first: ties are rare, and a count per row costs more than all the rest.
    if np.count_nonzero(equal) == len(D):
        return best, np.empty(0, dtype=np.intp)
    tied = np.flatnonzero(equal.sum(axis=1) > 1)
    best[tied] = np.where(equal[tied], F[tied] @ M.T.astype(np.float64), -np.inf).argmax(axis=1)
    return best, tied
