"""The passes of sequential minimal optimisation with their running maxima in registers.

As loops of numba's own, which keep a maximum per lane in memory, they take two to three times as long. Arrays are flat,
of one dtype, and their size is a multiple of LANES; no value is NaN. `top`/`under` is the largest fraction found in
each lane and `at` the start of the lanes that it was found in.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
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
_INT32 = ir.IntType(32)


class _Vector:
    """LANES numbers, with the operators that the passes need."""

    def __init__(self, builder: Any, value: Any) -> None:
        self.builder, self.value = builder, value

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


class _Pass:
    """The instructions of one intrinsic: arrays and scalars by the order of its arguments, the first being an array."""

    def __init__(self, context: Any, builder: Any, signature: Any, arguments: Any) -> None:
        self.builder = builder
        self.arguments = [
            context.make_array(kind)(context, builder, value) if isinstance(kind, types.Array) else value
            for kind, value in zip(signature.args, arguments, strict=True)
        ]
        self.number = context.get_value_type(signature.args[0].dtype)
        self.nothing = context.get_dummy_value()
        self.place: Any = None

    @contextmanager
    def tiles(self) -> Iterator[None]:
        """A loop over the starts of whole lanes."""
        start, step = ir.Constant(ir.IntType(64), 0), ir.Constant(ir.IntType(64), LANES)
        with cgutils.for_range_slice(self.builder, start, self.arguments[0].nitems, step) as (self.place, _):
            yield

    def address(self, which: int, place: Any, number: Any) -> Any:
        entry = self.builder.gep(self.arguments[which].data, [place])
        return self.builder.bitcast(entry, ir.VectorType(number, LANES).as_pointer())

    def load(self, *which: int) -> list[_Vector]:
        """The lanes of some arrays at this place."""
        addresses = (self.address(q, self.place, self.number) for q in which)
        return [_Vector(self.builder, self.builder.load(address, align=4)) for address in addresses]

    def store(self, which: int, value: _Vector) -> None:
        self.builder.store(value.value, self.address(which, self.place, self.number), align=4)

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
    """A register that a loop updates, written to an array after it."""

    def __init__(self, code: _Pass, which: int, first: float, number: Any = None) -> None:
        self.code, self.which, self.number = code, which, number or code.number
        lanes = ir.Constant(ir.VectorType(self.number, LANES), [first] * LANES)
        self.register = cgutils.alloca_once_value(code.builder, lanes)

    @property
    def now(self) -> _Vector:
        return _Vector(self.code.builder, self.code.builder.load(self.register))

    def set(self, value: _Vector) -> None:
        self.code.builder.store(value.value, self.register)

    def write(self) -> None:
        start = ir.Constant(ir.IntType(64), 0)
        self.code.builder.store(self.now.value, self.code.address(self.which, start, self.number), align=4)


class _Best:
    """The largest fraction in each lane, and where; without `under`, the largest number."""

    def __init__(self, code: _Pass, top: int, under: int | None, at: int, first: float) -> None:
        self.code = code
        self.top, self.at = _Running(code, top, first), _Running(code, at, 0, _INT32)
        self.under = None if under is None else _Running(code, under, 1.0)

    def keep(self, value: _Vector, over: _Vector | None = None) -> None:
        top, code = self.top.now, self.code
        if self.under is None or over is None:
            better = value > top
        else:
            under = self.under.now
            better = value * under > top * over
            self.under.set(under.or_if(better, over))
        self.top.set(top.or_if(better, value))
        here = _Vector(code.builder, code.spread(code.builder.trunc(code.place, _INT32)))
        self.at.set(self.at.now.or_if(better, here))

    def write(self) -> None:
        for running in (self.top, self.under, self.at):
            if running is not None:
                running.write()


def _signature(arguments: tuple[Any, ...]) -> Any:
    """Scalars are of the arrays' dtype."""
    number = arguments[0].dtype
    return types.void(*(kind if isinstance(kind, types.Array) else number for kind in arguments))


@intrinsic
def move_pair(typing_context, e, up, low, row_i, row_j, step, top, bottom, at):  # type: ignore[no-untyped-def]
    """e ← e − step·(K_i − K_j), and per lane the largest e that may grow, where, and the smallest that may shrink."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        code = _Pass(context, builder, signature, arguments)
        best, least, step = _Best(code, 6, None, 8, -BIG), _Running(code, 7, BIG), code.scalar(5)
        with code.tiles():
            e, up, low, row_i, row_j = code.load(0, 1, 2, 3, 4)
            e = e - step * (row_i - row_j)
            code.store(0, e)
            best.keep(e + up)
            least.set(least.now.at_most(e + low))
        best.write()
        least.write()
        return code.nothing

    return _signature((e, up, low, row_i, row_j, step, top, bottom, at)), generate


@intrinsic
def pair_gains(typing_context, e, low, diag, row_i, own, highest, top, under, at):  # type: ignore[no-untyped-def]
    """Per lane the largest gain of a step with i, and where."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        code = _Pass(context, builder, signature, arguments)
        best, own, highest = _Best(code, 6, 7, 8, -1.0), code.scalar(4), code.scalar(5)
        with code.tiles():
            e, low, diag, row_i = code.load(0, 1, 2, 3)
            gap = (highest - (e + low)).at_least(code.constant(0.0))
            best.keep(gap * gap, (own + diag - row_i - row_i).at_least(code.constant(TAU)))
        best.write()
        return code.nothing

    return _signature((e, low, diag, row_i, own, highest, top, under, at)), generate


@intrinsic
def move_two(typing_context, e, up, low, diag, row_i, row_j, x, y, shift, top, under, steepest, at):  # type: ignore[no-untyped-def]
    """e ← e − x·K_i − y·K_j − shift, and per lane the largest gain of one coefficient, where, and the largest slope."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        code = _Pass(context, builder, signature, arguments)
        best, steepest, zero = _Best(code, 9, 10, 12, -1.0), _Running(code, 11, 0.0), code.constant(0.0)
        x, y, shift = code.scalar(6), code.scalar(7), code.scalar(8)
        with code.tiles():
            e, up, low, diag, row_i, row_j = code.load(0, 1, 2, 3, 4, 5)
            e = e - shift - x * row_i - y * row_j
            code.store(0, e)
            slope = (e + up).at_least(zero) - (e + low).at_most(zero)
            steepest.set(steepest.now.at_least(slope))
            best.keep(slope * slope, diag.at_least(code.constant(TAU)))
        best.write()
        steepest.write()
        return code.nothing

    return _signature((e, up, low, diag, row_i, row_j, x, y, shift, top, under, steepest, at)), generate


@intrinsic
def partner_gains(typing_context, e, up, low, diag, row_i, offset, x, inverse, floor, top, under, at):  # type: ignore[no-untyped-def]
    """Per lane the largest gain of a second coefficient j once i has moved by x and moves along, and where.

    The curvature that is left to it is K_jj − K_ij²/K_ii; below `floor` it is rounding.
    """

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        code = _Pass(context, builder, signature, arguments)
        best, zero = _Best(code, 9, 10, 11, -1.0), code.constant(0.0)
        offset, x, inverse, floor = (code.scalar(q) for q in (5, 6, 7, 8))
        with code.tiles():
            e, up, low, diag, row_i = code.load(0, 1, 2, 3, 4)
            value = row_i + offset
            rest = e - x * value
            slope = (rest + up).at_least(zero) - (rest + low).at_most(zero)
            best.keep(slope * slope, (diag - inverse * (value * value)).at_least(floor))
        best.write()
        return code.nothing

    return _signature((e, up, low, diag, row_i, offset, x, inverse, floor, top, under, at)), generate
