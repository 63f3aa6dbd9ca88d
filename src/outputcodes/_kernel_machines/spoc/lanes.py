"""Eight classes in one instruction: passes over the lanes that numba's own loops would take one by one.

Arrays are flat and `size` a whole number of lanes; no value is NaN.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from outputcodes._ground.lanes import LANES

_VECTOR = ir.VectorType(ir.DoubleType(), LANES)
_INT = ir.IntType(64)


class _Code:
    """The instructions of one intrinsic: arrays and scalars by the order of its arguments."""

    def __init__(self, context: Any, builder: Any, signature: Any, arguments: Any) -> None:
        self.context, self.builder, self.types, self.arguments = context, builder, signature.args, arguments

    def entry(self, which: int, at: Any) -> Any:
        """The address of an entry of a flat array."""
        array = self.context.make_array(self.types[which])(self.context, self.builder, self.arguments[which])
        return self.builder.gep(array.data, [at])

    def vector(self, which: int, at: Any) -> Any:
        """The address of the eight entries of a flat array from `at` on."""
        return self.builder.bitcast(self.entry(which, at), _VECTOR.as_pointer())

    def load(self, which: int, at: Any) -> Any:
        return self.builder.load(self.vector(which, at), align=8)

    def spread(self, scalar: Any) -> Any:
        """The same number in all lanes."""
        one = self.builder.insert_element(ir.Constant(_VECTOR, ir.Undefined), scalar, ir.Constant(ir.IntType(32), 0))
        return self.builder.shuffle_vector(one, one, ir.Constant(ir.VectorType(ir.IntType(32), LANES), [0] * LANES))

    def constant(self, number: float) -> Any:
        return ir.Constant(_VECTOR, [number] * LANES)

    @contextmanager
    def tiles(self, size: Any) -> Iterator[Any]:
        """A loop over the starts of whole lanes."""
        with cgutils.for_range_slice(self.builder, ir.Constant(_INT, 0), size, ir.Constant(_INT, LANES)) as (at, _):
            yield at

    def register(self, number: float) -> Any:
        """A register for what a loop gathers."""
        return cgutils.alloca_once_value(self.builder, self.constant(number))

    def keep(self, register: Any, sign: str, values: Any) -> None:
        """The larger (>) or smaller (<) of what is there and what comes, lane by lane."""
        old = self.builder.load(register)
        better = self.builder.fcmp_ordered(sign, values, old)
        self.builder.store(self.builder.select(better, values, old), register)

    def add(self, register: Any, where: Any, values: Any) -> None:
        """Add values in some lanes."""
        added = self.builder.fadd(self.builder.load(register), self.builder.select(where, values, self.constant(0.0)))
        self.builder.store(added, register)

    def fold(self, name: str, register: Any) -> Any:
        """All lanes as one number."""
        arguments = [self.builder.load(register)]
        if name == "fadd":
            arguments.insert(0, ir.Constant(ir.DoubleType(), 0.0))
        kind = ir.FunctionType(ir.DoubleType(), [a.type for a in arguments])
        function = cgutils.get_or_insert_function(self.builder.module, kind, f"llvm.vector.reduce.{name}.v{LANES}f64")
        return self.builder.call(function, arguments, fastmath=("reassoc",))

    def fused(self, x: Any, y: Any, z: Any) -> Any:
        """x·y + z."""
        kind = ir.FunctionType(_VECTOR, [_VECTOR] * 3)
        return self.builder.call(
            cgutils.get_or_insert_function(self.builder.module, kind, f"llvm.fmuladd.v{LANES}f64"), [x, y, z]
        )

    def answer(self, signature: Any, numbers: list[Any]) -> Any:
        return self.context.make_tuple(self.builder, signature.return_type, numbers)

    def feature(self, s: Any) -> tuple[Any, Any]:
        """The value at place s in all lanes, and where its row of M starts, M having `width` columns."""
        b = self.builder
        shift, width = self.arguments[4], self.arguments[6]
        number = b.load(self.entry(1, b.sub(s, shift)))
        number = number if number.type == _INT else b.sext(number, _INT)
        return self.spread(b.load(self.entry(0, s))), b.mul(number, width)


def _row_signature(values: Any, features: Any, M: Any, lanes: Any) -> Any:
    place = types.intp
    return types.void(values, features, place, place, place, M, place, place, lanes)


@intrinsic
def add_scores(typing_context, values, features, start, stop, shift, M, width, at, F):  # type: ignore[no-untyped-def]
    """F[at : at + LANES] += Σ_s values[s] · M[feature of s, at : at + LANES], s from start to stop; M flat."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        code = _Code(context, builder, signature, arguments)
        start, stop, at = arguments[2], arguments[3], arguments[7]
        total = cgutils.alloca_once_value(builder, code.load(8, at))
        with cgutils.for_range_slice(builder, start, stop, ir.Constant(_INT, 1), inc=True) as (s, _):
            x, row = code.feature(s)
            w = code.load(5, builder.add(row, at))
            builder.store(code.fused(x, w, builder.load(total)), total)
        builder.store(builder.load(total), code.vector(8, at), align=8)
        return context.get_dummy_value()

    return _row_signature(values, features, M, F), generate


@intrinsic
def add_row(typing_context, values, features, start, stop, shift, M, width, at, step):  # type: ignore[no-untyped-def]
    """M[feature of s, at : at + LANES] += values[s] · step[at : at + LANES], s from start to stop; M flat."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        code = _Code(context, builder, signature, arguments)
        start, stop, at = arguments[2], arguments[3], arguments[7]
        step = code.load(8, at)
        with cgutils.for_range_slice(builder, start, stop, ir.Constant(_INT, 1), inc=True) as (s, _):
            x, row = code.feature(s)
            place = builder.add(row, at)
            builder.store(code.fused(x, step, code.load(5, place)), code.vector(5, place), align=8)
        return context.get_dummy_value()

    return _row_signature(values, features, M, step), generate


@intrinsic
def extremes(typing_context, F, eta, size, near):  # type: ignore[no-untyped-def]
    """The largest F where η ≤ near; where η > near the largest, the smallest, their sum, and how many they are."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        code = _Code(context, builder, signature, arguments)
        near = code.spread(arguments[3])
        outside, most, least, total, number = (code.register(value) for value in (-1e300, -1e300, 1e300, 0.0, 0.0))
        with code.tiles(arguments[2]) as at:
            f = code.load(0, at)
            inside = builder.fcmp_ordered(">", code.load(1, at), near)
            code.keep(outside, ">", builder.select(inside, code.constant(-1e300), f))
            code.keep(most, ">", builder.select(inside, f, code.constant(-1e300)))
            code.keep(least, "<", builder.select(inside, f, code.constant(1e300)))
            code.add(total, inside, f)
            code.add(number, inside, code.constant(1.0))
        folds = (("fmax", outside), ("fmax", most), ("fmin", least), ("fadd", total), ("fadd", number))
        return code.answer(signature, [code.fold(name, gathered) for name, gathered in folds])

    return types.UniTuple(types.float64, 5)(F, eta, types.intp, types.float64), generate


@intrinsic
def spread_out(typing_context, F, eta, D, size, most, inverse):  # type: ignore[no-untyped-def]
    """D = (F − most) · inverse + η."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        code = _Code(context, builder, signature, arguments)
        most, inverse = code.spread(arguments[4]), code.spread(arguments[5])
        with code.tiles(arguments[3]) as at:
            d = code.fused(builder.fsub(code.load(0, at), most), inverse, code.load(1, at))
            builder.store(d, code.vector(2, at), align=8)
        return context.get_dummy_value()

    return types.void(F, eta, D, types.intp, types.float64, types.float64), generate


@intrinsic
def above(typing_context, D, size, theta):  # type: ignore[no-untyped-def]
    """Where D > θ: the sum of D, and how many those are."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        code = _Code(context, builder, signature, arguments)
        theta = code.spread(arguments[2])
        total, number = code.register(0.0), code.register(0.0)
        with code.tiles(arguments[1]) as at:
            d = code.load(0, at)
            inside = builder.fcmp_ordered(">", d, theta)
            code.add(total, inside, d)
            code.add(number, inside, code.constant(1.0))
        return code.answer(signature, [code.fold("fadd", total), code.fold("fadd", number)])

    return types.UniTuple(types.float64, 2)(D, types.intp, types.float64), generate


@intrinsic
def settle(typing_context, D, eta, size, theta):  # type: ignore[no-untyped-def]
    """η becomes max(D − θ, 0), and D what η lost."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        code = _Code(context, builder, signature, arguments)
        theta, zero = code.spread(arguments[3]), code.constant(0.0)
        with code.tiles(arguments[2]) as at:
            rest = builder.fsub(code.load(0, at), theta)
            new = builder.select(builder.fcmp_ordered(">", rest, zero), rest, zero)
            builder.store(builder.fsub(code.load(1, at), new), code.vector(0, at), align=8)
            builder.store(new, code.vector(1, at), align=8)
        return context.get_dummy_value()

    return types.void(D, eta, types.intp, types.float64), generate


@intrinsic
def prefetch(typing_context, values, at):  # type: ignore[no-untyped-def]
    """Bring a cache line near: the one that values[at] is on."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        code = _Code(context, builder, signature, arguments)
        line = builder.bitcast(code.entry(0, arguments[1]), ir.IntType(8).as_pointer())
        small = ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [line.type, small, small, small])
        function = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0i8")
        builder.call(function, [line, *(ir.Constant(small, number) for number in (0, 3, 1))])
        return context.get_dummy_value()

    return types.void(values, types.intp), generate
