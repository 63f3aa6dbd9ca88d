"""The codes of Tables 2 and 3, the sparse ones by the paper's rule or by ours."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from outputcodes.codes import Sparse, as_code

# The paper's: no row and no column of zeros alone. Ours: both signs in every column, and any two rows opposed in one.
SparseRule = Literal["published", "strict"]

# A line of a protocol.
SPARSE_RULE = """\
- Sparse codes are drawn as the paper says: no row or column is all zeros, so some columns may have one sign only and
  always return it. (`sparse_rule="strict"`, the default of the library, demands both signs in every column and a column
  that opposes any two rows.)"""


def drawn(code: str, k: int, rule: SparseRule, seed: int) -> NDArray[np.int8]:
    """Return the matrix of a code; the best of 10,000 draws where it is random."""
    kind = Sparse(rule=rule) if code == "sparse" else as_code(code)
    matrix: NDArray[np.int8] = kind.draw(k, random_state=seed).matrix()
    return matrix
