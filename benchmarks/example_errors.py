"""Save the test errors that examples/linear_learners.py prints; README.md shows most of them.

python benchmarks/example_errors.py [--quick]
"""

from __future__ import annotations

import sys

from common import QUICK, ROOT, print_table, save

sys.path.append(str(ROOT / "examples"))
import linear_learners as example  # found beside the line above, not on the path of the project


def main() -> None:
    learners = ("ridge", "tree of depth 4") if QUICK else tuple(example.LEARNERS)
    rows = [example.errors(name) for name in learners]
    print_table(rows)
    save("linear_learners", rows)


if __name__ == "__main__":
    main()
