"""Eight float64 in one instruction: loops of known length over them become scalar code, half as fast.

This is the one place that writes LLVM instructions. `Instructions` has what the intrinsics need, on vectors of `LANES`
numbers in flat arrays; those of the solvers of multiclass SVMs are beside them.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.extending import intrinsic
from numpy.typing import NDArray

# One cache line, and one register of AVX-512; narrower processors take two or four instructions.
LANES = 8
VECTOR = ir.VectorType(ir.DoubleType(), LANES)
INT = ir.IntType(64)


def aligned_zeros(*shape: int) -> NDArray[np.float64]:
    """Return zeros whose rows of `LANES` are whole cache lines: an eighth to a quarter less time per addition."""
    size = math.prod(shape)
    longer = np.zeros(size + LANES)
    first = -(longer.ctypes.data // 8) % LANES
    return longer[first : first + size].reshape(shape)


class Instructions:
    """The instructions of one intrinsic; arrays and scalars are numbered by the order of its arguments."""

    def __init__(self, context: Any, builder: Any, signature: Any, arguments: Any) -> None:
        self.context, self.builder, self.signature, self.arguments = context, builder, signature, arguments

    def entry(self, which: int, at: Any) -> Any:
        """Return the address of an entry of a flat array."""
        array = self.context.make_array(self.signature.args[which])(self.context, self.builder, self.arguments[which])
        return self.builder.gep(array.data, [at])

    def vector(self, which: int, at: Any) -> Any:
        """Return the address of the `LANES` entries of a flat array from `at` on."""
        return self.builder.bitcast(self.entry(which, at), VECTOR.as_pointer())

    def load(self, which: int, at: Any) -> Any:
        """Return `LANES` entries of a flat array."""
        return self.builder.load(self.vector(which, at), align=8)

    def store(self, values: Any, which: int, at: Any) -> None:
        """Write `LANES` entries of a flat array."""
        self.builder.store(values, self.vector(which, at), align=8)

    def after(self, at: Any, count: int) -> Any:
        """Return the place `count` entries further on."""
        return self.builder.add(at, ir.Constant(at.type, count))

    def constant(self, number: float) -> Any:
        """Return a constant in all lanes."""
        return ir.Constant(VECTOR, [number] * LANES)

    def spread(self, scalar: Any) -> Any:
        """Return the same number in all lanes."""
        one = self.builder.insert_element(ir.Constant(VECTOR, ir.Undefined), scalar, ir.Constant(ir.IntType(32), 0))
        return self.builder.shuffle_vector(one, one, ir.Constant(ir.VectorType(ir.IntType(32), LANES), [0] * LANES))

    def fused(self, x: Any, y: Any, z: Any) -> Any:
        """Return x·y + z."""
        return self.call(f"llvm.fmuladd.v{LANES}f64", VECTOR, [x, y, z])

    def call(self, name: str, result: Any, arguments: list[Any], fastmath: tuple[str, ...] = ()) -> Any:
        """Call one of LLVM's own functions."""
        module = self.builder.module
        kind = ir.FunctionType(result, [argument.type for argument in arguments])
        function = module.globals.get(name) or ir.Function(module, kind, name)
        return self.builder.call(function, arguments, fastmath=fastmath)

    @contextmanager
    def loop(self, start: Any, stop: Any, step: int) -> Iterator[Any]:
        """Repeat what is written inside for start, start + step, … below stop; yields the current number."""
        builder = self.builder
        test, body, end = (builder.append_basic_block(name) for name in ("test", "body", "end"))
        before = builder.block
        builder.branch(test)
        builder.position_at_end(test)
        at = builder.phi(INT)
        at.add_incoming(start, before)
        builder.cbranch(builder.icmp_signed("<", at, stop), body, end)
        builder.position_at_end(body)
        yield at
        at.add_incoming(self.after(at, step), builder.block)
        builder.branch(test)
        builder.position_at_end(end)

    def register(self, first: Any) -> Any:
        """Return a register for what a loop gathers, with its first value."""
        with self.builder.goto_entry_block():
            place = self.builder.alloca(first.type)
        self.builder.store(first, place)
        return place

    def keep(self, register: Any, sign: str, values: Any) -> None:
        """Keep the larger (>) or smaller (<) of what is in a register and what comes, lane by lane."""
        old = self.builder.load(register)
        better = self.builder.fcmp_ordered(sign, values, old)
        self.builder.store(self.builder.select(better, values, old), register)

    def add(self, register: Any, where: Any, values: Any) -> None:
        """Add values to a register in some lanes."""
        added = self.builder.fadd(self.builder.load(register), self.builder.select(where, values, self.constant(0.0)))
        self.builder.store(added, register)

    def fold(self, name: str, register: Any) -> Any:
        """Return all lanes of a register as one number."""
        arguments = [self.builder.load(register)]
        if name == "fadd":
            arguments.insert(0, ir.Constant(ir.DoubleType(), 0.0))
        return self.call(f"llvm.vector.reduce.{name}.v{LANES}f64", ir.DoubleType(), arguments, ("reassoc",))

    def numbers(self, values: list[Any]) -> Any:
        """Return a tuple from the intrinsic."""
        return self.context.make_tuple(self.builder, self.signature.return_type, values)

    def nothing(self) -> Any:
        """Return nothing from the intrinsic."""
        return self.context.get_dummy_value()


@intrinsic
def sum_lanes(typing_context: Any, sums: Any, at: Any, a: Any, i: Any, b: Any, j: Any) -> Any:
    """sums[at : at + LANES] = a[i : i + LANES] + b[j : j + LANES]."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        code = Instructions(context, builder, signature, arguments)
        code.store(builder.fadd(code.load(2, arguments[3]), code.load(4, arguments[5])), 0, arguments[1])
        return code.nothing()

    return types.void(sums, types.intp, a, types.intp, b, types.intp), generate


@intrinsic
def add_lanes_by_sign(typing_context: Any, sums: Any, at: Any, values: Any, i: Any) -> Any:
    """sums[at : at + LANES] += max(v, 0), and the LANES after them += max(-v, 0), for v = values[i : i + LANES]."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        code = Instructions(context, builder, signature, arguments)
        v, zero = code.load(2, arguments[3]), code.constant(0.0)
        plus = builder.select(builder.fcmp_ordered(">", v, zero), v, zero)
        for value, shift in ((plus, 0), (builder.fsub(plus, v), LANES)):
            place = code.after(arguments[1], shift)
            code.store(builder.fadd(code.load(0, place), value), 0, place)
        return code.nothing()

    return types.void(sums, types.intp, values, types.intp), generate


@intrinsic
def scale_lanes_by_sign(typing_context: Any, values: Any, i: Any, factors: Any, j: Any) -> Any:
    """v = values[i : i + LANES] *= factors[j : j + LANES] where v >= 0, the LANES factors after them where v < 0."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        code = Instructions(context, builder, signature, arguments)
        v = code.load(0, arguments[1])
        plus, minus = code.load(2, arguments[3]), code.load(2, code.after(arguments[3], LANES))
        negative = builder.fcmp_ordered("<", v, code.constant(0.0))
        code.store(builder.fmul(v, builder.select(negative, minus, plus)), 0, arguments[1])
        return code.nothing()

    return types.void(values, types.intp, factors, types.intp), generate
