"""The rows of a comparison: a cell to train, its measurement on a fold, the result per decoder; to JSON and back."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from numbers import Real
from typing import Any, Self

import numpy as np

from outputcodes._ground.words import shorten
from outputcodes.selection.packing import Losses, Plain, packed, unpacked


@dataclass(frozen=True)
class Cell:
    """What is trained once per fold: a learner under a code, read by all decoders; or a system that needs no code.

    Attributes
    ----------
    learner, code : str
        By name; the code of a system is "".
    decoders : tuple of str
    parameters : mapping
        Those of the learner that differ from its defaults: plain data.
    share : float
        The share of the training rows that is used.
    stage : int
        The stage of a race at which it is measured; 0 outside a race.
    """

    learner: str
    code: str = ""
    decoders: tuple[str, ...] = ()
    parameters: Mapping[str, Any] = field(default_factory=dict, hash=False)
    share: float = 1.0
    stage: int = 0

    def __str__(self) -> str:
        return f"{self.learner} {self.code}".rstrip()


@dataclass(frozen=True)
class Decoded:
    """The test rows under one decoder.

    Attributes
    ----------
    error, predict_seconds : float
    losses : ndarray or None
        The loss of each row, where that is kept.
    mark : str or None
        A short text that differs where predictions do: two decoders with the same mark predict the same.
    """

    error: float
    predict_seconds: float
    losses: Losses | None = field(default=None, compare=False, repr=False)
    mark: str | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True)
class Measurement:
    """A cell on one fold.

    Attributes
    ----------
    learner, code, parameters, share, stage : those of the cell
    fold : int
    columns : int or None
        The length L of the code.
    fit_seconds, size_bytes : float and int, or None
        The time of training, preprocessing included, and the size of the arrays of the fitted classifier.
    decoders : mapping from names to Decoded
        Those that can serve the code; a system has one, named "".
    failed : str or None
        Why it could not be trained.
    unconverged : bool
        Whether a solver stopped early.
    """

    learner: str
    code: str
    fold: int
    columns: int | None = None
    fit_seconds: float | None = None
    size_bytes: int | None = None
    decoders: Mapping[str, Decoded] = field(default_factory=dict, hash=False)
    failed: str | None = None
    unconverged: bool = False
    parameters: Mapping[str, Any] = field(default_factory=dict, hash=False)
    share: float = 1.0
    stage: int = 0

    @classmethod
    def of(cls, cell: Cell, fold: int, **found: Any) -> Self:
        """Return the measurement of a cell."""
        return cls(
            cell.learner, cell.code, fold, parameters=cell.parameters, share=cell.share, stage=cell.stage, **found
        )

    def as_dict(self) -> Plain:
        """Return plain data, as JSON can hold it.

        >>> found = Measurement("ridge", "dense", 0, decoders={"loss": Decoded(0.5, 0.1, np.array([True, False]))})
        >>> found.as_dict()["decoders"]
        {'loss': {'error': 0.5, 'predict_seconds': 0.1, 'losses': {'rows': 2, 'missed': 'gA=='}, 'mark': None}}
        >>> Measurement.from_dict(found.as_dict()) == found
        True
        """
        decoders = {name: _plain(one) for name, one in self.decoders.items()}
        return {**_plain(self), "decoders": decoders}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Return the measurement of which `as_dict` made the data."""
        decoders = {
            name: Decoded(**{**one, "losses": unpacked(one.get("losses"))}) for name, one in data["decoders"].items()
        }
        return cls(**{**data, "decoders": decoders})

    def check(self, metric: str = "error") -> None:
        """Raise ValueError unless the errors and times are possible: for measurements from a file.

        >>> Measurement("svc", "", 0, decoders={"": Decoded(-5.0, 0.1)}).check()
        Traceback (most recent call last):
        ValueError: an error of -5.0 is impossible: it must be between 0 and 1
        """
        unbounded = metric == "log-loss"
        possible = "at least 0, and finite" if unbounded else "between 0 and 1"
        for one in self.decoders.values():
            # Means of ones may exceed 1 by rounding.
            if not (_is_possible(one.error) and (unbounded or one.error <= 1 + 1e-9)):
                raise ValueError(f"an error of {one.error!r} is impossible: it must be {possible}")
        times = [self.fit_seconds, *(one.predict_seconds for one in self.decoders.values())]
        for seconds in times if self.decoders else ():
            if not _is_possible(seconds):
                raise ValueError(f"a time of {seconds!r} seconds is impossible")


@dataclass(frozen=True, repr=False)
class Result:
    """One row of a comparison: a learner, a code and a decoder, or a system that needs no code, on given splits.

    Attributes
    ----------
    learner, code, decoder : str
        By name; "given" for a code that is a matrix. A system has neither code nor decoder.
    also : tuple of str
        Other decoders of the same columns with the same predictions on every fold, where `one_row_each` left them out.
    columns : int or None
        The length L of the code; of a code made from data, the mean over the folds.
    error, spread : float
        The mean of the folds' errors and their standard deviation: computed from `fold_errors`.
    fold_errors : tuple of float
        The error, or another metric, on each split.
    fit_seconds, predict_seconds, size_bytes : float or None
        Medians of the folds for the times, which decoders of the same columns share but for the decoding; the mean
        size of the fitted arrays.
    parameters, share, stage : as for `Cell`
    losses : ndarray of shape (n_test,) or None
        Of a single split, the loss of each test row: whether it is missed, or its share of another metric.
    marks : tuple of str
        Those of the predictions on each fold; empty if they are not known.
    rank, interval, p_value, frontier : int, tuple of float or None, float or None, bool
        The place among other results, filled in by `ranked`: the 95 % interval of the error, the p-value of the test
        against the best (the best itself has none), and whether no other result is both as good and as fast.

    Examples
    --------
    >>> row = Result("ridge", "all-pairs", "loss", fold_errors=(0.1, 0.2))
    >>> round(row.error, 3), Result.from_dict(json.loads(json.dumps(row.as_dict()))) == row
    (0.15, True)
    """

    learner: str = ""
    code: str = ""
    decoder: str = ""
    columns: int | None = None
    error: float = field(init=False)
    spread: float = field(init=False)
    fold_errors: tuple[float, ...] = ()
    fit_seconds: float | None = None
    predict_seconds: float | None = None
    size_bytes: int | None = None
    parameters: Mapping[str, Any] = field(default_factory=dict, hash=False)
    share: float = 1.0
    stage: int = 0
    losses: Losses | None = field(default=None, compare=False, repr=False)
    also: tuple[str, ...] = ()
    marks: tuple[str, ...] = field(default=(), compare=False)
    rank: int | None = None
    interval: tuple[float, float] | None = None
    p_value: float | None = None
    frontier: bool = False

    def __post_init__(self) -> None:
        errors = tuple(float(error) for error in self.fold_errors)
        if not errors or not all(map(math.isfinite, errors)):
            raise ValueError(
                f"{self.name} has no finite error: its fold_errors are {errors}. Leave it out, and say why in `notes`."
            )
        object.__setattr__(self, "fold_errors", errors)
        object.__setattr__(self, "error", float(np.mean(errors)))
        object.__setattr__(self, "spread", float(np.std(errors, ddof=1)) if len(errors) > 1 else 0.0)

    @property
    def name(self) -> str:
        """The learner, the code and the decoder in words."""
        return " ".join(filter(None, (self.learner, self.code, self.decoder))) or "an unnamed result"

    def __str__(self) -> str:
        between = "" if self.interval is None else f" ({self.interval[0]:.4g} to {self.interval[1]:.4g})"
        return f"{shorten(self.name, 80)}: {self.error:.4g}{between}"

    def __repr__(self) -> str:
        ranked = "" if self.rank is None else f", rank={self.rank}"
        return f"Result({shorten(self.name, 80)!r}, error={self.error:.4g}, folds={len(self.fold_errors)}{ranked})"

    @property
    def level_with_best(self) -> bool:
        """Whether it is the best, or the test does not tell it from the best at the level 5 %."""
        return self.rank == 1 or (self.p_value is not None and self.p_value > 0.05)

    def as_dict(self) -> Plain:
        """Return plain data, as JSON can hold it."""
        return _plain(self)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Return the result of which `as_dict` made the data."""
        given = {one.name: data[one.name] for one in fields(cls) if one.init and one.name in data}
        given |= {"losses": unpacked(given.get("losses"))}
        for name in ("interval", "also", "marks"):
            if given.get(name) is not None:
                given[name] = tuple(given[name])
        return cls(**given)


def key_of(record: Cell | Measurement | Result) -> tuple[Any, ...]:
    """Return what tells a cell from others, whichever fold it is measured on.

    >>> key_of(Cell("ridge", "dense", ("loss",))) == key_of(Measurement("ridge", "dense", fold=3))
    True
    """
    return (
        record.learner,
        record.code,
        json.dumps(dict(record.parameters), sort_keys=True),
        record.share,
        record.stage,
    )


def _is_possible(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool) and 0 <= float(value) < math.inf


def _plain(record: Any) -> Plain:
    """The fields of a record; losses packed, tuples as JSON would return them."""
    data = {one.name: getattr(record, one.name) for one in fields(record)}
    data = {name: list(value) if isinstance(value, tuple) else value for name, value in data.items()}
    if "losses" in data:
        data["losses"] = packed(data["losses"])
    if "parameters" in data:
        data["parameters"] = dict(data["parameters"])
    return data
