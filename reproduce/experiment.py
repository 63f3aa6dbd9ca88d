"""What an experiment is: units of work that are measured one by one, and what the observations show."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

# The arguments of one observation, as plain data. They identify it in a file of results.
Unit = dict[str, Any]
Verdict = Literal["supported", "not supported", "undecided"]


def unit_key(unit: Unit) -> str:
    """Return a key that identifies a unit, whatever the order of its arguments.

    >>> unit_key({"b": 1, "a": 2}) == unit_key({"a": 2, "b": 1})
    True
    """
    return repr(sorted(unit.items()))


class Observation(NamedTuple):
    """A unit, what was found for it, and the seconds that it took."""

    unit: Unit
    found: Any
    seconds: float


@dataclass(frozen=True)
class TextTable:
    """Rows of text under a header, with a title above and remarks below."""

    title: str
    header: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True)
class Claim:
    """A statement of a paper that can be checked, our verdict on it and the evidence."""

    statement: str
    verdict: Verdict
    evidence: str


@dataclass(frozen=True)
class Picture:
    """A figure: the stem of its file, a caption, and a function that draws it on a matplotlib figure."""

    stem: str
    caption: str
    draw: Callable[[Any], None]


@dataclass(frozen=True)
class Findings:
    """What the observations of an experiment show; `headlines` are repeated at the top of the page."""

    tables: list[TextTable] = field(default_factory=list)
    claims: list[Claim] = field(default_factory=list)
    pictures: list[Picture] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)
    headlines: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Experiment:
    """A published table or figure: its protocol, how it is measured, and how the results are presented.

    Parameters
    ----------
    name : str
        The name on the command line.
    title, source, protocol : str
        Text of its section in the page of results. The protocol names every choice that the paper leaves open.
    data_sets : tuple of str
        The data sets that it runs on, unless the caller asks for fewer; empty if it generates its own data.
    units : callable
        units(data_sets, quick, **options) → the units, the longest first; `quick` asks for a smaller trial.
    measure : callable
        A module-level function: measure(**unit) → plain data. It may run in another process.
    present : callable
        present(observations) → Findings, for any subset of the units.
    options : mapping
        The choices that the paper leaves open, with the values used here.
    record : str
        The stem of the file of results. Experiments that share observations share one file. Defaults to the name.
    timed : bool
        Whether the experiment measures time. Its units then run one after another.
    """

    name: str
    title: str
    source: str
    protocol: str
    data_sets: tuple[str, ...]
    units: Callable[..., list[Unit]]
    measure: Callable[..., Any]
    present: Callable[[list[Observation]], Findings]
    options: Mapping[str, Any] = field(default_factory=dict)
    record: str = ""
    timed: bool = False

    @property
    def stem(self) -> str:
        """The stem of its file of results."""
        return self.record or self.name


def check_known(what: str, asked: Iterable[str], known: Iterable[str]) -> None:
    """Raise an error that lists the known names if one that is asked for is not among them.

    >>> check_known("code", ["dense", "dence"], ["dense", "sparse"])
    Traceback (most recent call last):
    ValueError: Unknown code: dence. Choose from: dense, sparse.
    """
    known = list(dict.fromkeys(known))
    if unknown := [name for name in asked if name not in known]:
        raise ValueError(f"Unknown {what}: {', '.join(unknown)}. Choose from: {', '.join(known) or 'none'}.")
