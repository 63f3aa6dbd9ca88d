"""The names of the codes, and how a name, an object or a matrix becomes one."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from outputcodes._validation import unknown_name
from outputcodes.codes.algebraic import BCH, Hadamard
from outputcodes.codes.base import Code
from outputcodes.codes.designed import Designed
from outputcodes.codes.elementary import AllPairs, Complete, OneVsAll, Ordinal, TernaryComplete
from outputcodes.codes.given import Given, rows_by_label
from outputcodes.codes.sampled import Dense, Sparse
from outputcodes.codes.trees import DiscriminantTree, Forest

# Codes built on another code look its name up here, so the table's `ecoc-one` is entered where they are imported.
CODES: dict[str, Callable[[], Code]] = {
    "one-vs-all": OneVsAll,
    "all-pairs": AllPairs,
    "complete": Complete,
    "ternary-complete": TernaryComplete,
    "dense": Dense,
    "sparse": Sparse,
    "ordinal": Ordinal,
    "hadamard": Hadamard,
    "bch": BCH,
    "designed": Designed,
    "decoc": DiscriminantTree,
    "forest": Forest,
}


def as_code(code: Any) -> Any:
    """Return the code meant by a name, an object with `matrix`, or a matrix.

    >>> as_code("one-vs-all")
    OneVsAll()
    >>> as_code([[1, -1], [-1, 1], [-1, -1]]).matrix(3).shape
    (3, 2)
    """
    if isinstance(code, str):
        if code in CODES:
            return CODES[code]()
        raise unknown_name("code", code, CODES)
    if hasattr(code, "matrix") and not isinstance(code, type):
        return code
    if np.ndim(code) == 0:
        raise ValueError(
            f"code={code!r} must be a name ({', '.join(CODES)}), an instance such as Dense(), "
            "a matrix over {-1, 0, +1} or a mapping {label: row}."
        )
    return Given(code)


def code_for(code: Any, present: NDArray[Any]) -> tuple[NDArray[Any], Any]:
    """Return the classes in sorted order and the code whose rows they pick; a mapping may know more than are present.

    >>> classes, code = code_for({"dog": [-1, 1], "cat": [1, -1], "cow": [1, 1]}, np.array(["cat", "dog"]))
    >>> classes.tolist(), code.matrix(3).tolist()
    (['cat', 'cow', 'dog'], [[1, -1], [1, 1], [-1, 1]])
    """
    rows = rows_by_label(code)
    if rows is None:
        return present, as_code(code)
    classes = np.unique(list(rows))
    if (unknown := np.setdiff1d(present, classes)).size:
        raise ValueError(
            f"code has no row for the classes {unknown[:5].tolist()} of y; its labels are {classes[:5].tolist()}."
        )
    return classes, Given([rows[label] for label in classes.tolist()])
