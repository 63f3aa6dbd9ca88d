"""The error of models that have no ONNX form."""

from __future__ import annotations

from typing import Any


class NotExportableError(ValueError):
    """A model, or a part of it, has no ONNX form; the message names the part, why, and what to use instead."""


def refuse(part: Any, why: str, instead: str = "") -> NotExportableError:
    """Return the error for a part of a model: an object, a class or the name of either.

    >>> refuse(3.5, "is no model", "fit one")
    NotExportableError('float cannot be exported to ONNX: it is no model. Instead: fit one.')
    """
    name = part if isinstance(part, str) else (part if isinstance(part, type) else type(part)).__name__
    remedy = f" Instead: {instead}." if instead else ""
    return NotExportableError(f"{name} cannot be exported to ONNX: it {why}.{remedy}")
