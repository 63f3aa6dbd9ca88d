"""A report on a code: properties computed on demand, as text for a terminal and as HTML for a notebook."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from html import escape

import numpy as np
from numpy.typing import ArrayLike, NDArray

from outputcodes.codes import faults, properties
from outputcodes.codes._picture import as_signs, as_svg
from outputcodes.codes.base import Matrix, as_entries
from outputcodes.codes.elementary import complete_length, ternary_complete_length


def describe(M: ArrayLike, class_counts: ArrayLike | None = None) -> CodeReport:
    """Describe a code; with class counts or frequencies, also the number of examples per column.

    >>> print(describe([[1, 1, 0], [-1, 0, 1], [0, -1, -1]], class_counts=[50, 30, 20]))
    code of 3 classes × 3 columns
      rho, the smallest distance of two rows   2
      column errors surely corrected           0
      distances between rows                   2 to 2, mean 2
      smallest distance of two columns         1
      repeated columns                         none
      mirrored columns                         none
      columns with one sign only               none
      classes no column separates              none
      share of zeros                           33.3%
      examples per column                      50 to 80, mean 66.67
      share of positive examples               60.0% to 71.4%
    <BLANKLINE>
    + + ·
    - · +
    · - -
    """
    entries = as_entries(M)
    if class_counts is None:
        return CodeReport(entries)
    counts = np.asarray(class_counts, dtype=float)
    if counts.shape != (len(entries),) or not np.isfinite(counts).all() or (counts < 0).any():
        raise ValueError(
            f"class_counts must have one finite number >= 0 for each of the {len(entries)} classes, "
            f"got {class_counts!r}."
        )
    return CodeReport(entries, counts)


@dataclass(frozen=True, eq=False, repr=False)
class CodeReport:
    """The properties of a code, each computed on first access; pairs and indices are numbered from 0.

    >>> report = describe([[1, -1, -1], [-1, 1, -1], [-1, -1, 1]])
    >>> report.k, report.L, report.rho, report.correctable_errors
    (3, 3, 2.0, 0)
    """

    matrix: Matrix
    class_counts: NDArray[np.float64] | None = None

    @property
    def k(self) -> int:
        """The number of classes."""
        return len(self.matrix)

    @property
    def L(self) -> int:
        """The number of columns."""
        return int(self.matrix.shape[1])

    @cached_property
    def rho(self) -> float:
        """The smallest distance between two rows."""
        return properties.min_distance(self.matrix)

    @cached_property
    def correctable_errors(self) -> int:
        """The number of wrong columns that Hamming decoding always corrects."""
        return properties.correctable_errors(self.matrix)

    @cached_property
    def row_distances(self) -> NDArray[np.float64]:
        """The (k, k) distances between rows."""
        return properties.row_distances(self.matrix)

    @cached_property
    def column_distances(self) -> NDArray[np.float64]:
        """The (L, L) distances between columns up to sign; large for long codes."""
        return properties.column_distances(self.matrix)

    @cached_property
    def min_column_distance(self) -> float:
        """The smallest distance between two columns up to sign; inf if there is only one column."""
        return properties.min_column_distance(self.matrix)

    @cached_property
    def repeated_columns(self) -> NDArray[np.intp]:
        """Pairs (a, b): column b equals the earlier column a."""
        return faults.repeated_columns(self.matrix)

    @cached_property
    def mirrored_columns(self) -> NDArray[np.intp]:
        """Pairs (a, b): column b is the negative of the earlier column a."""
        return faults.mirrored_columns(self.matrix)

    @cached_property
    def one_sided_columns(self) -> NDArray[np.intp]:
        """The columns that lack a sign."""
        return faults.one_sided_columns(self.matrix)

    @cached_property
    def unseparated_pairs(self) -> NDArray[np.intp]:
        """Pairs of classes that no column opposes."""
        return faults.unseparated_pairs(self.matrix)

    @property
    def share_of_zeros(self) -> float:
        """The share of entries that are 0."""
        return float((self.matrix == 0).mean())

    @cached_property
    def examples_per_column(self) -> NDArray[np.float64] | None:
        """The number of examples of each column; None without class counts."""
        return None if self.class_counts is None else self.class_counts @ (self.matrix != 0)

    @cached_property
    def positives_per_column(self) -> NDArray[np.float64] | None:
        """The number of positive examples of each column; None without class counts."""
        return None if self.class_counts is None else self.class_counts @ (self.matrix == 1)

    @cached_property
    def known_as(self) -> str | None:
        """'complete' or 'ternary-complete' if the code is one of these up to order and signs."""
        if complete_length(self.k) == self.L and self.share_of_zeros == 0:
            name = "complete"
        elif ternary_complete_length(self.k) == self.L:
            name = "ternary-complete"
        else:
            return None
        # There are only this many columns with both signs that differ up to sign.
        twice = self.repeated_columns.size or self.mirrored_columns.size
        return None if twice or self.one_sided_columns.size else name

    def _title(self) -> str:
        name = f", the {self.known_as} code" if self.known_as else ""
        return f"code of {self.k} classes × {self.L} columns{name}"

    def _lines(self) -> list[tuple[str, str]]:
        lines = [
            ("rho, the smallest distance of two rows", f"{self.rho:g}"),
            ("column errors surely corrected", f"{self.correctable_errors}"),
            ("distances between rows", _range(*properties.row_distance_range(self.matrix))),
            ("smallest distance of two columns", f"{self.min_column_distance:g}" if self.L > 1 else "–"),
            ("repeated columns", _some(self.repeated_columns)),
            ("mirrored columns", _some(self.mirrored_columns)),
            ("columns with one sign only", _some(self.one_sided_columns)),
            ("classes no column separates", _some(self.unseparated_pairs)),
            ("share of zeros", f"{self.share_of_zeros:.1%}"),
        ]
        examples, positives = self.examples_per_column, self.positives_per_column
        if examples is not None and positives is not None:
            lines.append(("examples per column", _range(examples.min(), examples.mean(), examples.max())))
            if examples.all():
                share = positives / examples
                lines.append(("share of positive examples", f"{share.min():.1%} to {share.max():.1%}"))
        return lines

    def __repr__(self) -> str:
        lines = [f"  {name:<40} {value}" for name, value in self._lines()]
        return "\n".join([self._title(), *lines, "", as_signs(self.matrix)])

    def _repr_html_(self) -> str:
        rows = "".join(
            f'<tr><th scope="row" style="text-align:left;font-weight:normal">{escape(name)}</th>'
            f'<td style="text-align:left">{escape(value)}</td></tr>'
            for name, value in self._lines()
        )
        return f"<div><strong>{escape(self._title())}</strong><table>{rows}</table>{as_svg(self.matrix)}</div>"


def _range(smallest: float, mean: float, largest: float) -> str:
    return f"{smallest:g} to {largest:g}, mean {mean:.4g}"


def _some(found: NDArray[np.intp], shown: int = 4) -> str:
    """Return the number of indices or pairs found, and the first few, as text."""
    if not len(found):
        return "none"
    items = ["/".join(str(index) for index in np.ravel(item)) for item in found[:shown]]
    return f"{len(found)}: {', '.join(items)}{', …' if len(found) > shown else ''}"
