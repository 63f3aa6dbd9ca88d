"""What all verbs share: errors as messages with exit code 2, lists of names, a progress bar."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn


@contextmanager
def reported_errors(stopped: str = "Stopped.") -> Iterator[None]:
    """Turn errors that a user can correct into a message on stderr and exit code 2, and Ctrl-C into one and 130."""
    try:
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


def progress_bar(console: Console) -> Progress:
    """Return a bar with what runs, how far it is, and the time left; it is off where the output is a file."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    return Progress(*columns, TimeRemainingColumn(), console=console, transient=True, disable=not console.is_terminal)


def _plain(text: str) -> str:
    return text.replace("[", r"\[")
