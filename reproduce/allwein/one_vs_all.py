"""Whether one-vs-all is the weakest code of support vector machines, on our errors and on the published ones."""

from __future__ import annotations

from reproduce.allwein.cells import Ours
from reproduce.allwein.published import CODES, TABLE3
from reproduce.allwein.rivals import code_ranks, decoder_claims, of_code
from reproduce.experiment import Claim, Verdict
from reproduce.judging import lower_claim

# Where the published errors of one-vs-all are far above ours.
FAR = ("satimage", "yeast", "soybean")


def svm_claims(errors: Ours) -> list[Claim]:
    """Test the paper's claims on decoders and on one-vs-all."""
    loss_based = decoder_claims(errors, "hinge", statement="SVM: loss-based decoding beats Hamming decoding")
    return [*loss_based, *weakest_code_claims(errors)]


def weakest_code_claims(errors: Ours) -> list[Claim]:
    """Test one-vs-all against each other code, and against all of them together."""
    weak = of_code(errors, "hinge", "one-vs-all")
    against = [
        lower_claim(f"SVM: one-vs-all is weaker than {code}, hinge loss", of_code(errors, "hinge", code), weak)
        for code in CODES
        if code != "one-vs-all"
    ]
    return [*against, _weakest(errors, against)]


def _weakest(errors: Ours, against: list[Claim]) -> Claim:
    """Return "supported" if each comparison supports it, "not supported" if one contradicts it."""
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
    if (found := code_ranks(errors, "hinge")) is not None:
        names, ranks = found
        by_rank = sorted(zip(ranks.mean_ranks, CODES, strict=True), reverse=True)
        listed = ", ".join(f"{code} {rank:.2f}" for rank, code in by_rank)
        evidence += f"; mean ranks on the {len(names)} where all codes were run, the worst first: {listed}"
    return Claim("SVM: one-vs-all is the weakest code, hinge loss", verdict, evidence)


def why_not_weakest(ours: Ours, near: Ours) -> list[str]:
    """Explain what the published verdict on one-vs-all rests on, if ours differs from it."""
    weak = of_code(ours, "hinge", "one-vs-all")
    if not all(name in weak for name in FAR) or weakest_code_claims(ours)[-1].verdict == "supported":
        return []
    printed = ", ".join(f"{TABLE3[name]['hinge']['one-vs-all']}" for name in FAR)
    own = ", ".join(f"{weak[name]:.1f}" for name in FAR)
    *pairs, _ = weakest_code_claims(near)
    supported = sum(claim.verdict == "supported" for claim in pairs)
    return [
        "Why one-vs-all is not the weakest code here: it is the weakest in the published numbers because of "
        f"{', '.join(FAR)}, with {printed} (hinge loss), where ours are {own}. Without these three the published "
        f"numbers themselves support {supported or 'none'} of the {len(pairs)} comparisons."
    ]
