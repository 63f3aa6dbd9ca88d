"""Narrow-sense binary BCH codes of length 2^r - 1, and random choices among their codewords."""

from itertools import count

import numpy as np
from numpy.typing import NDArray

Bits = NDArray[np.int8]


def bch_parameters(n_codewords: int, length: int) -> tuple[int, int]:
    """Return (r, t): the shortest code with `length` columns, then the largest t with enough codewords.

    `n_codewords` is at least 3, so that the repetition code never suffices.
    """
    enough = (n_codewords - 1).bit_length()
    for r in count(length.bit_length()):  # the first is the smallest with 2^r - 1 >= length
        zeros: set[int] = set()
        for t in count(1):
            zeros.update(_coset(2 * t - 1, r))
            if 2**r - 1 - len(zeros) < enough:
                break
        if t > 1:
            return r, t - 1
    raise AssertionError("long codes have many codewords")


def bch_zeros(r: int, t: int) -> set[int]:
    """Return the exponents of alpha..alpha^(2t) and their conjugates: the zeros of all codewords."""
    # Even exponents are conjugates of odd ones.
    return {exponent for start in range(1, 2 * t, 2) for exponent in _coset(start, r)}


def _coset(start: int, r: int) -> list[int]:
    """List the exponents of the conjugates of alpha^start."""
    return list(dict.fromkeys(start * 2**i % (2**r - 1) for i in range(r)))


def generator_matrix(r: int, t: int) -> Bits:
    """Return the systematic (dimension, 2^r - 1) generator matrix over {0, 1}.

    A word whose spectrum is supported on the exponents u outside the zeros satisfies the linear recurrence whose
    characteristic polynomial has the roots alpha^-u. If the dimension is small, this polynomial has few factors, while
    the generator polynomial would have nearly all.
    """
    try:
        import galois
    except ImportError as error:
        raise ImportError(
            "code='bch' needs galois, which is not installed: pip install \"outputcodes[bch]\""
        ) from error
    # Plain Python arithmetic: compiling a field takes seconds, these few products take microseconds.
    field = galois.GF(2**r, compile="python-calculate")
    characteristic = galois.Poly.One()
    left = set(range(2**r - 1)) - bch_zeros(r, t)
    while left:
        exponent = min(left)
        characteristic *= (field.primitive_element**-exponent).minimal_poly()
        left.difference_update(_coset(exponent, r))
    dimension = int(characteristic.degree)
    taps = np.flatnonzero(np.asarray(characteristic.coeffs)[:0:-1])
    generator = np.eye(dimension, 2**r - 1, dtype=np.int8)
    for column in range(dimension, 2**r - 1):
        generator[:, column] = generator[:, column - dimension + taps].sum(axis=1) % 2
    return generator


def random_codewords(generator: Bits, k: int, length: int, rng: np.random.Generator) -> Bits:
    """Choose k codewords that differ in their first `length` columns, the zero codeword first.

    Including zero loses nothing: adding one codeword to all rows negates columns and keeps every distance.
    """
    # Systematic: the first columns are the message, so that distinct messages stay distinct after the cut.
    dimension = min(len(generator), length)
    messages = np.append(0, 1 + rng.choice(2**dimension - 1, size=k - 1, replace=False))
    bits = (messages[:, None] >> np.arange(dimension)) & 1
    words = bits.astype(np.float32) @ generator[:dimension].astype(np.float32)
    return words.astype(np.int8) % 2


def essential_columns(words: Bits) -> Bits:
    """Drop the constant, repeated and mirrored columns of codewords whose first is zero; keep the order.

    A column is a linear functional of the message. At message 0 all of them are 0, so none is the negative of another,
    and a constant one is zero. If the messages span their space, functionals that agree on them are equal. A BCH code
    of dimension above 1 contains the simplex code, whose columns are non-zero and distinct: then nothing is dropped.
    """
    patterns = np.ascontiguousarray(np.packbits(words.astype(np.uint8), axis=0).T)
    first = np.unique(patterns, axis=0, return_index=True)[1]
    return words[:, np.sort(first[patterns[first].any(axis=1)])]
