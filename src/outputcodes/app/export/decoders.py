"""Decoders as ONNX operators: class scores (n, k) of margins (n, L), one function per kind of decoder."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from outputcodes.app.export.errors import refuse
from outputcodes.app.export.graph import INT64, Graph, Value
from outputcodes.app.export.kernels import kernel_values
from outputcodes.app.export.posteriors import coupling, likelihood
from outputcodes.app.export.sums import loss_scores
from outputcodes.decoders.auto import Auto
from outputcodes.decoders.base import Decoder, EachLabel, signs_of
from outputcodes.decoders.beam import Beam
from outputcodes.decoders.continuous import Continuous
from outputcodes.decoders.counting import BetaDensity, InverseHamming, Laplacian, inverse_distances, pessimistic_share
from outputcodes.decoders.coupling import Coupling
from outputcodes.decoders.distance import AttenuatedEuclidean, Euclidean
from outputcodes.decoders.likelihood import EachLabelLikelihood, Likelihood
from outputcodes.decoders.loss import AccuracyWeighted, LossBased
from outputcodes.decoders.pairwise import Dag, Vote
from outputcodes.decoders.path_probabilities import PathProbabilities
from outputcodes.decoders.softmax import Softmax

Matrix = NDArray[Any]


def exported_scores(g: Graph, F: Value, decoder: Decoder, M: Matrix) -> str:
    """Return the scores (n, k) before ties are broken."""
    if type(decoder) not in SCORES:
        raise refuse(decoder, "has no converter", f"one of {', '.join(kind.__name__ for kind in SCORES)}")
    return SCORES[type(decoder)](g, F, decoder, M)


def exported_choice(g: Graph, D: Value, F: Value, decoder: Decoder, M: Matrix) -> str:
    """Return the number of the best class (n,): ties are broken as by `Decoder.predict`."""
    if decoder.breaks_ties:
        equal = g("Equal", D, g.largest(D))
        D = g("Where", equal, g("MatMul", F, M.T.astype(np.float64)), -np.inf)
    return g("ArgMax", D, axis=1, keepdims=0)


def _loss_based(g: Graph, F: Value, decoder: LossBased, M: Matrix) -> str:
    if decoder.zeros == "count":
        return loss_scores(g, F, decoder.loss, M, np.ones(M.shape))
    return loss_scores(g, F, decoder.loss, M, (M != 0).astype(np.float64), np.count_nonzero(M, axis=1))


def _accuracy_weighted(g: Graph, F: Value, decoder: AccuracyWeighted, M: Matrix) -> str:
    return loss_scores(g, F, decoder.loss, M, decoder.accuracy_)


def _inner(g: Graph, F: Value, decoder: Auto | Softmax, M: Matrix) -> str:
    return exported_scores(g, F, decoder.inner, M)


def _euclidean(g: Graph, F: Value, decoder: Euclidean, M: Matrix) -> str:
    plus, minus, zero = (part.T for part in signs_of(M))
    squares = (
        g("MatMul", g.square(g("Sub", F, 1.0)), plus),
        g("MatMul", g.square(g("Add", F, 1.0)), minus),
        g("MatMul", g.square(F), zero),
    )
    return g("Neg", g("Sqrt", g("Sum", *squares)))


def _attenuated(g: Graph, F: Value, decoder: AttenuatedEuclidean, M: Matrix) -> str:
    plus, minus, _ = (part.T for part in signs_of(M))
    size = g("Abs", F)
    above = g("MatMul", g("Mul", size, g.square(g("Sub", F, 1.0))), plus)
    below = g("MatMul", g("Mul", size, g.square(g("Add", F, 1.0))), minus)
    return g("Neg", g("Sqrt", g("Add", above, below)))


def _matches(g: Graph, F: Value, M: Matrix) -> tuple[str, str]:
    plus, minus, _ = (part.T for part in signs_of(M))
    up, down = g.cast(g("Greater", F, 0.0)), g.cast(g("Less", F, 0.0))
    agree = g("Add", g("MatMul", up, plus), g("MatMul", down, minus))
    return agree, g("Add", g("MatMul", up, minus), g("MatMul", down, plus))


def _laplacian(g: Graph, F: Value, decoder: Laplacian, M: Matrix) -> str:
    agree, contradict = _matches(g, F, M)
    return g("Div", g("Add", agree, 1.0), g("Add", g("Add", agree, contradict), 2.0))


def _beta_density(g: Graph, F: Value, decoder: BetaDensity, M: Matrix) -> str:
    side = M.shape[1] + 1
    agree, contradict = _matches(g, F, M)
    place = g.cast(g("Add", g("Mul", agree, float(side)), contradict), INT64)
    return g("Gather", _shares(M.shape[1]), place, axis=0)


def _shares(L: int) -> NDArray[np.float64]:
    """The scores of all numbers of agreeing and contradicting columns; numbers that can't occur have 0."""
    agree, contradict = np.divmod(np.arange((L + 1) ** 2), L + 1)
    shares, possible = np.zeros((L + 1) ** 2), agree + contradict <= L
    shares[possible] = pessimistic_share(agree[possible], contradict[possible])
    return shares


def _inverse_hamming(g: Graph, F: Value, decoder: InverseHamming, M: Matrix) -> str:
    signs = g("MatMul", g("Sign", F), M.T.astype(np.float64))
    distances = g("Div", g("Sub", float(M.shape[1]), signs), 2.0)
    inverse = inverse_distances(M)
    assert inverse is not None  # checked by `objection`
    q = g("MatMul", distances, inverse)
    return g("Div", g("Round", g("Mul", q, 1e10)), 1e10)


def _vote(g: Graph, F: Value, decoder: Vote, M: Matrix) -> str:
    rows = M.T.astype(np.float64)
    votes = g("Div", g("Add", g("MatMul", g("Sign", F), rows), float(np.count_nonzero(M[0]))), 2.0)
    margins = g("MatMul", F, rows)
    return g("Add", votes, g("Div", margins, g("Mul", g("Add", g("Abs", margins), 1.0), 6.0)))


def _dag(g: Graph, F: Value, decoder: Dag, M: Matrix) -> str:
    """Play k − 1 games, as `Dag` does: the first against the last class of those that are left."""
    k = len(M)
    first, last = np.argmax(M != 0, axis=0), k - 1 - np.argmax(M[::-1] != 0, axis=0)
    column = np.zeros((k, k), dtype=np.int64)
    column[first, last] = np.arange(M.shape[1])
    favour_of_first = g("Mul", F, M[first, np.arange(M.shape[1])].astype(np.float64))
    low, high = (g("Squeeze", g.for_each_row(F, np.array([end])), np.array([1])) for end in (0, k - 1))
    D = g.for_each_row(F, np.full(k, float(k)))
    for step in range(1, k):
        test = g("Gather", column.ravel(), g("Add", g("Mul", low, k), high), axis=0)
        won = g("GatherElements", favour_of_first, g("Unsqueeze", test, np.array([1])), axis=1)
        high_leaves = g("GreaterOrEqual", g("Squeeze", won, np.array([1])), 0.0)
        D = g("Where", g.is_place(g("Where", high_leaves, high, low), k), float(step), D)
        leaves = g.cast(high_leaves, INT64)
        high, low = g("Sub", high, leaves), g("Add", low, g("Sub", 1, leaves))
    return D


def _continuous(g: Graph, F: Value, decoder: Continuous, M: Matrix) -> str:
    if decoder.kernel == "linear":
        learned = decoder.matrix_ if decoder.matrix_.any() else M.astype(np.float64)
        return g("MatMul", F, learned.T)
    if not decoder.dual_.any():
        return g("MatMul", F, M.T.astype(np.float64))
    return g("MatMul", kernel_values(g, decoder.kernel_, F, decoder.support_margins_), decoder.dual_)


def _search(g: Graph, F: Value, decoder: Decoder, M: Matrix) -> str:
    raise refuse(decoder, "searches a tree, level by level", "code='one-vs-all', or another that has no nodes")


# To export another kind of decoder, add its line.
SCORES: dict[type[Decoder], Callable[[Graph, Value, Any, Matrix], str]] = {
    LossBased: _loss_based,
    AccuracyWeighted: _accuracy_weighted,
    Auto: _inner,
    Softmax: _inner,
    Euclidean: _euclidean,
    AttenuatedEuclidean: _attenuated,
    Laplacian: _laplacian,
    BetaDensity: _beta_density,
    InverseHamming: _inverse_hamming,
    Vote: _vote,
    Dag: _dag,
    Continuous: _continuous,
    Likelihood: likelihood,
    Coupling: coupling,
    EachLabel: lambda g, F, decoder, M: g("Identity", F),
    EachLabelLikelihood: lambda g, F, decoder, M: g("Neg", g("Add", g("Mul", F, decoder.slope_), decoder.offset_)),
    Beam: _search,
    PathProbabilities: _search,
}
