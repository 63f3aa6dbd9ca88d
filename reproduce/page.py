"""Render the page of published and reproduced results, Markdown and figures, from files of results alone."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from outputcodes.app import in_place_of
from reproduce.experiment import Claim, Experiment, Findings, Observation, Picture, TextTable, Unit, unit_key
from reproduce.judging import LEVEL

OPENING = """# Published results, reproduced

This page compares our measurements with the tables and figures of five papers, and shows which of the papers' claims
they support. `make reproduce` renders it from the results in `{folder}`; do not edit it by hand. Each section names its
command; to change an option that it mentions, add the option: `make reproduce ARGS="jin-table5 --set gamma=2"`.

A claim that something is lower is **supported** if a one-sided Wilcoxon signed-rank test over data sets gives
p < {level}, **not supported** if the test of the opposite does, and **undecided** otherwise. Claims with another rule
state it. The {count} claims are tested one by one: about one in twenty of the claims without substance would be called
supported by chance. Numbers are rendered from the results; what was tried once by hand is said to be so.
"""


class Record(NamedTuple):
    """A file of results: the description of its run, the observations, and the sessions in which they were made."""

    description: dict[str, Any]
    observations: list[Observation]
    sessions: list[dict[str, Any]]


class Section(NamedTuple):
    """An experiment with results: its file, what it shows, and which of its units are missing."""

    experiment: Experiment
    record: Record
    findings: Findings
    missing: str


def read_record(path: Path) -> Record | None:
    """Read a file of results; None if it holds no observation. An unfinished last line is ignored."""
    whole, _, _ = path.read_bytes().rpartition(b"\n") if path.exists() else (b"", b"", b"")
    description, *lines = map(json.loads, whole.decode().splitlines() or ["null"])
    found = [Observation(line["unit"], line["found"], line["seconds"]) for line in lines if "unit" in line]
    return Record(description, found, [line["session"] for line in lines if "session" in line]) if found else None


def read_sections(experiments: Iterable[Experiment], folder: Path) -> list[Section]:
    """Return a section for each experiment that has results in the folder."""
    sections = []
    for experiment in experiments:
        record = read_record(folder / f"{experiment.stem}.jsonl")
        if record is None:
            continue
        own, missing = _own(experiment, record)
        if own:
            sections.append(Section(experiment, record, experiment.present(own), missing))
    return sections


def write_page(experiments: Iterable[Experiment], folder: Path, page: Path) -> None:
    """Write the page of all experiments that have results in the folder, and their figures into the folder."""
    sections = read_sections(experiments, folder)
    for section in sections:
        for picture in section.findings.pictures:
            _draw(picture, folder)
    page.parent.mkdir(parents=True, exist_ok=True)
    with in_place_of(page) as part:
        part.write_text(page_text(sections, Path(os.path.relpath(folder, page.parent))), encoding="utf-8")


def page_text(sections: Sequence[Section], folder: Path) -> str:
    """Return the Markdown of the page; `folder` is the folder of results and figures relative to it."""
    claims = [
        (_capitalised(claim.statement), f"`{section.experiment.name}`", f"**{claim.verdict}**")
        for section in sections
        for claim in section.findings.claims
    ]
    return "\n".join(
        [
            OPENING.format(folder=folder.as_posix(), count=len(claims), level=LEVEL),
            *(f"- {headline}" for section in sections for headline in section.findings.headlines),
            "",
            _table(TextTable("Claims", ("claim", "experiment", "verdict"), claims), "##"),
            _table(_run_times(sections), "##"),
            *(_section(section, folder) for section in sections),
        ]
    )


def _own(experiment: Experiment, record: Record) -> tuple[list[Observation], str]:
    """Return an experiment's observations on the data sets that it has finished, and a note on what is missing.

    Other experiments may share the file.
    """
    found = {unit_key(observation.unit): observation for observation in record.observations}
    units = experiment.units(experiment.data_sets, record.description["quick"], **record.description["options"])
    missing = [unit for unit in units if unit_key(unit) not in found]
    unfinished = {unit["data_set"] for unit in missing if "data_set" in unit}

    def finished(unit: Unit) -> bool:
        return unit not in missing and unit.get("data_set") not in unfinished

    names = f": {', '.join(sorted(unfinished))}" if unfinished else ""
    note = f"**Not measured yet: {len(missing)} of {len(units)} units{names}.**\n" if missing else ""
    return [found[unit_key(unit)] for unit in units if finished(unit)], note


def _run_times(sections: Iterable[Section]) -> TextTable:
    """A row per file of results, with the experiments that share it."""
    records = {section.experiment.stem: section.record for section in sections}
    rows = []
    for stem, record in records.items():
        names = ", ".join(f"`{section.experiment.name}`" for section in sections if section.experiment.stem == stem)
        clock = f"{_clock(record):.0f}"
        if sum(session["units"] for session in record.sessions) < len(record.observations):
            clock += " and more, in runs that were cut off"
        work = f"{sum(observation.seconds for observation in record.observations):.0f}"
        jobs = "/".join(sorted({str(session["jobs"]) for session in record.sessions}))
        rows.append((names, str(len(record.observations)), work, clock, jobs))
    header = ("experiments", "units", "seconds, sum over units", "seconds, wall clock", "jobs")
    minutes = sum(_clock(record) for record in records.values()) / 60
    return TextTable("Run times", header, rows, (f"Total: {minutes:.0f} minutes of wall-clock time.",))


def _clock(record: Record) -> float:
    return float(sum(session["seconds"] for session in record.sessions))


def _section(section: Section, folder: Path) -> str:
    experiment, findings, description = section.experiment, section.findings, section.record.description
    settings = ", ".join(f"{name} = {value}" for name, value in description["options"].items())
    parts = [f"## {experiment.title}\n", f"*{experiment.source}* · `make reproduce ARGS={experiment.name}`\n"]
    parts.append(experiment.protocol.strip() + "\n")
    if settings:
        parts.append(f"Open choices: {settings}.\n")
    if description["quick"]:
        parts.append("**A quick trial, smaller than described.**\n")
    parts.append(section.missing)
    parts += [_table(table) for table in findings.tables]
    for picture in findings.pictures:
        link = (folder / f"{picture.stem}.svg").as_posix()
        parts.append(f"![{picture.caption}]({link})\n\n*{picture.caption}*\n")
    if findings.claims:
        parts += ["### Claims and evidence\n", *(_claim(claim) for claim in findings.claims), ""]
    if findings.remarks:
        parts += ["### Remarks\n", *(f"- {remark}" for remark in findings.remarks), ""]
    return "\n".join(parts)


def _claim(claim: Claim) -> str:
    return f"- **{claim.verdict}**: {claim.statement} ({claim.evidence.rstrip('.')})."


def _capitalised(text: str) -> str:
    return text[:1].upper() + text[1:]


def _table(table: TextTable, level: str = "###") -> str:
    if not table.rows:
        return ""
    lines = [table.header, tuple("---" for _ in table.header), *table.rows]
    body = "\n".join("| " + " | ".join(cell.replace("|", r"\|") for cell in line) + " |" for line in lines)
    remarks = "".join(f"\n{remark}\n" for remark in table.remarks)
    return f"{level} {table.title}\n\n{body}\n{remarks}"


def _draw(picture: Picture, folder: Path) -> None:
    # Imported here because figures are an extra, and agg because a server has no screen.
    from matplotlib import rc_context
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    with rc_context({"svg.hashsalt": picture.stem, "font.size": 9}):
        figure = Figure(layout="constrained")
        FigureCanvasAgg(figure)
        picture.draw(figure)
        with in_place_of(folder / f"{picture.stem}.svg") as part:
            figure.savefig(part, format="svg", metadata={"Date": None})
