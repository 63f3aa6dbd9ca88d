"""A small experiment that takes powers of numbers, for tests of the frame."""

from __future__ import annotations

from typing import Any

from reproduce import Claim, Experiment, Findings, Observation, Picture, TextTable


def power_of(x: int, power: int) -> int:
    """Measure a power."""
    return int(x**power)


def fails_at_two(x: int, power: int) -> int:
    """Fail after two observations."""
    if x == 2:
        raise RuntimeError("the computer stopped")
    return power_of(x, power)


def experiment(measure: Any = power_of, **changes: Any) -> Experiment:
    """Return the experiment, with some of its fields changed."""

    def present(found: list[Observation]) -> Findings:
        rows = [(str(r.unit["x"]), str(r.found)) for r in found]
        pictures = [Picture("powers", "Powers", lambda figure: figure.subplots().plot([r.found for r in found]))]
        claims = [Claim("all fits", "supported", "it does")]
        return Findings([TextTable("Powers", ("x", "power"), rows)], claims, pictures)

    given = {
        "name": "powers",
        "title": "Powers of numbers",
        "source": "a paper",
        "protocol": "Raise.",
        "data_sets": ("a", "b"),
        "units": lambda data_sets, quick, power: [{"x": x, "power": power} for x in range(2 if quick else 4)],
        "measure": measure,
        "present": present,
        "options": {"power": 2},
    }
    return Experiment(**(given | changes))
