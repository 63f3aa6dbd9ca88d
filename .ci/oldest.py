"""Print the oldest supported version of every dependency, for pip: the lower bounds of pyproject.toml.

python .ci/oldest.py > build/oldest.txt

These are the dependencies and all extras that run without a GPU; of what only the tests need, pytest, as old
scikit-learn does not know the newest.
"""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path

PROJECT = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRAS = PROJECT["optional-dependencies"]
# The tests that use other tools take the newest.
PINNED_FOR_TESTS = ("onnxruntime", "polars", "pytest")


def main() -> int:
    """Print one line per package; fail where a dependency has no lower bound."""
    named = [
        *PROJECT["dependencies"],
        *(line for name in EXTRAS["all"][0].partition("[")[2][:-1].split(",") for line in EXTRAS[name]),
    ]
    named += [line for line in EXTRAS["dev"] if re.match(r"[\w-]+", line)[0] in PINNED_FOR_TESTS]
    for line in dict.fromkeys(named):
        bound = re.fullmatch(r"([\w-]+)>=([\d.]+)", line)
        if bound is None:
            print(f"{line!r} in pyproject.toml has no lower bound alone", file=sys.stderr)
            return 1
        print(f"{bound[1]}=={bound[2]}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
