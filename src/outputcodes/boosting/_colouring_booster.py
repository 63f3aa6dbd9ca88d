"""The round shared by AdaBoost.OC and SmoothBoost: colour the classes, fit the colours, update the pair weights."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from outputcodes._ground.blocks import Run
from outputcodes._ground.choosing import TIE
from outputcodes._histograms.stumps import LEAST_ERROR
from outputcodes.boosting._coloured import ColourLearner, colour_learner
from outputcodes.boosting.base import Booster
from outputcodes.boosting.colourings import Colouring, random_colouring
from outputcodes.boosting.round_by_round import Sample
from outputcodes.boosting.weak import Round
from outputcodes.bounds.boosting import smooth_potential, smooth_weights

Array = NDArray[np.float64]

# Number of colourings drawn before a round is skipped.
MOST_DRAWS = 100


class ColouringBooster(Booster):
    """A booster that adds one column to the code per round; by default the "binary" variant of AdaBoost.OC."""

    grows: ClassVar[bool] = True
    records: ClassVar[tuple[str, ...]] = ("error", "separated")
    # Margins are this factor times a·h, where a is the coefficient in `PairRows`.
    _unit: ClassVar[float] = 1.0

    def _lam(self) -> float:
        """Return λ; 0 means no smoothing."""
        return 0.0

    def _coefficient(self, error: float, separated: float) -> float:
        """Return the coefficient a of a hypothesis, which minimises (1 − e) e^(−2a) + e e^(2a)."""
        return 0.25 * float(np.log((1 - error) / error))

    def _colour(self, learner: ColourLearner, draws: int, rng: np.random.Generator) -> Colouring:
        """Return a colouring, after `draws` unsuccessful ones in this round."""
        return random_colouring(len(self.classes_), rng)

    def _boost(self, sample: Sample, run: Run, rng: np.random.Generator) -> Iterator[Round | None]:
        learner = colour_learner(self.estimator, sample, len(self.classes_), self._lam(), run, rng)
        failed: set[bytes] = set()  # colourings without an edge at the current weights, up to their sign
        while True:
            for draws in range(MOST_DRAWS):
                colouring = self._colour(learner, draws, rng)
                name = (colouring * colouring[0]).tobytes()
                if name in failed:
                    continue
                found = learner.fit(colouring)
                if found is not None and found.right - found.wrong > 2 * TIE:
                    break
                failed.add(name)
            else:
                yield None
                continue
            failed.clear()
            # Abstentions leave their pairs unchanged, as if the colouring did not separate them.
            answered = found.right + found.wrong
            error, separated = max(found.wrong / answered, LEAST_ERROR), found.share * answered
            a = self._rate(self._coefficient(error, separated))
            learner.update(a)
            record = {"error": error, "separated": separated}
            yield Round(found.hypothesis, self._unit * a, colouring, record)

    def _loss(self, F: Array, M: NDArray[np.int8], y: NDArray[np.intp], weight: Array) -> float:
        lam = self._lam()
        return smooth_potential(smooth_weights(F @ M.T / self._unit, y, lam), y, lam, weight)
