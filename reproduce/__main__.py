"""`python -m reproduce`: measure published tables and figures again and show our numbers beside the published ones."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.table import Table

from reproduce import EXPERIMENTS, Experiment, Findings, find, run_experiment, write_page
from reproduce.running import Watch, requests

PAGE = "published-results.md"
# Where the committed results and their page are.
COMMITTED = Path(__file__).parents[1] / "docs" / "published"
VERDICTS = {"supported": "green", "not supported": "red", "undecided": "yellow"}

app = typer.Typer(add_completion=False, pretty_exceptions_show_locals=False)


@app.command()
def reproduce(
    experiment: Annotated[str, typer.Argument(help="A name, several separated by commas, or all.")] = "all",
    list_: Annotated[bool, typer.Option("--list", help="List the experiments and their options.")] = False,
    datasets: Annotated[str | None, typer.Option(help="Use only these data sets, separated by commas.")] = None,
    options: Annotated[
        list[str] | None, typer.Option("--set", help="name=value: change a choice that the paper leaves open.")
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Run a smaller trial.")] = False,
    out: Annotated[Path | None, typer.Option(help="Write results and figures to this folder.")] = None,
    page: Annotated[Path | None, typer.Option(help=f"Write the page here instead of to {PAGE} in the folder.")] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Continue the results in the folder, by default those in docs/published.")
    ] = False,
    jobs: Annotated[int, typer.Option(min=1, help="Measure this many units at the same time.")] = 1,
) -> None:
    """Run published experiments and show our numbers beside the published ones."""
    console = Console()
    if list_:
        console.print(_catalogue())
        return
    if resume and out is None:
        out, page = COMMITTED, page or COMMITTED.with_name(PAGE)
    with _errors_as_messages():
        chosen = list(EXPERIMENTS.values()) if experiment == "all" else [find(name) for name in _names(experiment)]
        plan = requests(chosen, _names(datasets or ""), dict(map(_setting, options or ())))
        written: set[str] = set()
        try:
            for each, own, settings in plan:
                with _progress_bar(console) as progress:
                    observations = run_experiment(
                        each,
                        data_sets=own,
                        quick=quick,
                        options=settings,
                        out=out,
                        # Another experiment may have just measured the same units into the same file.
                        resume=resume or each.stem in written,
                        n_jobs=jobs,
                        watch=_watch(progress, each.name),
                    )
                written.add(each.stem)
                _show(each, each.present(observations), console)
        finally:
            # Written even if an experiment failed, with what was measured before.
            if out is not None and written:
                target = page or out / PAGE
                write_page(EXPERIMENTS.values(), out, target)
                console.print(f"{target}: the page of all results in {out}", markup=False, highlight=False)


@contextmanager
def _errors_as_messages() -> Iterator[None]:
    """Print errors that a user can correct on stderr and exit with code 2; exit with 130 after Ctrl-C."""
    console = Console(stderr=True, soft_wrap=True)
    try:
        yield
    except (ValueError, ImportError, OSError) as error:
        console.print(f"[red]Error:[/] {escape(str(error))}", highlight=False)
        raise typer.Exit(2) from error
    except KeyboardInterrupt as stop:
        console.print("Stopped. Run again with --resume to continue results that were written with --out.")
        raise typer.Exit(130) from stop


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]


def _setting(text: str) -> tuple[str, Any]:
    name, equals, value = text.partition("=")
    if not equals:
        raise ValueError(f"--set {text} must be name=value.")
    try:
        return name, json.loads(value)
    except ValueError:
        return name, value


def _progress_bar(console: Console) -> Progress:
    # In a file a progress bar would be empty lines.
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    return Progress(*columns, TimeRemainingColumn(), console=console, transient=True, disable=not console.is_terminal)


def _watch(progress: Progress, name: str) -> Watch:
    task = progress.add_task(name, total=None)

    def report(what: str, done: int, total: int) -> None:
        progress.update(task, description=f"{name} {what}", completed=done, total=total)

    return report


def _catalogue() -> Table:
    table = Table("experiment", "reproduces", "options", box=SIMPLE_HEAD, show_edge=False)
    for each in EXPERIMENTS.values():
        settings = ", ".join(f"{name}={value}" for name, value in each.options.items())
        table.add_row(each.name, each.title, escape(settings))
    return table


def _show(experiment: Experiment, findings: Findings, console: Console) -> None:
    for found in findings.tables:
        table = Table(*found.header, title=f"{experiment.name}: {found.title}", box=SIMPLE_HEAD, show_edge=False)
        for row in found.rows:
            table.add_row(*(escape(cell.replace("**", "")) for cell in row))
        console.print(table)
        for remark in found.remarks:
            console.print(remark, style="dim", markup=False, highlight=False)
    for remark in findings.remarks:
        console.print(f"· {remark}", style="dim", markup=False, highlight=False)
    for claim in findings.claims:
        console.print(f"[{VERDICTS[claim.verdict]}]{claim.verdict}[/]: {claim.statement}", highlight=False)
        console.print(f"  {claim.evidence}", style="dim", markup=False, highlight=False)


if __name__ == "__main__":
    app(prog_name="python -m reproduce")
