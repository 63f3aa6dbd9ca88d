"""300 odd tables and 300 odd combinations; `make fuzz N=10000` runs more."""

import pytest

from fuzzing import models, tables

SHARE = 20
CASES = 300


@pytest.mark.parametrize("first", range(0, CASES, SHARE))
@pytest.mark.parametrize("kind", [models, tables], ids=["models", "tables"])
def test_no_input_brings_about_a_fault(kind, first):
    outcomes = {}
    for number in range(first, first + SHARE):
        try:
            outcomes[number] = kind.run(number)
        except Exception as fault:
            fault.add_note(f"case {number}: {kind.draw(number).words}")
            raise
    # Refusals alone would show nothing.
    assert "trained" in outcomes.values()
