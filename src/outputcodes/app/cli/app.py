"""The table of verbs. The module of a verb is imported when the verb is called, so that help comes at once."""

from __future__ import annotations

from importlib import import_module
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from outputcodes import __version__

# Each verb is the function of its name in the module of its name.
VERBS = {
    "compare": "Race many models for the best one, and print a ranking of the finalists.",
    "fit": "Find the best model for a table, or train a learner under a code, and save it with its preprocessing.",
    "predict": "Predict the class of every row, chunk by chunk.",
    "inspect": "Show a model: its table, its code with distances and bounds, the errors of its columns, its size.",
    "export": "Write a model as an ONNX file, for programs without Python.",
    "code": "Draw a code for k classes, describe it, and save it.",
    "names": "List the learners, systems, codes, decoders and metrics that can be named, and what each is.",
    "datasets": "List the known data sets, their sizes, and where each is found or fetched from.",
}


class PlainFlags:
    """A command whose help shows flags without a type: they take no value."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Return all arguments and options, `--help` included."""
        found: list[Any] = super().get_params(ctx)  # type: ignore[misc]
        for one in found:
            if getattr(one, "is_flag", False):
                one.metavar = ""
        return found


class Verb(PlainFlags, TyperCommand):
    """One of the commands."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Return the arguments that are left: none; the shell may have replaced a pattern by its files."""
        ctx.allow_extra_args = self.name in ("fit", "predict")
        left: list[str] = super().parse_args(ctx, args)
        if left:
            ctx.fail(
                f"Got unexpected extra arguments ({' '.join(left)}). To read several files, quote their pattern, such "
                "as 'parts/*.csv'."
            )
        return left


class Verbs(PlainFlags, TyperGroup):
    """The commands: those in the table until one is called, which is then the real one."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Return the name, the command and its arguments."""
        name, _, rest = super().resolve_command(ctx, args)
        return name, command(str(name)), rest


def command(name: str) -> Any:
    """Import the module of a verb and return its command."""
    alone = typer.Typer(add_completion=False, pretty_exceptions_show_locals=False)
    alone.command(name, cls=Verb)(getattr(import_module(f"outputcodes.app.cli.{name}"), name))
    return typer.main.get_command(alone)


app = typer.Typer(
    cls=Verbs,
    no_args_is_help=True,
    add_completion=False,
    help="Multiclass classification by output codes.",
    pretty_exceptions_show_locals=False,
)


def _show_version(asked: bool) -> None:
    if asked:
        typer.echo(f"outputcodes {__version__}")
        raise typer.Exit


@app.callback()
def before(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Handle the options before the verb."""


def _in_place_of_a_verb() -> None:
    """Stand in the table until the verb is called."""


for verb, sentence in VERBS.items():
    app.command(verb, help=sentence)(_in_place_of_a_verb)
