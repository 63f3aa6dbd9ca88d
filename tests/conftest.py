"""What tests of several rooms need."""

import signal

import pytest


@pytest.fixture
def keyboard():
    """Interrupts are heard, also where the tests run as a background job, whose shell tells it to ignore them."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)
