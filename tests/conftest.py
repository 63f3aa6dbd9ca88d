"""What tests of several rooms need, and the count of what was skipped."""

import _thread
import os
import signal
import threading
import time
from collections import Counter
from contextlib import contextmanager

import pytest
from hypothesis import settings

# The same examples in every run, however long the first of them compiles; `--hypothesis-profile=random` tries others.
settings.register_profile("fixed", derandomize=True, deadline=None)
settings.register_profile("random", deadline=None)
settings.load_profile("fixed")
# They need a GPU; see `make test-gpu`.
collect_ignore = [] if os.environ.get("OUTPUTCODES_GPU") else ["gpu"]
# They need the built site; see `make docs`.
collect_ignore += [] if os.environ.get("OUTPUTCODES_SITE") else ["site"]


@pytest.fixture(scope="module")
def client():
    """A Dask cluster of two real processes."""
    distributed = pytest.importorskip("distributed", reason="needs the extra dask")
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


@pytest.fixture
def keyboard():
    """A context that interrupts what runs in it after some seconds, and gives it a few seconds of processor to stop.

    Interrupts are heard, also where the tests run as a background job, whose shell makes it ignore them. The time is
    that of this process: the machine may be busy with others.
    """
    before = signal.signal(signal.SIGINT, signal.default_int_handler)

    @contextmanager
    def interrupted(after, within):
        start = time.process_time()
        try:
            threading.Timer(after, _thread.interrupt_main).start()
            yield
        except KeyboardInterrupt:
            assert time.process_time() - start < within
        else:
            pytest.fail("it was not interrupted")

    yield interrupted
    signal.signal(signal.SIGINT, before)


def pytest_terminal_summary(terminalreporter):
    """Print how many tests were skipped for which reason: a suite that is green because it ran little looks green."""
    reasons = Counter(
        report.longrepr[2].removeprefix("Skipped: ") for report in terminalreporter.stats.get("skipped", [])
    )
    if reasons:
        terminalreporter.section("skipped, by reason")
        for reason, count in reasons.most_common():
            terminalreporter.write_line(f"{count:5}  {reason}")
