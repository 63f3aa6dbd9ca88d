"""Passes over classes in vector lanes: as loops of numba's own they take twice as long.

Arrays are flat and `size` a whole number of lanes; no value is NaN.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.extending import intrinsic

from outputcodes._ground.lanes import INT, LANES, Instructions


class _Rows(Instructions):
    """Instructions on rows of features: (values, features, start, stop, shift, M, width, at, lanes)."""

    def feature(self, s: Any) -> tuple[Any, Any]:
        """Return the value at place s in all lanes, and where its row of M starts, M having `width` columns."""
        builder = self.builder
        shift, width = self.arguments[4], self.arguments[6]
        number = builder.load(self.entry(1, builder.sub(s, shift)))
        number = number if number.type == INT else builder.sext(number, INT)
        return self.spread(builder.load(self.entry(0, s))), builder.mul(number, width)


def _row_signature(values: Any, features: Any, M: Any, lanes: Any) -> Any:
    place = types.intp
    return types.void(values, features, place, place, place, M, place, place, lanes)


@intrinsic
def add_scores(typing_context, values, features, start, stop, shift, M, width, at, F):  # type: ignore[no-untyped-def]
    """F[at : at + LANES] += Σ_s values[s] · M[feature of s, at : at + LANES], s from start to stop; M flat."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        code, at = _Rows(context, builder, signature, arguments), arguments[7]
        total = code.register(code.load(8, at))
        with code.loop(arguments[2], arguments[3], 1) as s:
            x, row = code.feature(s)
            w = code.load(5, builder.add(row, at))
            builder.store(code.fused(x, w, builder.load(total)), total)
        code.store(builder.load(total), 8, at)
        return code.nothing()

    return _row_signature(values, features, M, F), generate


@intrinsic
def add_row(typing_context, values, features, start, stop, shift, M, width, at, step):  # type: ignore[no-untyped-def]
    """M[feature of s, at : at + LANES] += values[s] · step[at : at + LANES], s from start to stop; M flat."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        code, at = _Rows(context, builder, signature, arguments), arguments[7]
        step = code.load(8, at)
        with code.loop(arguments[2], arguments[3], 1) as s:
            x, row = code.feature(s)
            place = builder.add(row, at)
            code.store(code.fused(x, step, code.load(5, place)), 5, place)
        return code.nothing()

    return _row_signature(values, features, M, step), generate


@intrinsic
def extremes(typing_context, F, eta, size, near):  # type: ignore[no-untyped-def]
    """Return the largest F where η ≤ near; where η > near the largest, the smallest, their sum and their number."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        code = Instructions(context, builder, signature, arguments)
        near, low, high = code.spread(arguments[3]), code.constant(-1e300), code.constant(1e300)
        zero, one = code.constant(0.0), code.constant(1.0)
        outside, most, least, total, number = map(code.register, (low, low, high, zero, zero))
        with code.loop(ir.Constant(INT, 0), arguments[2], LANES) as at:
            f = code.load(0, at)
            inside = builder.fcmp_ordered(">", code.load(1, at), near)
            code.keep(outside, ">", builder.select(inside, low, f))
            code.keep(most, ">", builder.select(inside, f, low))
            code.keep(least, "<", builder.select(inside, f, high))
            code.add(total, inside, f)
            code.add(number, inside, one)
        folds = (("fmax", outside), ("fmax", most), ("fmin", least), ("fadd", total), ("fadd", number))
        return code.numbers([code.fold(name, gathered) for name, gathered in folds])

    return types.UniTuple(types.float64, 5)(F, eta, types.intp, types.float64), generate


@intrinsic
def spread_out(typing_context, F, eta, D, size, most, inverse):  # type: ignore[no-untyped-def]
    """D = (F − most) · inverse + η."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        code = Instructions(context, builder, signature, arguments)
        most, inverse = code.spread(arguments[4]), code.spread(arguments[5])
        with code.loop(ir.Constant(INT, 0), arguments[3], LANES) as at:
            code.store(code.fused(builder.fsub(code.load(0, at), most), inverse, code.load(1, at)), 2, at)
        return code.nothing()

    return types.void(F, eta, D, types.intp, types.float64, types.float64), generate


@intrinsic
def above(typing_context, D, size, theta):  # type: ignore[no-untyped-def]
    """Return the sum of D where D > θ, and the number of these."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        code = Instructions(context, builder, signature, arguments)
        theta, zero, one = code.spread(arguments[2]), code.constant(0.0), code.constant(1.0)
        total, number = code.register(zero), code.register(zero)
        with code.loop(ir.Constant(INT, 0), arguments[1], LANES) as at:
            d = code.load(0, at)
            inside = builder.fcmp_ordered(">", d, theta)
            code.add(total, inside, d)
            code.add(number, inside, one)
        return code.numbers([code.fold("fadd", total), code.fold("fadd", number)])

    return types.UniTuple(types.float64, 2)(D, types.intp, types.float64), generate


@intrinsic
def settle(typing_context, D, eta, size, theta):  # type: ignore[no-untyped-def]
    """η becomes max(D − θ, 0), and D what η lost."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        code = Instructions(context, builder, signature, arguments)
        theta, zero = code.spread(arguments[3]), code.constant(0.0)
        with code.loop(ir.Constant(INT, 0), arguments[2], LANES) as at:
            rest = builder.fsub(code.load(0, at), theta)
            new = builder.select(builder.fcmp_ordered(">", rest, zero), rest, zero)
            code.store(builder.fsub(code.load(1, at), new), 0, at)
            code.store(new, 1, at)
        return code.nothing()

    return types.void(D, eta, types.intp, types.float64), generate


@intrinsic
def prefetch(typing_context, values, at):  # type: ignore[no-untyped-def]
    """Bring the cache line of values[at] near."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        code = Instructions(context, builder, signature, arguments)
        line = builder.bitcast(code.entry(0, arguments[1]), ir.IntType(8).as_pointer())
        hints = [ir.Constant(ir.IntType(32), number) for number in (0, 3, 1)]
        code.call("llvm.prefetch.p0i8", ir.VoidType(), [line, *hints])
        return code.nothing()

    return types.void(values, types.intp), generate
