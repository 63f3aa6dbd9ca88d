"""Our numbers beside published ones, and claims weighed by paired tests over data sets."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from outputcodes.experiments.experiment import Claim, Verdict

LEVEL = 0.05


class Comparison(NamedTuple):
    """An error in per cent beside the published one, and the standard error that both share."""

    ours: float
    published: float
    standard_error: float

    @property
    def within(self) -> bool:
        """Whether ours is within two standard errors of the published one."""
        return abs(self.ours - self.published) <= 2 * self.standard_error

    @property
    def lower(self) -> bool:
        """Whether ours is lower by more than that."""
        return self.ours < self.published - 2 * self.standard_error

    def __str__(self) -> str:
        mark = "" if self.within else " ↓" if self.lower else " ↑"
        return f"{self.ours:.1f} ({self.published:.1f}){mark}"


def compare(ours: float, published: float, tested: int) -> Comparison:
    """Compare two errors in per cent on `tested` rows; the standard error is the binomial one of their mean.

    >>> compare(8.5, 8.9, 3498).within, compare(5.0, 8.9, 3498).lower
    (True, True)
    >>> str(compare(12.5, 8.9, 3498))
    '12.5 (8.9) ↑'
    """
    p = (ours + published) / 200
    return Comparison(ours, published, 100 * float(np.sqrt(p * (1 - p) / tested)))


def verdict(p_for: float, p_against: float) -> Verdict:
    """Supported if chance would rarely do as much for the claim; not supported if rarely as much against it."""
    return "supported" if p_for < LEVEL else "not supported" if p_against < LEVEL else "undecided"


def lower_claim(statement: str, lower: Mapping[str, float], higher: Mapping[str, float]) -> Claim:
    """A claim that one error is lower than another, weighed by Wilcoxon's signed ranks over what both were measured on.

    >>> claim = lower_claim("a beats b", {s: 1.0 + i for i, s in enumerate("uvwxyz")}, dict.fromkeys("uvwxyz", 9.0))
    >>> claim.verdict
    'supported'
    >>> claim.evidence
    'lower in 6, equal in 0, higher in 0 of 6; mean difference −5.5; p = 0.016 for, 1 against (signed ranks)'
    """
    shared = [name for name in lower if name in higher]
    if not shared:
        return Claim(statement, "undecided", "not measured")
    d = np.array([lower[name] - higher[name] for name in shared])
    p_for, p_against = (signed_ranks(d, side) for side in ("less", "greater"))
    counts = f"lower in {(d < 0).sum()}, equal in {(d == 0).sum()}, higher in {(d > 0).sum()} of {len(d)}"
    mean = f"{d.mean():+.1f}".replace("-", "−")
    evidence = f"{counts}; mean difference {mean}; p = {p_for:.2g} for, {p_against:.2g} against (signed ranks)"
    return Claim(statement, verdict(p_for, p_against), evidence)


def signed_ranks(differences: ArrayLike, side: str) -> float:
    """Wilcoxon's p-value; 1 where nothing differs."""
    d = np.asarray(differences, dtype=np.float64)
    # Rounding must not make ranks of equal numbers.
    d = np.round(d, 9)
    return float(stats.wilcoxon(d, alternative=side).pvalue) if d.any() else 1.0


def slope(sizes: ArrayLike, values: ArrayLike) -> float:
    """The exponent of a power of the size, fitted on logarithmic axes.

    >>> round(slope([1, 2, 4], [3, 12, 48]), 6)
    2.0
    """
    return float(np.polyfit(np.log(np.asarray(sizes)), np.log(np.asarray(values)), 1)[0])
