"""The settings of Sphinx for the documentation site; docs/site/build.py collects the pages and calls it."""

from __future__ import annotations

import os
import re
import warnings
from pathlib import Path
from typing import Any

import matplotlib
from sphinx.util.nodes import make_refnode
from sphinx_gallery.scrapers import matplotlib_scraper

matplotlib.use("Agg")
# A picture of a gallery is drawn with what the script gives, and nothing else.
warnings.filterwarnings("ignore", message=".*is non-interactive")

import matplotlib.pyplot as plt  # noqa: E402

import outputcodes  # noqa: E402

ROOT = Path(os.environ["OUTPUTCODES_ROOT"])

project = "outputcodes"
author = "The outputcodes developers"
version = release = outputcodes.__version__
copyright = author

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "myst_parser",
    "sphinx_gallery.gen_gallery",
]
templates_path = ["_templates"]
html_static_path = ["_static"]
exclude_patterns = ["_templates"]
default_role = "py:obj"
autosummary_generate = True
autodoc_typehints = "none"
autodoc_member_order = "bysource"
# Methods are listed beside the page of their class.
toc_object_entries_show_parents = "hide"
numpydoc_show_class_members = False
myst_heading_anchors = 4
# Comments of pages are for those who edit them.
myst_enable_extensions = ["colon_fence"]
# Where several classes have an attribute of a name, the name is no link.
suppress_warnings = ["config.cache", "ref.python"]

html_theme = "pydata_sphinx_theme"
html_title = "outputcodes"
html_show_sourcelink = False
html_copy_source = False
html_css_files = ["site.css"]
html_js_files = ["copy.js"]
html_theme_options = {
    "logo": {"text": "outputcodes"},
    "navbar_align": "left",
    "header_links_before_dropdown": 6,
    "navbar_end": ["theme-switcher"],
    "footer_start": ["copyright"],
    "footer_end": ["sphinx-version"],
    "secondary_sidebar_items": ["page-toc"],
    "show_prev_next": False,
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
html_sidebars = {"index": []}
# That of the reader's system, until the switch is used.
html_context = {"default_mode": "auto"}


def whole_pictures(block: Any, block_vars: Any, gallery_conf: Any) -> str:
    """Save the figures of a script as sphinx-gallery does; what is drawn beyond their edges is an error."""
    for number in plt.get_fignums():
        figure = plt.figure(number)
        figure.canvas.draw()
        drawn, (width, height) = figure.get_tightbbox(), figure.get_size_inches()
        beyond = max(-drawn.x0, -drawn.y0, drawn.x1 - width, drawn.y1 - height)
        if beyond > 0.02:
            raise ValueError(f"{block_vars['src_file']}: the figure is cut, {beyond:.2f} inches are missing.")
    scraped: str = matplotlib_scraper(block, block_vars, gallery_conf)
    return scraped


sphinx_gallery_conf = {
    "examples_dirs": str(ROOT / "examples" / "gallery"),
    "gallery_dirs": "gallery",
    "filename_pattern": r"\.py$",
    "image_scrapers": (whole_pictures,),
    # What the last line of a script returns, such as a legend, is no output; what it prints is.
    "capture_repr": (),
    "reset_modules": ("matplotlib",),
    "download_all_examples": False,
    "remove_config_comments": True,
    "show_memory": False,
    "plot_gallery": "True",
    "within_subsection_order": "FileNameSortKey",
    "min_reported_time": 0,
    "abort_on_example_error": True,
    "only_warn_on_example_error": False,
    "backreferences_dir": None,
    "write_computation_times": False,
}

# Docstrings are plain text: a name that ends in an underscore is no reference, and bars are no substitutions.
HEADING = re.compile(r"\s*[\w.,* ]+ : ")
LITERAL = re.compile(r"(``.*?``|`[^`]*`|^\s*>>>.*|^\s*\.\.\.\s.*)")
REFERENCE = re.compile(r"(\w)_(?=[\W]|$)")
OUTSIDE = re.compile(r"(?<![\\\w])([|*])(?=\S)")


def plain(app: object, what: str, name: str, thing: object, options: object, lines: list[str]) -> None:
    """Escape what reStructuredText would read into a docstring."""
    in_example = False
    for at, line in enumerate(lines):
        in_example = line.lstrip().startswith(">>>") or (in_example and bool(line.strip()))
        if in_example or line.lstrip().startswith((":", "..")):
            continue
        # numpydoc reads the names of parameters and attributes itself.
        heading = HEADING.match(line)
        names = heading[0] if heading else ""
        parts = LITERAL.split(line[len(names) :])
        parts[::2] = [OUTSIDE.sub(r"\\\1", REFERENCE.sub(r"\1\\_", part)) for part in parts[::2]]
        lines[at] = names + "".join(parts)


def is_foreign(app: object, what: str, name: str, thing: object, skip: bool, options: object) -> bool | None:
    """Leave out what a class has from scikit-learn."""
    return True if (getattr(thing, "__module__", None) or "").startswith("sklearn.") else None


def by_last_name(app: Any, env: Any, node: Any, shown: Any) -> Any:
    """Link a name without its module, such as `KernelSVM`, if one public class, function or value is called so."""
    target = node.get("reftarget", "")
    names = env.get_domain("py").objects.items()
    kinds = ("class", "function", "exception", "module", "data")
    named = [one for name, one in names if name.rpartition(".")[2] == target and not one.aliased]
    found = [one for one in named if one.objtype in kinds]
    if node.get("refdomain") != "py" or len(found) != 1:
        return None
    return make_refnode(app.builder, node["refdoc"], found[0].docname, found[0].node_id, shown)


def setup(app: Any) -> None:
    """Run the hook before numpydoc reads the sections, with priority 500."""
    app.connect("missing-reference", by_last_name)
    app.connect("autodoc-skip-member", is_foreign)
    app.connect("autodoc-process-docstring", plain, priority=400)
