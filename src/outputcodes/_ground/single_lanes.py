"""A vector of sixteen float32 as a type of numba's: the columns of a node that compiled code updates at once.

As `lanes` has eight float64. Every lane has its own column, and lanes are never added to each other: results don't
depend on the width of the processor's registers. No lane may be NaN.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.extending import intrinsic, models, overload, register_model
from numpy.typing import NDArray

# One cache line, and one register of AVX-512; narrower processors take two or four instructions.
LANES = 16

_VECTOR, _INT = ir.VectorType(ir.FloatType(), LANES), ir.IntType(32)


def aligned_zeros(size: int) -> NDArray[np.float32]:
    """Return flat zeros that begin at a cache line."""
    longer = np.zeros(size + LANES, dtype=np.float32)
    first = -(longer.ctypes.data // 4) % LANES
    return longer[first : first + size]


def padded(width: int) -> int:
    """Return the next multiple of `LANES`.

    >>> padded(1), padded(16), padded(17)
    (16, 16, 32)
    """
    return -(-width // LANES) * LANES


class _SingleLanes(types.Type):
    """The type of `LANES` numbers."""

    def __init__(self) -> None:
        super().__init__(name="SingleLanes")


_lanes = _SingleLanes()


@register_model(_SingleLanes)
class _SingleLanesModel(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, _VECTOR)


def _address(context: Any, builder: Any, kind: Any, array: Any, at: Any) -> Any:
    entry = builder.gep(context.make_array(kind)(context, builder, array).data, [at])
    return builder.bitcast(entry, _VECTOR.as_pointer())


@intrinsic
def load(typing_context, array, at):  # type: ignore[no-untyped-def]
    """Return array[at : at + LANES] of a flat array."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.load(_address(context, builder, signature.args[0], *arguments), align=4)

    return _lanes(array, types.intp), generate


@intrinsic
def store(typing_context, array, at, values):  # type: ignore[no-untyped-def]
    """Write array[at : at + LANES] of a flat array."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        builder.store(arguments[2], _address(context, builder, signature.args[0], *arguments[:2]), align=4)
        return context.get_dummy_value()

    return types.void(array, types.intp, values), generate


@intrinsic
def spread(typing_context, number):  # type: ignore[no-untyped-def]
    """Return the same number in all lanes."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        one = builder.insert_element(ir.Constant(_VECTOR, ir.Undefined), arguments[0], ir.Constant(_INT, 0))
        return builder.shuffle_vector(one, one, ir.Constant(ir.VectorType(_INT, LANES), [0] * LANES))

    return _lanes(types.float32), generate


@intrinsic
def where_greater(typing_context, a, b, x, y):  # type: ignore[no-untyped-def]
    """Return x in the lanes where a > b, and y in the others."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.select(builder.fcmp_ordered(">", *arguments[:2]), *arguments[2:])

    return _lanes(a, b, x, y), generate


@intrinsic
def any_greater(typing_context, a, b):  # type: ignore[no-untyped-def]
    """Return whether a > b in any lane."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        greater = builder.fcmp_ordered(">", *arguments)
        mask = builder.bitcast(greater, ir.IntType(LANES))
        return builder.icmp_unsigned("!=", mask, ir.Constant(ir.IntType(LANES), 0))

    return types.boolean(a, b), generate


def _operator(sign: Callable[[Any, Any], Any], instruction: str) -> None:
    """Let an operator of Python's stand for an instruction; a product and a sum may become one."""

    @intrinsic
    def combine(typing_context, a, b):  # type: ignore[no-untyped-def]
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            return getattr(builder, instruction)(*arguments, flags=("contract",))

        return _lanes(a, b), generate

    @overload(sign)
    def _(a, b):  # type: ignore[no-untyped-def]
        return (lambda a, b: combine(a, b)) if a is b is _lanes else None


_operator(operator.add, "fadd")
_operator(operator.sub, "fsub")
_operator(operator.mul, "fmul")
