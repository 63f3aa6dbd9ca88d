"""Values that travel between processes: how many bytes they take, and how they arrive."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray


def in_few_bytes(value: Any) -> Any:
    """Labels in as few bytes as they need: they travel with their tasks."""
    if not isinstance(value, np.ndarray) or value.dtype.kind != "i" or not value.size:
        return value
    return value.astype(np.result_type(np.min_scalar_type(value.min()), np.min_scalar_type(value.max()), np.int8))


def bytes_sent(state: Any) -> int:
    """Return how many bytes are sent for a state; objects are counted with what they hold."""
    from distributed.protocol.pickle import dumps

    buffers: list[Any] = []
    text = dumps(state, buffer_callback=buffers.append)
    sent: int = len(text) + sum(buffer.raw().nbytes for buffer in buffers)
    return sent


def aligned(value: Any) -> Any:
    """Return a value whose arrays lie at multiples of their items' size: what a worker received may lie anywhere.

    NumPy multiplies such arrays by other means, with other last bits.

    >>> odd = np.frombuffer(bytes(17), dtype=np.float64, offset=1, count=2)
    >>> odd.flags.aligned, aligned((odd,))[0].flags.aligned
    (False, True)
    """
    if isinstance(value, np.ndarray):
        return value if value.flags.aligned else value.copy(order="K")
    if isinstance(value, tuple | list):
        make = getattr(type(value), "_make", type(value))
        return make(map(aligned, value))
    if sp.issparse(value) and value.format == "csr":
        parts = value.data, value.indices, value.indptr
        if all(part.flags.aligned for part in parts):
            return value
        return sp.csr_array(tuple(map(aligned, parts)), shape=value.shape)
    if is_dataclass(value) and not isinstance(value, type):
        own = {field.name: getattr(value, field.name) for field in fields(value)}
        changed = {name: aligned(one) for name, one in own.items()}
        return value if all(changed[name] is own[name] for name in own) else replace(value, **changed)
    return value


def n_bytes(value: Any) -> int:
    """Return the bytes of all arrays in a value; one that several pieces share is counted once.

    >>> shared = np.ones(4)
    >>> n_bytes([(shared, None), (np.ones(2, dtype=np.float32), shared)])
    40
    """
    return sum({id(array): array.nbytes for array in _arrays_in(value)}.values())


def _arrays_in(value: Any) -> Iterator[NDArray[Any]]:
    if isinstance(value, np.ndarray):
        yield value
    elif sp.issparse(value) and value.format == "csr":
        yield from (value.data, value.indices, value.indptr)
    elif is_dataclass(value) and not isinstance(value, type):
        for field in fields(value):
            yield from _arrays_in(getattr(value, field.name))
    elif isinstance(value, tuple | list):
        for part in (*value, getattr(value, "sums", None)):
            yield from _arrays_in(part)
