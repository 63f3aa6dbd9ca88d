"""The race as a classifier: it finds the best model for a table within a time limit."""

from __future__ import annotations

import time
from numbers import Real
from typing import Any, Literal, Self

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from outputcodes._ground import progress
from outputcodes._ground.folds import Rows
from outputcodes._ground.validation import as_seed, check_classes, check_n_jobs, check_targets
from outputcodes._kernel_machines.device.backend import check_device
from outputcodes.selection.metrics import check_metric
from outputcodes.selection.race.averages import winning_average
from outputcodes.selection.race.blend import Blend, losses_of
from outputcodes.selection.race.contestants import chosen_contestants, on_device
from outputcodes.selection.race.course import Course
from outputcodes.selection.race.details import laps_of, learning_curve, with_fewer_rows, without_a_fold
from outputcodes.selection.race.estimate import Estimate, Point, loss_of_best, no_narrower, of_one, on_more_rows
from outputcodes.selection.race.folds import MOST_HELD_OUT, MOST_TEXTS, check_groups, race_folds
from outputcodes.selection.race.laps import Departure, Standing
from outputcodes.selection.race.last_trainings import Fitted, trained_on_all_rows
from outputcodes.selection.race.on_cluster import ClusterWorkers
from outputcodes.selection.race.recorder import Recorder
from outputcodes.selection.race.trials import Field, Trial
from outputcodes.selection.race.views import kinds_of, plain_table, with_counted_texts
from outputcodes.selection.race.workers import Here, Workers

# Why a model won.
Chosen = Literal["best", "average", "substitute"]
# The share of the time that is kept for the last trainings, on all rows.
LAST_SHARE = 0.2
# The share for the details that a recorder may want.
DETAILS_SHARE = 0.1
# The share of the time in which words are counted: of longer texts, the beginning is read.
COUNTING_SHARE = 0.15
# Those that may be averaged; more would take long, and say no more.
MOST_FINALISTS = 12


class Race(ClassifierMixin, BaseEstimator):
    """Find the best classifier for a table within a time limit.

    One contestant of every family starts on a sample of the rows: linear models, kernels, trees, forests, boosted
    trees, boosters, neighbours, and other libraries where they are installed. What is clearly behind leaves; the best
    families get more rows, codes, decoders and parameters. The finalists are measured on all folds, and the winner, or
    an average of up to five of them if it is clearly better, is fitted to all rows. Its probabilities are calibrated
    on held-out rows.

    Parameters
    ----------
    time_limit : float or None, default=60
        Seconds from the start of `fit` to its end. What runs when the time is over is stopped. Without a limit, the
        same seed gives the same race.
    contestants : list of str, or mapping from names to classifiers, optional
        Some of `CONTESTANTS`, by default all that are installed; or any classifiers, which run with the parameters
        that they have.
    metric : {"error", "log-loss", "balanced"}, default="error"
        What the race is decided by.
    blend : bool, default=True
        Whether the winner may be an average of several models.
    cv : int, optional
        The most folds that finalists are measured on; by default 5, above 20,000 rows 3. As many as hold out 5,000 rows
        are enough, but two at least.
    device : {"cpu", "cuda", "auto"}, default="cpu"
        Where kernel SVMs are trained, as in `KernelSVM`.
    n_jobs : int, optional
        Trainings at a time, each in a process of its own with one thread. Without a time limit, None and 1 train in
        this process.
    random_state : int, RandomState instance or None, default=None
    verbose : int, default=0

    Attributes
    ----------
    classes_ : ndarray of shape (k,)
    model_ : Blend
        The winner, fitted to all rows if there was time; `model_.models` are pipelines.
    winner_ : list of str
        What it consists of.
    chosen_ : {"best", "average", "substitute"}
        Why: it was the best finalist; an average of finalists, which may have all of its weight on one, was clearly
        better; or the best could not be trained on all rows in time. The best also takes the place of an average that
        could not be trained in time.
    n_rows_ : int
        The rows that it was trained on: all, unless there was no time for that.
    loss_, interval_ : float and tuple of float
        The expected error (or other metric) of such a model on new rows and its 95 % interval: from held-out rows,
        corrected for being the best of several, and for the rows that folds leave out of their trainings.
    standings_ : list of dict
        The finalists, best first.
    losses_, finalist_losses_ : ndarrays of shape (n_held_out,) and (n_held_out, n_finalists)
        The loss of each held-out row by the winner and by each finalist.
    departures_ : list of dict
        Who left when, at which loss, and why.
    laps_ : list of dict
        For each lap its rows, its seconds, as estimated and as they were, and every entry that was measured on it.
    curve_ : list of dict
        The loss of the best single entry by the number of training rows; empty unless a recorder wants details.
    held_out_probabilities_ : tuple of two ndarrays, or None
        Rows that folds held out, and the winner's probabilities for them; None unless a recorder wants details.
    held_out_ : tuple of Blend and ndarray, or None
        The winner, trained without the rows of one fold, and these rows; None unless a recorder wants details, and if
        there was no time for it.
    n_features_in_, feature_names_in_ : as in scikit-learn

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> race = Race(contestants=["ridge", "decision-tree"], time_limit=None, random_state=0).fit(X, y)
    >>> race.predict(X[[0, 60, 120]])
    array([0, 1, 2])
    >>> sorted({row["contestant"] for row in race.standings_})
    ['decision-tree', 'ridge']
    """

    model_: Blend
    chosen_: Chosen
    curve_: list[dict[str, Any]]
    held_out_: tuple[Blend, Rows] | None
    held_out_probabilities_: tuple[Rows, NDArray[Any]] | None

    def __init__(
        self,
        time_limit: float | None = 60,
        *,
        contestants: Any = None,
        metric: str = "error",
        blend: bool = True,
        cv: int | None = None,
        device: str = "cpu",
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.time_limit = time_limit
        self.contestants = contestants
        self.metric = metric
        self.blend = blend
        self.cv = cv
        self.device = device
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = tags.input_tags.sparse = True
        return tags

    def fit(
        self,
        X: Any,
        y: ArrayLike,
        groups: ArrayLike | None = None,
        recorder: Recorder | None = None,
        cluster: Any = None,
    ) -> Self:
        """Run the race, and fit the winner to all rows if there is time.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n, d)
            NaN is a missing value. The columns of a data frame that are not numbers are categories.
        y : array of n labels
        groups : array of n values, optional
            Rows of the same group, such as those of one patient, are never both trained and tested on.
        recorder : Recorder, optional
            Hears of every training, and may know some of an earlier run.
        cluster : str or distributed.Client, optional
            Where to train: the address of a Dask scheduler, "local" for `n_jobs` workers on this machine, or a client.
        """
        start = time.monotonic()
        check_metric(self.metric)
        check_n_jobs(self.n_jobs)
        check_device(self.device)
        limit = self.time_limit
        if limit is not None and not (isinstance(limit, Real) and not isinstance(limit, bool) and float(limit) > 0):
            raise ValueError(f"time_limit={limit!r} must be a positive number of seconds, or None for no limit.")
        X = self._checked(X, reset=True)
        labels = check_targets(self, X, y)
        self.classes_ = check_classes(labels)
        numbers, seed = np.searchsorted(self.classes_, labels), as_seed(self.random_state)
        if np.bincount(numbers).max() < 2:
            raise ValueError(
                "Every class in y has one row; none could be tested on rows that are not trained: add rows."
            )
        contestants, kinds = chosen_contestants(self.contestants, X, len(self.classes_)), kinds_of(X)
        contestants = on_device(contestants, self.device)
        most, together = MOST_TEXTS if kinds.sentences else MOST_HELD_OUT, check_groups(groups, len(numbers))
        folds = race_folds(numbers, seed, most, self.cv, together)
        # Words are counted once for all trainings; each learns from those of its own rows.
        table, counted = X, None
        if all(one.tuned for one in contestants.values()):
            table, counted = with_counted_texts(X, kinds, np.inf if limit is None else COUNTING_SHARE * float(limit))
        data = Field(contestants, table, kinds, numbers, len(self.classes_), folds, seed, counted)
        end = np.inf if limit is None else start + float(limit)
        with self._workers(data, cluster) as workers, progress.showing(self.verbose):
            recorder = Recorder() if recorder is None else recorder
            last = LAST_SHARE + (DETAILS_SHARE if recorder.wants_details else 0)
            until = np.inf if limit is None else start + float(limit) * (1 - last)
            recorder.begin(data)
            course = Course(data, self.metric, workers, time.monotonic(), until, recorder)
            if recorder.keeps_models:
                course.kept = lambda one, trial: self._lead(course, one, trial)
            finalists = course.run()
            fitted, P = self._finish(course, finalists, end)
            recorder.leads(self, final=True)
            if recorder.wants_details:
                tested = [test for _, test in folds[: fitted[0][0].lap.folds]]
                self.held_out_probabilities_ = np.concatenate(tested), P
                self._explain(course, finalists[0], fitted, end)
        return self

    def _lead(self, course: Course, one: Standing, trial: Trial) -> None:
        """Be the classifier that is the best so far."""
        self._set(course, [(one, 1.0, trial)], "best", of_one(one.losses), one.losses, [one])
        course.recorder.leads(self, final=False)

    def _workers(self, data: Field, cluster: Any) -> Here | Workers | ClusterWorkers:
        count = effective_n_jobs(self.n_jobs)
        if cluster is not None:
            return ClusterWorkers(data, cluster, count)
        # A training in this process can't be stopped.
        return Here(data) if count == 1 and self.time_limit is None else Workers(data, count)

    def _finish(self, course: Course, finalists: list[Standing], end: float) -> tuple[Fitted, NDArray[Any]]:
        """Choose the winner or an average, and fit what it needs to all rows; return it with held-out probabilities."""
        data = course.data
        held_out = [test for _, test in data.folds[: finalists[0].lap.folds]]
        y, fold = data.y[np.concatenate(held_out)], np.repeat(np.arange(len(held_out)), list(map(len, held_out)))
        estimate = of_best = loss_of_best(np.column_stack([one.losses for one in finalists]))
        finalists = finalists[:MOST_FINALISTS]
        weights, single = np.eye(len(finalists))[0], finalists[0]
        chosen: Chosen = "best"
        losses, probabilities = single.losses, single.P
        if self.blend and len(finalists) > 1 and len(held_out) > 1:
            average = winning_average([one.P for one in finalists], y, fold, self.metric)
            if average is not None:
                weights, probabilities = average.weights, average.P.astype(np.float32)
                losses = losses_of(average.P, y, self.metric)
                estimate, chosen = of_one(losses), "average"
        members = [(one, float(w)) for one, w in zip(finalists, weights, strict=True) if w > 0]
        fitted = trained_on_all_rows(course, members, finalists, end)
        if [one for one, _, _ in fitted] != [one for one, _ in members]:
            # There was no time for it: what is there is another model.
            losses, probabilities = fitted[0][0].losses, fitted[0][0].P
            chosen = "best" if fitted[0][0] is finalists[0] else "substitute"
            estimate = of_best if chosen == "best" else of_one(losses)
        first, _, trial = fitted[0]
        if (fewer := with_fewer_rows(course, first, end)) is not None:
            before, own = (Point(one.lap.rows, one.loss) for one in (fewer, first))
            estimate = no_narrower(on_more_rows(estimate, before, own, trial.task.rows), losses)
        self._set(course, fitted, chosen, estimate, losses, finalists)
        return fitted, probabilities

    def _set(
        self,
        course: Course,
        fitted: Fitted,
        chosen: Chosen,
        estimate: Estimate,
        losses: NDArray[Any],
        finalists: list[Standing],
    ) -> None:
        """Set the attributes of a fitted race."""
        self.model_ = self._blend([trial.model for _, _, trial in fitted], fitted)
        self.winner_, self.chosen_ = [_name(one) for one, _, _ in fitted], chosen
        self.n_rows_ = min(trial.task.rows for *_, trial in fitted)
        self.loss_, self.interval_ = estimate.loss, (estimate.low, estimate.high)
        self.losses_, self.finalist_losses_ = losses, np.column_stack([one.losses for one in finalists])
        self.standings_ = [_row(one) for one in finalists]
        self.departures_ = [_departed(one) for one in course.departures]
        self.laps_ = laps_of(course)
        self.curve_, self.held_out_, self.held_out_probabilities_ = [], None, None

    def _blend(self, models: list[Any], fitted: Fitted) -> Blend:
        total = sum(weight for _, weight, _ in fitted)
        return Blend(
            models,
            [one.calibration.temperature for one, _, _ in fitted],
            [one.calibration.doubt for one, _, _ in fitted],
            [weight / total for _, weight, _ in fitted],
            self.classes_.tolist(),
        )

    def _explain(self, course: Course, best: Standing, fitted: Fitted, end: float) -> None:
        """Train what a report shows of the winner, as far as there is time."""
        models = without_a_fold(course, [one for one, _, _ in fitted], end)
        if models is not None:
            self.held_out_ = self._blend(models, fitted), course.data.folds[0][1]
        self.curve_ = learning_curve(course, best, end)

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return calibrated class probabilities (n, k)."""
        check_is_fitted(self)
        return self.model_.predict_proba(self._checked(X, reset=False))

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the most probable class of each row."""
        check_is_fitted(self)
        labels: NDArray[Any] = self.classes_[self.predict_proba(X).argmax(axis=1)]
        return labels

    def _checked(self, X: Any, reset: bool) -> Any:
        if hasattr(X, "iloc"):
            validate_data(self, X, reset=reset, skip_check_array=True)
            return plain_table(X)
        how: dict[str, Any] = {"accept_sparse": "csr", "dtype": "numeric", "ensure_all_finite": "allow-nan"}
        return plain_table(validate_data(self, X, reset=reset, ensure_min_samples=2 if reset else 1, **how))


def _name(one: Standing) -> str:
    return f"{one.entry}, decoder {one.decoder}" if one.decoder else str(one.entry)


def _row(one: Standing) -> dict[str, Any]:
    return {
        "name": _name(one),
        "contestant": one.entry.contestant,
        "code": one.entry.code,
        "decoder": one.decoder,
        "parameters": dict(one.entry.parameters),
        "loss": one.loss,
        "log-loss": one.log_loss,
        "seconds": one.seconds,
        "rows": one.lap.rows,
        "folds": one.lap.folds,
    }


def _departed(one: Departure) -> dict[str, Any]:
    return {
        "entry": str(one.entry),
        "rows": one.lap.rows,
        "loss": one.loss,
        "why": one.why,
    }
