"""Compiling leaves older objects alone, which the collector then has back; long types are told apart."""

import gc
from types import SimpleNamespace
from typing import NamedTuple

import numpy as np
import pytest
from numba import njit
from numba.core import event
from numba.core.errors import NumbaError

from outputcodes._ground.compiling import ENTRY

ENTRY_HERE = {name: value for name, value in ENTRY.items() if name != "cache"}


class LongTuple(NamedTuple):
    varying: np.ndarray
    then_some_more: np.ndarray
    and_some_more: np.ndarray


def compiling(module):
    function = SimpleNamespace(__module__=module)
    return event.trigger_event("numba:compile", {"dispatcher": SimpleNamespace(py_func=function)})


@pytest.fixture(autouse=True)
def _nothing_set_aside():
    gc.unfreeze()
    yield
    gc.unfreeze()


def test_older_objects_are_set_aside_until_the_outermost_function_is_done():
    older = [[] for _ in range(1000)]
    with compiling("outputcodes._histograms.regions"):
        assert gc.get_freeze_count() > len(older)
        with compiling("outputcodes._histograms.regions"), compiling("numba.np.arrayobj"):
            pass
        assert gc.get_freeze_count() > len(older)
    assert gc.get_freeze_count() == 0
    with pytest.raises(ZeroDivisionError), compiling("outputcodes._histograms.regions"):
        raise ZeroDivisionError
    assert gc.get_freeze_count() == 0


@pytest.mark.parametrize("module", ["numba.np.arrayobj", "outputcodes_of_others"])
def test_functions_of_others_are_left_alone(module):
    with compiling(module):
        assert gc.get_freeze_count() == 0


def test_objects_that_the_user_set_aside_stay_there():
    gc.freeze()
    with compiling("outputcodes._histograms.regions"), compiling("outputcodes._histograms.regions"):
        pass
    assert gc.get_freeze_count() > 0


def test_cycles_are_still_collected():
    class Cycle:
        def __init__(self, seen):
            self.own, self.seen = self, seen

        def __del__(self):
            self.seen.append(1)

    seen = []
    with compiling("outputcodes._histograms.regions"):
        Cycle(seen)
        gc.collect()
    assert seen == [1]


def test_an_entry_makes_no_array():
    @njit(**ENTRY_HERE)
    def doubled(x, out):
        for i in range(len(x)):
            out[i] = 2 * x[i]

    out = np.zeros(3)
    doubled(np.arange(3.0), out)
    assert out.tolist() == [0, 2, 4]

    @njit(**ENTRY_HERE)
    def made(n):
        return np.zeros(n).sum()

    with pytest.raises(NumbaError):
        made(3)


def test_long_tuples_are_told_apart_by_their_first_field():
    """numba before 0.61 forgot the first 40 bytes that identify a type, and called what was compiled for another."""

    @njit(**ENTRY_HERE)
    def first(arrays):
        return arrays.varying[0]

    two = [LongTuple(np.ones(1, dtype), np.ones(1), np.ones(1)) for dtype in (np.int64, np.float64)]
    assert {first(one) for _ in range(1000) for one in two} == {1}
