"""`outputcodes fit`: one model from a table."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from outputcodes._ground import progress
from outputcodes.app import run
from outputcodes.app.cli import _options
from outputcodes.app.cli._common import assignments, names, numbers, reported_errors, start_of_process


def fit(
    data: Annotated[str, typer.Argument(help="A table, a folder or a pattern of tables, or a data set by name.")],
    out: Annotated[Path, typer.Option(help="The file of the model, such as model.skops.")],
    learner: Annotated[
        str | None, typer.Option(help="A learner, or a system that needs no code: see `outputcodes names`.")
    ] = None,
    code: Annotated[str | None, typer.Option(help="The code.")] = None,
    decoder: Annotated[str | None, typer.Option(help="The decoder.")] = None,
    probability: Annotated[
        str | None, typer.Option(help="softmax, likelihood or coupling: for predict --proba, costs and rejection.")
    ] = None,
    param: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=VALUE", help="A parameter of the learner, such as C=10; may be repeated."),
    ] = None,
    class_weight: Annotated[
        str | None, typer.Option(metavar="WEIGHTS", help="balanced, or label=weight,label=weight; others weigh 1.")
    ] = None,
    tune: Annotated[
        bool, typer.Option("--tune", help="Search the parameters of the learner on folds, but for those of --param.")
    ] = False,
    time_limit: Annotated[
        float | None,
        typer.Option(
            metavar="SECONDS", min=1, help="Where no learner is named: how long to look for the best; 60 by default."
        ),
    ] = None,
    device: _options.Device = "cpu",
    group: _options.Group = None,
    jobs: _options.Jobs = 1,
    seed: _options.Seed = 0,
    target: _options.Target = None,
    identifier: _options.Identifier = None,
    drop: _options.Drop = None,
    order: _options.Order = None,
    sep: _options.Separator = None,
    decimal: _options.Decimal = ".",
    encoding: _options.Encoding = "utf-8",
    plugin: _options.Plugin = None,
) -> None:
    """Find the best model for a table, or train a learner under a code, and save it with its preprocessing.

    Where no learner is named, nor anything else of the model, a race finds the best one within the time limit.
    """
    started = start_of_process()
    given = [one.partition("=")[0].strip() for one in param or ()]
    with reported_errors(params=given), progress.showing(progress=progress.Progress(least=2.0)):
        run.load_plugins(plugin or ())
        model, summary = run.fit_file(
            data,
            out,
            target,
            learner,
            code,
            decoder,
            probability=probability,
            class_weight="balanced" if class_weight == "balanced" else numbers(class_weight, "--class-weight"),
            params=assignments(param),
            tune=tune,
            time_limit=time_limit,
            device=device,
            seed=seed,
            n_jobs=jobs,
            started=started,
            identifier=identifier,
            drop=drop or (),
            order=names(order),
            group=group,
            separator=sep,
            decimal=decimal,
            encoding=encoding,
        )
    console = Console(soft_wrap=True)
    for line in _lines(out, model, summary):
        console.print(line, markup=False, highlight=False)
    for note in summary.get("notes", ()):
        console.print(f"· {note}", style="dim", markup=False, highlight=False)


def _lines(out: Path, model: Any, summary: dict[str, Any]) -> Iterator[str]:
    """What was trained, and how good it is."""
    if "winner" not in summary:
        parts = (summary["learner"], summary.get("code"), summary.get("decoder"))
        yield (
            f"{out}: {type(model[-1]).__name__}, {summary['rows']} rows, {100 * summary['training_error']:.2f} % wrong "
            f"on them ({', '.join(part for part in parts if part)})"
        )
        if tuned := summary.get("tuned"):
            found = ", ".join(f"{name}={_short(value)}" for name, value in tuned["parameters"].items())
            yield (
                f"  {found}: the best of {tuned['candidates']} candidates, {100 * tuned['error']:.2f} % wrong in "
                f"{tuned['folds']} folds"
            )
        return
    low, high = (100 * one for one in summary["interval"])
    yield (
        f"{out}: {summary['rows']} rows; about {100 * summary['error']:.2f} % wrong on new ones ({low:.2f} to "
        f"{high:.2f} %)"
    )
    for name, weight in zip(summary["winner"], summary["weights"], strict=True):
        yield f"  {100 * weight:3.0f} %  {name}" if len(summary["winner"]) > 1 else f"  {name}"


def _short(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)
