"""Our numbers beside published ones, and claims weighed by paired tests over data sets."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from reproduce.experiment import Claim, Verdict

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


def compare(ours: float, published: float, tested: int) -> Comparison:
    """Compare two errors in per cent on `tested` rows; the standard error is the binomial one of their mean.

    >>> compare(8.5, 8.9, 3498).within, compare(5.0, 8.9, 3498).lower
    (True, True)
    """
    p = (ours + published) / 200
    return Comparison(ours, published, 100 * float(np.sqrt(p * (1 - p) / tested)))


def signed(difference: float) -> str:
    """To one decimal, with a sign.

    >>> signed(-0.42), signed(0.25), signed(-0.04)
    ('−0.4', '+0.2', '0.0')
    """
    text = f"{difference:+.1f}".replace("-", "−")
    return "0.0" if text[1:] == "0.0" else text


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
    evidence = (
        f"{counts}; mean difference {signed(d.mean())}; p = {p_for:.2g} for, {p_against:.2g} against (signed ranks)"
    )
    return Claim(statement, verdict(p_for, p_against), evidence)


def signed_ranks(differences: ArrayLike, side: str) -> float:
    """Wilcoxon's p-value; 1 where nothing differs."""
    d = np.asarray(differences, dtype=np.float64)
    # Rounding must not make ranks of equal numbers.
    d = np.round(d, 9)
    return float(stats.wilcoxon(d, alternative=side).pvalue) if d.any() else 1.0


class Slope(NamedTuple):
    """An exponent and its standard error."""

    exponent: float
    standard_error: float

    def __str__(self) -> str:
        return f"{self.exponent:.2f} ± {2 * self.standard_error:.2f}"


def slope(sizes: ArrayLike, values: ArrayLike) -> Slope:
    """The exponent of a power of the size, fitted on logarithmic axes; two points can't tell how certain it is.

    >>> print(slope([1, 2, 4], [3, 12, 48]))
    2.00 ± 0.00
    >>> slope([1, 2], [3, 12]).standard_error
    inf
    """
    x, y = np.log(np.asarray(sizes)), np.log(np.asarray(values))
    fit = stats.linregress(x, y)
    return Slope(float(fit.slope), float(fit.stderr) if len(x) > 2 else np.inf)
