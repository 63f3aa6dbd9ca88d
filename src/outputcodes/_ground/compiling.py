"""How functions are compiled so that the first use is short.

numba makes two more entries per function than we call, counts references to arrays in case some are made in a function,
and keeps so many objects while it compiles that Python's collector searches all objects of the process again and again.

An ENTRY is called from Python. An INNER function is called by compiled functions only, and no Python objects are
converted for it. Both write into arrays that their callers hold, and make none. What Python never calls and one
function alone contains is better inlined; but a tiny function with many calls is not, for each inlined call is a copy
to be typed.
"""

from __future__ import annotations

import gc

from numba.core.event import Event, Listener, register

ENTRY = {"nogil": True, "cache": True, "no_cfunc_wrapper": True, "_nrt": False}
INNER = ENTRY | {"no_cpython_wrapper": True}
PACKAGE = __name__.partition(".")[0] + "."


class OldObjectsAside(Listener):
    """Sets the objects aside that exist when a function of this package begins to be compiled.

    The collector then searches only what compiling makes. numba compiles one function at a time, with those that it
    calls inside. Objects that someone else has set aside stay there.
    """

    def __init__(self) -> None:
        self.depth = 0

    def on_start(self, event: Event) -> None:
        """Set all objects aside, unless an outer function did."""
        if self.depth:
            self.depth += 1
        elif event.data["dispatcher"].py_func.__module__.startswith(PACKAGE) and not gc.get_freeze_count():
            self.depth = 1
            gc.freeze()

    def on_end(self, event: Event) -> None:
        """Give them back to the collector."""
        if self.depth:
            self.depth -= 1
            if not self.depth:
                gc.unfreeze()


register("numba:compile", OldObjectsAside())
