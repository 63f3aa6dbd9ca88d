"""Kill `outputcodes compare` at 20 random moments, resume it, and compare the results with a run that was left alone.

python benchmarks/kill_resume.py [kills]
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

from common import print_table, save

WORDS = ["compare", "digits", "--quick", "--cv", "10", "--jobs", "1"]
COMMAND = [sys.executable, "-c", "from outputcodes.cli import main; main()", *WORDS]


def without_times(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: without_times(one) for name, one in value.items() if not name.endswith("_seconds")}
    return value


def results(folder: Path) -> list[Any]:
    return [without_times(json.loads(line)) for line in (folder / "results.jsonl").read_text().splitlines()]


def timed(command: list[str]) -> float:
    start = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - start


def main(kills: int) -> None:
    folder = Path(tempfile.mkdtemp())
    alone, killed = folder / "alone", folder / "killed"
    # The first run compiles; the second tells how long one takes.
    timed([*COMMAND, "--out", str(folder / "first")])
    seconds = timed([*COMMAND, "--out", str(alone)])
    rng, rows, lines = random.Random(0), [], 0
    command = [*COMMAND, "--out", str(killed), "--resume"]
    for kill in range(kills):
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        # Starting takes a share of every attempt, so the moments are spread over it and some of the work.
        time.sleep(rng.uniform(0.2, 1.0) * max(seconds * 2.5 / kills, 6.0))
        process.kill()
        ended = process.wait() == 0
        path = killed / "results.jsonl"
        content = path.read_bytes() if path.exists() else b""
        now = content.count(b"\n")
        assert now >= lines, "a result was lost"
        half = bool(content) and not content.endswith(b"\n")
        rows.append({"kill": kill + 1, "results before": lines, "after": now, "half a line": half, "had ended": ended})
        lines = now
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    assert results(killed) == results(alone), "resumed and uninterrupted results differ"
    for name in ("report.html", "model.skops"):
        assert (killed / name).exists()
    print_table(rows)
    print(f"\nAfter {kills} kills and a resume: {len(results(killed)) - 1} results, equal to the uninterrupted run's.")
    save("kill_resume", rows)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 20)
