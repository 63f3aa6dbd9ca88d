"""Ctrl-C and SIGTERM while processes start and end: held back where they would leave a process that nobody ends."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress

# Seconds that a process has to end by itself.
PATIENCE = 2.0


@contextmanager
def held_back() -> Iterator[None]:
    """Hold Ctrl-C and SIGTERM back until the block is done; processes that start in it never hear of Ctrl-C.

    Interrupted while it starts a process, loky leaves it without the thread that ends it, and Python waits for it
    forever when it exits.
    """
    found = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    before = {number: handler for number, handler in found.items() if handler is not None}
    if threading.current_thread() is not threading.main_thread() or not before:
        # Signals are the main thread's.
        yield
        return
    came: list[int] = []
    for number in before:
        signal.signal(number, lambda number, frame: came.append(number))
    # A child inherits what its parent blocks. What comes meanwhile arrives when it is no longer blocked.
    blocks = hasattr(signal, "pthread_sigmask")
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT}) if blocks else set()
    try:
        yield
    finally:
        if blocks:
            signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        for number, handler in before.items():
            signal.signal(number, handler)
        for number, handler in before.items():
            if number in came and callable(handler):
                handler(number, None)
            elif number in came and handler is signal.SIG_DFL:
                signal.raise_signal(number)


def end_processes(pids: Collection[int]) -> None:
    """See that these children of this process end: loky may fail to kill what it shuts down."""
    limit = time.monotonic() + PATIENCE
    # Asking for the children also reaps those that have ended, whose numbers others may have by now.
    while left := [child for child in multiprocessing.active_children() if child.pid in pids]:
        if time.monotonic() > limit:
            for child in left:
                with suppress(ProcessLookupError):
                    os.kill(child.pid or 0, getattr(signal, "SIGKILL", signal.SIGTERM))
            return
        time.sleep(0.01)
