"""Kill `outputcodes compare` at 20 random moments, resume it, and compare with an uninterrupted run.

python benchmarks/kill_resume.py [kills] [--quick]
"""

from __future__ import annotations

import json
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from common import QUICK, WORDS, print_table, save

FOLDS = "2" if QUICK else "10"
COMPARE = ["compare", "--exhaustive", "digits", "--quick", "--cv", FOLDS, "--jobs", "1"]
COMMAND = [sys.executable, "-c", "from outputcodes.app.cli import main; main()", *COMPARE]


def without_times(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: without_times(one) for name, one in value.items() if not name.endswith("_seconds")}
    return value


def results(folder: Path) -> list[Any]:
    return [without_times(json.loads(line)) for line in (folder / "results.jsonl").read_text().splitlines()]


def written(folder: Path) -> int:
    path = folder / "results.jsonl"
    return path.read_bytes().count(b"\n") if path.exists() else 0


def main(kills: int) -> None:
    folder = Path(tempfile.mkdtemp())
    alone, killed = folder / "alone", folder / "killed"
    subprocess.run([*COMMAND, "--out", str(alone)], check=True, stdout=subprocess.DEVNULL)
    rng, rows, before = random.Random(0), [], 0
    command = [*COMMAND, "--out", str(killed), "--resume"]
    # From before the first line until after the last, while the winner is fitted and the report is written.
    moments = [*sorted(rng.sample(range(written(alone)), kills - 1)), written(alone)]
    for kill, moment in enumerate(moments, start=1):
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        while process.poll() is None and written(killed) < moment:
            time.sleep(0.001)
        time.sleep(rng.random() / 5)
        process.kill()
        ended = process.wait() == 0
        content = (killed / "results.jsonl").read_bytes() if (killed / "results.jsonl").exists() else b""
        after = content.count(b"\n")
        assert after >= before, "a result was lost"
        half = bool(content) and not content.endswith(b"\n")
        rows.append({"kill": kill, "lines before": before, "lines after": after, "half a line": half, "ended": ended})
        before = after
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    assert results(killed) == results(alone), "resumed and uninterrupted results differ"
    for name in ("report.html", "model.skops"):
        assert (killed / name).exists()
    print_table(rows)
    whole = {"kills": kills, "results after the resume": len(results(killed)) - 1, "as uninterrupted": True}
    print_table([whole])
    save("kill_resume", [*rows, whole])


if __name__ == "__main__":
    main(int(WORDS[0]) if WORDS else 3 if QUICK else 20)
