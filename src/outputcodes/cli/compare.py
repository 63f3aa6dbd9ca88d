"""`outputcodes compare`: a ranked table of codes × decoders by cross-validated error."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import Progress
from rich.table import Table
from sklearn import datasets
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from outputcodes import selection
from outputcodes.codes import CODES
from outputcodes.decoders import DECODERS

DATA_SETS = {
    "digits": datasets.load_digits,
    "iris": datasets.load_iris,
    "wine": datasets.load_wine,
}
DEFAULT_CODES = "one-vs-all,all-pairs,dense,sparse,hadamard,bch"
DEFAULT_DECODERS = "hamming,loss,linear,exponential,vote,inverse-hamming"


def compare(
    data: Annotated[str, typer.Argument(help=f"A data set: {', '.join(DATA_SETS)}.")] = "digits",
    codes: Annotated[str, typer.Option(help=f"Codes, with commas between, of: {', '.join(CODES)}.")] = DEFAULT_CODES,
    decoders: Annotated[
        str, typer.Option(help=f"Decoders, separated by commas, of: {', '.join(DECODERS)}.")
    ] = DEFAULT_DECODERS,
    cv: Annotated[int, typer.Option(min=2, help="Folds of the cross-validation.")] = 5,
    jobs: Annotated[int, typer.Option(help="Columns trained at a time.")] = 1,
    seed: Annotated[int, typer.Option(min=0, help="Seed of codes and folds.")] = 0,
) -> None:
    """Train every code once per fold, decode it in every way, and print which does best."""
    console = Console()
    chosen = [_names(codes, CODES, "--codes"), _names(decoders, DECODERS, "--decoders")]
    if data not in DATA_SETS:
        raise typer.BadParameter(f"{data!r} is unknown; choose from {', '.join(DATA_SETS)}.")
    X, y = DATA_SETS[data](return_X_y=True)
    learner = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))
    with Progress(console=console, transient=True) as progress:
        task = progress.add_task("training")

        def watch(code: str, done: int, total: int) -> None:
            progress.update(task, description=f"training {code}", completed=done, total=total)

        try:
            rows = selection.compare(
                X, y, learner, codes=chosen[0], decoders=chosen[1], cv=cv, n_jobs=jobs, random_state=seed, watch=watch
            )
        except ValueError as error:
            raise typer.BadParameter(str(error)) from error
    console.print(_table(rows, f"{data}: {len(y)} rows, {len(set(y))} classes, {cv}-fold cross-validation"))


def _names(text: str, known: Mapping[str, object], option: str) -> list[str]:
    names = [name.strip() for name in text.split(",") if name.strip()]
    if unknown := [name for name in names if name not in known]:
        raise typer.BadParameter(f"{', '.join(unknown)}: unknown; choose from {', '.join(known)}.", param_hint=option)
    return names


def _table(rows: list[selection.Comparison], title: str) -> Table:
    table = Table(title=title, caption="logistic regression on standardised features; the best first")
    for name, justify in [("", "right"), ("code", "left"), ("decoder", "left"), ("columns", "right")]:
        table.add_column(name, justify=justify)  # type: ignore[arg-type]
    for name in ["error %", "± (folds)", "fit s"]:
        table.add_column(name, justify="right")
    for rank, row in enumerate(rows, start=1):
        table.add_row(
            str(rank),
            row.code,
            row.decoder,
            str(row.columns),
            f"{100 * row.error:.2f}",
            f"{100 * row.spread:.2f}",
            f"{row.fit_seconds:.2f}",
            style="bold green" if row.error == rows[0].error else None,
        )
    return table
