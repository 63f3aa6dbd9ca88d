"""Table 3 of Allwein, Schapire & Singer: support vector machines, five codes, two decoders; and Figures 5 and 6."""

from __future__ import annotations

from functools import partial
from itertools import product
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.preprocessing import StandardScaler

from outputcodes.codes import as_code
from outputcodes.decoders import as_decoder
from outputcodes.learners import KernelSVM
from outputcodes.training import Problem
from reproduce.allwein_cells import (
    BAR_COLOURS,
    BEYOND,
    Measured,
    Ours,
    agreement,
    comparisons,
    decoder_claims,
    draw_codes,
    draw_decoders,
    headline,
    higher_cells,
    measured,
    of_code,
    ranked,
    ranking,
    side_by_side,
)
from reproduce.allwein_published import CODES, SOURCE, TABLE1, TABLE3, Cell, cells
from reproduce.comparing import lower_claim, signed
from reproduce.data import Rows, Sample, encoder, sample, splits
from reproduce.experiment import Claim, Experiment, Findings, Picture, Result, Table, Unit, Verdict

Scaling = Literal["unit", "length", "standard"]

# And what each is called in a title.
DECODERS = {"hamming": "Hamming", "hinge": "hinge loss"}
# The longest first.
ORDER = ("pendigits", "yeast", "satimage", "vowel", "ecoli", "dermatology", "glass", "soybean")
# Where settings are tried: those that a second or two trains, without the complete code.
SMALL = ("vowel", "ecoli", "dermatology", "glass", "soybean")
SHORT = tuple(code for code in CODES if code != "complete")
SETTINGS = tuple(
    (scaling, C, coef0)
    for (scaling, C), coef0 in product(
        (("unit", 1.0), ("unit", 10.0), ("length", 10.0), ("length", 100.0), ("standard", 1.0)), (0.0, 1.0)
    )
)

PROTOCOL = """
A machine for each column (the multi-call variant) with the kernel (x·z + `coef0`)⁴ and a free bias; both decoders read
the same margins. The official partition where Table 1 lists one, elsewhere ten folds, dealt at random and not
stratified; cells with a dash are left out.

- Not stated: C, the kernel's constant and how features are scaled. One setting serves all cells, chosen with a view to
  the published errors: of ten in `allwein-table3-settings` it meets most on the five small data sets, by one cell, and
  its columns converge on satimage too. See the remarks.
- Features are scaled to [0, 1] by the training rows (`scaling="unit"`); then all by one factor, so that training
  examples have squared length 1 on average (`"length"`), or each to mean 0 and variance 1 (`"standard"`).
  Nominal features are one-hot, with a column for missing values; missing numbers are replaced by the mean.
- A column's solver stops when no pair of examples violates the optimality conditions by more than 10⁻³, or after
  `max_iter` steps; columns that were stopped are counted below.
- Random codes are the best of 10,000 by their least distance between rows, one for a data set. A column that lacks a
  side in a fold answers the sign of the other. glass: Table 1 counts 7 classes, of which 6 occur.
"""

# Where ours is higher by more than two standard errors.
WHY: dict[Cell, str] = {
    ("pendigits", "hamming", "sparse"): "the draw of the code: with seeds 1 to 5 the error is 2.9, 6.8, 2.2, 5.6, 2.7 "
    "(`--datasets pendigits --set seed=1` …)",
}
# Where the published errors of one-vs-all are far above ours.
FAR = ("satimage", "yeast", "soybean")

REMARKS = [
    "How the setting was chosen: fifteen were tried once, by hand, on some of the data sets (also γ = 1/d, rows of "
    "length 1, C up to 1000), and ten then measured in `allwein-table3-settings`. Test errors and convergence on "
    "satimage were seen before the choice. The seven best of the ten differ by one or two of 40 cells: the choice "
    "among them is no evidence for the authors' setting. As it looked at published errors, the agreement above "
    "flatters; pendigits and the complete code had no part in it, nor had yeast, but for a trial of one other setting.",
    "Are the large published errors those of solvers stopped early? Tried on satimage: (x·z)⁴ of features in [0, 1], "
    "C = 10, stopped after 100,000 steps (`--datasets satimage --set scaling=unit --set coef0=0`), the complete code "
    "left out: 58 of 86 columns had not converged. Hamming and hinge, ours (published): one-vs-all 40.0, 44.7 (40.9, "
    "40.9); all-pairs 12.6, 12.2 (50.4, 27.8); dense 41.0, 29.6 (15.0, 14.3); sparse 12.5, 12.2 (27.4, 13.3). Errors "
    "as large come from columns that are stopped, but not in the same cells, and which depends on the solver's path: "
    "an earlier solver of ours, stopped after as many steps, had 39.8, 20.0; 23.0, 22.4; 14.9, 14.4; 14.0, 13.2. It is "
    "possible, and not shown. For pendigits, yeast and soybean it was not tried; on soybean every setting tried "
    "converged.",
]


def units(data_sets: tuple[str, ...], quick: bool, **options: Any) -> list[Unit]:
    """A unit for each data set and code that has a published error."""
    if quick:
        data_sets = tuple(name for name in data_sets if name in SMALL)
        options = {**options, "folds": 3, "max_iter": 20_000}
    return [
        {"data_set": name, "code": code, **options}
        for name in ORDER
        for code in ("complete", *SHORT)
        if name in data_sets and TABLE3[name]["hamming"][code] is not None and not (quick and code == "complete")
    ]


def measure(
    data_set: str, code: str, C: float, coef0: float, scaling: Scaling, max_iter: int, folds: int, seed: int
) -> dict[str, Any]:
    """The errors of each decoder in each fold, and how many of the columns trained did not converge."""
    data = sample(data_set)
    M = as_code(code).draw(data.k, random_state=seed).matrix()
    machine = KernelSVM(C, "poly", gamma=1.0, degree=4, coef0=coef0, max_iter=max_iter)
    wrong: dict[str, list[int]] = {decoder: [] for decoder in DECODERS}
    tested, trained, stopped = [], 0, 0
    for train, test in splits(data, folds, seed, official=_official(data_set)):
        problem = Problem(machine, features(data, train, scaling), data.y, n_jobs=1, seed=seed)
        columns = problem.fit(M, train)
        F = columns.margins(problem.data, test)
        tested.append(len(test))
        for decoder in DECODERS:
            wrong[decoder].append(int(np.count_nonzero(as_decoder(decoder).predict(F, M) != data.y[test])))
        converged = columns.fitted.certificate.converged  # type: ignore[union-attr]
        trained, stopped = trained + len(converged), stopped + int(np.count_nonzero(~converged))
    return {"wrong": wrong, "tested": tested, "trained": trained, "stopped": stopped}


def _official(data_set: str) -> bool:
    return data_set in TABLE1 and TABLE1[data_set].test is not None


def features(data: Sample, train: Rows, scaling: Scaling) -> NDArray[np.float64]:
    """All rows as numbers, scaled as the training rows say."""
    X: NDArray[np.float64] = encoder(data, "unit").fit(data.X.iloc[train]).transform(data.X)
    if scaling == "standard":
        X = StandardScaler().fit(X[train]).transform(X)
    elif scaling == "length":
        X /= np.sqrt(np.square(X[train]).sum(axis=1).mean())
    return X


def present(results: list[Result]) -> Findings:
    """Table 3 twice, once for each decoder; the codes ranked; Figures 5 and 6."""
    ours = measured(results)
    judged = comparisons(ours, TABLE3)
    names = [name for name in TABLE3 if any(cell[0] == name for cell in ours)]
    tables = [side_by_side(ours, TABLE3, name, f"Test error in %, {title}") for name, title in DECODERS.items()]
    tables.append(agreement(judged, "Agreement with the published errors of support vector machines"))
    tables.append(higher_cells(judged, WHY, "Cells higher than published, support vector machines"))
    tables += ranking(ours, "hinge", "Codes of support vector machines ranked, hinge loss")
    published = {cell: Measured(round(10 * error), 1000) for cell, error in cells(TABLE3).items() if cell[0] in names}
    near = {cell: own for cell, own in published.items() if cell[0] not in FAR}
    weighed = "weighed on the published errors"
    tables.append(_verdicts(f"The same claims {weighed} of these data sets", _claims(published)))
    tables.append(_verdicts(f"One-vs-all {weighed}, without {', '.join(FAR)}", _code_claims(near)))
    figure = "of Allwein et al. from our numbers: error of"
    pictures = [
        Picture(
            "allwein-figure5",
            f"Figure 5 {figure} loss-based decoding minus Hamming's, support vector machines. {BEYOND}",
            partial(draw_decoders, ours=ours, names=names, losses={"hinge": "black"}, published=TABLE3),
        ),
        Picture(
            "allwein-figure6",
            f"Figure 6 {figure} the row's code minus the column's, support vector machines. {BAR_COLOURS}",
            partial(draw_codes, ours=ours, names=names, decoder="hinge"),
        ),
    ]
    remarks = [_stopped(results), *_why_not_weakest(ours, near), *REMARKS]
    return Findings(tables, _claims(ours), pictures, remarks, headline(judged, "Allwein et al., Table 3 (SVM)"))


def _verdicts(title: str, claims: list[Claim]) -> Table:
    rows = [(claim.statement, claim.verdict, claim.evidence) for claim in claims]
    return Table(title, ("claim", "verdict", "evidence"), rows)


def _claims(errors: Ours) -> list[Claim]:
    loss_based = decoder_claims(errors, "hinge", statement="SVM: loss-based decoding beats Hamming decoding")
    return [*loss_based, *_code_claims(errors)]


def _code_claims(errors: Ours) -> list[Claim]:
    """One-vs-all against each other code, and all of these together."""
    weak = of_code(errors, "hinge", "one-vs-all")
    against = [
        lower_claim(f"SVM: one-vs-all is weaker than {code}, hinge loss", of_code(errors, "hinge", code), weak)
        for code in CODES
        if code != "one-vs-all"
    ]
    return [*against, _weakest(errors, against)]


def _weakest(errors: Ours, against: list[Claim]) -> Claim:
    """Supported if each comparison supports it, not supported if one speaks against it."""
    verdicts = [claim.verdict for claim in against]
    verdict: Verdict = "undecided"
    if "not supported" in verdicts:
        verdict = "not supported"
    elif set(verdicts) == {"supported"}:
        verdict = "supported"
    evidence = (
        f"supported against {verdicts.count('supported')} and not supported against {verdicts.count('not supported')} "
        f"of the {len(against)} other codes, as above, on up to {len(of_code(errors, 'hinge', 'one-vs-all'))} data sets"
    )
    if (found := ranked(errors, "hinge")) is not None:
        names, ranks = found
        by_rank = sorted(zip(ranks.mean_ranks, CODES, strict=True), reverse=True)
        told = ", ".join(f"{code} {rank:.2f}" for rank, code in by_rank)
        evidence += f"; mean ranks on the {len(names)} where all codes were run, the worst first: {told}"
    return Claim("SVM: one-vs-all is the weakest code, hinge loss", verdict, evidence)


def _why_not_weakest(ours: Ours, near: Ours) -> list[str]:
    """What the published verdict on one-vs-all rests on, where ours is another."""
    weak = of_code(ours, "hinge", "one-vs-all")
    if not all(name in weak for name in FAR) or _code_claims(ours)[-1].verdict == "supported":
        return []
    printed = ", ".join(f"{TABLE3[name]['hinge']['one-vs-all']}" for name in FAR)
    own = ", ".join(f"{weak[name]:.1f}" for name in FAR)
    *pairs, _ = _code_claims(near)
    supported = sum(claim.verdict == "supported" for claim in pairs)
    return [
        "Why one-vs-all does not come out weakest here: the published numbers make it so by "
        f"{', '.join(FAR)}, with {printed} (hinge loss), where ours have {own}. Without these three the published "
        f"numbers themselves support {supported or 'none'} of the {len(pairs)} comparisons."
    ]


def _stopped(results: list[Result]) -> str:
    counts = [
        f"{result.unit['data_set']} {result.unit['code']} {result.found['stopped']} of {result.found['trained']}"
        for result in results
        if result.found["stopped"]
    ]
    return f"Columns stopped before they had converged: {'; '.join(counts) or 'none'}."


ALLWEIN_TABLE3 = Experiment(
    name="allwein-table3",
    title="Allwein, Schapire & Singer, Table 3: support vector machines",
    source=f"{SOURCE}, Table 3, Figures 5 and 6",
    protocol=PROTOCOL,
    data_sets=tuple(TABLE3),
    units=units,
    measure=measure,
    present=present,
    options={"C": 10.0, "coef0": 1.0, "scaling": "length", "max_iter": 100_000, "folds": 10, "seed": 0},
)


def setting_units(data_sets: tuple[str, ...], quick: bool, **options: Any) -> list[Unit]:
    """A unit for each data set and setting."""
    settings = SETTINGS[:3] if quick else SETTINGS
    return [
        {"data_set": name, "C": C, "coef0": coef0, "scaling": scaling, **options}
        for name in data_sets
        for scaling, C, coef0 in settings
    ]


def measure_setting(data_set: str, **setting: Any) -> dict[str, Any]:
    """What `measure` finds for each code but the complete one."""
    return {code: measure(data_set, code, **setting) for code in SHORT}


def present_settings(results: list[Result]) -> Findings:
    """How many published errors each setting meets."""
    found = []
    for scaling, C, coef0 in SETTINGS:
        own = [
            Result({"data_set": result.unit["data_set"], "code": code}, found, 0.0)
            for result in results
            if (result.unit["scaling"], result.unit["C"], result.unit["coef0"]) == (scaling, C, coef0)
            for code, found in result.found.items()
        ]
        judged = comparisons(measured(own), TABLE3).values()
        if judged:
            within, lower = sum(cell.within for cell in judged), sum(cell.lower for cell in judged)
            difference = np.mean([cell.ours - cell.published for cell in judged])
            higher, stopped = len(judged) - within - lower, sum(result.found["stopped"] for result in own)
            setting = (scaling, f"{C:g}", f"{coef0:g}")
            found.append((setting, (within, lower, higher, stopped), signed(float(difference))))
    found.sort(key=lambda row: (row[1][2], -row[1][0]))
    rows = [(*setting, *map(str, counts), difference) for setting, counts, difference in found]
    header = ("scaling", "C", "coef0", "within two standard errors", "lower", "higher", "stopped", "mean difference")
    return Findings([Table("Settings of the support vector machines, by cells that are not higher", header, rows)])


ALLWEIN_TABLE3_SETTINGS = Experiment(
    name="allwein-table3-settings",
    title="Allwein, Schapire & Singer, Table 3: which setting",
    source=f"{SOURCE}, Table 3",
    protocol="As `allwein-table3`, on its five small data sets and without the complete code, by scaling, C and coef0.",
    data_sets=SMALL,
    units=setting_units,
    measure=measure_setting,
    present=present_settings,
    options={"max_iter": 100_000, "folds": 10, "seed": 0},
)
