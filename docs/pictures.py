"""Make the pictures of the README, docs/compare.svg and docs/report.png, from a race of a minute on digits.

Run `python docs/pictures.py` on an idle machine, because the pictures show times. It needs chromium.
"""

import io
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

from rich.console import Console

from outputcodes.app import run
from outputcodes.app.cli.compare import ranking_table

HERE, WIDTH = Path(__file__).parent, 110


def main() -> None:
    """Run the comparison and write both pictures next to this file."""
    browser = shutil.which("chromium") or shutil.which("google-chrome")
    if browser is None:
        raise SystemExit("Chromium was not found; install it to take the picture of the report.")
    source = run.open_source("digits")
    with tempfile.TemporaryDirectory() as folder:
        outcome = run.race_table(source, time_limit=60, out=folder, n_jobs=2)
        console = Console(record=True, width=WIDTH, file=io.StringIO())
        console.print(ranking_table(outcome.rows, outcome.title, WIDTH))
        # Rich names fonts that lie elsewhere: a picture of ours loads nothing.
        picture = console.export_svg(title="outputcodes compare digits --jobs 2")
        picture = re.sub(r"@font-face \{.*?\}\s*", "", picture, flags=re.S)
        (HERE / "compare.svg").write_text(picture, encoding="utf-8")
        page = Path(folder, "report.html").as_uri()
        switches = ["--headless", "--no-sandbox", "--hide-scrollbars", "--window-size=1200,1250"]
        shot = [browser, *switches, f"--screenshot={HERE / 'report.png'}", page]
        subprocess.run(shot, check=True, stderr=subprocess.DEVNULL)


if __name__ == "__main__":
    main()
