"""`outputcodes code`: draw a code and describe it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from rich.console import Console

from outputcodes import codes
from outputcodes._ground.files import in_place_of
from outputcodes.app.cli._common import reported_errors

DRAWN = [name for name, make in codes.CODES.items() if not make().needs_problem]
ENDINGS = (".csv", ".png", ".svg", ".pdf")


def code(
    name: Annotated[str, typer.Argument(help=f"One of {', '.join(DRAWN)}; other codes are made from data.")],
    k: Annotated[int, typer.Option("-k", "--classes", min=2, help="The number of classes.")] = 10,
    seed: Annotated[int, typer.Option(min=0, help="Seed of a random code.")] = 0,
    out: Annotated[
        Path | None, typer.Option(help="A file: .csv for the matrix, .png, .svg or .pdf for a picture.")
    ] = None,
) -> None:
    """Draw a code for k classes, describe it, and save it."""
    with reported_errors():
        if out is not None and out.suffix not in ENDINGS:
            raise ValueError(f"--out {out} must end in {', '.join(ENDINGS)}.")
        M = codes.as_code(name).draw(k, random_state=seed).matrix()
        if out is not None:
            _save(M, out)
    Console(soft_wrap=True).print(str(codes.describe(M)), markup=False, highlight=False)
    if out is not None:
        Console().print(f"saved as {out}", markup=False, highlight=False)


def _save(M: Any, out: Path) -> None:
    with in_place_of(out) as part:
        if out.suffix == ".csv":
            np.savetxt(part, M, fmt="%d", delimiter=",")
        else:
            codes.plot(M).figure.savefig(part, format=out.suffix[1:], dpi=200, bbox_inches="tight")
