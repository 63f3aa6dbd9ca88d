"""Who takes part in a race: learners under codes, and systems that need none, by family."""

from __future__ import annotations

import importlib
import importlib.util
import math
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal

import numpy as np
from scipy import sparse
from sklearn.base import clone
from sklearn.ensemble import ExtraTreesClassifier, HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import Pipeline
from sklearn.tree import DecisionTreeClassifier

from outputcodes._ground.counted_texts import CountedTexts
from outputcodes._ground.planning import MANY_CLASSES
from outputcodes._ground.validation import unknown_name
from outputcodes._kernel_machines.device.backend import as_device
from outputcodes.boosting import AdaBoostMH, GradientBoost
from outputcodes.classifier import OutputCodeClassifier
from outputcodes.direct import MulticlassSVC, NearestCentroids
from outputcodes.learners import LEARNERS
from outputcodes.learners.foreign import input_tags
from outputcodes.learners.names import estimators_in
from outputcodes.selection.race.views import Kinds, as_categories, as_codes, as_numbers, code_places
from outputcodes.selection.renumbered import Renumbered

# A code with a column for every pair of more classes than this has too many columns.
MOST_CLASSES_IN_PAIRS = 40
PAIRS = "all-pairs"
# The code of many classes.
TREE = "tree"


@dataclass(frozen=True)
class Contestant:
    """A learner or a system.

    Attributes
    ----------
    family : str
    make : callable
        Returns a new one.
    codes : tuple of str
        Those that a learner runs under, the first one first; a system has none.
    needs : str
        The package that it comes from, if that may be missing.
    tuned : bool
        Whether its parameters are searched.
    categories : {"codes", "kinds", "numbers"}
        How it knows categories: by places in `categorical_features`, if it has that parameter; by the kinds of the
        columns of a data frame; or by places in `cat_features`, as whole numbers.
    fewest, most : float
        Numbers of classes: outside them it takes part only if it is named.
    """

    family: str
    make: Callable[[], Any]
    codes: tuple[str, ...] = ()
    needs: str = ""
    tuned: bool = True
    categories: Literal["codes", "kinds", "numbers"] = "codes"
    fewest: float = 2
    most: float = MANY_CLASSES

    def suits(self, k: int) -> bool:
        """Return whether it takes part with k classes if nothing is named."""
        return self.fewest <= k <= self.most

    @property
    def is_here(self) -> bool:
        """Whether its package is installed."""
        return not self.needs or importlib.util.find_spec(self.needs) is not None


def _learner(family: str, name: str, *codes: str, most: float = MANY_CLASSES) -> Contestant:
    return Contestant(family, LEARNERS[name], codes, most=most)


def _linear(name: str) -> Contestant:
    return _learner("linear", name, "one-vs-all", PAIRS, TREE, most=math.inf)


def _foreign(
    package: str, name: str, categories: Literal["kinds", "numbers"], renumbered: bool = False, **parameters: Any
) -> Contestant:
    make = partial(_imported, package, name, renumbered, parameters)
    return Contestant("boosted trees", make, needs=package, categories=categories)


def _imported(package: str, name: str, renumbered: bool, parameters: dict[str, Any]) -> Any:
    made = getattr(importlib.import_module(package), name)(**parameters)
    return Renumbered(made) if renumbered else made


_FOREST: dict[str, Any] = {"n_jobs": 1}

# In the order in which they start: of each family, what is quick and often good comes first.
CONTESTANTS: dict[str, Contestant] = {
    "gradient-boost": Contestant("boosted trees", GradientBoost, most=math.inf),
    "extra-trees": Contestant("forests", partial(ExtraTreesClassifier, **_FOREST)),
    "kernel-svm": _learner("kernels", "kernel-svm", "one-vs-all", PAIRS, "dense"),
    "logistic": _linear("logistic"),
    "neighbours": Contestant("neighbours", partial(KNeighborsClassifier, weights="distance", algorithm="brute")),
    "nearest-centroid": Contestant("neighbours", NearestCentroids, fewest=MANY_CLASSES + 1, most=math.inf),
    "tree": _learner("trees", "tree", "dense", PAIRS, "one-vs-all"),
    "adaboost-mh": Contestant("boosters", AdaBoostMH),
    "random-forest": Contestant("forests", partial(RandomForestClassifier, **_FOREST)),
    "multiclass-svc": Contestant("kernels", MulticlassSVC),
    "maxent": Contestant("linear", partial(LogisticRegression, max_iter=500)),
    "linear-svm": _linear("linear-svm"),
    "ridge": _linear("ridge"),
    "stumps": _learner("boosters", "stumps", "dense", PAIRS),
    "decision-tree": Contestant("trees", DecisionTreeClassifier),
    "hist-gradient-boosting": Contestant("boosted trees", HistGradientBoostingClassifier),
    # With a penalty of 0, leaves of rare classes have no bound, and the training may diverge.
    "lightgbm": _foreign("lightgbm", "LGBMClassifier", "kinds", n_jobs=1, verbose=-1, reg_lambda=1.0),
    "xgboost": _foreign(
        *("xgboost", "XGBClassifier", "kinds"), renumbered=True, n_jobs=1, tree_method="hist", enable_categorical=True
    ),
    "catboost": _foreign(
        *("catboost", "CatBoostClassifier", "numbers"), thread_count=1, verbose=False, allow_writing_files=False
    ),
    # The slower form of gradient-boost: it comes last.
    "boosted-trees": _learner("boosted trees", "boosted-trees", "dense", "one-vs-all"),
}


@dataclass(frozen=True)
class Entry:
    """A contestant, its code, and parameters by the names that `set_params` of its model takes.

    >>> print(Entry("kernel-svm", "one-vs-all", (("classifier__estimator__C", 10.0),)))
    kernel-svm one-vs-all (C=10)
    """

    contestant: str
    code: str = ""
    parameters: tuple[tuple[str, Any], ...] = ()

    def __str__(self) -> str:
        name = f"{self.contestant} {self.code}".rstrip()
        found = [f"{long.rpartition('__')[2]}={_short(value)}" for long, value in self.parameters]
        return f"{name} ({', '.join(found)})" if found else name

    def having(self, parameters: Mapping[str, Any]) -> Entry:
        """Return this entry with other values of some parameters."""
        return Entry(self.contestant, self.code, tuple({**dict(self.parameters), **parameters}.items()))


def _short(value: Any) -> str:
    return f"{value:.3g}" if isinstance(value, float) else str(value)


def chosen_contestants(given: Any, X: Any, k: int) -> dict[str, Contestant]:
    """Return the contestants that are asked for, or all that are installed, suit k classes and can read X.

    >>> from sklearn.svm import SVC
    >>> [one.family for one in chosen_contestants({"mine": SVC()}, None, 3).values()]
    ['mine']
    """
    if given is None:
        here = {name: one for name, one in CONTESTANTS.items() if one.is_here and one.suits(k)}
        return {name: one for name, one in here.items() if not sparse.issparse(X) or _tags(one).sparse}
    found = [given] if isinstance(given, str) else given
    if not found:
        raise ValueError("contestants is empty; name at least one, or leave it out for all.")
    if not isinstance(found, Mapping) and not all(isinstance(name, str) for name in found):
        raise ValueError(f"contestants={given!r} must be names, or a mapping from names to classifiers.")
    if isinstance(found, Mapping):
        # Each of the user's is a family by itself.
        return {name: Contestant(name, partial(clone, one), tuned=False) for name, one in found.items()}
    for name in found:
        if name not in CONTESTANTS:
            raise unknown_name("contestants", name, CONTESTANTS)
        if not CONTESTANTS[name].is_here:
            raise ValueError(f"contestants={name!r} needs a package: pip install {CONTESTANTS[name].needs}.")
    return {name: CONTESTANTS[name] for name in found}


def on_device(contestants: dict[str, Contestant], device: str) -> dict[str, Contestant]:
    """Return contestants that train on a device where they can; "auto" warns once if there is none."""
    able = [name for name, one in contestants.items() if one.codes and "device" in one.make().get_params(deep=False)]
    if device == "cpu" or not able or as_device(device) is None:
        return contestants
    _compile_for(partial(_moved, contestants[able[0]].make, device))
    moved = {name: replace(contestants[name], make=partial(_moved, contestants[name].make, device)) for name in able}
    return contestants | moved


def _compile_for(make: Callable[[], Any]) -> None:
    """Train and predict on a device once: what it compiles is kept on disk for all processes of a race.

    The first use takes many seconds, in which the clock would stop the training of every process in turn.
    """
    X, y = np.linspace(0, 1, 2000)[:, None], np.arange(2000) // 700
    with suppress(Exception):  # what breaks will say so in the race
        for code in ("one-vs-all", PAIRS):
            OutputCodeClassifier(make(), code=code).fit(X, y).predict(X)


def _moved(make: Callable[[], Any], device: str) -> Any:
    return make().set_params(device=device)


def codes_for(contestant: Contestant, k: int) -> tuple[str, ...]:
    """Return the codes that a contestant runs under with k classes; ("",) for a system."""
    codes = contestant.codes
    if k == 2:
        codes = codes[:1]
    if k > MOST_CLASSES_IN_PAIRS:
        codes = tuple(code for code in codes if code != PAIRS)
    if k <= MANY_CLASSES and len(codes) > 1:
        codes = tuple(code for code in codes if code != TREE)
    return codes or ("",)


def build(
    contestant: Contestant, entry: Entry, X: Any, kinds: Kinds, seed: int, counted: CountedTexts | None = None
) -> Pipeline:
    """Return the model of an entry for tables like X, of such columns: a view of the table, then the classifier.

    Texts that were `counted` have row numbers in their place.
    """
    estimator = contestant.make()
    if not contestant.tuned:
        return Pipeline([("table", "passthrough"), ("classifier", estimator)])
    tags = input_tags(estimators_in(estimator)[0])
    if "categorical_features" in estimator.get_params(deep=False) and tags.allow_nan and (places := code_places(kinds)):
        estimator.set_params(categorical_features=places)
    if contestant.categories == "numbers" and (places := code_places(kinds)):
        estimator.set_params(cat_features=places)
    model = estimator
    if contestant.codes:
        model = OutputCodeClassifier(estimator, code=entry.code)
    if "random_state" in model.get_params(deep=False):
        model.set_params(random_state=seed)
    return Pipeline([("table", _view(contestant, tags, X, kinds, counted)), ("classifier", model)]).set_params(
        **dict(entry.parameters)
    )


def _view(contestant: Contestant, tags: Any, X: Any, kinds: Kinds, counted: CountedTexts | None) -> Any:
    """How a contestant reads the table."""
    if sparse.issparse(X) or not tags.allow_nan:
        return as_numbers(X, kinds, tags.sparse, counted)
    if contestant.categories == "codes":
        return as_codes(kinds, counted)
    return as_categories(kinds, counted, whole_numbers=contestant.categories == "numbers")


def _tags(contestant: Contestant) -> Any:
    return input_tags(estimators_in(contestant.make())[0])
