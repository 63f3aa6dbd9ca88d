"""The command line: one file per verb, each parses, makes one library call, and prints."""

from __future__ import annotations

import sys


def main() -> None:
    """Run `outputcodes`; say what to install where the command line's own libraries are missing."""
    try:
        from outputcodes.app.cli.app import app
    except ImportError as missing:
        if (missing.name or "").startswith("outputcodes"):
            raise
        sys.exit(f"The command line needs {missing.name}: pip install 'outputcodes[cli]'")
    app()
