"""The example of three readings says what it promises: where the decoders agree, and where Hamming decoding fails."""

import importlib.util
from pathlib import Path

import pytest

PLACE = Path(__file__).parents[2] / "examples" / "three_readings.py"


@pytest.fixture(scope="module")
def example():
    spec = importlib.util.spec_from_file_location("three_readings", PLACE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("code", ["complete", "one-vs-all"])
def test_the_readings_at_eight_classes(example, code):
    found = {reading: example.errors(8, code, reading, repetitions=2) for reading in example.READINGS}
    _, hamming, exponential = found["literal"]
    assert abs(hamming - exponential) < 0.005
    for reading in ("signed", "inside"):
        column, hamming, exponential = found[reading]
        assert column > found["literal"][0]
        assert hamming > 5 * exponential
    with pytest.raises(ValueError, match="reading='other' must be one of"):
        example.errors(3, code, "other")
