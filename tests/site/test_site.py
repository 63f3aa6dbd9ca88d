"""The built site: links resolve, pictures have alternative texts, nothing is asked of the network, the search finds."""

import re
import sys
import time
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

ROOT = Path(__file__).parents[2]
sys.path.append(str(ROOT / "docs" / "site"))
MAIN = [
    "index",
    "first-hour",
    "guide",
    "choose-a-code",
    "choose-a-learner",
    "choose-a-decoder",
    "topics",
    "gallery/index",
]
MAIN += ["api/index", "benchmarks", "published-results", "development", "api/names/outputcodes.OutputCodeClassifier"]


class Page(HTMLParser):
    """What a page links to, what it loads, its anchors, and the texts of its pictures."""

    def __init__(self, path):
        super().__init__()
        self.links, self.loaded, self.anchors, self.pictures = [], [], set(), []
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attributes):
        found = dict(attributes)
        self.anchors |= {found[name] for name in ("id", "name") if name in found}
        if tag == "a" and "href" in found:
            self.links.append(found["href"])
        if tag in ("script", "img", "iframe", "source", "video") and found.get("src"):
            self.loaded.append(found["src"])
        if tag == "link" and found.get("rel") in ("stylesheet", "preload", "icon", "shortcut icon"):
            self.loaded.append(found.get("href", ""))
        if tag == "img":
            self.pictures.append((found.get("src"), found.get("alt")))


@cache
def page(path):
    return Page(path)


def pages(site):
    return [path for path in site.rglob("*.html") if "_static" not in path.parts]


def test_links_resolve(site):
    broken = []
    for path in pages(site):
        for link in page(path).links:
            parts = urlsplit(link)
            if parts.scheme or link.startswith("//"):
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            target = target / "index.html" if target.is_dir() else target
            if not target.exists() or (
                parts.fragment and target.suffix == ".html" and unquote(parts.fragment) not in page(target).anchors
            ):
                broken.append((path.relative_to(site), link))
    assert broken == []


def test_nothing_is_loaded_from_elsewhere(site):
    foreign = [(path.name, one) for path in pages(site) for one in page(path).loaded if re.match(r"(https?:)?//", one)]
    assert foreign == []
    styled = [path for kind in ("css", "svg") for path in site.rglob(f"*.{kind}")]
    assert [path for path in styled if re.search(r"url\(['\"]?https?:", path.read_text(encoding="utf-8"))] == []


def test_pictures_have_alternative_texts(site):
    without = [
        (path.name, one) for path in pages(site) for one, told in page(path).pictures if not (told or "").strip()
    ]
    assert without == []


def test_every_public_name_has_a_page(site):
    import reference

    for module, names in reference.homes().items():
        for name in names:
            assert (site / "api" / "names" / f"{module}.{name}.html").exists(), f"{module}.{name}"
    for module, names in reference.public_values().items():
        assert {f"{module}.{name}" for name in names} <= page(site / "api" / f"{module}.html").anchors


def test_names_of_parameters_are_set_in_bold(site):
    """A docstring is read as numpydoc means it: no marks are left in the text."""
    text = (site / "api" / "names" / "outputcodes.OutputCodeClassifier.html").read_text(encoding="utf-8")
    assert "<strong>estimator</strong>" in text
    assert "**estimator**" not in re.sub(r"<[^>]+>", "", text)
    # What it inherits from our own classes is shown, what it has from scikit-learn is not.
    assert "OutputCodeClassifier.predict_proba" in text
    assert "OutputCodeClassifier.get_params" not in text


def test_a_class_begins_with_what_a_user_calls(site):
    text = (site / "api" / "names" / "outputcodes.OutputCodeClassifier.html").read_text(encoding="utf-8")
    signatures = [re.sub(r"<[^>]+>|\s", "", one) for one in re.findall(r'<dt class="sig.*?</dt>', text, re.S)]
    called = [one.partition("(")[0] for one in signatures[1:5]]
    assert called == ["fit", "predict", "predict_proba", "decision_function"]
    assert signatures[3].startswith("predict_proba(X)")


def test_names_without_their_modules_and_modules_are_links(site):
    links = page(site / "api" / "names" / "outputcodes.OutputCodeClassifier.html").links
    assert any(link.endswith("#outputcodes.learners.KernelSVM") for link in links)
    assert any(link.endswith("#module-outputcodes.learners") for link in links)


def test_the_gallery_answers_a_dozen_questions_with_pictures(site):
    scripts = [path.stem for path in (ROOT / "examples" / "gallery").glob("*.py")]
    assert len(scripts) >= 12
    for name in scripts:
        shown = page(site / "gallery" / f"{name}.html")
        assert any(
            "images/sphx_glr" in (source or "") or "_images" in (source or "") for source, _ in shown.pictures
        ), name
        title = (ROOT / "examples" / "gallery" / f"{name}.py").read_text(encoding="utf-8").splitlines()[1]
        assert title.endswith("?"), title
        texts = [text for source, text in shown.pictures if f"sphx_glr_{name}_" in (source or "")]
        assert texts, name
        assert all(text.startswith(title) for text in texts), texts
        assert " object at 0x" not in (site / "gallery" / f"{name}.html").read_text(encoding="utf-8"), name


def test_the_gallery_is_built_within_ten_minutes(site):
    """The times are those that sphinx-gallery writes below each script."""
    pattern = r"Total running time of the script:</strong>\s*\((\d+) minutes ([\d.]+) seconds\)"
    seconds = {}
    for path in (ROOT / "examples" / "gallery").glob("*.py"):
        shown = re.search(pattern, (site / "gallery" / f"{path.stem}.html").read_text(encoding="utf-8"))
        assert shown, f"{path.name} has no time: was it run?"
        seconds[path.name] = 60 * int(shown[1]) + float(shown[2])
    assert sum(seconds.values()) < 600, seconds


class Address:
    def __init__(self, path, query=""):
        self.uri = path.as_uri() + query

    def as_uri(self):
        return self.uri


@pytest.mark.parametrize("name", MAIN)
@pytest.mark.parametrize("dark", [False, True])
def test_main_pages_load(browser, site, name, dark):
    browser.open(site / f"{name}.html", dark=dark)
    assert browser.ask("document.querySelector('h1').textContent.length > 2")
    assert [url for url in browser.requests if not url.startswith(("file:", "data:"))] == []
    errors = [one for one in browser.complaints if one.get("type") == "error" or "exceptionDetails" in one]
    assert errors == []
    pictures = "[...document.querySelectorAll('.bd-article img')]"
    browser.ask(f"Promise.all({pictures}.map(i => {{ i.loading = 'eager'; return i.decode().catch(() => 0); }}))")
    assert browser.ask(f"{pictures}.filter(i => i.naturalWidth == 0).map(i => i.src)") == []
    assert browser.ask("document.documentElement.scrollWidth <= innerWidth")


def test_dark_mode_is_dark(browser, site):
    shades = []
    for dark in (False, True):
        browser.open(site / "guide.html", dark=dark)
        found = browser.ask("getComputedStyle(document.body).backgroundColor")
        shades.append(sum(map(int, re.findall(r"\d+", found)[:3])))
    assert shades[0] > 600
    assert shades[1] < 200


@pytest.mark.parametrize(
    ("words", "found"), [("ordinal", "choose-a-code"), ("Likelihood", "Likelihood"), ("resume", "command-line")]
)
def test_the_search_finds(browser, site, words, found):
    browser.open(Address(site / "search.html", f"?q={words}"))
    deadline = time.monotonic() + 30
    links = "[...document.querySelectorAll('#search-results li a')].map(a => a.href)"
    while time.monotonic() < deadline and not any(found in one for one in browser.ask(links)):
        time.sleep(0.2)
    assert any(found in one for one in browser.ask(links))


@pytest.mark.parametrize("name", [*MAIN, "onnx", "api/names/outputcodes.app.export.onnx_inputs"])
def test_nothing_is_cut_on_a_phone(browser, site, name):
    """Headings and signatures go on in the next line; what is wider than the page, such as code, scrolls by itself."""
    browser.open(site / f"{name}.html", width=400)
    cut = "[...document.querySelectorAll('.bd-article :is(h1, h2, h3, dt.sig, p, li)')]"
    cut += ".filter(e => e.getBoundingClientRect().width && e.scrollWidth > e.clientWidth + 1).map(e => e.textContent)"
    assert browser.ask(cut) == []


@pytest.mark.parametrize("name", ["boosted-trees", "guide", "command-line"])
def test_names_in_tables_are_not_broken(browser, site, name):
    browser.open(site / f"{name}.html")
    parts = "[...document.querySelectorAll('.bd-article td code .pre')]"
    assert browser.ask(f"{parts}.length") > 0
    assert browser.ask(f"{parts}.filter(e => e.getClientRects().length > 1).map(e => e.textContent)") == []


def test_code_is_copied_without_prompts_and_output(browser, site):
    browser.open(site / "guide.html")
    browser.ask("navigator.clipboard.writeText = async text => { window.copied = text; }")
    browser.ask("for (const button of document.querySelectorAll('button.copy')) { button.click(); } 0")
    whole = (
        "[...document.querySelectorAll('.bd-article div.highlight')].map(code => code.querySelector('pre').textContent)"
    )
    assert len(browser.ask(whole)) == browser.ask("document.querySelectorAll('button.copy').length")
    session = browser.ask("typed('>>> def f():\\n...     return 1\\n...\\n>>> f()\\n1\\n')")
    assert session == "def f():\n    return 1\n\nf()\n"
    # Python reads a block until an empty line, and no further.
    lines = ">>> class A:", "...     a = 1", "...", "...     b = 2", ">>> for a in A():", "...     a", "1", ""
    block = browser.ask(f"typed({list(lines)}.join('\\n'))")
    assert block == "class A:\n    a = 1\n    b = 2\n\nfor a in A():\n    a\n\n"
    assert browser.ask("typed('>>> f(\\n...     1\\n... )\\n2\\n>>> g\\n')") == "f(\n    1\n)\ng\n"
    assert browser.ask("typed('pip install x\\n')") == "pip install x\n"
    last = browser.ask(f"{whole}.at(-1)")
    assert browser.ask("window.copied") == browser.ask(f"typed({last!r})")
    assert ">>>" in last
