"""Tables of test errors by data set, decoder and code: ours beside published ones, codes and decoders compared."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from outputcodes.experiments.allwein_published import CODES, Cell, Errors, cells
from outputcodes.experiments.comparing import Comparison, compare, lower_claim
from outputcodes.experiments.experiment import Claim, Result, Table, Verdict
from outputcodes.selection import mean_ranks


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
            f"{own.ours:.1f} ± {2 * own.standard_error:.1f} "
            f"{brackets[0]}{own.published:.1f}, {signed(own.ours - own.published)}{brackets[1]}{mark}"
        )

    names = [name for name in published if any(own[:2] == (name, decoder) for own in ours)]
    rows = [(name, *(text((name, decoder, code)) for code in CODES)) for name in names]
    remarks = (
        "Ours ± two standard errors (published, difference); ↑ higher and ↓ lower by more than that"
        + ("; not judged in square brackets." if set(excluded) & set(shown) else "."),
    )
    return Table(title, ("data set", *CODES), rows, remarks)


def signed(difference: float) -> str:
    """To one decimal, with a sign.

    >>> signed(-0.42), signed(0.25), signed(-0.04)
    ('−0.4', '+0.2', '0.0')
    """
    text = f"{difference:+.1f}".replace("-", "−")
    return "0.0" if text[1:] == "0.0" else text


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


def higher_cells(judged: Mapping[Cell, Comparison], why: Mapping[Cell, str], title: str) -> Table:
    """The cells where ours is higher by more than two standard errors, and why."""
    rows = [
        (
            *cell,
            f"{own.ours:.1f}",
            f"{own.published:.1f}",
            f"{(own.ours - own.published) / own.standard_error:.1f}",
            why.get(cell, "not seen with the full protocol"),
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


def beaten(ours: Ours, decoder: str, errors: float = 2.0) -> dict[str, list[str]]:
    """For each code the data sets where another has an error lower by so many standard errors of the difference."""
    found: dict[str, list[str]] = {code: [] for code in CODES if of_code(ours, decoder, code)}
    for (name, own_decoder, code), own in ours.items():
        rivals = [ours[name, decoder, other] for other in CODES if other != code and (name, decoder, other) in ours]
        if own_decoder == decoder and any(
            own.error - rival.error > errors * np.sqrt(own.variance + rival.variance) for rival in rivals
        ):
            found[code].append(name)
    return found


def ranking(ours: Ours, decoder: str, title: str) -> Table | None:
    """Mean ranks of the codes on the data sets where all were run; None with fewer than two."""
    by_code = [of_code(ours, decoder, code) for code in CODES]
    names = [name for name in by_code[0] if all(name in own for own in by_code)]
    if len(names) < 2:
        return None
    ranks = mean_ranks([[own[name] for own in by_code] for name in names])
    rows = [
        (code, f"{rank:.2f}", f"{np.mean([own[name] for name in names]):.1f}")
        for rank, code, own in sorted(zip(ranks.mean_ranks, CODES, by_code, strict=True))
    ]
    remark = (
        f"On {len(names)} data sets ({', '.join(names)}); critical difference of mean ranks "
        f"{ranks.critical_difference:.2f}, Friedman's p = {ranks.p_value:.2g}."
    )
    return Table(title, ("code", "mean rank", "mean error"), rows, (remark,))


def no_code_dominates(ours: Ours, decoder: str, statement: str, errors: float = 2.0) -> Claim:
    """Supported if each code is beaten somewhere; not supported if one is never beaten and beats all others."""
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
    errors_on = {name: [ours[cell].error for cell in ours if cell[:2] == (name, decoder)] for name, *_ in ours}
    least = {name: min(own) for name, own in errors_on.items()}
    best_on = {
        code: sum(least[name] == error for name, error in of_code(ours, decoder, code).items()) for code in losses
    }
    evidence = "; ".join(
        f"{code} has the least error on {best_on[code]}, and is beaten on {len(names)} ({', '.join(names) or '–'})"
        for code, names in losses.items()
    )
    rule = f"{errors:g} standard errors of the difference, rows taken as independent"
    return Claim(
        statement, verdict, f"Of {len(least)} data sets, {evidence}; beaten by another code by more than {rule}."
    )


def draw_decoders(
    figure: Any, ours: Ours, names: Sequence[str], losses: Mapping[str, str], published: Errors | None = None
) -> None:
    """Bars of the error with each loss (and its colour) minus Hamming's, a panel for each code; dashes as published."""
    printed = cells(published or {})
    figure.set_size_inches(11, 2.8)
    panels = figure.subplots(1, len(CODES), sharey=True)
    width = 0.8 / len(losses)
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
            label = "published" if printed and shift == 0 else None
            panel.plot(left, of_loss - of_hamming, "_", color="#d95f02", markersize=5, markeredgewidth=1.5, label=label)
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
            _number_data_sets(panel, names)
            if i == 0:
                panel.set_title(column, fontsize=10)
            if j == 0:
                panel.set_ylabel(row, fontsize=10)
            if i == j:
                panel.set_facecolor("0.95")
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
