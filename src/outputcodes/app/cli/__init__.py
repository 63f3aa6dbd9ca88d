"""The command line: one file per verb, which parses, makes one library call, and prints."""

from __future__ import annotations

import signal
import sys
from typing import Any


def main() -> None:
    """Run `outputcodes`; name the package to install where a library of the command line is missing."""
    try:
        from outputcodes.app.cli.app import app
    except ImportError as missing:
        if (missing.name or "").startswith("outputcodes"):
            raise
        sys.exit(f"The command line needs {missing.name}: pip install 'outputcodes[cli]'")
    # Like Ctrl-C, it leaves no temporary files and no processes behind.
    signal.signal(signal.SIGTERM, _end)
    app()


def _end(number: int, frame: Any) -> None:
    sys.exit(128 + number)
