"""The names of the decoders, and how a name or an object becomes one."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from outputcodes._ground.validation import unknown_name
from outputcodes.decoders.base import Decoder
from outputcodes.decoders.continuous import Continuous
from outputcodes.decoders.counting import BetaDensity, InverseHamming, Laplacian
from outputcodes.decoders.coupling import Coupling
from outputcodes.decoders.distance import AttenuatedEuclidean, Euclidean
from outputcodes.decoders.likelihood import Likelihood
from outputcodes.decoders.loss import AccuracyWeighted, LossBased
from outputcodes.decoders.pairwise import Dag, Vote
from outputcodes.losses import LOSSES

DECODERS: dict[str, Callable[[], Decoder]] = {
    "loss": LossBased,
    **{name: partial(LossBased, name) for name in LOSSES},
    "vote": Vote,
    "dag": Dag,
    "euclidean": Euclidean,
    "attenuated-euclidean": AttenuatedEuclidean,
    "inverse-hamming": InverseHamming,
    "laplacian": Laplacian,
    "beta-density": BetaDensity,
    "accuracy-weighted": AccuracyWeighted,
    "likelihood": Likelihood,
    "coupling": Coupling,
    "continuous": Continuous,
}


def as_decoder(decoder: str | Decoder | Any) -> Decoder:
    """Resolve a name or a `Decoder` to a decoder.

    Examples
    --------
    >>> as_decoder("hinge")
    LossBased(loss='hinge')
    """
    if isinstance(decoder, str):
        if decoder in DECODERS:
            return DECODERS[decoder]()
        raise unknown_name("decoder", decoder, DECODERS)
    if isinstance(decoder, Decoder):
        return decoder
    raise ValueError(
        f"decoder={decoder!r} must be a name ({', '.join(DECODERS)}) or an instance of outputcodes.decoders.Decoder."
    )
