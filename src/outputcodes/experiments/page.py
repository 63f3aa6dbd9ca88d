"""The page of published and reproduced results: Markdown and figures, made from files of results alone."""

from __future__ import annotations

import json
import os
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from outputcodes.experiments.experiment import Claim, Experiment, Findings, Picture, Result, Table, unit_key

OPENING = """# Published results, reproduced

Made by `outputcodes reproduce` from the files of results beside it; not edited by hand.
"""


def read_results(path: Path) -> tuple[dict[str, Any], list[Result], list[dict[str, Any]]]:
    """The description of a run, its results, and its sessions."""
    description, *lines = map(json.loads, path.read_text().splitlines())
    results = [Result(line["unit"], line["found"], line["seconds"]) for line in lines if "unit" in line]
    return description, results, [line["session"] for line in lines if "session" in line]


def write_page(experiments: Iterable[Experiment], folder: Path, page: Path) -> None:
    """Render every experiment whose results are in `folder` to a page, its figures into the folder."""
    sections, claims, sharing = [], [], defaultdict[str, list[str]](list)
    for experiment in experiments:
        path = folder / f"{experiment.stem}.jsonl"
        if not path.exists():
            continue
        description, results, _ = read_results(path)
        if not (own := _own(experiment, description, results)):
            continue
        findings = experiment.present(own)
        pictures = [_drawn(picture, folder) for picture in findings.pictures]
        links = [Path(os.path.relpath(drawn, page.parent)).as_posix() for drawn in pictures]
        sections.append(_section(experiment, description, findings, links))
        claims += [(experiment.name, claim) for claim in findings.claims]
        sharing[experiment.stem].append(f"`{experiment.name}`")
    header = ("claim", "experiment", "verdict")
    verdicts = Table("Claims", header, [(c.statement, f"`{name}`", f"**{c.verdict}**") for name, c in claims])
    times = [(", ".join(names), *_time(folder / f"{stem}.jsonl")) for stem, names in sharing.items()]
    work = Table("Run times", ("experiments", "units", "seconds of work", "seconds of the clock", "jobs"), times)
    page.parent.mkdir(parents=True, exist_ok=True)
    part = page.with_name(page.name + ".part")
    part.write_text("\n".join([OPENING, _table(verdicts), _table(work), *sections]), encoding="utf-8")
    part.replace(page)


def _own(experiment: Experiment, description: dict[str, Any], results: list[Result]) -> list[Result]:
    """An experiment's own results, of the data sets that it is through with: others may share its file."""
    found = {unit_key(result.unit): result for result in results}
    units = experiment.units(experiment.data_sets, description["quick"], **description["options"])
    unfinished = {unit.get("data_set") for unit in units if unit_key(unit) not in found}
    return [found[unit_key(unit)] for unit in units if unit.get("data_set") not in unfinished]


def _section(experiment: Experiment, description: dict[str, Any], findings: Findings, links: list[str]) -> str:
    settings = ", ".join(f"{name} = {value}" for name, value in description["options"].items())
    parts = [f"## {experiment.title}\n", f"*{experiment.source}* · `outputcodes reproduce {experiment.name}`\n"]
    parts.append(experiment.protocol.strip() + "\n")
    if settings:
        parts.append(f"Open choices: {settings}.\n")
    if description["quick"]:
        parts.append("**A quick trial, smaller than what is described.**\n")
    parts += [_table(table) for table in findings.tables]
    parts += [
        f"![{picture.caption}]({link})\n\n*{picture.caption}*\n"
        for picture, link in zip(findings.pictures, links, strict=True)
    ]
    if findings.claims:
        parts.append("### What the text claims\n")
        parts += [_claim(claim) for claim in findings.claims]
        parts.append("")
    if findings.remarks:
        parts += ["### Remarks\n", *(f"- {remark}" for remark in findings.remarks), ""]
    return "\n".join(parts)


def _claim(claim: Claim) -> str:
    return f"- {claim.statement}: **{claim.verdict}**. {claim.evidence}"


def _table(table: Table) -> str:
    if not table.rows:
        return ""
    lines = [table.header, tuple("---" for _ in table.header), *table.rows]
    body = "\n".join("| " + " | ".join(cell.replace("|", r"\|") for cell in line) + " |" for line in lines)
    remarks = "".join(f"\n{remark}\n" for remark in table.remarks)
    return f"### {table.title}\n\n{body}\n{remarks}"


def _time(path: Path) -> tuple[str, ...]:
    _, results, sessions = read_results(path)
    work = sum(result.seconds for result in results)
    clock = sum(session["seconds"] for session in sessions)
    jobs = "/".join(sorted({str(session["jobs"]) for session in sessions}))
    return str(len(results)), f"{work:.0f}", f"{clock:.0f}", jobs


def _drawn(picture: Picture, folder: Path) -> Path:
    # Imported here because figures are an extra, and agg because a server has no screen.
    from matplotlib import rc_context
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    path = folder / f"{picture.stem}.svg"
    with rc_context({"svg.hashsalt": picture.stem, "font.size": 9}):
        figure = Figure(layout="constrained")
        FigureCanvasAgg(figure)
        picture.draw(figure)
        part = path.with_suffix(".part")
        figure.savefig(part, format="svg", metadata={"Date": None})
    part.replace(path)
    return path
