"""The names of the decoders, and how a name or an object becomes one."""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Callable, Iterator, Mapping, MutableMapping
from functools import partial
from typing import Any, cast

from outputcodes._ground.validation import unknown_name
from outputcodes.decoders.auto import Auto
from outputcodes.decoders.base import Decoder
from outputcodes.decoders.beam import Beam
from outputcodes.decoders.continuous import Continuous
from outputcodes.decoders.counting import BetaDensity, InverseHamming, Laplacian
from outputcodes.decoders.coupling import Coupling
from outputcodes.decoders.distance import AttenuatedEuclidean, Euclidean
from outputcodes.decoders.likelihood import Likelihood
from outputcodes.decoders.loss import AccuracyWeighted, LossBased
from outputcodes.decoders.pairwise import Dag, Vote
from outputcodes.losses import LOSSES

Makers = dict[str, Callable[[], Decoder]]


class _OfLosses(Mapping[str, Callable[[], Decoder]]):
    """Loss-based decoding by the name of each margin loss, including those of plug-ins."""

    def __getitem__(self, name: str) -> Callable[[], Decoder]:
        LOSSES[name]  # an unknown name has no decoder
        return partial(LossBased, name)

    def __iter__(self) -> Iterator[str]:
        return iter(LOSSES)

    def __len__(self) -> int:
        return len(LOSSES)


# In addition, every margin loss has a decoder of its name.
DECODERS: MutableMapping[str, Callable[[], Decoder]] = ChainMap(
    {
        "loss": LossBased,
        "auto": Auto,
        "beam": Beam,
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
    },
    cast(Makers, _OfLosses()),
)


def as_decoder(decoder: str | Decoder | Any) -> Decoder:
    """Resolve a name or a `Decoder` to a decoder; None is "loss".

    Examples
    --------
    >>> as_decoder("hinge")
    LossBased(loss='hinge')
    """
    if decoder is None:
        return LossBased()
    if isinstance(decoder, str):
        if decoder in DECODERS:
            return DECODERS[decoder]()
        if decoder == "softmax":
            raise ValueError(
                "decoder='softmax' is not the name of a decoder: probability='softmax' (--probability softmax) turns "
                "the scores of any decoder into probabilities."
            )
        raise unknown_name("decoder", decoder, DECODERS)
    if isinstance(decoder, Decoder):
        return decoder
    raise ValueError(
        f"decoder={decoder!r} must be a name ({', '.join(DECODERS)}) or an instance of outputcodes.decoders.Decoder."
    )
