"""The passes of sequential minimal optimisation with their running maxima in registers.

As loops of numba's own, which keep a maximum per lane in memory, they take two to three times as long. Arrays are flat,
of one dtype, and their size is a multiple of LANES; no value is NaN. Each pass answers where the largest value that it
is about was found, and the extremes that it was asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

# Four registers of AVX-512 for float64, so that their latencies overlap.
LANES = 32
BIG = 1e30
# What stands in for a curvature that is not positive, as in LIBSVM.
TAU = 1e-12
_FLAGS = ("reassoc", "contract", "nsz", "arcp")
_INT32, _INT64 = ir.IntType(32), ir.IntType(64)


class _Vector:
    """LANES numbers, or fewer, with the operators that the passes need."""

    def __init__(self, builder: Any, value: Any) -> None:
        self.builder, self.value = builder, value

    @property
    def lanes(self) -> int:
        return int(self.value.type.count)

    def __add__(self, other: _Vector) -> _Vector:
        return _Vector(self.builder, self.builder.fadd(self.value, other.value, flags=_FLAGS))

    def __sub__(self, other: _Vector) -> _Vector:
        return _Vector(self.builder, self.builder.fsub(self.value, other.value, flags=_FLAGS))

    def __mul__(self, other: _Vector) -> _Vector:
        return _Vector(self.builder, self.builder.fmul(self.value, other.value, flags=_FLAGS))

    def __gt__(self, other: _Vector) -> Any:
        return self.builder.fcmp_ordered(">", self.value, other.value)

    def or_if(self, better: Any, other: _Vector) -> _Vector:
        return _Vector(self.builder, self.builder.select(better, other.value, self.value))

    def at_least(self, other: _Vector) -> _Vector:
        return self.or_if(other > self, other)

    def at_most(self, other: _Vector) -> _Vector:
        return self.or_if(self > other, other)

    def halves(self) -> list[_Vector]:
        half = self.lanes // 2
        masks = (ir.Constant(ir.VectorType(_INT32, half), list(range(q, q + half))) for q in (0, half))
        return [_Vector(self.builder, self.builder.shuffle_vector(self.value, self.value, mask)) for mask in masks]

    def only(self) -> Any:
        """The number in the first lane."""
        return self.builder.extract_element(self.value, ir.Constant(_INT32, 0))


class _Pass:
    """The instructions of one intrinsic: arrays and scalars by the order of its arguments, the first being an array."""

    def __init__(self, context: Any, builder: Any, signature: Any, arguments: Any) -> None:
        self.builder = builder
        self.arguments = [
            context.make_array(kind)(context, builder, value) if isinstance(kind, types.Array) else value
            for kind, value in zip(signature.args, arguments, strict=True)
        ]
        self.number = context.get_value_type(signature.args[0].dtype)
        self.answer = partial(context.make_tuple, builder, signature.return_type)
        self.place: Any = None

    @contextmanager
    def tiles(self) -> Iterator[None]:
        """A loop over the starts of whole lanes."""
        start, step = ir.Constant(_INT64, 0), ir.Constant(_INT64, LANES)
        with cgutils.for_range_slice(self.builder, start, self.arguments[0].nitems, step) as (self.place, _):
            yield

    def address(self, which: int) -> Any:
        entry = self.builder.gep(self.arguments[which].data, [self.place])
        return self.builder.bitcast(entry, ir.VectorType(self.number, LANES).as_pointer())

    def load(self, *which: int) -> list[_Vector]:
        """The lanes of some arrays at this place."""
        return [_Vector(self.builder, self.builder.load(self.address(q), align=4)) for q in which]

    def store(self, which: int, value: _Vector) -> None:
        self.builder.store(value.value, self.address(which), align=4)

    def spread(self, scalar: Any) -> Any:
        """The same number in all lanes."""
        one = self.builder.insert_element(
            ir.Constant(ir.VectorType(scalar.type, LANES), ir.Undefined), scalar, ir.Constant(_INT32, 0)
        )
        return self.builder.shuffle_vector(one, one, ir.Constant(ir.VectorType(_INT32, LANES), [0] * LANES))

    def scalar(self, which: int) -> _Vector:
        return _Vector(self.builder, self.spread(self.arguments[which]))

    def constant(self, number: float) -> _Vector:
        return _Vector(self.builder, ir.Constant(ir.VectorType(self.number, LANES), [number] * LANES))


class _Running:
    """A register that a loop updates."""

    def __init__(self, code: _Pass, first: float, number: Any = None) -> None:
        self.code = code
        lanes = ir.Constant(ir.VectorType(number or code.number, LANES), [first] * LANES)
        self.register = cgutils.alloca_once_value(code.builder, lanes)

    @property
    def now(self) -> _Vector:
        return _Vector(self.code.builder, self.code.builder.load(self.register))

    def set(self, value: _Vector) -> None:
        self.code.builder.store(value.value, self.register)

    def extreme(self, better: Callable[[_Vector, _Vector], Any]) -> Any:
        """The number that is better than those of all other lanes."""
        best = self.now
        while best.lanes > 1:
            first, second = best.halves()
            best = first.or_if(better(second, first), second)
        return best.only()


class _Best:
    """The largest fraction, and where; with no `over` given, the largest number."""

    def __init__(self, code: _Pass, first: float) -> None:
        self.code = code
        self.top, self.under, self.at = _Running(code, first), _Running(code, 1.0), _Running(code, 0, _INT32)

    def keep(self, value: _Vector, over: _Vector | None = None) -> None:
        top, code = self.top.now, self.code
        if over is None:
            better = value > top
        else:
            under = self.under.now
            better = value * under > top * over
            self.under.set(under.or_if(better, over))
        self.top.set(top.or_if(better, value))
        here = _Vector(code.builder, code.spread(code.builder.trunc(code.place, _INT32)))
        self.at.set(self.at.now.or_if(better, here))

    def where(self) -> Any:
        """The place, as an int64."""
        builder = self.code.builder
        lane = ir.Constant(ir.VectorType(_INT32, LANES), list(range(LANES)))
        top, under, at = self.top.now, self.under.now, _Vector(builder, builder.add(self.at.now.value, lane))
        while top.lanes > 1:
            (top, other), (under, below), (at, there) = top.halves(), under.halves(), at.halves()
            better = other * under > top * below
            top, under, at = top.or_if(better, other), under.or_if(better, below), at.or_if(better, there)
        return builder.zext(at.only(), _INT64)


def _signature(arguments: tuple[Any, ...], extremes: int = 0) -> Any:
    """Scalars are of the arrays' dtype, and so are the extremes in the answer, which begins with a place."""
    number = arguments[0].dtype
    answer = types.Tuple((types.int64, *[number] * extremes))
    return answer(*(kind if isinstance(kind, types.Array) else number for kind in arguments))


@intrinsic
def move_pair(typing_context, e, up, low, row_i, row_j, step):  # type: ignore[no-untyped-def]
    """e ← e − step·(K_i − K_j); where the largest e that may grow is, and the smallest that may shrink."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        code = _Pass(context, builder, signature, arguments)
        best, least, step = _Best(code, -BIG), _Running(code, BIG), code.scalar(5)
        with code.tiles():
            e, up, low, row_i, row_j = code.load(0, 1, 2, 3, 4)
            e = e - step * (row_i - row_j)
            code.store(0, e)
            best.keep(e + up)
            least.set(least.now.at_most(e + low))
        return code.answer([best.where(), least.extreme(lambda one, other: other > one)])

    return _signature((e, up, low, row_i, row_j, step), 1), generate


@intrinsic
def pair_gains(typing_context, e, low, diag, row_i, own, highest):  # type: ignore[no-untyped-def]
    """Where the gain of a step with i is largest."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        code = _Pass(context, builder, signature, arguments)
        best, own, highest = _Best(code, -1.0), code.scalar(4), code.scalar(5)
        with code.tiles():
            e, low, diag, row_i = code.load(0, 1, 2, 3)
            gap = (highest - (e + low)).at_least(code.constant(0.0))
            best.keep(gap * gap, (own + diag - row_i - row_i).at_least(code.constant(TAU)))
        return code.answer([best.where()])

    return _signature((e, low, diag, row_i, own, highest)), generate


@intrinsic
def move_two(typing_context, e, up, low, diag, row_i, row_j, x, y, shift):  # type: ignore[no-untyped-def]
    """e ← e − x·K_i − y·K_j − shift; where the gain of one coefficient is largest, and the largest slope."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        code = _Pass(context, builder, signature, arguments)
        best, steepest, zero = _Best(code, -1.0), _Running(code, 0.0), code.constant(0.0)
        x, y, shift = code.scalar(6), code.scalar(7), code.scalar(8)
        with code.tiles():
            e, up, low, diag, row_i, row_j = code.load(0, 1, 2, 3, 4, 5)
            e = e - shift - x * row_i - y * row_j
            code.store(0, e)
            slope = (e + up).at_least(zero) - (e + low).at_most(zero)
            steepest.set(steepest.now.at_least(slope))
            best.keep(slope * slope, diag.at_least(code.constant(TAU)))
        return code.answer([best.where(), steepest.extreme(lambda one, other: one > other)])

    return _signature((e, up, low, diag, row_i, row_j, x, y, shift), 1), generate


@intrinsic
def partner_gains(typing_context, e, up, low, diag, row_i, offset, x, inverse, floor):  # type: ignore[no-untyped-def]
    """Where the gain of a second coefficient j is largest once i has moved by x and moves along.

    The curvature that is left to it is K_jj − K_ij²/K_ii; below `floor` it is rounding.
    """

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        code = _Pass(context, builder, signature, arguments)
        best, zero = _Best(code, -1.0), code.constant(0.0)
        offset, x, inverse, floor = (code.scalar(q) for q in (5, 6, 7, 8))
        with code.tiles():
            e, up, low, diag, row_i = code.load(0, 1, 2, 3, 4)
            value = row_i + offset
            rest = e - x * value
            slope = (rest + up).at_least(zero) - (rest + low).at_most(zero)
            best.keep(slope * slope, (diag - inverse * (value * value)).at_least(floor))
        return code.answer([best.where()])

    return _signature((e, up, low, diag, row_i, offset, x, inverse, floor)), generate
