"""Eight float64 added or scaled in one instruction: a loop of known length becomes scalar code, half as fast."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.extending import intrinsic
from numpy.typing import NDArray

# One cache line, and one register of AVX-512; narrower processors take two or four instructions.
LANES = 8


def aligned_zeros(*shape: int) -> NDArray[np.float64]:
    """Zeros whose rows of `LANES` are whole cache lines: an eighth to a quarter less time for each addition."""
    size = math.prod(shape)
    longer = np.zeros(size + LANES)
    first = -(longer.ctypes.data // 8) % LANES
    return longer[first : first + size].reshape(shape)


def _lanes_at(context: Any, builder: Any, array_type: Any, array: Any, offset: Any) -> Any:
    """A pointer to eight entries of a flat array, as one vector."""
    data = context.make_array(array_type)(context, builder, array).data
    return builder.bitcast(builder.gep(data, [offset]), ir.VectorType(ir.DoubleType(), LANES).as_pointer())


@intrinsic
def sum_lanes(typing_context: Any, sums: Any, at: Any, a: Any, i: Any, b: Any, j: Any) -> Any:
    """sums[at : at + LANES] = a[i : i + LANES] + b[j : j + LANES]."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        place, *terms = (
            _lanes_at(context, builder, signature.args[q], arguments[q], arguments[q + 1]) for q in (0, 2, 4)
        )
        builder.store(builder.fadd(*(builder.load(term, align=8) for term in terms)), place, align=8)
        return context.get_dummy_value()

    return types.void(sums, types.intp, a, types.intp, b, types.intp), generate


@intrinsic
def add_lanes_by_sign(typing_context: Any, sums: Any, at: Any, values: Any, i: Any) -> Any:
    """sums[at : at + LANES] += max(v, 0), and the LANES after them += max(-v, 0), for v = values[i : i + LANES]."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        v = builder.load(_lanes_at(context, builder, signature.args[2], arguments[2], arguments[3]), align=8)
        zero = ir.Constant(v.type, [0.0] * LANES)
        plus = builder.select(builder.fcmp_ordered(">", v, zero), v, zero)
        for value, shift in ((plus, 0), (builder.fsub(plus, v), LANES)):
            offset = builder.add(arguments[1], ir.Constant(arguments[1].type, shift))
            place = _lanes_at(context, builder, signature.args[0], arguments[0], offset)
            builder.store(builder.fadd(builder.load(place, align=8), value), place, align=8)
        return context.get_dummy_value()

    return types.void(sums, types.intp, values, types.intp), generate


@intrinsic
def scale_lanes_by_sign(typing_context: Any, values: Any, i: Any, factors: Any, j: Any) -> Any:
    """v = values[i : i + LANES] *= factors[j : j + LANES] where v >= 0, the LANES factors after them where v < 0."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        place = _lanes_at(context, builder, signature.args[0], arguments[0], arguments[1])
        v = builder.load(place, align=8)
        plus, minus = (
            builder.load(
                _lanes_at(
                    context,
                    builder,
                    signature.args[2],
                    arguments[2],
                    builder.add(arguments[3], ir.Constant(arguments[3].type, shift)),
                ),
                align=8,
            )
            for shift in (0, LANES)
        )
        negative = builder.fcmp_ordered("<", v, ir.Constant(v.type, [0.0] * LANES))
        builder.store(builder.fmul(v, builder.select(negative, minus, plus)), place, align=8)
        return context.get_dummy_value()

    return types.void(values, types.intp, factors, types.intp), generate
