"""Pictures of a matrix without a plotting library: signs for a terminal, SVG for a notebook."""

import numpy as np
from numpy.typing import NDArray

from outputcodes.codes.base import Matrix

# Mid-tones that are visible on white and on black backgrounds; 0 is left empty.
PLUS_COLOUR, MINUS_COLOUR = "#e07b39", "#4a7fb5"


def as_signs(M: Matrix, max_rows: int = 26, max_columns: int = 72) -> str:
    """Return rows of +, - and ·, truncated if the matrix is large.

    >>> print(as_signs(np.array([[1, 0, -1], [-1, 1, 0]], dtype=np.int8)))
    + · -
    - + ·
    """
    k, L = M.shape
    gap = " " if max_columns >= 2 * L - 1 else ""
    signs = np.array(["·", "+", "-"])[M[:max_rows, :max_columns]]  # index -1 is the last
    lines = [gap.join(row) + (" …" if max_columns < L else "") for row in signs]
    if max_rows < k:
        lines.append(f"… {k - max_rows} more rows")
    return "\n".join(lines)


def as_svg(M: Matrix, max_rows: int = 64, max_columns: int = 256) -> str:
    """Return the matrix as an SVG element: orange +1, blue -1, empty 0, truncated if the matrix is large.

    >>> as_svg(np.array([[1], [-1]], dtype=np.int8))[:4]
    '<svg'
    """
    k, L = M.shape
    shown = M[:max_rows, :max_columns]
    height, width = shown.shape
    cell = max(4, min(14, 720 // width))
    paths = "".join(
        f'<path fill="{colour}" d="{_runs(shown == sign)}"/>' for sign, colour in ((1, PLUS_COLOUR), (-1, MINUS_COLOUR))
    )
    frame = f'<rect width="{width}" height="{height}" fill="none" stroke="currentColor" stroke-width="0.1"/>'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" width="{width * cell}" height="{height * cell}" '
        f'viewBox="-0.1 -0.1 {width + 0.2} {height + 0.2}" shape-rendering="crispEdges">'
        f"<title>code matrix, {k} rows × {L} columns</title>{paths}{frame}</svg>"
    )


def _runs(cells: NDArray[np.bool_]) -> str:
    """Return an SVG path of rectangles, one per horizontal run of marked cells: far shorter than one per cell."""
    edges = np.diff(np.pad(cells.astype(np.int8), ((0, 0), (1, 1))), axis=1)
    (rows, starts), (_, ends) = np.nonzero(edges == 1), np.nonzero(edges == -1)
    return "".join(
        f"M{start} {row}h{end - start}v1h{start - end}z" for row, start, end in zip(rows, starts, ends, strict=True)
    )
