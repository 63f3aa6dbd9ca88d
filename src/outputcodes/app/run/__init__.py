"""The whole job: from a table on disk to a comparison, a report and a saved model, and from that to predictions."""

from outputcodes.app.run.comparing import Outcome, compare_table
from outputcodes.app.run.finishing import Winner, finish
from outputcodes.app.run.fitting import fit_file
from outputcodes.app.run.inspecting import inspect_file
from outputcodes.app.run.plan import Plan, make_plan
from outputcodes.app.run.predicting import predict_file
from outputcodes.app.run.sources import Source, open_source
from outputcodes.app.run.splits import Splits, cross_validation, official
from outputcodes.app.run.systems import SYSTEMS, System, build
from outputcodes.app.run.writing import write

__all__ = [
    "SYSTEMS",
    "Outcome",
    "Plan",
    "Source",
    "Splits",
    "System",
    "Winner",
    "build",
    "compare_table",
    "cross_validation",
    "finish",
    "fit_file",
    "inspect_file",
    "make_plan",
    "official",
    "open_source",
    "predict_file",
    "write",
]
