"""What all verbs share: errors as messages with exit code 2, warnings as notes, lists of names."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager

import typer
from rich.console import Console


@contextmanager
def reported_errors(stopped: str = "Stopped.") -> Iterator[None]:
    """Turn errors that a user can correct into a message on stderr and exit code 2, and Ctrl-C into one and 130.

    Warnings become notes on stderr, without the file and the line of the library that gave them.
    """
    try:
        with warnings.catch_warnings():
            warnings.showwarning = _note
            yield
    except (ValueError, ImportError, OSError) as error:
        Console(stderr=True, soft_wrap=True).print(f"[red]Error:[/] {_plain(str(error))}", highlight=False)
        raise typer.Exit(2) from error
    except KeyboardInterrupt as stop:
        Console(stderr=True, soft_wrap=True).print(stopped, markup=False, highlight=False)
        raise typer.Exit(130) from stop


def names(text: str | None) -> list[str] | None:
    """Split names at commas; None, which leaves the choice to the plan, stays None."""
    return None if text is None else [name.strip() for name in text.split(",") if name.strip()]


def _note(message: Warning | str, *where: object, **more: object) -> None:
    Console(stderr=True, soft_wrap=True).print(f"· {message}", markup=False, highlight=False)


def _plain(text: str) -> str:
    return text.replace("[", r"\[")
