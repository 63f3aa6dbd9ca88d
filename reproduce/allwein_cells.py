"""Tables of test errors by data set, decoder and code: ours beside published ones, codes and decoders compared."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import norm

from outputcodes.selection import Ranking, mean_ranks
from reproduce.allwein_published import CODES, Cell, Errors, cells
from reproduce.comparing import LEVEL, Comparison, compare, lower_claim, signed
from reproduce.experiment import Claim, Result, Table, Verdict


class Measured(NamedTuple):
    """Errors among the rows tested."""

    wrong: int
    tested: int

    @property
    def error(self) -> float:
        """In per cent."""
        return 100 * self.wrong / self.tested

    @property
    def variance(self) -> float:
        """Of the error, in per cent squared, one row more being right and one more wrong, so that it is never 0."""
        p = (self.wrong + 1) / (self.tested + 2)
        return 1e4 * p * (1 - p) / self.tested


Ours = dict[Cell, Measured]

BAR_COLOURS = "Red: the row's code errs more; blue: less; ×: not run with both."
BEYOND = "Dashes: as published; triangles, if any: beyond the axis."


def measured(results: Iterable[Result]) -> Ours:
    """Units {"data_set", "code", ...} that found {"wrong": {decoder: [of each fold]}, "tested": [of each fold]}."""
    return {
        (result.unit["data_set"], decoder, result.unit["code"]): Measured(sum(wrong), sum(result.found["tested"]))
        for result in results
        for decoder, wrong in result.found["wrong"].items()
    }


def comparisons(ours: Ours, published: Errors, excluded: Iterable[Cell] = ()) -> dict[Cell, Comparison]:
    """Every cell that was measured and published and is not excluded."""
    shared = {cell: error for cell, error in cells(published).items() if cell in ours and cell not in set(excluded)}
    return {cell: compare(ours[cell].error, error, ours[cell].tested) for cell, error in shared.items()}


def side_by_side(ours: Ours, published: Errors, decoder: str, title: str, excluded: Iterable[Cell] = ()) -> Table:
    """Our errors with one decoder, each with two standard errors, the published one and the difference."""
    judged = comparisons(ours, published, excluded)
    shown = comparisons(ours, published)

    def text(cell: Cell) -> str:
        if cell not in shown:
            return "–"
        own = shown[cell]
        mark = "" if cell not in judged else " ↓" if own.lower else "" if own.within else " ↑"
        brackets = "()" if cell in judged else "[]"
        return (
            f"{own.ours:.1f} ± {2 * np.sqrt(ours[cell].variance):.1f} "
            f"{brackets[0]}{own.published:.1f}, {signed(own.ours - own.published)}{brackets[1]}{mark}"
        )

    names = [name for name in published if any(own[:2] == (name, decoder) for own in ours)]
    rows = [(name, *(text((name, decoder, code)) for code in CODES)) for name in names]
    remarks = (
        "Ours ± two standard errors (published, difference); ↑ higher and ↓ lower by more than two standard errors at "
        "the mean of both, rows taken as independent"
        + ("; not judged in square brackets." if set(excluded) & set(shown) else "."),
    )
    return Table(title, ("data set", *CODES), rows, remarks)


def agreement(judged: Mapping[Cell, Comparison], title: str) -> Table:
    """How many cells agree with the published ones, by decoder, by code and over all."""

    def row(name: str, chosen: Sequence[Comparison]) -> tuple[str, ...]:
        n = len(chosen)
        counts = [sum(own.within for own in chosen), sum(own.lower for own in chosen)]
        counts.append(n - sum(counts))
        mean = np.mean([own.ours - own.published for own in chosen])
        return (name, str(n), *(f"{count} ({100 * count / n:.0f} %)" for count in counts), signed(float(mean)))

    groups = {
        **{decoder: [own for cell, own in judged.items() if cell[1] == decoder] for _, decoder, _ in judged},
        **{code: [own for cell, own in judged.items() if cell[2] == code] for code in CODES},
        "**all**": list(judged.values()),
    }
    header = ("cells", "compared", "within two standard errors", "lower", "higher", "mean difference")
    return Table(title, header, [row(name, chosen) for name, chosen in groups.items() if chosen])


def headline(judged: Mapping[Cell, Comparison], what: str) -> list[str]:
    """The agreement in one sentence, if there is anything to compare."""
    n, within = len(judged), sum(own.within for own in judged.values())
    lower = sum(own.lower for own in judged.values())
    share = f"{within} of {n} errors ({100 * within / max(n, 1):.0f} %) are within two standard errors of the published"
    return [f"{what}: {share}, {lower} lower, {n - within - lower} higher."] if judged else []


def higher_cells(judged: Mapping[Cell, Comparison], why: Mapping[Cell, str], title: str) -> Table:
    """The cells where ours is higher by more than two standard errors, and why."""
    rows = [
        (
            *cell,
            f"{own.ours:.1f}",
            f"{own.published:.1f}",
            f"{(own.ours - own.published) / own.standard_error:.1f}",
            why.get(cell, ""),
        )
        for cell, own in judged.items()
        if not own.within and not own.lower
    ]
    return Table(title, ("data set", "decoder", "code", "ours", "published", "standard errors", "why"), rows)


def of_code(ours: Ours, decoder: str, code: str) -> dict[str, float]:
    """Errors by data set."""
    return {cell[0]: own.error for cell, own in ours.items() if cell[1:] == (decoder, code)}


def decoder_claims(ours: Ours, loss: str, other: str = "hamming", *, statement: str) -> list[Claim]:
    """That one decoder's errors are lower than another's: for the mean over the codes, then for each code."""
    by_code = {code: (of_code(ours, loss, code), of_code(ours, other, code)) for code in CODES}
    names = dict.fromkeys(cell[0] for cell in ours)
    means = [
        {name: float(np.mean([own[side][name] for own in by_code.values() if name in own[side]])) for name in names}
        for side in (0, 1)
    ]
    claims = [lower_claim(f"{statement}, all codes", *means)]
    return claims + [lower_claim(f"{statement}, {code}", *own) for code, own in by_code.items() if own[0]]


def beaten(ours: Ours, decoder: str, errors: float) -> dict[str, list[str]]:
    """For each code the data sets where another has an error lower by so many standard errors of the difference."""
    found: dict[str, list[str]] = {code: [] for code in CODES if of_code(ours, decoder, code)}
    for (name, own_decoder, code), own in ours.items():
        rivals = [ours[name, decoder, other] for other in CODES if other != code and (name, decoder, other) in ours]
        if own_decoder == decoder and any(
            own.error - rival.error > errors * np.sqrt(own.variance + rival.variance) for rival in rivals
        ):
            found[code].append(name)
    return found


def ranked(ours: Ours, decoder: str) -> tuple[list[str], Ranking] | None:
    """The data sets where all codes were run, and the codes' ranks there; None with fewer than two."""
    by_code = [of_code(ours, decoder, code) for code in CODES]
    names = [name for name in by_code[0] if all(name in own for own in by_code)]
    return (names, mean_ranks([[own[name] for own in by_code] for name in names])) if len(names) > 1 else None


def ranking(ours: Ours, decoder: str, title: str) -> list[Table]:
    """Mean ranks of the codes on the data sets where all were run; none with fewer than two."""
    if (found := ranked(ours, decoder)) is None:
        return []
    names, ranks = found
    means = [np.mean([ours[name, decoder, code].error for name in names]) for code in CODES]
    rows = [
        (code, f"{rank:.2f}", f"{mean:.1f}")
        for rank, mean, code in sorted(zip(ranks.mean_ranks, means, CODES, strict=True))
    ]
    remark = (
        f"On {len(names)} data sets ({', '.join(names)}); critical difference of mean ranks "
        f"{ranks.critical_difference:.2f}, Friedman's p = {ranks.p_value:.2g}."
    )
    return [Table(title, ("code", "mean rank", "mean error"), rows, (remark,))]


def no_code_dominates(ours: Ours, decoder: str, statement: str) -> Claim:
    """Supported if each code is beaten somewhere; not supported if one is never beaten and beats all others."""
    errors_on = {name: [ours[cell].error for cell in ours if cell[:2] == (name, decoder)] for name, *_ in ours}
    # Every ordered pair of codes on every data set.
    compared = sum(len(own) * (len(own) - 1) for own in errors_on.values())
    errors = float(norm.isf(LEVEL / max(compared, 1)))
    losses = beaten(ours, decoder, errors)
    unbeaten = [code for code, names in losses.items() if not names]
    verdict: Verdict = "undecided"
    if losses and not unbeaten:
        verdict = "supported"
    elif len(unbeaten) == 1 and len(losses) == len(CODES):
        best = of_code(ours, decoder, unbeaten[0])
        rivals = [of_code(ours, decoder, code) for code in losses if code != unbeaten[0]]
        if all(lower_claim("", best, rival).verdict == "supported" for rival in rivals):
            verdict = "not supported"
    least = {name: min(own) for name, own in errors_on.items()}
    best_on = {
        code: sum(least[name] == error for name, error in of_code(ours, decoder, code).items()) for code in losses
    }
    evidence = "; ".join(
        f"{code} has the least error on {best_on[code]}, and is beaten on {len(names)} ({', '.join(names) or '–'})"
        for code, names in losses.items()
    )
    rule = (
        f"{errors:.1f} standard errors of the difference, rows taken as independent: a level of {100 * LEVEL:g} % "
        f"shared by {compared} comparisons"
    )
    return Claim(
        statement, verdict, f"of {len(least)} data sets, {evidence}; beaten by another code by more than {rule}"
    )


def draw_decoders(
    figure: Any, ours: Ours, names: Sequence[str], losses: Mapping[str, str], published: Errors | None = None
) -> None:
    """Bars of the error with each loss (and its colour) minus Hamming's, a panel for each code; dashes as published.

    The axis fits the bars; triangles stand for dashes beyond it.
    """
    printed = cells(published or {})
    figure.set_size_inches(11, 2.8)
    panels = figure.subplots(1, len(CODES), sharey=True)
    width = 0.8 / len(losses)
    differences = [
        own.error - ours[name, "hamming", code].error
        for (name, decoder, code), own in ours.items()
        if decoder in losses
    ]
    least, most = min([0.0, *differences]), max([0.0, *differences])
    room = 0.15 * (most - least) or 1.0
    panels[0].set_ylim(least - room, most + room)
    for panel, code in zip(panels, CODES, strict=True):
        base = of_code(ours, "hamming", code)
        for shift, (loss, colour) in enumerate(losses.items()):
            own = of_code(ours, loss, code)
            places = [at for at, name in enumerate(names) if name in own]
            heights = [own[names[at]] - base[names[at]] for at in places]
            left = np.array(places) - 0.4 + width * (shift + 0.5)
            panel.bar(left, heights, width, color=colour, label=loss)
            of_loss, of_hamming = (
                np.array([printed.get((names[at], decoder, code), np.nan) for at in places])
                for decoder in (loss, "hamming")
            )
            dashes = of_loss - of_hamming
            label = "published" if printed and shift == 0 else None
            for marker, shown, name in (
                ("_", (dashes > least - room) & (dashes < most + room), label),
                ("v", dashes <= least - room, None),
                ("^", dashes >= most + room, None),
            ):
                heights = np.clip(dashes[shown], least - 0.8 * room, most + 0.8 * room)
                panel.plot(left[shown], heights, marker, color="#d95f02", markersize=5, markeredgewidth=1.5, label=name)
        _number_data_sets(panel, names)
        panel.set_title(code, fontsize=10)
    panels[0].set_ylabel("error − Hamming's error, %")
    panels[-1].legend(frameon=False, loc="lower right")
    _list_data_sets(figure, names)


def draw_codes(figure: Any, ours: Ours, names: Sequence[str], decoder: str) -> None:
    """Bars of the error of the code of the row minus that of the column."""
    figure.set_size_inches(11, 7)
    panels = figure.subplots(len(CODES), len(CODES), sharex=True, sharey=True)
    for i, row in enumerate(CODES):
        for j, column in enumerate(CODES):
            panel = panels[i, j]
            own, rival = of_code(ours, decoder, row), of_code(ours, decoder, column)
            places = [at for at, name in enumerate(names) if name in own and name in rival]
            heights = np.array([own[names[at]] - rival[names[at]] for at in places])
            colours = np.where(heights > 0, "#b2182b", "#2166ac")
            panel.bar(places, heights, 0.7, color=colours)
            missing = [at for at in range(len(names)) if at not in places and i != j]
            panel.plot(missing, np.zeros(len(missing)), "x", color="0.45", markersize=4)
            _number_data_sets(panel, names)
            if i == 0:
                panel.set_title(column, fontsize=10)
            if j == 0:
                panel.set_ylabel(row, fontsize=10)
            if i == j:
                panel.set_facecolor("0.95")
    # A few large differences would flatten all others.
    panels[0, 0].set_yscale("symlog", linthresh=1.0)
    largest = max([10.0, *np.abs(panels[0, 0].get_ylim())])
    panels[0, 0].set_ylim(-1.2 * largest, 1.2 * largest)
    panels[0, 0].set_yticks([-10, -1, 0, 1, 10], ["−10", "−1", "0", "1", "10"])
    panels[0, 0].minorticks_off()
    figure.supylabel("difference of errors, %, on a logarithmic scale beyond ±1", fontsize=9)
    _list_data_sets(figure, names)


def _number_data_sets(panel: Any, names: Sequence[str]) -> None:
    panel.axhline(0.0, color="0.3", linewidth=0.8)
    panel.set_xticks(range(len(names)), [str(at + 1) for at in range(len(names))], fontsize=7)
    panel.set_xlim(-0.7, len(names) - 0.3)
    panel.grid(axis="y", color="0.9", linewidth=0.6)
    panel.set_axisbelow(True)
    panel.spines[["top", "right"]].set_visible(False)


def _list_data_sets(figure: Any, names: Sequence[str]) -> None:
    figure.supxlabel("   ".join(f"{at + 1} {name}" for at, name in enumerate(names)), fontsize=8)
