"""What an experiment is: units of work that are measured one by one, and what their results show."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

# The arguments of one measurement, as plain data: its name in a file of results.
Unit = dict[str, Any]
Verdict = Literal["supported", "not supported", "undecided"]


def unit_key(unit: Unit) -> str:
    """What a unit is known by, whatever the order of its arguments.

    >>> unit_key({"b": 1, "a": 2}) == unit_key({"a": 2, "b": 1})
    True
    """
    return repr(sorted(unit.items()))


class Result(NamedTuple):
    """A unit, what was measured, and the seconds that it took."""

    unit: Unit
    found: Any
    seconds: float


@dataclass(frozen=True)
class Table:
    """Rows of text under a header, with a title above and remarks below."""

    title: str
    header: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True)
class Claim:
    """What a text states, in words that can be checked, and what our results say to it."""

    statement: str
    verdict: Verdict
    evidence: str


@dataclass(frozen=True)
class Picture:
    """A figure: the stem of its file, a caption, and what draws it on a matplotlib figure."""

    stem: str
    caption: str
    draw: Callable[[Any], None]


@dataclass(frozen=True)
class Findings:
    """What an experiment's results show; `headlines` stand at the top of the page."""

    tables: list[Table] = field(default_factory=list)
    claims: list[Claim] = field(default_factory=list)
    pictures: list[Picture] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)
    headlines: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Experiment:
    """A published table or figure: its protocol, its measurements, and how they compare.

    Parameters
    ----------
    name : str
        As the command line calls it.
    title, source, protocol : str
        Of the section in the page of results; the protocol names every choice that the text leaves open.
    data_sets : tuple of str
        That it runs on, unless fewer are asked for; empty if it makes its own data.
    units : callable
        units(data_sets, quick, **options) → the units, the longest first; `quick` asks for a smaller trial.
    measure : callable
        A function of a module: measure(**unit) → plain data. It may run in another process.
    present : callable
        present(results) → Findings, for any part of the units.
    options : mapping
        The open choices and their values here.
    record : str
        The stem of the file of results; experiments that measure the same share one. By default the name.
    timed : bool
        Whether time is what it measures: then its units run one after another, alone.
    """

    name: str
    title: str
    source: str
    protocol: str
    data_sets: tuple[str, ...]
    units: Callable[..., list[Unit]]
    measure: Callable[..., Any]
    present: Callable[[list[Result]], Findings]
    options: Mapping[str, Any] = field(default_factory=dict)
    record: str = ""
    timed: bool = False

    @property
    def stem(self) -> str:
        """Of its file of results."""
        return self.record or self.name
