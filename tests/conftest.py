"""What tests of several rooms need, and the count of what was skipped."""

import signal
from collections import Counter

import pytest


@pytest.fixture
def keyboard():
    """Interrupts are heard, also where the tests run as a background job, whose shell makes it ignore them."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
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
