"""`python -m fuzzing N [--from FIRST] [--kind models|tables]`: run N cases of each kind and print the faults."""

from __future__ import annotations

import argparse
import sys
import traceback

from joblib import Parallel, delayed

from fuzzing import models, tables

KINDS = {"models": models, "tables": tables}


def outcome(kind: str, number: int) -> tuple[str, str | None]:
    """Return how a case ended, and where it is a fault its traceback."""
    try:
        return KINDS[kind].run(number), None
    except Exception as fault:
        words = f"{type(fault).__name__}: {fault}"
        return words, f"{kind} {number}: {KINDS[kind].draw(number).words}\n{traceback.format_exc(limit=-4)}"


def main() -> None:
    """Parse, run, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("n", type=int)
    parser.add_argument("--from", dest="first", type=int, default=0, help="the number of the first case")
    parser.add_argument("--kind", choices=KINDS)
    parser.add_argument("--jobs", type=int, default=2)
    asked = parser.parse_args()
    failed = 0
    for kind in [asked.kind] if asked.kind else KINDS:
        numbers = range(asked.first, asked.first + asked.n)
        done = Parallel(asked.jobs)(delayed(outcome)(kind, number) for number in numbers)
        faults = [fault for _, fault in done if fault is not None]
        print(f"\n{kind}: {len(done)} cases, {len(faults)} faults")
        print(KINDS[kind].summary([words for words, fault in done if fault is None]))
        for fault in faults:
            print(f"\n{fault}")
        failed += len(faults)
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
