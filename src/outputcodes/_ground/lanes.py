"""A vector of eight float64, sixteen float32 or four int64 as a type of numba's, which compiled code combines at once.

A loop over eight entries becomes scalar code, half as fast; a value of this type stays in vector registers. The order
in which lanes are added is fixed: results don't depend on the width of the processor's registers. No lane that is
compared may be NaN. Whole numbers are loaded, added and stored only.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]
from numba import njit, types
from numba.core.errors import TypingError
from numba.extending import intrinsic, models, overload, register_model
from numpy.typing import NDArray

# One cache line, and one register of AVX-512; narrower processors take two or four instructions. Four whole numbers are
# a packed row vector of boosted trees.
LANES, SINGLE_LANES, WHOLE_LANES = 8, 16, 4

_INT = ir.IntType(32)


def aligned_zeros(*shape: int, dtype: Any = np.float64) -> NDArray[Any]:
    """Return zeros that begin at a cache line, which makes additions an eighth to a quarter faster."""
    size, bytes_each = math.prod(shape), np.dtype(dtype).itemsize
    longer = np.zeros(size + 64 // bytes_each, dtype=dtype)
    first = -(longer.ctypes.data // bytes_each) % (64 // bytes_each)
    return longer[first : first + size].reshape(shape)


def aligned_copy(array: NDArray[Any]) -> NDArray[Any]:
    """Return a copy that begins at a cache line.

    >>> copied = aligned_copy(np.eye(2))
    >>> copied.tolist(), copied.ctypes.data % 64
    ([[1.0, 0.0], [0.0, 1.0]], 0)
    """
    bytes_each = array.itemsize
    longer = np.empty(array.size + 64 // bytes_each, dtype=array.dtype)
    first = -(longer.ctypes.data // bytes_each) % (64 // bytes_each)
    copied = longer[first : first + array.size].reshape(array.shape)
    copied[...] = array
    return copied


def padded(width: int) -> int:
    """Return the next multiple of `SINGLE_LANES`.

    >>> padded(1), padded(16), padded(17)
    (16, 16, 32)
    """
    return -(-width // SINGLE_LANES) * SINGLE_LANES


class _Lanes(types.Type):
    """The type of `count` numbers of one precision."""

    def __init__(self, scalar: Any, count: int) -> None:
        self.scalar, self.count = scalar, count
        super().__init__(name=f"Lanes({scalar})")

    @property
    def vector(self) -> Any:
        """The type of LLVM's."""
        return ir.VectorType(_SCALARS[self.scalar], self.count)

    @property
    def bytes_each(self) -> int:
        """The size of a lane in bytes."""
        return int(self.scalar.bitwidth) // 8


_SCALARS = {types.float64: ir.DoubleType(), types.float32: ir.FloatType(), types.int64: ir.IntType(64)}
_double, _single = _Lanes(types.float64, LANES), _Lanes(types.float32, SINGLE_LANES)
_whole = _Lanes(types.int64, WHOLE_LANES)


def _lanes(scalar: Any) -> _Lanes:
    """Return the type of lanes for numbers of a type: float32 and int64 stay what they are, all others are float64."""
    return {types.float32: _single, types.int64: _whole}.get(scalar, _double)


@register_model(_Lanes)
class _LanesModel(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, kind.vector)


def _entry(context: Any, builder: Any, kind: Any, array: Any, at: Any) -> Any:
    """Return the address of an entry of a flat array."""
    return builder.gep(context.make_array(kind)(context, builder, array).data, [at])


@intrinsic
def load(typing_context, array, at):  # type: ignore[no-untyped-def]
    """Return array[at : at + lanes] of a flat array."""
    kind = _lanes(array.dtype)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        entry = _entry(context, builder, signature.args[0], *arguments)
        return builder.load(builder.bitcast(entry, kind.vector.as_pointer()), align=kind.bytes_each)

    return kind(array, types.intp), generate


@intrinsic
def store(typing_context, array, at, values):  # type: ignore[no-untyped-def]
    """Write array[at : at + lanes] of a flat array."""
    if array.dtype != values.scalar:
        raise TypingError(f"{values} can't be stored in an array of {array.dtype}")

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        entry = _entry(context, builder, signature.args[0], *arguments[:2])
        address = builder.bitcast(entry, values.vector.as_pointer())
        builder.store(arguments[2], address, align=values.bytes_each)
        return context.get_dummy_value()

    return types.void(array, types.intp, values), generate


def _halves(higher: bool) -> Any:
    """Return the intrinsic that loads `LANES` words and returns the numbers in their lower or higher halves.

    A word is the sum of two whole numbers of 32 bits, the second times 2^32.
    """
    words, halves = ir.VectorType(ir.IntType(64), LANES), ir.VectorType(_INT, LANES)

    @intrinsic
    def load_half(typing_context, array, at):  # type: ignore[no-untyped-def]
        if array.dtype != types.int64:
            raise TypingError(f"words of two numbers are int64, not {array.dtype}")

        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            entry = _entry(context, builder, signature.args[0], *arguments)
            loaded = builder.load(builder.bitcast(entry, words.as_pointer()), align=8)
            half = builder.trunc(loaded, halves)
            if higher:
                # A negative lower half has borrowed 1 from the higher one.
                rest = builder.sub(loaded, builder.sext(half, words))
                half = builder.trunc(builder.lshr(rest, ir.Constant(words, [32] * LANES)), halves)
            return builder.sitofp(half, _double.vector)

        return _double(array, types.intp), generate

    return load_half


load_low, load_high = _halves(higher=False), _halves(higher=True)


@intrinsic
def prefetch(typing_context, array, at):  # type: ignore[no-untyped-def]
    """Bring the cache line of array[at] near."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        line = builder.bitcast(_entry(context, builder, signature.args[0], *arguments), ir.IntType(8).as_pointer())
        kind, name = ir.FunctionType(ir.VoidType(), [line.type, _INT, _INT, _INT]), "llvm.prefetch.p0i8"
        function = builder.module.globals.get(name) or ir.Function(builder.module, kind, name)
        builder.call(function, [line, *(ir.Constant(_INT, number) for number in (0, 3, 1))])
        return context.get_dummy_value()

    return types.void(array, types.intp), generate


@intrinsic
def spread(typing_context, number):  # type: ignore[no-untyped-def]
    """Return the same number in all lanes."""
    kind = _lanes(number)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        one = builder.insert_element(ir.Constant(kind.vector, ir.Undefined), arguments[0], ir.Constant(_INT, 0))
        return builder.shuffle_vector(one, one, ir.Constant(ir.VectorType(_INT, kind.count), [0] * kind.count))

    return kind(kind.scalar), generate


@intrinsic
def where_greater(typing_context, a, b, x, y):  # type: ignore[no-untyped-def]
    """Return x in the lanes where a > b, and y in the others."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.select(builder.fcmp_ordered(">", *arguments[:2]), *arguments[2:])

    return x(a, b, x, y), generate


@intrinsic
def any_greater(typing_context, a, b):  # type: ignore[no-untyped-def]
    """Return whether a > b in any lane."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        mask = builder.bitcast(builder.fcmp_ordered(">", *arguments), ir.IntType(a.count))
        return builder.icmp_unsigned("!=", mask, ir.Constant(ir.IntType(a.count), 0))

    return types.boolean(a, b), generate


def _operator(sign: Callable[[Any, Any], Any], instruction: str) -> None:
    """Let an operator of Python's stand for an instruction; a product and a sum may become one."""

    @intrinsic
    def combine(typing_context, a, b):  # type: ignore[no-untyped-def]
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            if a == _whole:
                return builder.add(*arguments)
            return getattr(builder, instruction)(*arguments, flags=("contract",))

        return a(a, b), generate

    @overload(sign)
    def _(a, b):  # type: ignore[no-untyped-def]
        known = isinstance(a, _Lanes) and a == b and (a != _whole or instruction == "fadd")
        return (lambda a, b: combine(a, b)) if known else None


_operator(operator.add, "fadd")
_operator(operator.iadd, "fadd")
_operator(operator.sub, "fsub")
_operator(operator.mul, "fmul")
_operator(operator.truediv, "fdiv")


@intrinsic
def square(typing_context, a):  # type: ignore[no-untyped-def]
    """Return a * a, rounded: no sum may take it in, so that its bits don't depend on what surrounds it."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.fmul(*arguments, *arguments)

    return a(a), generate


def _fold(combine: Callable[[Any, Any, Any], Any]) -> Any:
    """Return the intrinsic that makes one number of all lanes: halves are combined until one lane is left."""

    @intrinsic
    def fold(typing_context, values):  # type: ignore[no-untyped-def]
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            (rest,), half = arguments, values.count // 2
            while half:
                masks = (ir.Constant(ir.VectorType(_INT, half), list(range(q, q + half))) for q in (0, half))
                rest = combine(builder, *(builder.shuffle_vector(rest, rest, mask) for mask in masks))
                half //= 2
            return builder.extract_element(rest, ir.Constant(_INT, 0))

        return values.scalar(values), generate

    return fold


sum_of = _fold(lambda builder, a, b: builder.fadd(a, b))
largest_of = _fold(lambda builder, a, b: builder.select(builder.fcmp_ordered(">", a, b), a, b))


@njit(nogil=True, cache=True)
def sum_lanes(sums, at, a, i, b, j):  # type: ignore[no-untyped-def]
    """sums[at : at + LANES] = a[i : i + LANES] + b[j : j + LANES]."""
    store(sums, at, load(a, i) + load(b, j))


@njit(nogil=True, cache=True)
def add_lanes_by_sign(sums, at, values, i):  # type: ignore[no-untyped-def]
    """sums[at : at + LANES] += max(v, 0), and the LANES after them += max(-v, 0), for v = values[i : i + LANES]."""
    v, zero = load(values, i), spread(0.0)
    plus = where_greater(v, zero, v, zero)
    store(sums, at, load(sums, at) + plus)
    store(sums, at + LANES, load(sums, at + LANES) + (plus - v))


@njit(nogil=True, cache=True)
def scale_lanes_by_sign(values, i, factors, j):  # type: ignore[no-untyped-def]
    """v = values[i : i + LANES] *= factors[j : j + LANES] where v >= 0, the LANES factors after them where v < 0."""
    v = load(values, i)
    store(values, i, v * where_greater(spread(0.0), v, load(factors, j + LANES), load(factors, j)))
