"""What a course is made of: laps and their plans, where entries stand after them, and who left."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from outputcodes.selection.race.blend import Calibration
from outputcodes.selection.race.contestants import Entry

# An entry leaves if it is behind by more standard errors than this, and by this share of the best error.
CLEARLY_BEHIND, BY_SHARE = 3.0, 0.3


@dataclass(frozen=True)
class Lap:
    """Training rows and folds."""

    rows: int
    folds: int


@dataclass(frozen=True, eq=False)
class Standing:
    """An entry after a lap: its best decoder, calibrated, and the losses and probabilities of the held-out rows."""

    entry: Entry
    lap: Lap
    decoder: str
    calibration: Calibration
    P: NDArray[np.float32]
    losses: NDArray[Any]
    log_loss: float
    seconds: float

    @property
    def loss(self) -> float:
        """The mean loss."""
        return float(self.losses.mean())

    @property
    def key(self) -> tuple[float, float]:
        """What entries are ranked by; rounded, so that last bits decide nothing."""
        return round(self.loss, 9), round(self.log_loss, 9)


@dataclass
class Departure:
    """An entry that left: after which lap, at which loss, and why."""

    entry: Entry
    lap: Lap
    loss: float | None
    why: str


@dataclass
class Plan:
    """The seconds of a lap: as they were estimated for the entries that it began with, and as it took, with tuning."""

    estimated: float
    seconds: float = 0.0


def clearly_behind(one: Standing, best: Standing) -> bool:
    """Whether an entry can no longer win."""
    behind = one.losses.astype(np.float64) - best.losses
    error = behind.std() / np.sqrt(len(behind))
    return bool(behind.mean() > max(CLEARLY_BEHIND * error, BY_SHARE * best.loss))
