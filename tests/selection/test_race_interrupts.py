"""Ctrl-C in a race: no process is left behind, and nothing waits forever, whenever it comes."""

from __future__ import annotations

import pathlib
import signal
import subprocess
import sys
import threading
import time

import pytest

from outputcodes.selection.race.interrupts import held_back

# Interrupts are heard, also where the tests run as a background job.
pytestmark = pytest.mark.usefixtures("keyboard")

# A contestant that trains for an hour, in two processes, so that what is not killed is waited for.
RACE = """
import os, signal, sys, threading, time
import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_iris
from outputcodes.selection import Race

class Sleeper(ClassifierMixin, BaseEstimator):
    def fit(self, X, y):
        self.classes_ = np.unique(y)
        if len(y) > 50:
            open(sys.argv[1], "w").close()
            time.sleep(3600)
        return self

    def predict_proba(self, X):
        return np.full((len(X), 3), 1 / 3)

def interrupt_when_training():
    while not os.path.exists(sys.argv[1]):
        time.sleep(0.01)
    os.kill(os.getpid(), signal.SIGINT)

X, y = load_iris(return_X_y=True)
"""
# loky finds descendants by another program, which a Ctrl-C for all ends; its way out is then an AttributeError.
KILLING_FAILS = """
import loky.process_executor
def broken(process):
    raise AttributeError("'Popen' object has no attribute 'kill'")
loky.process_executor.kill_process_tree = broken
threading.excepthook = lambda found: None
threading.Thread(target=interrupt_when_training, daemon=True).start()
"""
# Between the start of a process and that of the thread that ends it.
WHILE_ONE_STARTS = """
from loky.process_executor import ProcessPoolExecutor as Pool
start = Pool._start_executor_manager_thread
def interrupted(self):
    os.kill(os.getpid(), signal.SIGINT)
    start(self)
Pool._start_executor_manager_thread = interrupted
"""
AS_IT_IS = "threading.Thread(target=interrupt_when_training, daemon=True).start()\n"
FIT = """
try:
    Race(1800, contestants={"sleeper": Sleeper()}, n_jobs=2).fit(X, y)
except KeyboardInterrupt:
    print("interrupted")
"""


@pytest.mark.skipif(sys.platform == "win32", reason="a process can't interrupt itself in this way: Ctrl-C is not tried")
@pytest.mark.parametrize("how", [AS_IT_IS, KILLING_FAILS, WHILE_ONE_STARTS])
def test_a_race_ends(how, tmp_path):
    command = [sys.executable, "-c", RACE + how + FIT, str(tmp_path / "training")]
    # A few seconds; a busy machine takes longer, and a hang an hour.
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.stdout.endswith("interrupted\n"), done.stderr
    assert done.returncode == 0


def test_what_comes_in_the_block_comes_after_it():
    done = []

    def block():
        with held_back():
            signal.raise_signal(signal.SIGINT)
            done.append("the block")
        done.append("not reached")

    with pytest.raises(KeyboardInterrupt):
        block()
    assert done == ["the block"]
    with held_back():
        pass
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_other_threads_have_nothing_to_hold_back():
    done = []

    def work():
        with held_back():
            done.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert done == [signal.default_int_handler]


def is_alive(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.mark.skipif(not pathlib.Path("/proc/self/stat").exists(), reason="no /proc: other processes are not seen")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_the_processes_of_a_race_end_with_it_however_it_ends(number, tmp_path):
    """They hold its output open: what reads it would wait for ever."""
    training = tmp_path / "training"
    command = [sys.executable, "-c", RACE.replace('"w").close()', '"a").write(f"{os.getpid()} ")') + FIT, str(training)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    limit = time.monotonic() + 100
    while not training.exists() or not training.read_text():
        assert process.poll() is None
        assert time.monotonic() < limit
        time.sleep(0.05)
    process.send_signal(number)
    process.communicate(timeout=60)
    limit = time.monotonic() + 60
    while any(map(is_alive, training.read_text().split())):
        assert time.monotonic() < limit
        time.sleep(0.05)
