"""Options that several verbs have, each described once."""

from __future__ import annotations

from typing import Annotated

import typer

TABLE = "How to read the table"
MODELS = "Plug-ins and model files"

Device = Annotated[str, typer.Option(help="Where kernel SVMs are trained: cpu, cuda (a GPU) or auto.")]
Target = Annotated[str | None, typer.Option(metavar="COLUMN", help="The column of the labels.", rich_help_panel=TABLE)]
Identifier = Annotated[
    str | None,
    typer.Option(
        "--id", metavar="COLUMN", help="A column that names the rows: never a feature.", rich_help_panel=TABLE
    ),
]
Drop = Annotated[
    list[str] | None,
    typer.Option(metavar="COLUMN", help="A column to leave out; may be repeated.", rich_help_panel=TABLE),
]
Order = Annotated[
    str | None,
    typer.Option(
        metavar="LOW,…,HIGH",
        help="The classes from the lowest to the highest, for the ordinal code.",
        rich_help_panel=TABLE,
    ),
]
Group = Annotated[
    str | None,
    typer.Option(metavar="COLUMN", help="A column whose equal values, such as patients, stay together in folds."),
]
Separator = Annotated[
    str | None,
    typer.Option("--sep", metavar="SIGN", help="What separates the fields: ';', '|' or tab.", rich_help_panel=TABLE),
]
Decimal = Annotated[
    str, typer.Option(metavar="SIGN", help="The decimal mark: a point or a comma.", rich_help_panel=TABLE)
]
Encoding = Annotated[str, typer.Option(help="The encoding of a text file.", rich_help_panel=TABLE)]
Plugin = Annotated[
    list[str] | None,
    typer.Option(
        metavar="MODULE",
        help="A module, or a .py file, that adds codes, decoders or learners; may be repeated.",
        rich_help_panel=MODELS,
    ),
]
Trust = Annotated[
    list[str] | None,
    typer.Option(
        metavar="TYPE",
        help="A type in the model file that you trust, by its full name; may be repeated.",
        rich_help_panel=MODELS,
    ),
]
MaxBytes = Annotated[
    int, typer.Option(min=1, help="The most bytes that the model file may unpack to.", rich_help_panel=MODELS)
]
Jobs = Annotated[int, typer.Option(help="Columns trained at a time; in a race, models.")]
Seed = Annotated[int, typer.Option(min=0, help="Seed of codes and folds.")]

# That of outputcodes.app.persistence, which would be imported for it; a test compares the two.
MAX_BYTES = 1 << 30
