"""Kernel SVM columns with a working set each, where few rows decide a column.

In a working set that many columns share, each column has a few dozen rows of its own, so that dozens of rounds are
needed. A column of one-vs-all often has a few hundred support vectors: a set of its own holds them and all other rows
near its bias, and a few rounds suffice. Kernel values are copied when a coefficient of their row is first changed.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from outputcodes._kernel_machines.working_sets import AIM
from outputcodes.learners.kernel.together import ColumnsTogether

Rows = NDArray[np.intp]

# Rows at a bound whose gradient is nearer to the bias may soon leave it.
NEAR = 0.5
# The size of a column's own set, relative to one that columns share.
OWN_SHARE = 0.75
# Columns share their sets if support vectors would fill more than this part of their own.
CROWDED = 0.5


class OwnSets(ColumnsTogether):
    """Columns that have their own working sets, as long as support vectors leave room for others in them."""

    def rounds(self, aim: float = 1.0) -> Iterator[int]:
        """Yield the number of each round before it runs, until no column violates."""
        size = int(OWN_SHARE * self.size)
        for count in itertools.count():
            found = self.worst(size // 2, aim * self.dual.tol, -NEAR)
            if not len(found):
                return
            if np.count_nonzero(self.box[0, self.active], axis=1).mean() > CROWDED * size:
                yield from super().rounds(aim)
                return
            yield count
            aim = AIM
            self._each([np.unique(rows[rows >= 0]) for rows in found])

    def _each(self, sets: list[Rows]) -> None:
        """Solve every active column on its own set, then update the gradients of all rows."""
        gram = self.gram
        every = np.unique(np.concatenate(sets))
        with gram.holding(self.rows[every], self.run) as slots:
            change = np.zeros((len(sets), len(every)), dtype=gram.store.dtype)

            def solve(place: int) -> None:
                working = sets[place]
                own = self.descend(self.active[place], working, gram.store, gram.place[self.rows[working]])
                change[place, np.searchsorted(every, working)] = own

            self.run(solve, range(len(sets)))
            self._subtract(slots, self.active, change)
