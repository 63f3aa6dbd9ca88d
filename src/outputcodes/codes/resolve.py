"""How a name, an object, a matrix or a mapping becomes a code."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from outputcodes._ground.validation import unknown_name
from outputcodes.codes.base import Code
from outputcodes.codes.given import Given, rows_by_label

# Filled by `names`, a separate file because some of the codes there accept the name of another code.
CODES: dict[str, Callable[[], Code]] = {}


def as_code(code: Any) -> Code:
    """Resolve a name, a `Code` or a matrix to a code.

    >>> as_code("one-vs-all")
    OneVsAll()
    >>> as_code([[1, -1], [-1, 1], [-1, -1]]).draw(3).shape
    (3, 2)
    """
    if isinstance(code, str):
        if code in CODES:
            return CODES[code]()
        raise unknown_name("code", code, CODES)
    if isinstance(code, Code):
        return code
    if not isinstance(code, list | tuple) and np.ndim(code) == 0:
        raise ValueError(
            f"code={code!r} must be a name ({', '.join(CODES)}), an instance such as Dense(), "
            "or a matrix over {-1, 0, +1}; a classifier also accepts a mapping {label: row}."
        )
    return Given(code)


def code_for(code: Any, present: NDArray[Any], order: NDArray[Any] | None = None) -> tuple[NDArray[Any], Code]:
    """Return the sorted classes and the code with their rows; a mapping may have more classes than are present.

    `order` are the labels, perhaps more than are present, in the order that y declares: that of an `ordered` code.

    >>> classes, code = code_for({"dog": [-1, 1], "cat": [1, -1], "cow": [1, 1]}, np.array(["cat", "dog"]))
    >>> classes.tolist(), code.draw(3).matrix().tolist()
    (['cat', 'cow', 'dog'], [[1, -1], [1, 1], [-1, 1]])
    >>> _, code = code_for("ordinal", np.array(["high", "low", "mid"]), np.array(["low", "mid", "high"]))
    >>> code.draw(3).matrix().tolist()
    [[1, 1], [-1, -1], [1, -1]]
    """
    rows = rows_by_label(code)
    if rows is None:
        resolved = as_code(code)
        if isinstance(code, str):
            resolved.warn_if_named(len(present))
        if order is None or not resolved.ordered:
            return present, resolved
        places = {label: place for place, label in enumerate(order.tolist())}
        ranks = np.argsort(np.argsort([places[label] for label in present.tolist()]))
        return present, Given(resolved.draw(len(present)).matrix()[ranks])
    classes = np.unique(list(rows))
    if (unknown := np.setdiff1d(present, classes)).size:
        raise ValueError(
            f"code has no row for the classes {unknown[:5].tolist()}; its labels are {classes[:5].tolist()}."
        )
    return classes, Given([rows[label] for label in classes.tolist()])
