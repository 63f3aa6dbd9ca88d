"""The whole job: from a table on disk to a comparison, a report and a saved model, and from that to predictions."""

from typing import TYPE_CHECKING

from outputcodes._ground.lazy import lazily

if TYPE_CHECKING:
    from outputcodes.app.run.catalogue import list_names, list_parameters
    from outputcodes.app.run.comparing import Outcome, compare_table, ranking_columns
    from outputcodes.app.run.deciding import Decisions
    from outputcodes.app.run.drawing import draw_code
    from outputcodes.app.run.exporting import export_file
    from outputcodes.app.run.finishing import Winner, finish
    from outputcodes.app.run.fitting import fit_file
    from outputcodes.app.run.inspecting import inspect_file
    from outputcodes.app.run.plan import Plan, make_plan
    from outputcodes.app.run.plugins import load_plugins
    from outputcodes.app.run.predicting import predict_file
    from outputcodes.app.run.race.comparing import RaceOutcome, race_table
    from outputcodes.app.run.race.winner import RACE_SECONDS
    from outputcodes.app.run.sources import Source, open_source
    from outputcodes.app.run.splits import Splits, cross_validation, official
    from outputcodes.app.run.systems import SYSTEMS, System, build
    from outputcodes.app.run.writing import write

__all__ = [
    "RACE_SECONDS",
    "SYSTEMS",
    "Decisions",
    "Outcome",
    "Plan",
    "RaceOutcome",
    "Source",
    "Splits",
    "System",
    "Winner",
    "build",
    "compare_table",
    "cross_validation",
    "draw_code",
    "export_file",
    "finish",
    "fit_file",
    "inspect_file",
    "list_names",
    "list_parameters",
    "load_plugins",
    "make_plan",
    "official",
    "open_source",
    "predict_file",
    "race_table",
    "ranking_columns",
    "write",
]

# The command line prints its help without them.
__getattr__, __dir__ = lazily(
    __name__,
    names={
        "catalogue": ["list_names", "list_parameters"],
        "comparing": ["Outcome", "compare_table", "ranking_columns"],
        "deciding": ["Decisions"],
        "drawing": ["draw_code"],
        "exporting": ["export_file"],
        "finishing": ["Winner", "finish"],
        "fitting": ["fit_file"],
        "inspecting": ["inspect_file"],
        "plan": ["Plan", "make_plan"],
        "plugins": ["load_plugins"],
        "predicting": ["predict_file"],
        "race.comparing": ["RaceOutcome", "race_table"],
        "race.winner": ["RACE_SECONDS"],
        "sources": ["Source", "open_source"],
        "splits": ["Splits", "cross_validation", "official"],
        "systems": ["SYSTEMS", "System", "build"],
        "writing": ["write"],
    },
)
