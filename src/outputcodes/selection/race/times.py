"""What a training will take: from trainings of the same entry, of the same kind, or from the table of costs."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from outputcodes.selection.race.contestants import PAIRS, Entry
from outputcodes.selection.race.trials import Field
from outputcodes.selection.spaces import Cost, Shape


@dataclass
class Times:
    """Measured trainings, and estimates of others."""

    _measured: dict[Entry, tuple[Shape, float]] = field(default_factory=dict)

    def note(self, entry: Entry, shape: Shape, seconds: float) -> None:
        """Keep the time of the largest training of an entry."""
        before = self._measured.get(entry)
        if before is None or before[0].rows <= shape.rows:
            self._measured[entry] = shape, seconds

    def estimate(self, entry: Entry, shape: Shape, cost: Cost) -> tuple[float, bool]:
        """Return the seconds that a training will take, and whether something like it was measured."""
        if entry in self._measured:
            measured, seconds = self._measured[entry]
            return seconds * cost.ratio(measured, shape), True
        alike = [
            seconds * cost.ratio(measured, shape)
            for other, (measured, seconds) in self._measured.items()
            if (other.contestant, other.code) == (entry.contestant, entry.code)
        ]
        return (float(np.median(alike)), True) if alike else (cost.seconds(shape), False)

    @staticmethod
    def shape(entry: Entry, rows: int, data: Field) -> Shape:
        """Return the size of a training of an entry on so many rows."""
        k, d = data.k, data.width
        if entry.code == PAIRS:
            return Shape(rows, d, k, k * (k - 1) // 2, 2 / k)
        return Shape(rows, d, k, round(10 * np.log2(k)) if entry.code == "dense" else k)
