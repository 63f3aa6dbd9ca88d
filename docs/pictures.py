"""Take the pictures of the README: docs/compare.svg and docs/report.png, of `outputcodes compare --quick`.

python docs/pictures.py, with chromium; on a quiet machine, as they show times.
"""

import io
import shutil
import subprocess
import tempfile
from pathlib import Path

from rich.console import Console

from outputcodes.app import workflow
from outputcodes.app.cli.compare import _table

HERE, WIDTH = Path(__file__).parent, 110


def main() -> None:
    """Compare, and write both pictures next to this file."""
    browser = shutil.which("chromium") or shutil.which("google-chrome")
    if browser is None:
        raise SystemExit("No chromium to look at the report with.")
    source = workflow.open_source("digits", quick=True)
    schema, n = source.table.schema, len(source.table.target)
    plan = workflow.make_plan(n, len(schema.classes), len(schema.used), quick=True)
    with tempfile.TemporaryDirectory() as folder:
        outcome = workflow.run(source, plan, out=folder)
        console = Console(record=True, width=WIDTH, file=io.StringIO())
        console.print(_table(outcome.rows, outcome.title, outcome.metric, WIDTH))
        console.save_svg(str(HERE / "compare.svg"), title="outputcodes compare --quick")
        page = Path(folder, "report.html").as_uri()
        switches = ["--headless", "--no-sandbox", "--hide-scrollbars", "--window-size=1200,1250"]
        shot = [browser, *switches, f"--screenshot={HERE / 'report.png'}", page]
        subprocess.run(shot, check=True, stderr=subprocess.DEVNULL)


if __name__ == "__main__":
    main()
