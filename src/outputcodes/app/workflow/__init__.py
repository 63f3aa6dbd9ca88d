"""The whole job: from a table on disk to a comparison, a report and a saved model, and from that to predictions."""

from outputcodes.app.workflow.evaluate import METRICS
from outputcodes.app.workflow.files import fit_file, inspect_file
from outputcodes.app.workflow.journal import JournalError
from outputcodes.app.workflow.models import SYSTEMS, build, save_model
from outputcodes.app.workflow.plan import Cell, Plan, make_plan
from outputcodes.app.workflow.predicting import predict_file
from outputcodes.app.workflow.run import Outcome, run
from outputcodes.app.workflow.sources import Source, open_source
from outputcodes.app.workflow.splits import Splits, cross_validation, official

__all__ = [
    "METRICS",
    "SYSTEMS",
    "Cell",
    "JournalError",
    "Outcome",
    "Plan",
    "Source",
    "Splits",
    "build",
    "cross_validation",
    "fit_file",
    "inspect_file",
    "make_plan",
    "official",
    "open_source",
    "predict_file",
    "run",
    "save_model",
]
