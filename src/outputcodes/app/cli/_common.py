"""What all verbs share: errors as messages with exit code 2, warnings as notes, lists of names and numbers."""

from __future__ import annotations

import csv
import re
import time
import warnings
from collections.abc import Collection, Iterator
from contextlib import contextmanager

import typer
from rich.console import Console

# Messages of the library begin with the parameter; here these are options.
OPTIONS = {
    **{name: f"--{name}" for name in ("learner", "learners", "code", "codes", "decoder", "decoders", "metric")},
    **{name: f"--{name}" for name in ("cv", "split", "order", "plugin", "probability", "priors", "rejected")},
    "class_weight": "--class-weight",
    "decimal": "--decimal",
    "device": "--device",
    "encoding": "--encoding",
    "group": "--group",
    "estimator": "--learner",
    "identifier": "--id",
    "max_bytes": "--max-bytes",
    "n_jobs": "--jobs",
    "reject_below": "--reject-below",
    "reject_beyond": "--reject-beyond",
    "separator": "--sep",
}

# A process that has worked for longer before a command did more than import what the command needs.
LONGEST_START = 5.0

# "decimal=',' (--decimal ,)", "tune=True (--tune)".
BOTH = re.compile(r"\b\w+=(?:'[^']*'|\"[^\"]*\"|\[[^\]]*\]|[^\s()]+) \((--\S+ [^()]*|--tune|--resume)\)")


def start_of_process() -> float:
    """Return the time of `time.monotonic` at which this process began: a time limit counts the imports too."""
    return time.monotonic() - min(time.process_time(), LONGEST_START)


@contextmanager
def reported_errors(
    stopped: str = "Stopped.", *, arguments: Collection[str] = (), params: Collection[str] = ()
) -> Iterator[None]:
    """Turn errors that a user can correct into a message on stderr and exit code 2, and Ctrl-C into one and 130.

    Warnings become notes on stderr, without the file and the line of the library that gave them. `arguments` are the
    parameters that are no options of this command, `params` those given by `--param`.
    """
    try:
        with warnings.catch_warnings():
            warnings.showwarning = _note
            yield
    except (ValueError, ImportError, OSError) as error:
        Console(stderr=True, soft_wrap=True).print(
            f"[red]Error:[/] {_plain(with_options(str(error), arguments, params))}", highlight=False
        )
        raise typer.Exit(2) from error
    except KeyboardInterrupt as stop:
        Console(stderr=True, soft_wrap=True).print(stopped, markup=False, highlight=False)
        raise typer.Exit(130) from stop


def with_options(message: str, arguments: Collection[str] = (), params: Collection[str] = ()) -> str:
    """Return a message of the library with options in place of parameters.

    It may begin with a parameter: one of the `params`, an option, or one of the `arguments`, which stays as it is.
    Elsewhere the library writes the option after the parameter, in brackets.

    >>> with_options("device='cuda': no GPU was found; or use device='cpu'.")
    "--device 'cuda': no GPU was found; or use --device cpu."
    >>> with_options("learner='rigde' is unknown; did you mean 'ridge'?")
    "--learner 'rigde' is unknown; did you mean 'ridge'?"
    >>> with_options("The file is not UTF-8 text: read it with encoding='latin-1' (--encoding latin-1).")
    'The file is not UTF-8 text: read it with --encoding latin-1.'
    """
    message = BOTH.sub(r"\1", message)
    # Messages on devices end in another one.
    message = re.sub(r"(?<!^)\bdevice='(\w+)'", r"--param device=\1" if "device" in params else r"--device \1", message)
    begin = re.match(r"(\w+)=", message)
    if begin is not None and begin[1] in params:
        return f"--param {message}"
    if begin is None or begin[1] not in OPTIONS or begin[1] in arguments:
        return message
    option = OPTIONS[begin[1]]
    return f"{option} {message[begin.end() :].replace(f' ({option})', '', 1)}"


def names(text: str | None) -> list[str] | None:
    """Split names at commas; None, which leaves the choice to the plan, stays None.

    >>> names('low, "mid, or so",high')
    ['low', 'mid, or so', 'high']
    """
    if text is None:
        return None
    return [name.strip() for row in csv.reader([text], skipinitialspace=True) for name in row if name.strip()]


def numbers(text: str | None, option: str) -> dict[str, float] | None:
    """Return the numbers in "label=number,label=number".

    >>> numbers("apple=2,pear=0.5", "--class-weight")
    {'apple': 2.0, 'pear': 0.5}
    """
    if text is None:
        return None
    found: dict[str, float] = {}
    for part in names(text) or [text]:
        label, _, number = (piece.strip() for piece in part.rpartition("="))
        if label in found:
            raise ValueError(f"{option} {text}: {label!r} has two numbers.")
        try:
            found[label] = float(number)
        except ValueError:
            label = ""
        if not label:
            raise ValueError(f"{option} {text}: {part!r} must have the form label=number, such as apple=2.")
    return found


def assignments(given: list[str] | None) -> dict[str, str]:
    """Return the parameters in ["name=value", …].

    >>> assignments(["C=10", "kernel=rbf"])
    {'C': '10', 'kernel': 'rbf'}
    """
    for one in given or ():
        if "=" not in one:
            raise ValueError(f"--param {one} must have the form name=value, such as C=10.")
    return {name.strip(): value for name, _, value in (one.partition("=") for one in given or ())}


def _note(message: Warning | str, *where: object, **more: object) -> None:
    Console(stderr=True, soft_wrap=True).print(f"· {with_options(str(message))}", markup=False, highlight=False)


def _plain(text: str) -> str:
    return text.replace("[", r"\[")
