"""Judge our numbers against published ones, and test claims over data sets."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from reproduce.experiment import Claim, Verdict

LEVEL = 0.05
# Up to so many differences, all sign changes are listed; SciPy does the same, slowly, where differences tie.
LISTED = 13


class Agreement(NamedTuple):
    """Our error and the published one, in percent, and their common standard error."""

    ours: float
    published: float
    standard_error: float

    @classmethod
    def of(cls, ours: float, published: float, tested: int) -> Self:
        """Compare two errors in percent on `tested` rows; the standard error is the binomial one of their mean.

        >>> Agreement.of(8.5, 8.9, 3498).within, Agreement.of(5.0, 8.9, 3498).lower
        (True, True)
        """
        p = (ours + published) / 200
        return cls(ours, published, 100 * float(np.sqrt(p * (1 - p) / tested)))

    @property
    def difference(self) -> float:
        """Our error minus the published one."""
        return self.ours - self.published

    @property
    def within(self) -> bool:
        """Whether ours is within two standard errors of the published one."""
        return abs(self.difference) <= 2 * self.standard_error

    @property
    def lower(self) -> bool:
        """Whether ours is lower by more than two standard errors."""
        return self.ours < self.published - 2 * self.standard_error

    @property
    def higher(self) -> bool:
        """Whether ours is higher by more than two standard errors."""
        return not self.within and not self.lower


def signed(difference: float) -> str:
    """Format a difference to one decimal, with a sign.

    >>> signed(-0.42), signed(0.25), signed(-0.04)
    ('−0.4', '+0.2', '0.0')
    """
    text = f"{difference:+.1f}".replace("-", "−")
    return "0.0" if text[1:] == "0.0" else text


def verdict(p_for: float, p_against: float) -> Verdict:
    """Return the verdict on a claim from the p-values of the test for it and of the test against it."""
    return "supported" if p_for < LEVEL else "not supported" if p_against < LEVEL else "undecided"


def lower_claim(statement: str, lower: Mapping[str, float], higher: Mapping[str, float]) -> Claim:
    """Test the claim that one error is lower than another, by signed ranks over the data sets that both have.

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
    """Return Wilcoxon's one-sided p-value for `side` "less" or "greater"; 1 if no difference is nonzero.

    >>> signed_ranks([-1, -2, -3], "less"), signed_ranks([1, 1, -1], "greater")
    (0.125, 0.5)
    """
    # Rounding errors must not turn ties into different ranks.
    d = np.round(np.asarray(differences, dtype=np.float64), 9)
    if not d.any():
        return 1.0
    if len(d) > LISTED:
        return float(stats.wilcoxon(d, alternative=side).pvalue)
    d = d[d != 0]
    ranks = stats.rankdata(np.abs(d))
    chosen = np.arange(2 ** len(d))[:, None] >> np.arange(len(d)) & 1
    sums, own = chosen @ ranks, ranks[d > 0].sum()
    return float(np.mean(sums <= own if side == "less" else sums >= own))


class Slope(NamedTuple):
    """An exponent and its standard error."""

    exponent: float
    standard_error: float

    def __str__(self) -> str:
        return f"{self.exponent:.2f} ± {2 * self.standard_error:.2f}"


def slope(sizes: ArrayLike, values: ArrayLike) -> Slope:
    """Fit the exponent of a power of the size on logarithmic axes; from two points its standard error is unknown.

    >>> print(slope([1, 2, 4], [3, 12, 48]))
    2.00 ± 0.00
    >>> slope([1, 2], [3, 12]).standard_error
    inf
    """
    x, y = np.log(np.asarray(sizes)), np.log(np.asarray(values))
    fit = stats.linregress(x, y)
    return Slope(float(fit.slope), float(fit.stderr) if len(x) > 2 else np.inf)
