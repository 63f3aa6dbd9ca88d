"""Codes and decoders compared with each other over data sets: claims and mean ranks."""

from __future__ import annotations

import numpy as np
from scipy.stats import norm

from outputcodes.selection import Ranking, mean_ranks
from reproduce.allwein.cells import Ours
from reproduce.allwein.published import CODES
from reproduce.experiment import Claim, TextTable, Verdict
from reproduce.judging import LEVEL, lower_claim


def of_code(ours: Ours, decoder: str, code: str) -> dict[str, float]:
    """Return the errors of a code with a decoder, by data set."""
    return {cell[0]: own.error for cell, own in ours.items() if cell[1:] == (decoder, code)}


def decoder_claims(ours: Ours, loss: str, other: str = "hamming", *, statement: str) -> list[Claim]:
    """Claim that one decoder's errors are lower than another's: for the mean over the codes, then for each code."""
    by_code = {code: (of_code(ours, loss, code), of_code(ours, other, code)) for code in CODES}
    names = dict.fromkeys(cell[0] for cell in ours)
    means = [
        {name: float(np.mean([own[side][name] for own in by_code.values() if name in own[side]])) for name in names}
        for side in (0, 1)
    ]
    claims = [lower_claim(f"{statement}, all codes", *means)]
    return claims + [lower_claim(f"{statement}, {code}", *own) for code, own in by_code.items() if own[0]]


def beaten(ours: Ours, decoder: str, errors: float) -> dict[str, list[str]]:
    """Return per code the data sets where another one is better by `errors` standard errors of the difference."""
    found: dict[str, list[str]] = {code: [] for code in CODES if of_code(ours, decoder, code)}
    for (name, own_decoder, code), own in ours.items():
        rivals = [ours[name, decoder, other] for other in CODES if other != code and (name, decoder, other) in ours]
        if own_decoder == decoder and any(
            own.error - rival.error > errors * np.sqrt(own.variance + rival.variance) for rival in rivals
        ):
            found[code].append(name)
    return found


def code_ranks(ours: Ours, decoder: str) -> tuple[list[str], Ranking] | None:
    """Return the data sets where all codes were run and the codes' ranks there; None with fewer than two."""
    by_code = [of_code(ours, decoder, code) for code in CODES]
    names = [name for name in by_code[0] if all(name in own for own in by_code)]
    return (names, mean_ranks([[own[name] for own in by_code] for name in names])) if len(names) > 1 else None


def rank_tables(ours: Ours, decoder: str, title: str) -> list[TextTable]:
    """Return a table of the codes' mean ranks on the data sets where all were run; none with fewer than two."""
    if (found := code_ranks(ours, decoder)) is None:
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
    return [TextTable(title, ("code", "mean rank", "mean error"), rows, (remark,))]


def no_code_dominates(ours: Ours, decoder: str, statement: str) -> Claim:
    """Return "supported" if each code is beaten somewhere, "not supported" if one is never beaten and beats all."""
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
        f"{code} has the lowest error on {best_on[code]} and is beaten on {len(names)} ({', '.join(names) or '–'})"
        for code, names in losses.items()
    )
    rule = (
        f"{errors:.1f} standard errors of the difference, assuming independent rows: a level of {100 * LEVEL:g} % "
        f"divided among {compared} comparisons"
    )
    return Claim(
        statement, verdict, f"of {len(least)} data sets, {evidence}; beaten by another code means by more than {rule}"
    )
