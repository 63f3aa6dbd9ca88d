"""Kernels between rows and constant anchors as ONNX operators."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from outputcodes._ground.sizes import LARGEST_FEATURE
from outputcodes._kernel_machines.kernel_function import Kernel, squared_norms
from outputcodes.app.export.errors import refuse
from outputcodes.app.export.graph import Graph, Value, dense


def expanded(g: Graph, X: Value, kernel: Kernel, anchors: Any, beta: NDArray[np.float64]) -> str:
    """Return the kernel expansions Σ_i β_ij K(x_i, x) of new rows, (n, L); features beyond ±1e100 count as ±1e100."""
    if kernel.name != "precomputed":
        X = g("Clip", X, -LARGEST_FEATURE, LARGEST_FEATURE)
    if kernel.centre is not None:
        X = g("Sub", X, kernel.centre)
    return g("MatMul", kernel_values(g, kernel, X, anchors), beta)


def kernel_values(g: Graph, kernel: Kernel, X: Value, anchors: Any) -> str:
    """Return (n, S) kernel values of rows in the form of `Kernel.features`, as `Kernel.block` computes them."""
    if kernel.name == "precomputed":
        return g.columns(X, anchors)
    if not isinstance(kernel.name, str):
        raise refuse(f"The kernel {kernel.name!r}", "is a function of your own", "rbf, poly, linear or sigmoid")
    points = dense(anchors)
    if kernel.name == "rbf":
        products = g("MatMul", X, -2.0 * points.T)
        squares = g.total(g.square(X), keep=True)
        distances = g("Add", g("Add", products, squares), squared_norms(points))
        return g("Exp", g("Mul", g("Max", distances, 0.0), -float(kernel.gamma)))
    if kernel.name == "linear":
        return g("MatMul", X, points.T)
    # γ is part of the anchors: onnxruntime would fuse a factor with the product, in single precision.
    inner = g("Add", g("MatMul", X, kernel.gamma * points.T), float(kernel.coef0))
    return g("Tanh", inner) if kernel.name == "sigmoid" else _power(g, inner, float(kernel.degree))


def _power(g: Graph, value: str, degree: float) -> str:
    """Return powers: by squaring where the degree is a whole number, otherwise of positive numbers only."""
    if degree != int(degree) or degree < 1:
        return g("Exp", g("Mul", g("Log", value), degree))
    result = value
    for bit in f"{int(degree):b}"[1:]:
        result = g.square(result)
        if bit == "1":
            result = g("Mul", result, value)
    return result
