"""An ONNX graph that grows node by node: operators are called as functions of names and NumPy arrays."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from onnx import TensorProto, numpy_helper
from scipy import sparse

# Operators of these versions are in onnxruntime 1.14 and later; skl2onnx writes no newer ones of the second domain.
OPSETS = {"": 18, "ai.onnx.ml": 3, "com.microsoft": 1}
TREES, TOKENS = "ai.onnx.ml", "com.microsoft"
DOUBLE, FLOAT, INT64, BOOL = TensorProto.DOUBLE, TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL

Value = str | float | NDArray[Any]


class Features(NamedTuple):
    """Neighbouring columns of a table: the name of a matrix (n, width), and what is in it; dates are whole numbers."""

    name: str
    width: int
    kind: Literal["number", "text", "date"] = "number"


class Graph:
    """The nodes that a converter of skl2onnx adds; everything is computed in double precision.

    A value is the name of an output of another node, or a number or an array, which becomes a constant.
    """

    def __init__(self, scope: Any, container: Any) -> None:
        self.scope = scope
        self.container = container

    def __call__(self, operator: str, *values: Value, domain: str = "", **attributes: Any) -> str:
        """Add a node with one output, and return the name of this output."""
        name: str = self.scope.get_unique_variable_name(operator.lower())
        self._add(operator, values, [name], domain, attributes)
        return name

    def named(self, name: str, value: Value) -> None:
        """Let the value be an output of the converter."""
        self._add("Identity", (value,), [name], "", {})

    def _add(
        self, operator: str, values: tuple[Value, ...], names: list[str], domain: str, attributes: dict[str, Any]
    ) -> None:
        inputs = [value if isinstance(value, str) else self.constant(value) for value in values]
        self.container.add_node(
            operator,
            inputs,
            names,
            op_domain=domain,
            op_version=OPSETS[domain],
            name=self.scope.get_unique_operator_name(operator),
            **attributes,
        )

    def constant(self, value: float | NDArray[Any]) -> str:
        """Return the name of a constant."""
        name: str = self.scope.get_unique_variable_name("constant")
        array = np.asarray(value)
        if array.dtype.kind in "OU":
            texts = [str(one).encode() for one in array.ravel()]
            self.container.add_initializer(name, TensorProto.STRING, list(array.shape), texts)
        else:
            tensor = numpy_helper.from_array(np.ascontiguousarray(array).reshape(array.shape), name)
            self.container.add_initializer(name, tensor.data_type, list(array.shape), tensor)
        return name

    def cast(self, value: Value, to: int = DOUBLE) -> str:
        """Return the value in another type."""
        return self("Cast", value, to=to)

    def largest(self, value: Value, axis: int = 1) -> str:
        """Return the maxima along an axis, which stays as one of length 1."""
        return self("ReduceMax", value, np.array([axis]), keepdims=1)

    def smallest(self, value: Value, count: int) -> tuple[str, str]:
        """Return the smallest values (n, count) of each row, the smallest first, and their places."""
        names = [self.scope.get_unique_variable_name(name) for name in ("smallest", "place")]
        self._add("TopK", (value, np.array([count])), names, "", {"axis": 1, "largest": 0, "sorted": 1})
        return names[0], names[1]

    def total(self, value: Value, axis: int = 1, keep: bool = False) -> str:
        """Return the sums along an axis."""
        return self("ReduceSum", value, np.array([axis]), keepdims=int(keep))

    def columns(self, value: Value, which: NDArray[Any]) -> str:
        """Return some columns of a matrix."""
        return self("Gather", value, np.asarray(which, dtype=np.int64), axis=1)

    def square(self, value: Value) -> str:
        """Return the squares."""
        return self("Mul", value, value)

    def softplus(self, value: Value) -> str:
        """Return log(1 + e^z), without overflow."""
        tail = self("Log", self("Add", self("Exp", self("Neg", self("Abs", value))), 1.0))
        return self("Add", self("Max", value, 0.0), tail)

    def is_place(self, place: Value, length: int) -> str:
        """Return (n, length) whether a column is the one whose number (n,) is given."""
        return self("Equal", self("Unsqueeze", place, np.array([1])), np.arange(length))

    def for_each_row(self, X: Value, row: NDArray[Any]) -> str:
        """Return (n, len(row)): a row of constants for each row of X."""
        shape = self("Concat", self("Shape", X, start=0, end=1), np.array([len(row)]), axis=0)
        return self("Expand", row[None, :], shape)


def dense(matrix: Any) -> NDArray[np.float64]:
    """Return a matrix that may be sparse as an array, for a constant."""
    return np.asarray(matrix.toarray() if sparse.issparse(matrix) else matrix, dtype=np.float64)
