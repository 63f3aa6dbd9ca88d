"""A code by name: drawn, described and saved."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from outputcodes import codes
from outputcodes._ground.files import in_place_of

ENDINGS = (".csv", ".png", ".svg", ".pdf")


def draw_code(name: str, k: int, *, seed: int = 0, out: str | Path | None = None) -> str:
    """Draw a code for k classes, save its matrix (.csv) or a picture of it, and return it in words.

    >>> print(draw_code("one-vs-all", 3).splitlines()[-1])
    - - +
    """
    if out is not None and Path(out).suffix not in ENDINGS:
        raise ValueError(f"--out {out} must end in {', '.join(ENDINGS)}.")
    code = codes.as_code(name)
    if code.needs_problem:
        drawn = ", ".join(known for known, make in codes.CODES.items() if not make().needs_problem)
        raise ValueError(f"code={name!r} is made from data, and there is none here. Codes that need no data: {drawn}.")
    M = code.draw(k, random_state=seed).matrix()
    if out is not None:
        _save(M, Path(out))
    return str(codes.describe(M))


def _save(M: Any, out: Path) -> None:
    with in_place_of(out) as part:
        if out.suffix == ".csv":
            np.savetxt(part, M, fmt="%d", delimiter=",")
        else:
            codes.plot(M).figure.savefig(part, format=out.suffix[1:], dpi=200, bbox_inches="tight")
