"""One self-contained HTML page from the data of a report: styles, scripts and data inside, nothing loaded."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from html import escape
from importlib.resources import files
from pathlib import Path
from typing import Any

from outputcodes._ground.files import in_place_of

SCRIPTS = ("dom.js", "charts.js", "explain.js", "ranking.js", "race.js", "page.js")


class Report(dict[str, Any]):
    """The data of a report: plain, as JSON can hold it. A notebook shows the page."""

    def _repr_html_(self) -> str:
        # In a frame of its own: the styles of the page and of the notebook do not mix.
        return (
            f'<iframe srcdoc="{escape(render(self))}" sandbox="allow-scripts allow-downloads" '
            'style="width:100%;height:800px;border:0" title="report"></iframe>'
        )


def render(data: Mapping[str, Any]) -> str:
    """Return the page as text; the same data give the same text.

    >>> from outputcodes.app.report import report_data
    >>> from outputcodes.selection import Result, ranked
    >>> page = render(report_data(ranked([Result("SVC", fold_errors=[0.1])]), title="Is 1 < 2?"))
    >>> "<title>Is 1 &lt; 2?</title>" in page
    True
    """
    folder = files("outputcodes.app.report") / "template"
    # In a script, "<" could end it and U+2028 is a line break to old parsers; as escapes both are only text.
    text = json.dumps(data, allow_nan=False, ensure_ascii=False, separators=(",", ":"))
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    parts = {
        "title": escape(str(data["title"])),
        "style": (folder / "page.css").read_text("utf-8"),
        "script": "".join((folder / name).read_text("utf-8") for name in SCRIPTS),
        "data": text,
    }
    template = (folder / "page.html").read_text("utf-8")
    # In one pass, so that what is put in is never looked at again.
    return re.sub(r"\{\{(\w+)\}\}", lambda found: parts[found[1]], template)


def write_report(data: Mapping[str, Any], path: str | os.PathLike[str]) -> Path:
    """Write the page to a file; `path` is never half a page.

    >>> import tempfile
    >>> from outputcodes.app.report import report_data
    >>> from outputcodes.selection import Result, ranked
    >>> data = report_data(ranked([Result("SVC", fold_errors=[0.1])]))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_report(data, Path(folder, "report.html")).name
    'report.html'
    """
    with in_place_of(path) as part:
        part.write_text(render(data), "utf-8")
    return Path(path)
