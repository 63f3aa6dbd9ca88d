"""Fill in the numbers of README.md and docs/ that come from files of results.

python docs/numbers_of_pages.py

`make docs`, `make bench` and `make reproduce` run it; tests/test_numbers.py checks that every number is what the files
say, and that no measured number is missing below. An entry is a pattern of the page, with a group per number or table,
and the texts of the groups.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from sklearn.multiclass import OutputCodeClassifier as ScikitOutputCode

ROOT = Path(__file__).parents[1]
# Neither is part of the installed package.
sys.path += [str(ROOT), str(ROOT / "benchmarks")]

import facts  # noqa: E402

from outputcodes.codes import as_code  # noqa: E402
from reproduce import EXPERIMENTS  # noqa: E402
from reproduce.page import read_sections  # noqa: E402

README = "README.md"


class Entry(NamedTuple):
    """A place in a page: spaces in the pattern also match line breaks."""

    page: str
    pattern: str
    texts: Callable[[], tuple[str, ...]]


def faults_of_scikit_learn() -> tuple[str, str]:
    """Return the chances that scikit-learn's random code for three classes has a constant column, and equal rows."""
    k = 3
    L = int(k * ScikitOutputCode(None).code_size)
    constant = 1 - (1 - 2 / 2**k) ** L
    equal = 1 - (1 - 1 / 2**L) * (1 - 2 / 2**L)
    return f"{100 * constant:.0f}%", f"{100 * equal:.0f}%"


def example_table() -> tuple[str]:
    """Return the errors of examples/linear_learners.py."""
    codes = ("one-vs-all", "all-pairs", "dense", "sparse")
    body = [
        [row["learner"], *(f"{row[f'{code}, hamming']:.1f} / {row[f'{code}, loss']:.1f}" for code in codes)]
        for row in facts.rows("linear_learners")
    ]
    return (facts.as_table(["learner", *codes], body),)


def example_rows() -> tuple[str, str]:
    """Return the numbers of training and test rows of that example."""
    row = facts.rows("linear_learners", learner="ridge")[0]
    return f"{row['training rows']:,}", f"{row['test rows']:,}"


def agreement() -> tuple[str, str, str]:
    """Return how many errors are compared with published ones, and the shares that are within two standard errors."""
    pattern = r": (\d+) of (\d+) errors .*, (\d+) lower, (\d+) higher"
    sections = read_sections(EXPERIMENTS.values(), ROOT / "docs" / "published")
    found = [re.search(pattern, headline) for section in sections for headline in section.findings.headlines]
    within, judged, lower, _ = (sum(int(one[group]) for one in found if one) for group in (1, 2, 3, 4))
    if not judged:
        raise SystemExit("docs/published has no results of Allwein et al., Tables 2 and 3, yet: run make reproduce.")
    return str(judged), f"{100 * within / judged:.0f} %", f"{100 * lower / judged:.0f} %"


def kernel_speed() -> tuple[str, ...]:
    """Return our speed on a dense code of letter: SVC with its cache, with a large one, and in prediction."""
    large = "dense, peer with five times its cache"
    return (
        facts.value("kernel_svm", "L", code="dense"),
        facts.value("kernel_svm", "fit ratio", ".0f", code="dense"),
        facts.value("kernel_svm", "fit ratio", ".0f", code=large),
        facts.value("kernel_svm", "predict ratio", ".0f", code=large),
    )


def stump_speed() -> tuple[str, ...]:
    """Return the span of our speed over four tasks, against scikit-learn and against LightGBM and XGBoost."""
    peers = "faster of LightGBM, XGBoost / ours"
    return facts.span("stumps", "scikit-learn / ours", ".0f"), facts.span("stumps", peers, ".0f")


def pairs_speed() -> tuple[str]:
    """Return the span of our speed with linear learners on all-pairs."""
    found = [row["ratio"] for row in facts.rows("linear", "ratio") if row["work"].endswith("all-pairs")]
    return (f"{min(found):.1f} to {max(found):.1f}",)


def tree_speed() -> tuple[str, ...]:
    """Return the speed of boosted trees on letter, and the errors of ours and of LightGBM."""
    columns = {"LightGBM / ours": ".1f", "ours error %": ".1f", "LightGBM error %": ".1f"}
    return tuple(facts.value("boosted_trees_tables", c, f, data="letter", threads=1) for c, f in columns.items())


def gpu_speed() -> tuple[str, ...]:
    """Return the rows of MNIST, and the seconds of one-vs-all on a GPU."""
    columns = {"n": ",", "fit s": ".1f"}
    return tuple(facts.value("gpu_sets", c, f, data="mnist", code="one-vs-all") for c, f in columns.items())


def gpu_times() -> tuple[str, ...]:
    """Return the rows of MNIST, and the seconds of a fit, of a prediction and of the first call on a GPU."""
    columns = {"n": ",", "fit s": ".2f", "predicted rows": ",", "predict s": ".3f", "first call s": ".0f"}
    return tuple(facts.value("gpu_sets", c, f, data="mnist", code="one-vs-all") for c, f in columns.items())


def columns_of(name: str) -> Callable[[], tuple[str]]:
    """Return what counts the columns of a code for ten classes."""
    return lambda: (str(as_code(name).draw(10, random_state=0).shape[1]),)


def continuous_table() -> tuple[str]:
    """Return the errors of continuous codes learned column by column and at once."""
    header = ['test error in %, `"ridge"`', "classes and columns", "the code itself", "column by column", "at once"]
    body = [
        [f"{row['data']}, {row['rows']:,} rows", str(row[header[1]]), *(f"{row[how]:.1f}" for how in header[2:])]
        for row in facts.rows("continuous_columns")
    ]
    return (facts.as_table(header, body),)


def oldest_versions() -> tuple[str, str]:
    """Return the version of Python of the last `make test-oldest`, and the versions of the packages."""
    found = json.loads((ROOT / "docs" / "oldest.json").read_text(encoding="utf-8"))
    body = [
        [use if use in ("core", "tests") else f"`{use}`", ", ".join(f"{name} {one}" for name, one in versions.items())]
        for use, versions in found["versions"].items()
    ]
    return found["python"], facts.as_table(["for", "oldest versions"], body)


def dense_table() -> tuple[str]:
    """Return the accuracies of tree codes and others on dense rows of few features, the best in bold."""
    found = facts.rows("where_trees_lose_dense")
    systems = [name for name in found[0] if name not in ("data", "classes", "features", "training rows")]
    body = []
    for row in found:
        best = max(row[name] for name in systems if name in row)
        cells = [f"{row[name]:.1f}" if name in row else "–" for name in systems]
        cells = [f"**{cell}**" if cell == f"{best:.1f}" else cell for cell in cells]
        body.append([row["data"], f"{row['classes']:,}", f"{row['features']}", f"{row['training rows']:,}", *cells])
    return (facts.as_table(["data", "classes", "features", "rows", *systems], body),)


def answer_ranks() -> tuple[str]:
    """Return the mean ranks of the race and of other systems, the best first."""
    found = sorted(facts.rows("answers_ranks"), key=lambda row: row["mean rank by error"])
    body = [[row["system"], *(f"{row[f'mean rank by {what}']:.2f}" for what in ("error", "log-loss"))] for row in found]
    return (facts.as_table(["system", "by error", "by log-loss"], body),)


NUMBERS = (
    Entry(
        README,
        r"default size, (.+?) of the draws contain a constant column, and (.+?) give",
        faults_of_scikit_learn,
    ),
    Entry(README, r"one split of (\S+) training and (\S+) test rows", example_rows),
    Entry(README, r"(\| learner \| one-vs-all \|.*?)\n\n", example_table),
    Entry(
        README,
        r"Of the (\d+) comparable errors in Allwein, Schapire & Singer, (.+?) are within two standard errors and (.+?) "
        r"are lower",
        agreement,
    ),
    Entry(
        README,
        r'On letter with (.+?) columns, `"kernel-svm"` is (.+?) times as fast as `OutputCodeClassifier\(SVC\)` with '
        r"the cache that SVC has by default, (.+?) times if it has five times as much, and predicts (.+?) times as "
        r"fast",
        kernel_speed,
    ),
    Entry(
        README,
        r'On isolet, `"logistic"` is (.+?) times as fast',
        lambda: (facts.value("linear", "ratio", ".0f", work="Logistic, isolet, dense"),),
    ),
    Entry(
        README,
        r"Boosted stumps are (.+?) times as fast as scikit-learn's, and (.+?) times as fast as the faster of LightGBM",
        stump_speed,
    ),
    Entry(README, r"their ratio is (.+?) there", pairs_speed),
    Entry(
        README,
        r"on letter it is (.+?) times as fast as LightGBM .*?, with (.+?) % errors instead of (.+?) %",
        tree_speed,
    ),
    Entry(README, r"MNIST's (.+?) rows one-vs-all in (.+?) s", gpu_speed),
    Entry(
        "docs/gpu.md", r"the (\S+) rows of MNIST takes (\S+) s, and the (\S+) test .+? (\S+) s.+? (\d+) s:", gpu_times
    ),
    *(
        Entry("docs/guide.md", rf'\| `"{name}"` \| (\d+) \|', columns_of(name))
        for name in ("all-pairs", "one-vs-all", "sparse", "dense", "ordinal", "complete", "ternary-complete")
    ),
    Entry(
        "docs/guide.md",
        r"The bound is loose here: (\d+%) of the entries of all-pairs are zeros",
        lambda: (f"{(as_code('all-pairs').draw(10).matrix() == 0).mean():.0%}",),
    ),
    Entry("docs/learned-codes.md", r"(\| test error in %, `\"ridge\"` \|.*?)\n\n", continuous_table),
    Entry(
        "docs/releases.md",
        r"The suite passed with Python (\S+) and these versions:\s+(\| for \| oldest versions \|.*?)\n\n",
        oldest_versions,
    ),
    Entry("docs/race.md", r"(\| system \| by error \|.*?)\n\n", answer_ranks),
    Entry("docs/many-classes.md", r"(\| data \| classes \|.*?)\n\n", dense_table),
)


def found(entry: Entry, text: str) -> re.Match[str]:
    """Return the one place that an entry describes."""
    places = list(re.finditer(entry.pattern.replace(" ", r"\s+"), text, re.DOTALL))
    if len(places) != 1:
        raise ValueError(f"{entry.page}: {len(places)} places match {entry.pattern!r}; there must be one.")
    return places[0]


def filled(page: str, text: str) -> str:
    """Return the text of a page with the numbers of its entries as the files have them."""
    for entry in NUMBERS:
        if entry.page == page:
            place = found(entry, text)
            for group, number in reversed(list(enumerate(entry.texts(), start=1))):
                text = text[: place.start(group)] + number + text[place.end(group) :]
    return text


def main() -> None:
    for page in dict.fromkeys(entry.page for entry in NUMBERS):
        path = ROOT / page
        before = path.read_text(encoding="utf-8")
        after = filled(page, before)
        path.write_text(after, encoding="utf-8")
        print(f"{page}: {'numbers changed' if after != before else 'as the results say'}")


if __name__ == "__main__":
    main()
