"""The base of the classifiers that decode margins."""

from __future__ import annotations

import copy
from collections.abc import Callable
from numbers import Integral
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassifierMixin, clone
from sklearn.utils.validation import check_is_fitted

from outputcodes._ground.blocks import row_blocks
from outputcodes._ground.delayed import at_hand, is_dask
from outputcodes._ground.drawn_code import AnyCode, DrawnCode
from outputcodes._ground.lazy_outputs import lazily
from outputcodes._ground.margins_on_demand import MarginsByBlock, MarginsOnDemand
from outputcodes._ground.targets import LabelSets, Targets, indicates_labels, label_sets
from outputcodes._ground.tree_code import TreeCode
from outputcodes._ground.validation import check_length, check_targets, check_weight, n_rows_of, on_host
from outputcodes.decoders.base import Decoder
from outputcodes.decoders.names import as_decoder

Array = NDArray[np.float64]

# Larger arrays of scores or probabilities than 2 GiB are not built.
MOST_SCORES = 1 << 28


def _has_probabilities(classifier: DecodingClassifier) -> bool:
    if hasattr(classifier, "decoder_"):
        return classifier.decoder_.has_probabilities
    return classifier.probability is not None or as_decoder(classifier.decoder).has_probabilities


class TopK(NamedTuple):
    """The best classes of each row, the best first: what `predict_topk` returns.

    Attributes
    ----------
    labels : ndarray of shape (n, m)
    scores : ndarray of shape (n, m)
        Larger is better.
    probabilities : ndarray of shape (n, m) or None
        If they were asked for.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from outputcodes import OutputCodeClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> best = OutputCodeClassifier("ridge").fit(X, y).predict_topk(X[:2], n=2)
    >>> best.labels.tolist()
    [[0, 1], [0, 1]]
    >>> best.scores.shape, best.probabilities is None
    ((2, 2), True)
    """

    labels: NDArray[Any]
    scores: Array
    probabilities: Array | None


def check_topk(n: Any, n_classes: int) -> None:
    """Raise ValueError unless n is a number of classes."""
    if isinstance(n, bool) or not isinstance(n, Integral) or not 1 <= int(n) <= n_classes:
        raise ValueError(f"n={n!r} must be an integer from 1 to the number of classes, {n_classes}.")


class DecodingClassifier(ClassifierMixin):
    """A classifier that decodes margins.

    It has a parameter `decoder`, possibly a parameter `probability`, and writes `margins(X)`. Its `fit` sets `targets_`
    (the kind of y), `code_`, `margin_loss_` (the loss that its columns minimise) and `decoder_`, and `class_weight_` if
    classes have weights.
    """

    decoder: str | Decoder | None
    probability: str | None = None
    targets_: Targets
    code_: DrawnCode
    margin_loss_: Any
    decoder_: Decoder
    class_weight_: Array | None = None
    # What gives a classifier probabilities, as a message says it.
    _probability_advice: ClassVar[str] = "use with_decoder('likelihood', X, y) with rows that were not trained on"

    @property
    def classes_(self) -> NDArray[Any]:
        """The labels that can be predicted, in sorted order; for a multilabel y its columns, 0..L-1."""
        classes: NDArray[Any] = self._fitted("targets_").classes
        return classes

    @property
    def multilabel_(self) -> bool:
        """Whether y is multilabel."""
        multilabel: bool = self._fitted("targets_").multilabel
        return multilabel

    @property
    def code_matrix_(self) -> NDArray[np.int8]:
        """The code as a matrix (k, L); for a multilabel y the different label sets of the sample."""
        matrix: NDArray[np.int8] = self._fitted("code_").matrix()
        return matrix

    def default_decoder(self) -> str:
        """Return the name of the decoder that is used if `decoder` is None."""
        return "loss"

    def margins(self, X: Any) -> Array:
        """Return the margins (n, L) of each row under each column."""
        raise NotImplementedError

    def margins_on_demand(self, X: Any) -> MarginsOnDemand:
        """Return the margins of each row for a decoder that reads only a part of them."""
        F = self.margins(X)
        return MarginsByBlock(len(F), lambda rows: F[rows])

    def decision_function(self, X: Any) -> Array:
        """Return class scores (n, k); larger is better. For two classes (n,): score of the second − of the first.

        For a multilabel classifier these are the scores of the labels, (n, L). With a beam search, classes outside the
        beam have lower scores than all inside. More than 2^28 scores are refused: use `predict_topk`.

        As the other outputs, they are lazy if X is a Dask collection; those of delayed tables are computed at once.
        """
        if is_dask(X):
            one = len(self.classes_) == 2 and not self.multilabel_
            return self._lazily("decision_function", X, None if one else self.classes_)
        self._refuse_many("decision_function", X)
        if self.decoder_.searches:
            return self.targets_.decision(self.decoder_.all_scores(self.margins_on_demand(X), self.code_))
        F = self.margins(X)
        return self.targets_.decision(self.decoder_.scores(F, self.decoder_.as_read(self.code_)))

    def predict(self, X: Any) -> Any:
        """Return the class with the largest score; ties go to the first. For multilabel y: indicators of the labels."""
        check_is_fitted(self)
        if is_dask(X):
            return self._lazily("predict", X, self.classes_ if self.multilabel_ else None, self.classes_.dtype)
        if self.decoder_.searches:
            found = self.decoder_.search(self.margins_on_demand(X), self.code_)
            return self.targets_.predictions(found.classes[:, 0])
        F = self.margins(X)
        return self.targets_.predictions(self.decoder_.predict(F, self.decoder_.as_read(self.code_)))

    def predict_topk(self, X: Any, n: int = 5, probabilities: bool = False) -> TopK:
        """Return the n best classes of each row, never with an array of all scores.

        Parameters
        ----------
        X : features
        n : int, default=5
            At most the number of classes.
        probabilities : bool, default=False
            Whether to return the probabilities of these classes; only if the decoder has them.

        Returns
        -------
        TopK
            `labels`, `scores` and `probabilities`, (n_rows, n) each; the first label is the prediction.
        """
        check_is_fitted(self)
        k = len(self.classes_)
        if self.multilabel_:
            raise ValueError("predict_topk ranks classes, and this classifier is multilabel: use decision_function.")
        check_topk(n, k)
        if probabilities and not self.decoder_.has_probabilities:
            raise ValueError(f"predict_topk has no probabilities to return; {self._advice()}.")
        if self.decoder_.searches:
            found = self.decoder_.search(self.margins_on_demand(X), self.code_, int(n))
            shares = np.exp(found.scores) if probabilities else None
            return TopK(self.targets_.predictions(found.classes), found.scores, shares)
        F, M, shares = self.margins(X), self.decoder_.as_read(self.code_), None
        found = self.decoder_.best(F, M, int(n))
        if probabilities:
            shares = np.empty(found.scores.shape)
            for rows in row_blocks(len(F), k + 2 * F.shape[1]):
                every = self.decoder_.probabilities(F[rows], M)
                shares[rows] = np.take_along_axis(every, found.classes[rows], axis=1)
        return TopK(self.targets_.predictions(found.classes), found.scores, shares)

    def _lazily(self, method: str, X: Any, columns: NDArray[Any] | None, dtype: Any = np.float64) -> Array:
        check_is_fitted(self)
        output: Array = lazily(self, method, X, columns, dtype)
        return output

    def _refuse_many(self, method: str, X: Any) -> None:
        check_is_fitted(self)
        n, k = n_rows_of(X), len(self.classes_)
        if n * k > MOST_SCORES:
            raise ValueError(
                f"{method} would return {n} × {k} numbers, more than {MOST_SCORES}: use predict_topk, which returns "
                "the best classes of each row, or fewer rows at a time."
            )

    @property
    def predict_proba(self) -> Callable[[Any], Array]:
        """Return class probabilities (n, k), largest for the prediction; only if the decoder has them."""
        if not _has_probabilities(self):
            named = self.default_decoder() if self.decoder is None else self.decoder
            # What "loss" stands for, where the code is known.
            named = "beam" if named == "loss" and self._decodes_a_tree() else named
            raise AttributeError(
                f"This {type(self).__name__} has no predict_proba, as its decoder {named!r} has no "
                f"probabilities; {self._advice()}."
            )
        return self._probabilities

    def _decodes_a_tree(self) -> bool:
        return isinstance(getattr(self, "code_", None), TreeCode)

    def _advice(self) -> str:
        """What gives this classifier probabilities, as a message says it."""
        # With a tree code, the other kinds need a table of all margins and take long.
        by_paths = self._decodes_a_tree() and "probability" in vars(self)
        return "set probability='softmax' before fit" if by_paths else self._probability_advice

    def _probabilities(self, X: Any) -> Array:
        if is_dask(X):
            return self._lazily("predict_proba", X, self.classes_)
        self._refuse_many("predict_proba", X)
        if self.decoder_.searches:
            return self.decoder_.all_probabilities(self.margins_on_demand(X), self.code_)
        F = self.margins(X)
        return self.decoder_.probabilities(F, self.decoder_.as_read(self.code_))

    # Scorers of scikit-learn read the name of the method that they call.
    _probabilities.__name__ = "predict_proba"

    def score(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> float:
        """Return the accuracy; a row of a multilabel y is correct if all its labels are."""
        check_is_fitted(self)
        return float(super().score(X, self.targets_.comparable(at_hand(y)), sample_weight))

    def with_decoder(
        self,
        decoder: str | Decoder,
        X: Any = None,
        y: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Return the same trained columns with another decoder; only the decoder is trained.

        A decoder that learns (`decoder.needs`) learns from the margins of X and y: give the training sample or, if it
        needs "held-out" margins, rows that the columns were not trained on. The `probability` of a classifier, which
        determines its decoder, is None in the result. Class weights are applied as in `fit`.
        """
        check_is_fitted(self)
        if self.multilabel_:
            raise ValueError(
                "A multilabel classifier predicts each label from its own margin; its decoder can't be changed."
            )
        resolved = decoder_for(decoder, self.margin_loss_, self.code_)
        if resolved.needs is not None:
            if X is None or y is None:
                margins = "training margins" if resolved.needs == "train" else f"{resolved.needs} margins"
                raise ValueError(
                    f"decoder={decoder!r} learns from {margins}: give X and y, with_decoder(decoder, X, y)."
                )
            labels = check_targets(self, X, y)
            if (unknown := np.setdiff1d(labels, self.classes_)).size:
                raise ValueError(f"y has the labels {unknown[:5].tolist()}, which were not in the y of fit.")
            weight, places = check_weight(sample_weight, len(labels)), np.searchsorted(self.classes_, labels)
            if self.class_weight_ is not None:
                weight = self.class_weight_[places] * (1.0 if weight is None else weight)
            if resolved.searches:
                resolved.fit_on_demand(self.margins_on_demand(X), places, self.code_, weight)
            else:
                resolved.fit(self.margins(X), places, resolved.as_read(self.code_), weight)
        other = copy.copy(self)
        other.decoder, other.decoder_ = decoder, resolved
        if self.probability is not None:
            other.probability = None
        return other

    def _objection_to_label_sets(self) -> str | None:
        """Return why y can't be multilabel, or None."""
        raise NotImplementedError

    def _check_targets(self, X: Any, y: Any) -> tuple[NDArray[Any], LabelSets | None]:
        """Return the label of each row and None; for a multilabel y, the numbers of the label sets and these sets."""
        y = on_host(at_hand(y))
        if not indicates_labels(y):
            return check_targets(self, X, y), None
        if (objection := self._objection_to_label_sets()) is not None:
            raise ValueError(objection)
        sets = label_sets(y)
        check_length(X, sets.numbers)
        return sets.numbers, sets

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = self._objection_to_label_sets() is None
        return tags

    def _fitted(self, name: str) -> Any:
        if name not in vars(self):
            raise AttributeError(f"This {type(self).__name__} instance is not fitted yet. Call 'fit' first.")
        return vars(self)[name]


def resolved_for(decoder: str | Decoder | None, loss: Any, code: AnyCode) -> Decoder:
    """Return a fresh decoder for columns that minimise `loss` under a code."""
    resolved: Decoder = clone(as_decoder(decoder).for_code(code)).for_loss(loss)
    return resolved


def decoder_for(decoder: str | Decoder | None, loss: Any, code: AnyCode) -> Decoder:
    """Return a fresh decoder for columns that minimise `loss` under a code; raise ValueError if it can't serve it."""
    resolved = resolved_for(decoder, loss, code)
    if (objection := resolved.objection_to(code)) is not None:
        raise ValueError(objection)
    return resolved
