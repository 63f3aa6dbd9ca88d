"""The winner in detail: its code, columns, margins, confusions, probabilities, and rows explained."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from outputcodes._ground.words import shorten
from outputcodes.app.report.answers import Answers
from outputcodes.app.report.explain import explain_row
from outputcodes.app.report.plain import short
from outputcodes.codes import describe
from outputcodes.diagnostics import column_errors, multiclass_margins

Data = dict[str, Any]
Rows = NDArray[np.intp]

# Pictures beyond these sizes cannot be read, and would make the page large.
MOST_CLASSES, MOST_CELLS, MOST_NUMBERS = 100, 200_000, 200_000
HISTOGRAM_BINS, RELIABILITY_BINS, CONFUSED_PAIRS = 40, 10, 10
# Letters of a label, and of the whole label in a tooltip.
LONGEST_NAME, LONGEST_TOOLTIP = 40, 2000
SIGNS = np.array(["0", "+", "-"])  # index -1 is the last


def winner_data(asked: Answers, examples: int = 24) -> Data:
    """Return everything the report shows of one classifier on a sample with known labels."""
    if asked.truth is None:
        raise ValueError("the report counts errors: give `answers` the labels y.")
    y = asked.truth
    counts = np.bincount(y, minlength=len(asked.classes))
    names = class_names(asked.classes)
    facts: Data = {
        "title": asked.title,
        "classes": names,
        "long_names": {
            name: shorten(label, LONGEST_TOOLTIP)
            for name, label in zip(names, asked.classes, strict=True)
            if name != str(label)
        },
        "class_counts": counts,
        "rows": len(y),
        "error": float(np.mean(asked.predicted != y)),
        "confusion": confusion(y, asked.predicted, len(asked.classes)),
        "code": None,
        "columns": None,
        "margins": margin_histograms(asked),
        "reliability": None if asked.probabilities is None else reliability(asked.probabilities, asked.predicted, y),
        "examples": [example(asked, int(i)) for i in chosen_rows(asked, examples)],
    }
    if asked.code is not None and asked.margins is not None:
        facts["decoder"] = repr(asked.decoder)
        facts["code"] = code_data(asked.code, counts)
        target = asked.code[y]
        facts["columns"] = {
            "error": short(column_errors(asked.margins, y, asked.code)),
            "rows": np.count_nonzero(target, axis=0),
            "positives": np.count_nonzero(target > 0, axis=0),
        }
    return facts


def class_names(classes: NDArray[Any]) -> list[str]:
    """Return the labels, cut where they are long; those that look alike then are numbered.

    >>> class_names(np.array(["a" * 100, "b", "a" * 50 + "c" + "a" * 49]))
    ['aaaaaaaaaaaaaaaaaaaa…aaaaaaaaaaaaaaaaaaa', 'b', 'aaaaaaaaaaaaaaaaaaaa…aaaaaaaaaaaaaaaaaaa (2)']
    """
    cut = [shorten(label, LONGEST_NAME) for label in classes]
    first = {name: cut.index(name) for name in cut}
    return [name if first[name] == i else f"{name} ({i})" for i, name in enumerate(cut)]


def code_data(M: NDArray[np.int8], counts: NDArray[Any]) -> Data:
    """Return the matrix as strings of +, - and 0, one per class, and its properties; without what is too large."""
    report = describe(M, counts)
    return {
        "k": report.k,
        "L": report.L,
        "matrix": ["".join(SIGNS[row]) for row in M] if M.size <= MOST_CELLS else None,
        "rho": report.rho,
        "correctable_errors": report.correctable_errors,
        "row_distances": report.row_distances if report.k <= MOST_CLASSES else None,
        "min_column_distance": report.min_column_distance,
        "repeated_columns": len(report.repeated_columns),
        "mirrored_columns": len(report.mirrored_columns),
        "one_sided_columns": len(report.one_sided_columns),
        "share_of_zeros": report.share_of_zeros,
        "known_as": report.known_as,
    }


def confusion(y: Rows, predicted: Rows, k: int) -> Data:
    """Return counts, one row per true class, and the pairs (truth, predicted, count) that are confused most."""
    counts = np.bincount(y * k + predicted, minlength=k * k).reshape(k, k)
    wrong = counts.copy()
    np.fill_diagonal(wrong, 0)
    top = np.argsort(-wrong, axis=None, kind="stable")[:CONFUSED_PAIRS]
    pairs = [(*divmod(int(place), k), int(wrong.flat[place])) for place in top if wrong.flat[place]]
    return {"matrix": counts if k <= MOST_CLASSES else None, "pairs": pairs}


def margin_histograms(asked: Answers) -> Data:
    """Return histograms of the true score less the best other one, and of the columns' signed margins M(y, s)·f_s."""
    found: Data = {"multiclass": None, "columns": None}
    assert asked.truth is not None
    if asked.scores is not None:
        found["multiclass"] = histogram(multiclass_margins(asked.scores, asked.truth))
    if asked.margins is not None and asked.code is not None:
        target = asked.code[asked.truth]
        found["columns"] = histogram((target * asked.margins)[target != 0])
    return found


def histogram(values: NDArray[np.float64]) -> Data:
    """Return counts of values with an edge at 0; the outermost bins also hold the few beyond them, 1 % at most.

    >>> histogram(np.array([-1.0, 1.0, 3.0]))["below_zero"]
    1
    """
    low, high = np.quantile(values, [0.005, 0.995])
    low, high = min(float(low), 0.0), max(float(high), 0.0)
    width = (high - low) / HISTOGRAM_BINS or 1.0
    # Both sides of 0 have a bin where they have a value, however rare it is.
    first = min(int(np.floor(low / width)), -int(values.min() < 0))
    last = max(int(np.ceil(high / width)), int(values.max() >= 0), first + 1)
    # A value on an edge belongs to the bin above it, so that 0, a tie, is not among the mistakes.
    places = np.clip(np.floor(values / width).astype(np.intp), first, last - 1) - first
    return {
        "edges": short(width * np.arange(first, last + 1)),
        "counts": np.bincount(places, minlength=last - first),
        "below_zero": int((values < 0).sum()),
        "at_zero": int((values == 0).sum()),
        "total": len(values),
        "median": float(np.median(values)),
    }


def reliability(P: NDArray[np.float64], predicted: Rows, y: Rows) -> Data:
    """Return how often the prediction is right, by its probability, in bins of equal width that hold some rows."""
    n = len(y)
    confidence, right = P[np.arange(n), predicted], predicted == y
    places = np.minimum((confidence * RELIABILITY_BINS).astype(np.intp), RELIABILITY_BINS - 1)
    bins = [
        {"rows": int(own.sum()), "confidence": float(confidence[own].mean()), "accuracy": float(right[own].mean())}
        for own in (places == b for b in np.unique(places))
    ]
    gaps = [one["rows"] / n * abs(one["accuracy"] - one["confidence"]) for one in bins]
    likelihood = P[np.arange(n), y]
    return {
        "bins": bins,
        "calibration_error": float(sum(gaps)),
        "log_loss": float(-np.log(np.maximum(likelihood, np.finfo(float).eps)).mean()),
        "brier": float(np.square(P - np.eye(P.shape[1])[y]).sum(axis=1).mean()),
    }


def chosen_rows(asked: Answers, number: int) -> Rows:
    """Return rows to explain: the worst mistakes, rows right in spite of wrong columns, and some of the rest."""
    y, predicted = asked.truth, asked.predicted
    assert y is not None
    size = len(asked.classes) + (0 if asked.code is None else 2 * asked.code.shape[1])
    number = min(number, len(y), max(4, MOST_NUMBERS // size))
    right = predicted == y
    lead = right.astype(float) if asked.scores is None else multiclass_margins(asked.scores, y)
    by_lead = np.argsort(lead, kind="stable")
    mistakes = by_lead[~right[by_lead]][: max(number // 2, number - int(right.sum()))]
    bits = np.zeros(len(y), dtype=np.intp)
    if asked.code is not None and asked.margins is not None:
        bits = np.count_nonzero(asked.code[y] * asked.margins < 0, axis=1)
    corrected = np.flatnonzero(right & (bits > 0))
    corrected = corrected[np.argsort(-bits[corrected], kind="stable")][: (number - len(mistakes)) // 2]
    rest = np.setdiff1d(by_lead[right[by_lead]], corrected)
    rest = rest[np.argsort(lead[rest], kind="stable")]
    spread = np.unique(np.linspace(0, len(rest) - 1, number - len(mistakes) - len(corrected)).round().astype(np.intp))
    return np.concatenate([mistakes, corrected, rest[spread] if len(rest) else rest])


def example(asked: Answers, i: int) -> Data:
    """Return the explanation of one row, without what all rows share."""
    # A picture is shown instead of its grey values.
    facts = explain_row(asked, i, values=asked.images is None).data(shared=False)
    for name in ("scores", "probabilities", "margins", "lead"):
        if facts[name] is not None:
            facts[name] = short(facts[name])
    facts["features"] = [(name, float(f"{part:.5g}")) for name, part in facts["features"]]
    if asked.images is not None:
        facts["image"] = _shades(asked.images[i])
    return facts


def _shades(image: NDArray[np.float64]) -> list[list[int]]:
    """Grey values as 0 to 255, from the smallest of the image to its largest."""
    span = float(np.ptp(image)) or 1.0
    shades: list[list[int]] = np.rint(255 * (image - image.min()) / span).astype(int).tolist()
    return shades
