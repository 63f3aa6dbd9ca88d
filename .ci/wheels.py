"""Check that pip finds wheels of all dependencies and extras for other versions of Python; nothing is installed.

python .ci/wheels.py [3.12 3.13 ...]
"""

from __future__ import annotations

import json
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
SHOWN = ("numpy", "scipy", "scikit-learn", "numba", "llvmlite", "onnx", "pyarrow")


def resolved(python: str) -> dict[str, str]:
    """Return the versions that pip would install for a version of Python."""
    extras = PROJECT["optional-dependencies"]
    wanted = PROJECT["dependencies"] + [
        line for name in extras["all"][0].partition("[")[2][:-1].split(",") for line in extras[name]
    ]
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--dry-run", "--ignore-installed", "--report", "-"]
    command += ["--only-binary", ":all:", "--python-version", python, "--implementation", "cp", "--target", "unused"]
    found = json.loads(subprocess.check_output([*command, *wanted], text=True))
    each = [one["metadata"] for one in found["install"]]
    return {one["name"].lower(): one["version"] for one in each}


def main() -> int:
    """Print the versions for each version of Python."""
    for python in sys.argv[1:] or ("3.12", "3.13", "3.14"):
        versions = resolved(python)
        print(f"Python {python}: {len(versions)} wheels;", ", ".join(f"{name} {versions[name]}" for name in SHOWN))
    return 0


if __name__ == "__main__":
    sys.exit(main())
