"""The page of published and reproduced results: Markdown and figures, made from files of results alone."""

from __future__ import annotations

import json
import os
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from outputcodes._ground.files import in_place_of
from reproduce.experiment import Claim, Experiment, Findings, Picture, Result, Table, unit_key

OPENING = """# Published results, reproduced

Made by `outputcodes reproduce` from the files of results in `{folder}`; not edited by hand.

A claim that something is lower is **supported** if Wilcoxon's signed ranks over data sets find it so with a one-sided
p below 0.05, **not supported** if they find the opposite so, and else **undecided**; other rules are told with their
claims. The {count} claims are weighed one by one: about one in twenty of those without substance would be called
supported by chance.
"""


def read_results(path: Path) -> tuple[dict[str, Any], list[Result], list[dict[str, Any]]] | None:
    """The description of a run, its results, and its sessions; None without any.

    What follows the last whole line was cut off by whatever ended the run.
    """
    whole, _, _ = path.read_bytes().rpartition(b"\n") if path.exists() else (b"", b"", b"")
    description, *lines = map(json.loads, whole.decode().splitlines() or ["null"])
    results = [Result(line["unit"], line["found"], line["seconds"]) for line in lines if "unit" in line]
    return (description, results, [line["session"] for line in lines if "session" in line]) if results else None


def write_page(experiments: Iterable[Experiment], folder: Path, page: Path) -> None:
    """Render every experiment whose results are in `folder` to a page, its figures into the folder."""
    sections: list[str] = []
    headlines: list[str] = []
    claims: list[tuple[str, ...]] = []
    times: dict[str, tuple[str, ...]] = {}
    whole = 0.0
    sharing = defaultdict[str, list[str]](list)
    page.parent.mkdir(parents=True, exist_ok=True)
    for experiment in experiments:
        if (read := read_results(folder / f"{experiment.stem}.jsonl")) is None:
            continue
        description, results, sessions = read
        own, missing = _own(experiment, description, results)
        if not own:
            continue
        findings = experiment.present(own)
        pictures = [_drawn(picture, folder) for picture in findings.pictures]
        links = [Path(os.path.relpath(drawn, page.parent)).as_posix() for drawn in pictures]
        sections.append(_section(experiment, description, missing, findings, links))
        headlines += [f"- {headline}" for headline in findings.headlines]
        claims += [(_capital(c.statement), f"`{experiment.name}`", f"**{c.verdict}**") for c in findings.claims]
        sharing[experiment.stem].append(f"`{experiment.name}`")
        if experiment.stem not in times:
            whole += sum(session["seconds"] for session in sessions)
        times[experiment.stem] = _time(results, sessions)
    opening = OPENING.format(folder=Path(os.path.relpath(folder, page.parent)).as_posix(), count=len(claims))
    verdicts = Table("Claims", ("claim", "experiment", "verdict"), claims)
    clock = ("experiments", "units", "seconds of work", "seconds of the clock", "jobs")
    rows = [(", ".join(names), *times[stem]) for stem, names in sharing.items()]
    work = Table("Run times", clock, rows, (f"All together: {whole / 60:.0f} minutes of the clock.",))
    parts = [opening, *headlines, "", _table(verdicts, "##"), _table(work, "##"), *sections]
    with in_place_of(page) as part:
        part.write_text("\n".join(parts), encoding="utf-8")


def _own(experiment: Experiment, description: dict[str, Any], results: list[Result]) -> tuple[list[Result], str]:
    """Of a file that others may share, an experiment's results on data sets it is through with; and what is missing."""
    found = {unit_key(result.unit): result for result in results}
    units = experiment.units(experiment.data_sets, description["quick"], **description["options"])
    missing = [unit for unit in units if unit_key(unit) not in found]
    unfinished = {unit["data_set"] for unit in missing if "data_set" in unit}
    own = [unit for unit in units if unit not in missing and unit.get("data_set") not in unfinished]
    told = f": {', '.join(sorted(unfinished))}" if unfinished else ""
    note = f"**Not measured as yet: {len(missing)} of {len(units)} units{told}.**\n" if missing else ""
    return [found[unit_key(unit)] for unit in own], note


def _section(
    experiment: Experiment, description: dict[str, Any], missing: str, findings: Findings, links: list[str]
) -> str:
    settings = ", ".join(f"{name} = {value}" for name, value in description["options"].items())
    parts = [f"## {experiment.title}\n", f"*{experiment.source}* · `outputcodes reproduce {experiment.name}`\n"]
    parts.append(experiment.protocol.strip() + "\n")
    if settings:
        parts.append(f"Open choices: {settings}.\n")
    if description["quick"]:
        parts.append("**A quick trial, smaller than what is described.**\n")
    parts.append(missing)
    parts += [_table(table) for table in findings.tables]
    parts += [
        f"![{picture.caption}]({link})\n\n*{picture.caption}*\n"
        for picture, link in zip(findings.pictures, links, strict=True)
    ]
    if findings.claims:
        parts.append("### Claims weighed\n")
        parts += [_claim(claim) for claim in findings.claims]
        parts.append("")
    if findings.remarks:
        parts += ["### Remarks\n", *(f"- {remark}" for remark in findings.remarks), ""]
    return "\n".join(parts)


def _claim(claim: Claim) -> str:
    return f"- **{claim.verdict}**: {claim.statement} ({claim.evidence.rstrip('.')})."


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _table(table: Table, level: str = "###") -> str:
    if not table.rows:
        return ""
    lines = [table.header, tuple("---" for _ in table.header), *table.rows]
    body = "\n".join("| " + " | ".join(cell.replace("|", r"\|") for cell in line) + " |" for line in lines)
    remarks = "".join(f"\n{remark}\n" for remark in table.remarks)
    return f"{level} {table.title}\n\n{body}\n{remarks}"


def _time(results: list[Result], sessions: list[dict[str, Any]]) -> tuple[str, ...]:
    """Units, seconds of all units and of all sessions, and how many units ran at a time."""
    clock = f"{sum(session['seconds'] for session in sessions):.0f}"
    if sum(session["units"] for session in sessions) < len(results):
        clock += " and more, in runs that were cut off"
    jobs = "/".join(sorted({str(session["jobs"]) for session in sessions}))
    return str(len(results)), f"{sum(result.seconds for result in results):.0f}", clock, jobs


def _drawn(picture: Picture, folder: Path) -> Path:
    # Imported here because figures are an extra, and agg because a server has no screen.
    from matplotlib import rc_context
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    path = folder / f"{picture.stem}.svg"
    with rc_context({"svg.hashsalt": picture.stem, "font.size": 9}), in_place_of(path) as part:
        figure = Figure(layout="constrained")
        FigureCanvasAgg(figure)
        picture.draw(figure)
        figure.savefig(part, format="svg", metadata={"Date": None})
    return path
