"""Render benchmarks/RESULTS.md from RESULTS.template.md and the files in results/.

python benchmarks/render.py

In the template, {{ expression }} is replaced by its value: a call of a function of facts.py, or of a table below.
"""

from __future__ import annotations

import re
import textwrap
from pathlib import Path
from typing import Any

import facts
import numpy as np

HERE = Path(__file__).parent
WIDTH = 132
# How the columns of the table of learned codes are headed.
HEADINGS = {
    "one-vs-all": "OvA",
    "short, near": "near",
    "short, distant": "distant",
    "short, continuous": "cont.",
    "short, continuous, held-out": "cont. held-out",
    "short, continuous, rbf": "cont. rbf",
}


def learned_codes(learner: str) -> str:
    """Return a line per data set with the error of each code, the best in bold; then columns, seconds and wins."""
    cells = {(row["data"], row["code"]): row for row in facts.rows("designed_codes", learner=learner)}
    names, codes = (list(dict.fromkeys(key[at] for key in cells)) for at in (0, 1))
    body = []
    for name in names:
        errors = [cells[name, code]["error %"] for code in codes]
        texts = [f"**{error:.1f}**" if error == min(errors) else f"{error:.1f}" for error in errors]
        body.append([name, str(cells[name, codes[0]]["k"]), *texts])
    of_code = {code: [cells[name, code] for name in names] for code in codes}
    body += [
        ["columns, mean", "", *(f"{np.mean([row['L'] for row in own]):.0f}" for own in of_code.values())],
        ["fit, CPU s, sum", "", *(f"{sum(row['cpu s'] for row in own):.1f}" for own in of_code.values())],
        ["better than dense", "", *(str(_wins(code, learner)[0]) for code in codes)],
    ]
    return facts.as_table(["data", "k", *(HEADINGS.get(code, code) for code in codes)], body)


def better_than_dense(code: str, learner: str) -> str:
    """Count the data sets on which a code has a lower error than the dense one: "6 of 10"."""
    return "{} of {}".format(*_wins(code, learner))


def _wins(code: str, learner: str) -> tuple[int, int]:
    own, dense = (
        {row["data"]: row["error %"] for row in facts.rows("designed_codes", learner=learner, code=name)}
        for name in (code, "dense")
    )
    return sum(own[name] < dense[name] for name in dense), len(dense)


def two_checkouts() -> str:
    """Say which commits were compared."""
    if found := facts.rows("two_checkouts", "other checkout"):
        return f"The other is {found[0]['other checkout']}, this one {found[0]['this checkout']}."
    return (
        "The other is 965eb01, before a reorganisation of the package, on 2,500 rows of letter, with other processes "
        "now and then. All tasks were first run three times. Those with nine repeats were run again, and only that run "
        "is shown: AdaBoost.OC and SmoothBoost because the first run had no seed, the others because their ratio was "
        "large. So small ratios among the rest are not well established."
    )


def rendered(template: str) -> str:
    """Return the template with every {{ expression }} replaced by its value."""
    names: dict[str, Any] = {name: getattr(facts, name) for name in dir(facts) if not name.startswith("_")}
    names |= {function.__name__: function for function in (learned_codes, better_than_dense, two_checkouts)}
    text = re.sub(r"\{\{(.*?)\}\}", lambda found: str(eval(found[1].strip(), names)), template, flags=re.DOTALL)
    return "\n\n".join(map(_filled, text.split("\n\n")))


def _filled(block: str) -> str:
    """Wrap a paragraph again, now that its numbers are in; tables, headings, lists and comments stay."""
    if block.lstrip().startswith(("|", "#", "- ", "<!--")):
        return block
    return textwrap.fill(block, WIDTH, break_long_words=False, break_on_hyphens=False) + "\n" * block.endswith("\n")


def page() -> str:
    """Return the text of RESULTS.md."""
    return rendered((HERE / "RESULTS.template.md").read_text(encoding="utf-8"))


if __name__ == "__main__":
    (HERE / "RESULTS.md").write_text(page(), encoding="utf-8")
    print(f"{HERE / 'RESULTS.md'}: rendered.")
