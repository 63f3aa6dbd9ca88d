"""What the choices that Allwein, Schapire & Singer leave open change: one at a time, where it shows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from reproduce.allwein import table2, table3
from reproduce.allwein.published import SOURCE, TABLE1, TABLE2, TABLE3
from reproduce.experiment import Experiment, Findings, Observation, TextTable, Unit

SEEDS = range(9)
# Data set, code, and what differs from the options of the table, for Table 2 (AdaBoost) and Table 3 (SVMs).
Trial = tuple[str, str, dict[str, Any]]
BOOSTED: tuple[Trial, ...] = (
    ("isolet", "one-vs-all", {"rounds": 100, "bins": "exact"}),
    ("isolet", "one-vs-all", {"rounds": 100}),
    *(("letter", "one-vs-all", {"rounds": rounds}) for rounds in (250, 500, 1000)),
    ("letter", "one-vs-all", {"hypotheses": "discrete"}),
    ("soybean", "all-pairs", {"nominal": "questions"}),
    ("soybean", "all-pairs", {"nominal": "one-hot"}),
    *(("pendigits", "sparse", {"seed": seed}) for seed in SEEDS),
    ("pendigits", "sparse", {"sparse_rule": "strict"}),
    *(("vowel", "sparse", {"seed": seed}) for seed in SEEDS),
    ("vowel", "sparse", {"sparse_rule": "strict"}),
)
SUPPORTED: tuple[Trial, ...] = (
    *(("satimage", code, {"scaling": "unit", "coef0": 0.0}) for code in table3.SHORT),
    *(("pendigits", "sparse", {"seed": seed}) for seed in SEEDS),
    ("pendigits", "sparse", {"sparse_rule": "strict"}),
)
DATA_SETS = tuple(dict.fromkeys(name for name, _, _ in (*BOOSTED, *SUPPORTED)))

PROTOCOL = """
Each line changes a choice of `allwein-table2` or `allwein-table3` that the paper leaves open, and keeps the others: the
number of rounds, confidence-rated or ±1 stumps, bins, nominal features, which random code is drawn (`seed`) and by
which rule. On satimage the scaling and the constant of the kernel are those with which many columns stop before they
converge: are the large published errors those of solvers that stopped early?
"""


def units(data_sets: tuple[str, ...], quick: bool) -> list[Unit]:
    """Return a unit per line of the tables."""
    found: list[Unit] = []
    for table, trials in ((2, BOOSTED), (3, SUPPORTED)):
        chosen = [trial for trial in trials if trial[0] in data_sets]
        if quick:
            chosen = [trial for trial in chosen if trial[0] == "soybean"]
        found += [{"table": table, "data_set": name, "code": code, "changed": own} for name, code, own in chosen]
    return found


def measure(table: int, data_set: str, code: str, changed: Mapping[str, Any]) -> dict[str, Any]:
    """Measure a cell of Table 2 or 3 with some options changed."""
    if table == 3:
        return table3.measure(data_set, code, **{**table3.TABLE3_EXPERIMENT.options, **changed})
    options = {**table2.TABLE2_EXPERIMENT.options, **changed}
    options.pop("audiology")
    bins = options.pop("isolet_bins")
    options.setdefault("bins", bins if data_set == "isolet" else "exact")
    return table2.measure(data_set, code, official=TABLE1[data_set].test is not None, **options)


def present(observations: list[Observation]) -> Findings:
    """Show the errors beside the published ones, and the span over the random codes."""
    tables, remarks = [], []
    for table, title, decoders, printed in (
        (2, "AdaBoost", table2.DECODERS, TABLE2),
        (3, "Support vector machines", table3.DECODERS, TABLE3),
    ):
        own = [observation for observation in observations if observation.unit["table"] == table]
        rows = []
        for observation in own:
            name, code = observation.unit["data_set"], observation.unit["code"]
            cells = [f"{_error(observation, d):.1f} ({printed[name][d][code]:.1f})" for d in decoders]
            if table == 3:
                cells.append(f"{observation.found['stopped']} of {observation.found['trained']}")
            rows.append((name, code, _described(observation.unit["changed"]), *cells))
        header = (
            "data set",
            "code",
            "changed",
            *decoders.values(),
            *(("columns stopped early",) if table == 3 else ()),
        )
        tables.append(TextTable(f"{title}: one choice changed", header, rows, ("Test error in % (published).",)))
        drawn: dict[str, list[Observation]] = {}
        for observation in own:
            if "seed" in observation.unit["changed"]:
                drawn.setdefault(observation.unit["data_set"], []).append(observation)
        remarks += [
            f"{title}, {heading}: {_span(found, decoder)} on {name} ({printed[name][decoder]['sparse']:.1f} published)."
            for name, found in drawn.items()
            for decoder, heading in decoders.items()
        ]
    return Findings([table for table in tables if table.rows], remarks=remarks)


def _span(drawn: list[Observation], decoder: str) -> str:
    errors = [_error(observation, decoder) for observation in drawn]
    return f"over {len(errors)} random sparse codes, the error is {min(errors):.1f} to {max(errors):.1f}"


def _error(observation: Observation, decoder: str) -> float:
    return 100 * float(sum(observation.found["wrong"][decoder])) / float(sum(observation.found["tested"]))


def _described(changed: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} = {value}" for name, value in changed.items())


CHOICES_EXPERIMENT = Experiment(
    name="allwein-choices",
    title="Allwein, Schapire & Singer: what the open choices change",
    source=f"{SOURCE}, Tables 2 and 3",
    protocol=PROTOCOL,
    data_sets=DATA_SETS,
    units=units,
    measure=measure,
    present=present,
)
