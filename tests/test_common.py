"""scikit-learn's own checks, over estimators × codes × decoders; everything public is picked up by name."""

import importlib
import inspect
import pkgutil

import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge, RidgeClassifier, SGDClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

import outputcodes
from outputcodes import (
    AdaBoostMH,
    AdaBoostMO,
    AdaBoostMR,
    AdaBoostOC,
    DecisionTree,
    GradientBoost,
    MulticlassSVC,
    OutputCodeClassifier,
    SmoothBoost,
    codes,
    decoders,
)
from outputcodes.codes import CODES, as_code
from outputcodes.decoders import DECODERS
from outputcodes.direct import NearestCentroids
from outputcodes.learners import LEARNERS, BoostedTrees, LinearSVM

WEIGHTS = ("check_sample_weight_equivalence_on_dense_data", "check_sample_weight_equivalence_on_sparse_data")
# Iterative solvers, at their default tolerance, don't treat a weight of 2 as a row given twice to seven digits.
INEXACT = (SVC, LinearSVC, SGDClassifier, HistGradientBoostingClassifier)
ITERATIVE = "a solver at its default tolerance: a weight of 2 is not a row given twice to seven digits"
BINNED = "features are cut into bins of rows, and gradients are rounded"
ENGINES = [make() for make in LEARNERS.values()]

# With pure leaves the predictions of a tree don't depend on the weights.
TREE = DecisionTreeClassifier(min_weight_fraction_leaf=0.01)
WEAK = DecisionTreeClassifier(max_depth=4, random_state=0)

CLASSIFIERS = [
    OutputCodeClassifier(),
    OutputCodeClassifier(SVC(), code="dense", decoder="hinge"),
    OutputCodeClassifier(SVC(kernel="precomputed"), code="sparse"),
    OutputCodeClassifier(RidgeClassifier(), code="sparse", decoder="hamming"),
    OutputCodeClassifier(LinearSVC(), code="one-vs-all", decoder="linear"),
    OutputCodeClassifier(SGDClassifier(), code="bch", decoder="logistic"),
    OutputCodeClassifier(TREE, code="all-pairs", decoder="vote"),
    OutputCodeClassifier(TREE, code="dense", variant="single-call"),
    OutputCodeClassifier(GaussianNB(), code="all-pairs", decoder="dag"),
    OutputCodeClassifier(LogisticRegression(tol=1e-10, max_iter=10_000), code="ternary-complete", decoder="randomised"),
    OutputCodeClassifier(LinearRegression(), code="one-vs-all", decoder="euclidean"),
    OutputCodeClassifier(LinearRegression(), code="bch", decoder="attenuated-euclidean"),
    OutputCodeClassifier(Ridge(), code="ordinal", decoder="laplacian"),
    OutputCodeClassifier(Ridge(), code="complete", decoder="beta-density"),
    OutputCodeClassifier(RidgeClassifier(), code="hadamard", decoder="inverse-hamming"),
    OutputCodeClassifier(RidgeClassifier(), code="complete", decoder=decoders.LossBased("exponential", zeros="ignore")),
    OutputCodeClassifier(RidgeClassifier(), code="all-pairs", decoder="accuracy-weighted", n_jobs=2),
    OutputCodeClassifier(HistGradientBoostingClassifier(max_iter=5, min_samples_leaf=2), code="dense"),
    OutputCodeClassifier(
        make_pipeline(FunctionTransformer(accept_sparse=True), RidgeClassifier()), code="dense", decoder="squared"
    ),
    OutputCodeClassifier("ridge", code="decoc"),
    OutputCodeClassifier(RidgeClassifier(), code="forest"),
    OutputCodeClassifier("ridge", code=codes.Assigned("dense")),
    OutputCodeClassifier("ridge", code="designed"),
    OutputCodeClassifier("ridge", code="ecoc-one"),
    OutputCodeClassifier("ridge", code="dense", decoder=decoders.Continuous(tol=1e-8)),
    AdaBoostMO(n_rounds=10),
    AdaBoostMO("all-pairs", 10, "discrete", validation_fraction=0.3),
    AdaBoostMO("dense", 8, estimator=WEAK),
    AdaBoostMH(10, "abstaining"),
    AdaBoostMR(10),
    AdaBoostMR(5, estimator=WEAK),
    AdaBoostOC(10),
    # No tree: last digits decide ties between its splits, and then a weight of 2 is not a row given twice.
    AdaBoostOC(5, "pseudo", estimator=LogisticRegression(tol=1e-8, max_iter=10_000)),
    SmoothBoost(10),
    SmoothBoost(5, coding="deterministic"),
    SmoothBoost(5, 0, "random"),
    MulticlassSVC(gamma=0.1, tol=1e-9),
    MulticlassSVC("linear", tol=1e-9, max_iter=1_000_000),
    MulticlassSVC("precomputed"),
    MulticlassSVC(),
    MulticlassSVC("linear"),
    MulticlassSVC(formulation="weston-watkins", gamma=0.1, tol=1e-9),
    GradientBoost(10),
    GradientBoost(10, sketch=2, validation_fraction=None, max_features=0.5),
    NearestCentroids(),
    DecisionTree(),
    DecisionTree(("axis", "oblique", "sphere"), "entropy"),
    DecisionTree(pruning=0.01),
]
# A code or a decoder of the tables that nothing above tries is tried too, so that a new one is checked at once.
TRIED = [classifier for classifier in CLASSIFIERS if isinstance(classifier, OutputCodeClassifier)]
TRIED = {type(as_code(one.code)) for one in TRIED} | {type(decoders.as_decoder(one.decoder)) for one in TRIED}
CLASSIFIERS += [OutputCodeClassifier("ridge", code=name) for name in CODES if type(as_code(name)) not in TRIED]
CLASSIFIERS += [OutputCodeClassifier("ridge", decoder=d) for d in DECODERS
                if type(DECODERS[d]()) not in TRIED and not DECODERS[d]().searches]  # fmt: skip


def allowed(classifier):
    if isinstance(classifier, MulticlassSVC):
        indefinite = ["check_positive_only_tag_during_fit", "check_estimators_dtypes"]
        reason = "the check's matrix of kernel values is indefinite, which is refused, as the docstring says"
        if classifier.kernel == "precomputed":
            return dict.fromkeys(indefinite, reason)
        return dict.fromkeys(WEIGHTS, ITERATIVE) if classifier.tol == MulticlassSVC().tol else {}
    if isinstance(classifier, GradientBoost):
        return dict.fromkeys(WEIGHTS, BINNED)
    if isinstance(classifier, OutputCodeClassifier) and classifier.estimator is None:
        return dict.fromkeys(WEIGHTS, ITERATIVE)
    if isinstance(getattr(classifier, "estimator", None), INEXACT):
        checks = dict.fromkeys(WEIGHTS, "the base learner itself fails this check at its default tolerance")
        if isinstance(classifier.estimator, SGDClassifier):
            checks["check_class_weight_classifiers"] = "steps of weight 1,000 throw the margins of SGD about"
        return checks
    code, decoder = getattr(classifier, "code", None), getattr(classifier, "decoder", None)
    # The automatic choice is the same decoder here, whatever the folds.
    learned = decoder != "auto" and decoder in DECODERS and DECODERS[decoder]().needs == "held-out"
    folded = code == "designed" or learned
    if folded or getattr(classifier, "validation_fraction", None) is not None:
        return dict.fromkeys(WEIGHTS, "a row given twice may fall into two folds, or be held out once")
    if isinstance(classifier, AdaBoostMO) and classifier.estimator is not None:
        return dict.fromkeys(WEIGHTS, "trees break ties at random, and boosted weights tie up to rounding only")
    return {}


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.filterwarnings("ignore:Found unknown categories")
@pytest.mark.filterwarnings("ignore:.*kept no round")
@pytest.mark.filterwarnings("ignore:.*columns of the code have held-out margins that point the wrong way")
@parametrize_with_checks(CLASSIFIERS, expected_failed_checks=allowed)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def allowed_for_engines(engine):
    if isinstance(engine, BoostedTrees):
        return dict.fromkeys(WEIGHTS, BINNED)
    checks = dict.fromkeys(WEIGHTS, ITERATIVE) if engine.exact_parameters else {}
    if isinstance(engine, LinearSVM):
        del checks[WEIGHTS[0]]  # Newton's last step on dense data is as good as exact
    return checks


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@parametrize_with_checks(ENGINES, expected_failed_checks=allowed_for_engines)
def test_scikit_learn_checks_of_engines_with_their_default_parameters(estimator, check):
    check(estimator)


def test_no_public_classifier_escapes_the_checks():
    public = (getattr(outputcodes, name) for name in outputcodes.__all__)
    classifiers = {thing for thing in public if inspect.isclass(thing) and issubclass(thing, ClassifierMixin)}
    assert classifiers == {type(classifier) for classifier in CLASSIFIERS}


def public_objects():
    for module in pkgutil.walk_packages(outputcodes.__path__, "outputcodes."):
        names = module.name.split(".")[1:]
        if any(name.startswith("_") for name in names):
            continue
        loaded = importlib.import_module(module.name)
        for name, thing in vars(loaded).items():
            defined_here = getattr(thing, "__module__", "") == module.name
            if defined_here and not name.startswith("_") and (inspect.isclass(thing) or inspect.isfunction(thing)):
                yield pytest.param(thing, id=f"{module.name}.{name}")


@pytest.mark.parametrize("thing", list(public_objects()))
def test_everything_public_says_what_it_does(thing):
    assert inspect.getdoc(thing)
    if inspect.isclass(thing) and issubclass(thing, BaseEstimator) and thing.__init__ is not object.__init__:
        # scikit-learn's rule: the constructor stores its parameters under their own names and does nothing else.
        stored = [name for name in inspect.signature(thing).parameters if name not in ("args", "kwargs")]
        given = {name: object() for name in stored}
        made = thing(**given)
        assert all(getattr(made, name) is value for name, value in given.items())


@pytest.mark.parametrize("make", [*CODES.values(), *DECODERS.values()])
def test_strategies_are_cloned_and_printed(make):
    thing = make()
    assert repr(clone(thing)) == repr(thing)


MODULES = [thing for name in outputcodes.__all__ if inspect.ismodule(thing := getattr(outputcodes, name))]


@pytest.mark.parametrize("package", [outputcodes, *(module for module in MODULES if hasattr(module, "__all__"))])
def test_tables_of_contents_are_true(package):
    assert all(hasattr(package, name) for name in package.__all__)
    assert len(set(package.__all__)) == len(package.__all__)
