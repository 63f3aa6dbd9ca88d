"""Build the documentation site in build/site from the Markdown of the repository, the docstrings and the gallery.

python docs/site/build.py

Pages keep their links as they are on GitHub; here they are made to point at pages of the site. Warnings are errors.
"""

from __future__ import annotations

import html
import os
import posixpath
import re
import shutil
import subprocess
import sys
from pathlib import Path

import reference

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
SOURCE, SITE = ROOT / "build" / "site-source", ROOT / "build" / "site"
LINK = re.compile(r"(!?\[[^\]]*\]\()([^)\s]+)(\))")

# Pages outside docs/, and what they are called on the site.
ELSEWHERE = {
    "benchmarks/RESULTS.md": "benchmarks.md",
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "CODE_OF_CONDUCT.md": "code-of-conduct.md",
    "SECURITY.md": "security.md",
    "README.md": "index.md",
    "docs/index.md": "topics.md",
    "examples": "gallery/index.rst",
    "examples/gallery": "gallery/index.rst",
}
# Parts of README.md on the first page: what they begin with, and what comes after them.
EXCERPTS = {
    "the example": ("```python\n>>> from sklearn.datasets import load_digits", "## Why"),
    "when the code matters": ("When does the code matter?", "## Two commands"),
    "the speed": ("The named learners train whole codes at once.", "There are also functions"),
    "the evidence": ("`make reproduce` repeats", "\n## "),
}
# Files that are shown as they are.
SHOWN = ("LICENSE", "CITATION.cff")


def site_names() -> dict[str, str]:
    """Return the page of the site for each page, script and picture of the repository."""
    names = dict(ELSEWHERE)
    for path in sorted((ROOT / "docs").glob("*.md")):
        names.setdefault(f"docs/{path.name}", path.name)
    for path in sorted((ROOT / "docs" / "site" / "pages").glob("*.md")):
        names[f"docs/site/pages/{path.name}"] = path.name
    for folder in ("examples", "examples/neighbours"):
        for path in sorted((ROOT / folder).glob("*.py")):
            names[f"{folder}/{path.name}"] = f"scripts/{path.stem}.md"
    for name in SHOWN:
        names[name] = f"scripts/{name.replace('.', '-')}.md"
    for folder in ("docs", "docs/published", "docs/site/pages", "benchmarks/results"):
        for path in sorted((ROOT / folder).iterdir()):
            if path.suffix in (".svg", ".png"):
                names[f"{folder}/{path.name}"] = f"pictures/{path.name}"
    return names


def relinked(text: str, page: str, names: dict[str, str]) -> str:
    """Return a page with links to pages of the site, given its place in the repository."""
    here = posixpath.dirname(names[page])

    def target(link: re.Match[str]) -> str:
        address, _, anchor = link[2].partition("#")
        if re.match(r"[a-z]+:", address) or not address:
            return link[0]
        place = posixpath.normpath(posixpath.join(posixpath.dirname(page), address)).rstrip("/")
        if place not in names:
            raise SystemExit(f"{page} has a link to {place}, which is no page of the site.")
        found = posixpath.relpath(names[place], here or ".")
        return f"{link[1]}{found}{'#' + anchor if anchor else ''}{link[3]}"

    return LINK.sub(target, text)


def with_excerpts(text: str) -> str:
    """Return a page with parts of README.md, whose numbers come from files of results."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")

    def excerpt(place: re.Match[str]) -> str:
        begin, after = EXCERPTS[place[1]]
        start = readme.index(begin)
        return relinked(readme[start : readme.index(after, start)].strip(), "README.md", site_names())

    return re.sub(r"<!-- README: (.*?) -->", excerpt, text)


def highlighted(text: str) -> str:
    """Let examples with prompts be read as what they are, without the empty line at their end that doctest needs."""
    return re.sub(r"```python\n(>>>.*?)\n+```", r"```pycon\n\1\n```", text, flags=re.S)


def with_other_pages(topics: str) -> str:
    """Return the page of topics with all pages of docs/ that no page of the site lists, so that none is forgotten."""
    lists = "".join(path.read_text(encoding="utf-8") for path in (HERE / "pages").glob("*.md"))
    listed = {name for block in re.findall(r"\{toctree\}(.*?)(?:```|:::)", lists, re.S) for name in block.split()}
    others = sorted({path.stem for path in (ROOT / "docs").glob("*.md")} - listed - {"index"})
    end = topics.rindex("```")
    return topics[:end] + "".join(f"{name}\n" for name in others) + topics[end:]


def collect() -> None:
    """Write the sources of the site."""
    shutil.rmtree(SOURCE, ignore_errors=True)
    SOURCE.mkdir(parents=True)
    names = site_names()
    for name in ("conf.py", "_static", "_templates"):
        copy = shutil.copytree if (HERE / name).is_dir() else shutil.copy
        copy(HERE / name, SOURCE / name)
    for place, name in names.items():
        source, target = ROOT / place, SOURCE / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.suffix in (".svg", ".png"):
            shutil.copy(source, target)
        elif source.suffix == ".md" and place not in ("README.md", "docs/index.md"):
            text = with_excerpts(relinked(source.read_text(encoding="utf-8"), place, names))
            text = with_other_pages(text) if name == "topics.md" else text
            target.write_text(highlighted(text), encoding="utf-8")
        elif source.is_file() and source.suffix != ".md":
            language = "python" if source.suffix == ".py" else "text"
            text = f"---\norphan: true\n---\n\n# `{place}`\n\n```{language}\n{source.read_text(encoding='utf-8')}```\n"
            target.write_text(text, encoding="utf-8")
    for name, text in reference.pages().items():
        (SOURCE / name).parent.mkdir(exist_ok=True)
        (SOURCE / name).write_text(text, encoding="utf-8")


def describe_pictures() -> None:
    """Give the pictures of the gallery the questions of their scripts as alternative texts, with their own titles."""

    def described(picture: re.Match[str]) -> str:
        question = (ROOT / "examples" / "gallery" / f"{picture[1]}.py").read_text(encoding="utf-8").splitlines()[1]
        titles = re.search(r'alt="([^"]*)"', picture[0])
        # Without titles, sphinx-gallery takes the name of the script.
        own = titles[1] if titles and titles[1] != picture[1].replace("_", " ") else ""
        text = f'alt="{" ".join([html.escape(question), own]).strip()}"'
        return re.sub(r'alt="[^"]*"', lambda _: text, picture[0])

    for path in (SITE / "gallery").glob("*.html"):
        text = re.sub(r"<img [^>]*sphx_glr_(\w+?)_(?:thumb|\d+)\.[^>]*>", described, path.read_text(encoding="utf-8"))
        path.write_text(text, encoding="utf-8")


def main() -> int:
    """Collect the sources and build the site."""
    collect()
    environment = {**os.environ, "OUTPUTCODES_ROOT": str(ROOT)}
    shutil.rmtree(SITE, ignore_errors=True)
    command = [sys.executable, "-m", "sphinx", "-b", "html", "-W", "--keep-going", *sys.argv[1:]]
    done = subprocess.run([*command, str(SOURCE), str(SITE)], env=environment, check=False)
    if done.returncode == 0:
        describe_pictures()
        print(f"{SITE / 'index.html'}: built.")
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
