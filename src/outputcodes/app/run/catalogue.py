"""Everything that can be named, with a sentence on each, and the parameters of learners and systems."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

from outputcodes._ground.validation import unknown_name
from outputcodes.app.run.systems import SYSTEMS, learners_and_systems
from outputcodes.codes import CODES
from outputcodes.decoders import DECODERS
from outputcodes.learners import LEARNERS
from outputcodes.losses import LOSSES
from outputcodes.selection import METRICS

METRIC_WORDS = {
    "error": "The share of wrong predictions.",
    "balanced": "The mean over the classes of the share of wrong predictions.",
    "log-loss": "Minus the mean logarithm of the probability of the true class.",
}


def list_names() -> dict[str, dict[str, str]]:
    """Return sentences by kind and name, those of plug-ins included.

    >>> list_names()["codes"]["one-vs-all"]
    'k columns, each with one class against all others; rho = 2.'
    """
    decoders = {
        name: f"Loss-based decoding with the {name} loss." if name in LOSSES else sentence
        for name, sentence in _described(DECODERS).items()
    }
    return {
        "learners": _described(LEARNERS),
        "systems": _described(SYSTEMS),
        "codes": _described(CODES),
        "decoders": decoders,
        "metrics": {name: METRIC_WORDS.get(name, "") for name in METRICS},
    }


def list_parameters(name: str) -> dict[str, Any]:
    """Return the parameters of a learner or a system with their defaults.

    >>> list_parameters("ridge")["alpha"]
    1.0
    """
    known = learners_and_systems()
    if name not in known:
        for kind, table in (("code", CODES), ("decoder", DECODERS), ("metric", METRICS)):
            if name in table:
                raise ValueError(
                    f"{name!r} is a {kind}; parameters can be given for learners and systems: {', '.join(known)}."
                )
        raise unknown_name("learner", name, known)
    found: dict[str, Any] = known[name]().get_params()
    return found


def _described(table: Mapping[str, Callable[[], Any]]) -> dict[str, str]:
    return {name: _sentence(make()) for name, make in table.items()}


def _sentence(made: Any) -> str:
    """The first paragraph of the documentation of a class, up to the end of its first sentence."""
    paragraph = " ".join((inspect.getdoc(type(made)) or "").partition("\n\n")[0].split())
    return paragraph.partition(". ")[0].removesuffix(".") + "." if paragraph else ""
