"""Likelihood decoding, pairwise coupling and class probabilities as ONNX operators."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from outputcodes.app.export.errors import refuse
from outputcodes.app.export.graph import Graph, Value
from outputcodes.decoders._overlap import agreeing_sets, compatible
from outputcodes.decoders.base import Decoder, signs_of
from outputcodes.decoders.coupling import FAINTEST, LARGEST_LOG_ODDS, Coupling
from outputcodes.decoders.likelihood import EachLabelLikelihood, Likelihood, SigmoidDecoder
from outputcodes.decoders.softmax import Softmax

Matrix = NDArray[Any]


def _log_odds(g: Graph, F: Value, decoder: SigmoidDecoder) -> str:
    return g("Neg", g("Add", g("Mul", F, decoder.slope_), decoder.offset_))


def likelihood(g: Graph, F: Value, decoder: Likelihood, M: Matrix) -> str:
    """Return the logarithms of the probabilities of the codewords of each class."""
    z = _log_odds(g, F, decoder)
    up, down = g("Neg", g.softplus(g("Neg", z))), g("Neg", g.softplus(z))
    log_p = _log_rows(g, up, down, M)
    if not compatible(M).any():
        return log_p
    sets = agreeing_sets(M)
    if sets is None:
        raise refuse(
            decoder, "lists all codewords of a code with so many classes that share some", "a code with fewer zeros"
        )
    # One term for each set and each of its classes: the share is 1 + Σ ± p_T / (|T| p_r), as `shares_by_sets` has it.
    merged = np.array([np.sign(M[list(T)].sum(axis=0, dtype=np.intp)) for T in sets])
    of_set = np.repeat(np.arange(len(sets)), [len(T) for T in sets])
    of_class = np.concatenate([np.array(T) for T in sets])
    part = np.array([(-1.0) ** (len(T) - 1) / len(T) for T in sets])[of_set]
    below = g("Sub", g.columns(_log_rows(g, up, down, merged), of_set), g.columns(log_p, of_class))
    terms = g("MatMul", g("Exp", g("Min", below, 0.0)), part[:, None] * np.eye(len(M))[of_class])
    share = g("Clip", g("Add", terms, 1.0), 1 / len(M), 1.0)
    return g("Add", log_p, g("Log", share))


def _log_rows(g: Graph, up: Value, down: Value, M: Matrix) -> str:
    plus, minus, _ = (part.T for part in signs_of(M))
    return g("Add", g("MatMul", up, plus), g("MatMul", down, minus))


def coupling(g: Graph, F: Value, decoder: Coupling, M: Matrix) -> str:
    """Return log p of the second approach of Wu, Lin & Weng; the other methods iterate.

    With Q the matrix of its quadratic form, the minimum of pᵀQp with Σ p = 1 is (Q + 11ᵀ)⁻¹1 up to a factor. The matrix
    is positive definite, so that elimination needs no pivots: k steps for all rows at once.
    """
    if decoder.method != "wu-lin-weng":
        raise refuse(
            f"Coupling(method={decoder.method!r})",
            "iterates until the probabilities of a row agree with its columns",
            "decoder=Coupling('wu-lin-weng') for all pairs, probability='likelihood' or probability='softmax'",
        )
    k, L = M.shape
    plus, minus, _ = (part.T for part in signs_of(M))
    odds = g("Clip", _log_odds(g, F, decoder), -LARGEST_LOG_ODDS, LARGEST_LOG_ODDS)
    r = g("Sigmoid", odds)
    other = g("Sigmoid", g("Neg", odds))
    diagonal = g("Add", g("MatMul", g.square(other), plus), g("MatMul", g.square(r), minus))
    first, second = plus.argmax(axis=1), minus.argmax(axis=1)
    # Where each entry of the system is among those of the pairs and of the diagonal.
    place = np.zeros((k, k), dtype=np.int64)
    np.fill_diagonal(place, L + np.arange(k))
    place[second, first] = place[first, second] = np.arange(L)
    entries = g("Concat", g("Neg", g("Mul", r, other)), diagonal, axis=1)
    system = g("Add", g("Reshape", g.columns(entries, place.ravel()), np.array([-1, k, k])), 1.0)
    solution = _solved(g, system, k)
    p = g("Max", g("Div", solution, g.total(solution, keep=True)), 0.0)
    p = g("Div", p, g.total(p, keep=True))
    return g("Log", g("Max", p, FAINTEST))


def _solved(g: Graph, system: Value, k: int) -> str:
    """Return the solutions (n, k) of systems (n, k, k) with ones on the right, by Gauss–Jordan elimination."""
    right = g("Unsqueeze", g.for_each_row(system, np.ones(k)), np.array([2]))
    A = g("Concat", system, right, axis=2)
    for j in range(k):
        row, column = g("Gather", A, np.array([j]), axis=1), g("Gather", A, np.array([j]), axis=2)
        others = (np.arange(k) != j).astype(np.float64)[:, None]
        factors = g("Mul", g("Div", column, g("Gather", row, np.array([j]), axis=2)), others)
        A = g("Sub", A, g("Mul", factors, row))
    pivots = g.total(g("Mul", g("Gather", A, np.arange(k), axis=2), np.eye(k)), axis=2)
    return g("Div", g("Squeeze", g("Gather", A, np.array([k]), axis=2), np.array([2])), pivots)


def exported_probabilities(g: Graph, D: Value, decoder: Decoder, k: int) -> str:
    """Return class probabilities (n, k) of the scores of a decoder that has some."""
    if type(decoder) not in PROBABILITIES:
        raise refuse(decoder, "has probabilities without a converter")
    return PROBABILITIES[type(decoder)](g, D, decoder, k)


def _of_likelihood(g: Graph, D: Value, decoder: Likelihood, k: int) -> str:
    q, most = g("Exp", D), g("Exp", g.largest(D))
    best = g.is_place(g("ArgMax", D, axis=1, keepdims=0), k)
    others = g.total(g("Where", best, 0.0, q), keep=True)
    rest = g("Max", g("Sub", g("Sub", 1.0, most), others), 0.0)
    return g("Add", q, g("Div", rest, float(k)))


def _of_coupling(g: Graph, D: Value, decoder: Coupling, k: int) -> str:
    p = g("Exp", D)
    return g("Div", p, g.total(p, keep=True))


def _of_softmax(g: Graph, D: Value, decoder: Softmax, k: int) -> str:
    below = g("Div", g("Sub", D, g.largest(D)), decoder.temperature_)
    trusted = g("Mul", g("Softmax", below, axis=1), 1 - decoder.doubt_)
    return g("Add", trusted, decoder.doubt_ / k)


# To export the probabilities of another kind of decoder, add its line.
PROBABILITIES: dict[type[Decoder], Callable[[Graph, Value, Any, int], str]] = {
    Likelihood: _of_likelihood,
    Coupling: _of_coupling,
    Softmax: _of_softmax,
    EachLabelLikelihood: lambda g, D, decoder, k: g("Sigmoid", D),
}
