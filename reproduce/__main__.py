"""`outputcodes reproduce`: published tables and figures, measured again and put beside the published numbers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from outputcodes.app.cli._common import names, progress_bar, reported_errors
from reproduce import EXPERIMENTS, Experiment, Findings, find, run, write_page
from reproduce.running import Watch, shared_out

PAGE = "published-results.md"
VERDICTS = {"supported": "green", "not supported": "red", "undecided": "yellow"}


def reproduce(
    experiment: Annotated[str, typer.Argument(help="By name, several with commas between, or all.")] = "",
    list_: Annotated[bool, typer.Option("--list", help="Name the experiments and what each reproduces.")] = False,
    datasets: Annotated[str | None, typer.Option(help="Some of its data sets, with commas between.")] = None,
    options: Annotated[
        list[str] | None, typer.Option("--set", help="name=value: another choice where the text leaves one open.")
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="A smaller trial.")] = False,
    out: Annotated[Path | None, typer.Option(help="A folder for the files of results and the figures.")] = None,
    page: Annotated[Path | None, typer.Option(help=f"The page made of them; by default {PAGE} in the folder.")] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Continue the results in the folder.")] = False,
    jobs: Annotated[int, typer.Option(min=1, help="Units measured at a time.")] = 1,
) -> None:
    """Run published experiments and show our numbers beside the published ones."""
    console = Console()
    if list_ or not experiment:
        console.print(_catalogue())
        return
    with reported_errors():
        chosen = list(EXPERIMENTS.values()) if experiment == "all" else [find(name) for name in names(experiment) or ()]
        plan = shared_out(chosen, names(datasets), dict(map(_setting, options or ())))
        written: set[str] = set()
        try:
            for each, own, settings in plan:
                with progress_bar(console) as progress:
                    results = run(
                        each,
                        data_sets=own,
                        quick=quick,
                        options=settings,
                        out=out,
                        # What this call has just measured is there for other experiments that share the file.
                        resume=resume or each.stem in written,
                        n_jobs=jobs,
                        watch=_watch(progress, each.name),
                    )
                written.add(each.stem)
                _show(each, each.present(results), console)
        finally:
            # Also of what was measured before something failed.
            if out is not None and written:
                target = page or out / PAGE
                write_page(EXPERIMENTS.values(), out, target)
                console.print(f"{target}: the page, with all results in {out}", markup=False, highlight=False)


def _watch(progress: Progress, name: str) -> Watch:
    task = progress.add_task(name, total=None)

    def told(what: str, done: int, total: int) -> None:
        progress.update(task, description=f"{name} {what}", completed=done, total=total)

    return told


def _setting(text: str) -> tuple[str, Any]:
    name, equals, value = text.partition("=")
    if not equals:
        raise ValueError(f"--set {text} must be name=value.")
    try:
        return name, json.loads(value)
    except ValueError:
        return name, value


def _catalogue() -> Table:
    table = Table("experiment", "reproduces", "options", box=SIMPLE_HEAD, show_edge=False)
    for each in EXPERIMENTS.values():
        settings = ", ".join(f"{name}={value}" for name, value in each.options.items())
        table.add_row(each.name, each.title, settings)
    return table


def _show(experiment: Experiment, findings: Findings, console: Console) -> None:
    for found in findings.tables:
        table = Table(*found.header, title=f"{experiment.name}: {found.title}", box=SIMPLE_HEAD, show_edge=False)
        for row in found.rows:
            table.add_row(*(cell.replace("**", "") for cell in row))
        console.print(table)
        for remark in found.remarks:
            console.print(remark, style="dim", markup=False, highlight=False)
    for remark in findings.remarks:
        console.print(f"· {remark}", style="dim", markup=False, highlight=False)
    for claim in findings.claims:
        console.print(f"[{VERDICTS[claim.verdict]}]{claim.verdict}[/]: {claim.statement}", highlight=False)
        console.print(f"  {claim.evidence}", style="dim", markup=False, highlight=False)


if __name__ == "__main__":
    typer.run(reproduce)
