"""Paths to write to: refused before the work is done, not after."""

from __future__ import annotations

import os
from pathlib import Path


def same_file(*paths: str | Path) -> bool:
    """Return whether two paths lead to one file that exists."""
    return all(map(os.path.exists, paths)) and os.path.samefile(*paths)


def check_out(out: str | Path, endings: tuple[str, ...], *inputs: str | Path) -> None:
    """Refuse a file that cannot or should not be written."""
    out = Path(out)
    if not out.parent.is_dir():
        raise ValueError(f"There is no folder {out.parent} for {out.name}: make it first.")
    for one in inputs:
        if same_file(out, one):
            raise ValueError(f"--out {out} is the file that is read, {one}: it would be lost. Name another file.")
    if not out.name.endswith(endings) or out.is_dir():
        onnx = f" For {out.name}, save the model, then run outputcodes export." if out.suffix == ".onnx" else ""
        raise ValueError(f"--out {out} must be a file whose name ends in {' or '.join(endings)}.{onnx}")
