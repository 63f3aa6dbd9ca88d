"""Print the oldest supported version of every dependency, for pip: the lower bounds of pyproject.toml.

python .ci/oldest.py > build/oldest.txt
.venv-oldest/bin/python .ci/oldest.py --passed      writes the installed versions of them to docs/oldest.json

These are the dependencies and all extras that run without a GPU; of what only the tests need, pytest, as old
scikit-learn does not know the newest.
"""

from __future__ import annotations

import json
import platform
import re
import sys
import tomllib
from importlib.metadata import version
from pathlib import Path

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRAS = PROJECT["optional-dependencies"]
# The tests that use other tools take the newest.
PINNED_FOR_TESTS = ("onnxruntime", "polars", "pytest")


def requirements() -> dict[str, list[str]]:
    """Return the lines of pyproject.toml for the core, for each extra, and for the tests."""
    together = EXTRAS["all"][0].partition("[")[2][:-1].split(",")
    tests = [line for line in EXTRAS["dev"] if re.match(r"[\w-]+", line)[0] in PINNED_FOR_TESTS]
    return {"core": PROJECT["dependencies"], **{name: EXTRAS[name] for name in together}, "tests": tests}


def write_passed() -> None:
    """Write the versions in this environment, in which the suite has passed."""
    found = {
        use: {name: version(name) for name in (line.partition(">=")[0] for line in lines)}
        for use, lines in requirements().items()
    }
    text = json.dumps({"python": platform.python_version(), "versions": found}, indent=1)
    (ROOT / "docs" / "oldest.json").write_text(text + "\n", encoding="utf-8")


def main() -> int:
    """Print one line per package; fail where a dependency has no lower bound."""
    if sys.argv[1:] == ["--passed"]:
        write_passed()
        return 0
    for line in dict.fromkeys(line for lines in requirements().values() for line in lines):
        bound = re.fullmatch(r"([\w-]+)>=([\d.]+)", line)
        if bound is None:
            print(f"{line!r} in pyproject.toml has no lower bound alone", file=sys.stderr)
            return 1
        print(f"{bound[1]}=={bound[2]}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
