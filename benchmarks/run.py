"""Run the benchmarks one after another and render the pages: `make bench`, or `make bench ARGS="linear trees"`.

python benchmarks/run.py [script ...] [--list] [--again] [--quick]

A script is skipped if all of its results come from the code as it is now, so a run that was stopped continues where it
ended; --again runs it anyway. --list shows the expected minutes and what is up to date. --quick tries the scripts on a
few rows and leaves the results alone.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

from common import ROOT, code_version

HERE = Path(__file__).parent


class Script(NamedTuple):
    """The results files of a script, and the minutes that it is expected to take until they say how long it took."""

    files: tuple[str, ...]
    minutes: float

    def runs(self) -> list[dict[str, object]]:
        """Return what each file says about its run; nothing for a file that is absent or has no date."""
        paths = [HERE / "results" / f"{name}.json" for name in self.files]
        return [json.loads(path.read_text()).get("run", {}) if path.exists() else {} for path in paths]


# The short ones first: what time allows is then most of them. two_checkouts.py needs another checkout, gpu.py a GPU.
SCRIPTS = {
    "codes": Script(("codes",), 1),
    "example_errors": Script(("linear_learners",), 1),
    "decoding": Script(("decoding",), 1),
    "spoc_vs_qp": Script(("spoc_vs_qp",), 1),
    "continuous_columns": Script(("continuous_columns",), 1),
    "ridge": Script(("ridge",), 1),
    "conformal": Script(("conformal",), 1),
    "colourings": Script(("colourings",), 2),
    "million_rows": Script(("million_rows",), 2),
    "kill_resume": Script(("kill_resume",), 3),
    "multiclass_svm": Script(("multiclass_svm",), 3),
    "designed_codes": Script(("designed_codes",), 4),
    "stumps": Script(("stumps",), 4),
    "mnist": Script(("mnist",), 4),
    "calibration": Script(("calibration",), 5),
    "trees": Script(tuple(f"trees_{p}" for p in ("growing", "columns", "unpruned", "pruned", "growth")), 5),
    "onnx_models": Script(("onnx_agreement", "onnx_speed"), 10),
    "boosting": Script(tuple(f"boosting_{p}" for p in ("rounds", "labels", "large", "growth")), 6),
    "loo_bounds": Script(("loo_bounds",), 9),
    "linear": Script(("linear",), 9),
    "blocks": Script(tuple(f"blocks_{p}" for p in ("files", "dask", "bytes", "peers")), 20),
    "killed_workers": Script(("blocks_kills",), 3),
    "streams": Script(("streams",), 5),
    "kernel_svm": Script(("kernel_svm",), 10),
    "search": Script(
        tuple(f"search_{p}" for p in ("kernel", "large", "mnist", "linear", "decoders", "judges", "defaults")), 45
    ),
    "many_classes": Script(
        tuple(
            f"many_classes_{p}"
            for p in ("icd10", "debian_paths", "k1e3", "k1e4", "k1e5", "k1e5_5rows", "k1e6", "growth", "choose")
        ),
        17,
    ),
    "answers": Script(("answers", "answers_ranks", "answers_30", "answers_30_ranks", "answers_small"), 260),
    "answers_over_time": Script(("answers_honest", "answers_anytime"), 55),
    "where_trees_lose": Script(("where_trees_lose_dense", "where_trees_lose_learners"), 10),
    "boosted_trees": Script(
        tuple(f"boosted_trees_{p}" for p in ("tables", "peers", "mnist", "many", "cost", "growth")), 90
    ),
}


def up_to_date(name: str) -> bool:
    """Return whether all results of a script come from the code as it is now, without uncommitted changes."""
    version = code_version(HERE / f"{name}.py")
    known = version != "unknown" and version[-1] != "+"
    return known and all(run.get("commit") == version for run in SCRIPTS[name].runs())


def minutes(name: str) -> float:
    """Return how long the script took the last time, or the guess."""
    taken = [float(str(run["minutes"])) for run in SCRIPTS[name].runs() if "minutes" in run]
    # A script that writes several files notes for each the time since its start.
    return max(taken) if len(taken) == len(SCRIPTS[name].files) else SCRIPTS[name].minutes


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("scripts", nargs="*", metavar="script", help=", ".join(SCRIPTS))
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--again", action="store_true")
    parser.add_argument("--quick", action="store_true")
    options = parser.parse_args()
    if unknown := [name for name in options.scripts if name not in SCRIPTS]:
        parser.error(f"unknown script: {', '.join(unknown)}. Choose from: {', '.join(SCRIPTS)}.")
    chosen = [name for name in SCRIPTS if name in (options.scripts or SCRIPTS)]
    wanted = [name for name in chosen if options.again or options.quick or not up_to_date(name)]
    for name in chosen:
        print(f"{name:<20} {'up to date' if name not in wanted else f'about {minutes(name):.1f} minutes'}")
    if not options.quick:
        print(f"{'':<20} about {sum(map(minutes, wanted)):.0f} minutes in all", flush=True)
    if options.list:
        return 0
    failed = []
    for at, name in enumerate(wanted, start=1):
        print(f"\n{at} of {len(wanted)}: {name}\n", flush=True)
        command = [sys.executable, str(HERE / f"{name}.py"), *(["--quick"] if options.quick else [])]
        if subprocess.run(command, cwd=ROOT, check=False).returncode:
            failed.append(name)
    if not options.quick:
        for script in (HERE / "render.py", ROOT / "docs" / "numbers_of_pages.py"):
            subprocess.run([sys.executable, str(script)], cwd=ROOT, check=True)
    if failed:
        print(f"\nFailed: {', '.join(failed)}. The others are done; make bench tries the failed ones again.")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
