"""OutputCodeClassifier: labels pick rows of a code, a learner fits its columns, a decoder returns class scores."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import partial
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn import get_config
from sklearn.base import BaseEstimator, MetaEstimatorMixin
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing
from sklearn.utils.validation import check_is_fitted

from outputcodes._ground import progress
from outputcodes._ground.class_weights import class_weights
from outputcodes._ground.delayed import at_hand
from outputcodes._ground.drawn_code import DrawnCode, MatrixCode
from outputcodes._ground.margins_on_demand import MarginsOnDemand
from outputcodes._ground.nested_parameters import in_place_of_names
from outputcodes._ground.on_dask import taken
from outputcodes._ground.row_sequence import RowBlocks, some_rows
from outputcodes._ground.sizes import numbered_as
from outputcodes._ground.targets import OneLabel, Targets, declared_order
from outputcodes._ground.validation import (
    as_seed,
    check_classes,
    check_features,
    check_weight,
    validated,
)
from outputcodes._ground.whole_fits import whole_or_nothing
from outputcodes.codes import AllPairs, Code, OneVsAll, as_code, code_for, rows_by_label
from outputcodes.decoders import Coupling, Decoder, Likelihood, as_decoder
from outputcodes.decoders.classifier import decoder_for
from outputcodes.decoders.path_probabilities import with_softmax
from outputcodes.decoders.streaming import StreamingClassifier
from outputcodes.learners.attributes import FeatureAttributes
from outputcodes.learners.base import Learner
from outputcodes.learners.foreign import accepted_input, may_impute, refuses_weight
from outputcodes.learners.names import as_learner, estimators_in, named_estimator
from outputcodes.learners.trained_columns import Columns, warn_of_constant_columns
from outputcodes.training import Posed, Problem, TrainedCode

Array = NDArray[np.float64]


class OutputCodeClassifier(FeatureAttributes, StreamingClassifier, MetaEstimatorMixin, BaseEstimator):
    """Multiclass classification by an output code; with code="one-vs-all", multilabel classification too.

    If y is an indicator matrix, dense or sparse, each column of y is a label and is learned on its own. `predict` then
    returns indicators of the labels with a positive margin, and `decoder` is ignored unless it is "likelihood".

    Parameters
    ----------
    estimator : estimator, list of estimators or learner, optional
        The binary learner: any scikit-learn classifier, regressor (trained on ±1) or pipeline, or a learner of
        `outputcodes.learners` or its name ("boosted-trees", "kernel-svm", "linear-svm", "logistic", "ridge", "stumps",
        "tree"); a list has one estimator per column. None is "linear-svm", or scikit-learn's logistic regression with
        variant="single-call". `outputcodes.learners.foreign` describes how the margins of other estimators are read;
        wrap an estimator in `outputcodes.learners.PerColumn` to change that.
    code : str, Code, array of shape (k, L) or mapping, default="all-pairs"
        A name ("one-vs-all", "all-pairs", "complete", "ternary-complete", "dense", "sparse", "ordinal", "hadamard",
        "bch"; made from data "designed", "decoc", "forest", "ecoc-one", "tree"), an object of `outputcodes.codes`, your
        own matrix in {-1, 0, +1} with one row per class in sorted order, or a mapping from label to row (or a data
        frame indexed by label). A mapping may contain classes that are absent from the sample; they can be predicted.
        "ordinal" follows the order of y if y is an ordered pandas Categorical, otherwise that of the sorted labels.
    decoder : str, Decoder or None, default=None
        "loss" is loss-based decoding with the learner's own loss; otherwise the name of a loss ("hinge",
        "squared-hinge", "exponential", "logistic", "squared", "linear", "randomised", "hamming"), "vote", "dag",
        "euclidean", "attenuated-euclidean", "inverse-hamming", "laplacian", "beta-density", "accuracy-weighted",
        "likelihood", "coupling", "continuous", "beam", or an object of `outputcodes.decoders`. "auto" is the one of
        several with the fewest errors on margins held out in three folds. None is "vote" for `KernelSVM` with an rbf
        kernel on all pairs, otherwise "loss", which is "beam" for a tree code.
    probability : {None, "likelihood", "coupling", "softmax"}, default=None
        How `predict_proba` is computed. "likelihood" and "coupling" decode by these posteriors instead of `decoder`
        (unless it is an object of that class); "softmax" keeps the predictions of `decoder` and turns its scores into
        probabilities; with a tree code it is `decoders.PathProbabilities`, which predicts the most probable class. All
        are fitted on margins held out in three folds, for a tree code on those of a tenth of the rows. With None, there
        are probabilities only if the decoder has them. For a multilabel y, "likelihood" gives each label its own
        probability, and the labels above ½ are predicted.
    variant : {"multi-call", "single-call"}, default="multi-call"
        Train each column on its own, or all in one call on pairs (x, column). In a single call, a linear learner
        shares one weight vector among all columns; boosted stumps in this form are AdaBoost.MO.
    class_weight : dict, "balanced" or None, default=None
        Factors for the sample weights of each class, as in scikit-learn, in the columns and in the decoder.
    column_weight : {"none", "balanced"}, default="none"
        "balanced" gives the two sides of each column equal weight. Probabilities are still fitted to the sample as it
        is.
    n_jobs : int, optional
        Number of columns trained and evaluated in parallel; None is 1 unless in a joblib context.
    random_state : int, RandomState or None
        Seeds the code, the columns (each with its own seed) and the folds.
    verbose : int, default=0
        1 shows the progress of the training and the time left, on the standard error stream: as a bar in a terminal,
        as lines elsewhere.

    Attributes
    ----------
    classes_ : ndarray of shape (k,)
        For a multilabel y 0..L-1, the columns of y.
    multilabel_ : bool
        Whether y was multilabel.
    code_matrix_ : ndarray of int8, shape (k, L)
        For a multilabel y the different label sets of the sample, one per row.
    code_ : DrawnCode
        The same as an object.
    columns_ : the fitted columns; `columns_.fitted` is what the learner returned
    coef_, intercept_ : ndarrays of shape (L, d) and (L,)
        If all columns are linear: margins are X @ coef_.T + intercept_.
    feature_importances_ : ndarray of shape (d,)
        If the columns are trees or stumps: the share of each feature in the decrease of the training loss (trees) or in
        the changes of the margins (stumps), over all columns; of other estimators the mean of their own.
    decoder_ : the fitted decoder
    class_weight_ : ndarray of shape (k,) or None
        The factor of each class.
    n_features_in_, feature_names_in_ : as in scikit-learn, where X has them

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.svm import SVC
    >>> X, y = load_iris(return_X_y=True)
    >>> model = OutputCodeClassifier(SVC(), code="dense", random_state=0).fit(X, y)
    >>> model.code_matrix_
    array([[ 1,  1,  1],
           [-1, -1,  1],
           [-1,  1, -1]], dtype=int8)
    >>> model.predict(X[[0, 60, 120]])
    array([0, 1, 2])
    >>> model.with_decoder("hamming").decision_function(X[:1])
    array([[ 0., -2., -2.]])

    Multilabel classification:

    >>> from sklearn.datasets import make_multilabel_classification
    >>> X, Y = make_multilabel_classification(n_classes=4, random_state=0)
    >>> OutputCodeClassifier(SVC(), code="one-vs-all").fit(X, Y).predict(X[:2])
    array([[1, 0, 1, 0],
           [0, 0, 0, 0]])
    """

    columns_: Columns
    _probability_advice: ClassVar[str] = "set probability='likelihood', 'coupling' or 'softmax' before fit"

    def __init__(
        self,
        estimator: Any = None,
        *,
        code: Any = "all-pairs",
        decoder: str | Decoder | None = None,
        probability: Literal["likelihood", "coupling", "softmax"] | None = None,
        variant: Literal["multi-call", "single-call"] = "multi-call",
        class_weight: dict[Any, float] | Literal["balanced"] | None = None,
        column_weight: Literal["none", "balanced"] = "none",
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.estimator = estimator
        self.code = code
        self.decoder = decoder
        self.probability = probability
        self.variant = variant
        self.class_weight = class_weight
        self.column_weight = column_weight
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def set_params(self, **params: Any) -> Self:
        """Set parameters; a nested one, such as `estimator__C`, puts an object in the place of a name or None.

        >>> OutputCodeClassifier("kernel-svm").set_params(estimator__C=10).estimator
        KernelSVM(C=10)
        """
        foreign = params.get("variant", self.variant) == "single-call"
        objects: dict[str, Callable[[Any], Any]]
        objects = {"estimator": partial(named_estimator, foreign=foreign), "code": as_code, "decoder": as_decoder}
        super().set_params(**in_place_of_names(params, partial(getattr, self), objects))
        return self

    @whole_or_nothing
    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None, **fit_params: Any) -> Self:
        """Train every column of the code.

        Rows of weight zero are left out. Further arguments go to the estimator's `fit`: by request if
        scikit-learn's metadata routing is on, else as they are.
        """
        with progress.showing(self.verbose):
            self.solve(self._pose(X, y, sample_weight, None, fit_params))
        return self

    @whole_or_nothing
    def train(
        self,
        X: Any,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        like: TrainedCode | None = None,
        **fit_params: Any,
    ) -> TrainedCode:
        """Do what `fit` does and return the trained code, on which other decoders can be fitted without training again.

        `like` was trained on the same sample, perhaps with other parameters: what its learner prepared is used again,
        and its columns are where the training starts if the code is the same and the learner `warm_starts`.
        """
        with progress.showing(self.verbose):
            return self.solve(self._pose(X, y, sample_weight, like, fit_params), like)

    def solve(self, posed: Posed, init: TrainedCode | None = None) -> TrainedCode:
        """Train what `pose` returned, so that `pose` and `solve` are `train`.

        The training starts from the columns of `init` if the code is the same and the learner `warm_starts`.
        """
        code = posed.draw()
        # Refused before the training, where it can be known.
        decoder_for(posed.decoder, posed.problem.learner.loss, code)
        trained = posed.problem.train(code, init=init)
        warn_of_constant_columns(trained.columns, labels=posed.targets.multilabel)
        if trained.signs_only and posed.decoder.reads_sizes:
            warnings.warn(
                "The estimator has neither decision_function nor predict_proba: its margins are ±1, and loss-based "
                "decoding can see no more in them than decoder='hamming' does.",
                UserWarning,
                stacklevel=4,
            )
        self.read(posed, trained)
        return trained

    def read(self, posed: Posed, trained: TrainedCode) -> Self:
        """Take over columns that a classifier with the same parameters trained, and fit the decoder on them.

        `decoder` and `probability`, and the rounds of a learner `in_stages`, may differ.
        """
        asked = self._decoder_asked_for()
        if posed.targets.multilabel:
            asked = asked.for_labels() or asked
        decoder = decoder_for(asked, trained.loss, trained.code)
        self.targets_, self.code_, self.class_weight_ = posed.targets, trained.code, posed.problem.class_weight
        self.columns_, self.margin_loss_ = trained.columns, trained.loss
        self.decoder_ = trained.fit_decoder(decoder)
        if self.probability == "softmax":
            self.decoder_ = trained.fit_decoder(with_softmax(self.decoder_))
        return self

    def pose(
        self,
        X: Any,
        y: Any,
        sample_weight: ArrayLike | None = None,
        *,
        like: TrainedCode | Posed | None = None,
        rows: NDArray[np.intp] | None = None,
        **fit_params: Any,
    ) -> Posed:
        """Check the parameters and the sample, and return what is to be trained; nothing is trained.

        Parameters as for `train`; `rows` are those that are trained and say what the classes are, among prepared ones.
        """
        return self._pose(X, y, sample_weight, like, fit_params, rows)

    def _pose(
        self,
        X: Any,
        y: Any,
        sample_weight: ArrayLike | None,
        like: TrainedCode | Posed | None,
        fit_params: dict[str, Any],
        some: NDArray[np.intp] | None = None,
    ) -> Posed:
        asked = self._decoder_asked_for()
        if self.column_weight not in ("none", "balanced"):
            raise ValueError(f"column_weight={self.column_weight!r} must be 'none' or 'balanced'.")
        routing = get_config()["enable_metadata_routing"]
        if fit_params and routing:
            fit_params = process_routing(self, "fit", **fit_params).estimator.fit
        learner = as_learner(self.estimator, self.variant, fit_params)
        inner, source = learner.estimators, X
        if like is not None and like.problem.source is X and type(like.problem.learner) is type(learner):
            validated(self, X, reset=True, skip_check_array=True)
            X = like.problem.X
        else:
            X = self._check_features(X, inner, reset=True)
        source_y, y = y, at_hand(y)
        order = declared_order(y)
        if like is not None and like.problem.source is source and like.problem.source_labels[0] is source_y:
            y, sets = like.problem.source_labels[1], None
        else:
            y, sets = self._check_targets(X, y)
        weight = check_weight(sample_weight, len(y))
        numbers = np.arange(len(y))
        within = numbers if some is None else some
        kept = numbers[: len(within)] if weight is None else np.flatnonzero(weight[within])
        rows = within if weight is None else within[kept]
        code: Code | DrawnCode
        if sets is None:
            known, code = code_for(self.code, check_classes(y[rows]), order)
            targets: Targets = OneLabel(known)
        else:
            known, targets = np.unique(y[rows]), sets.targets
            each = asked.for_labels()
            assert each is not None  # `_check_targets` refused the others
            asked = each
            code = MatrixCode(sets.code[known])
        given, labels = (y if some is None else y[within], kept), np.full(len(y), -1)
        labels[rows] = np.searchsorted(known, y[rows])
        # A kernel keeps its columns: there the rows without weight are left out later.
        if weight is not None and some is None and not accepted_input(inner).pairwise:
            X, labels, weight, numbers = some_rows(X, rows), labels[rows], weight[rows], rows
            learner, rows = learner.for_rows(rows, len(y)), np.arange(len(rows))
        if routing and all(map(refuses_weight, inner)):
            weight = None
        own = None if weight is None else weight[rows]
        learner = learner if some is None else learner.settled(X, rows)
        with numbered_as(numbers):
            problem = Problem(
                learner,
                X,
                labels,
                weight,
                rows=rows,
                class_weight=class_weights(self.class_weight, targets.classes, labels[rows], own),
                balanced=self.column_weight == "balanced",
                given=given,
                classes=targets.classes,
                # What another kind of learner prepared is of no use.
                like=like.problem.data if like is not None and type(like.problem.learner) is type(learner) else None,
                n_jobs=self.n_jobs,
                seed=as_seed(self.random_state),
            )
        # What was checked once is not checked again; rows that were left out are other rows.
        if len(numbers) == len(y) and not isinstance(source, RowBlocks):
            problem.source = source
            if sets is None:
                problem.source_labels = source_y, y
        return Posed(problem, code, targets, asked)

    def _stream_learner(self) -> Learner:
        return as_learner(self.estimator, self.variant)

    def _stream_code(self, classes: NDArray[Any]) -> tuple[NDArray[Any], Code, bool]:
        return *code_for(self.code, classes), rows_by_label(self.code) is not None

    def _decoder_asked_for(self) -> Decoder:
        """The decoder that predicts: `decoder`, unless `probability` names a posterior that does."""
        posterior = {None: Decoder, "softmax": Decoder, "likelihood": Likelihood, "coupling": Coupling}
        if self.probability not in posterior:
            raise ValueError(f"probability={self.probability!r} must be None, 'likelihood', 'coupling' or 'softmax'.")
        kind = posterior[self.probability]
        given = as_decoder(self.default_decoder() if self.decoder is None and kind is Decoder else self.decoder)
        return given if isinstance(given, kind) else kind()

    def default_decoder(self) -> str:
        """Return the name of the decoder that is used if `decoder` is None."""
        pairs = isinstance(self.code, AllPairs) or (isinstance(self.code, str) and self.code == "all-pairs")
        return "vote" if pairs and as_learner(self.estimator, self.variant).votes_on_pairs else "loss"

    def _objection_to_label_sets(self) -> str | None:
        if not (isinstance(self.code, OneVsAll) or (isinstance(self.code, str) and self.code == "one-vs-all")):
            return "y is multilabel, with a column for each label: use code='one-vs-all', or give one label per row."
        if self.class_weight is not None:
            return "y is multilabel, and class_weight is for classes: use column_weight='balanced' or sample_weight."
        if self.probability not in (None, "likelihood") or as_decoder(self.decoder).for_labels() is None:
            return "y is multilabel, and each label has its own probability: use probability='likelihood' or None."
        return None

    def margins(self, X: Any) -> Array:
        """Return the margins (n, L) of each row under each column."""
        check_is_fitted(self)
        return self.columns_.margins(self._check_features(X, estimators_in(self.estimator), reset=False))

    def margins_on_demand(self, X: Any) -> MarginsOnDemand:
        """Return the margins of each row for a decoder that reads only a part of them."""
        check_is_fitted(self)
        return self.columns_.on_demand(self._check_features(X, estimators_in(self.estimator), reset=False))

    def _check_features(self, X: Any, estimators: list[Any], *, reset: bool) -> Any:
        tags, own = accepted_input(estimators), all(isinstance(one, Learner) for one in estimators)
        tags.allow_nan |= may_impute(estimators)
        if isinstance(X := taken(X, whole=tags.pairwise), RowBlocks):
            return X.checked(partial(check_features, self, tags=tags, numbers=own), reset=reset)
        finite = not (reset and own and all(one.checks_finite for one in estimators))
        return check_features(self, X, tags, reset=reset, finite=finite, numbers=own)

    def get_metadata_routing(self) -> MetadataRouter:
        """Return what `fit` takes for itself and passes on to the estimator."""
        router = MetadataRouter(owner=self).add_self_request(self)
        inner = estimators_in(self.estimator)
        if len(inner) == 1 and hasattr(inner[0], "get_metadata_routing"):
            router.add(estimator=inner[0], method_mapping=MethodMapping().add(caller="fit", callee="fit"))
        return router

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags = accepted_input(estimators_in(self.estimator))
        return tags
