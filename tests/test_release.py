"""The version is the same everywhere, and what a release needs is there; `make test-release` builds and tries it."""

import json
import re
import tomllib
from pathlib import Path

import outputcodes

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def text_of(name):
    return (ROOT / name).read_text(encoding="utf-8")


def test_the_version_is_the_same_everywhere():
    version = PROJECT["version"]
    assert outputcodes.__version__ == version
    assert f"\nversion: {version}\n" in text_of("CITATION.cff")
    assert re.search(rf"^## \[{re.escape(version)}\] - (unreleased|\d{{4}}-\d\d-\d\d)$", text_of("CHANGELOG.md"), re.M)


def test_every_dependency_has_a_lower_bound_that_can_be_tested():
    extras = PROJECT["optional-dependencies"]
    together = extras["all"][0].partition("[")[2].rstrip("]").split(",")
    assert set(together) == set(extras) - {"all", "bench", "dev", "docs", "gpu", "peers"}
    lines = [*PROJECT["dependencies"], *(line for name in together for line in extras[name])]
    assert [line for line in lines if not re.fullmatch(r"[\w-]+>=\d+(\.\d+)*", line)] == []


def test_the_versions_that_passed_are_the_lower_bounds():
    """`make test-oldest` writes the file that docs/releases.md shows: a new bound needs a new run."""
    passed = json.loads(text_of("docs/oldest.json"))
    assert passed["python"].startswith(PROJECT["requires-python"].removeprefix(">="))
    extras = PROJECT["optional-dependencies"]
    lines = {"core": PROJECT["dependencies"], **{use: extras[use] for use in passed["versions"] if use in extras}}
    assert set(lines) == set(passed["versions"]) - {"tests"}
    assert set(lines) == {"core", *extras["all"][0].partition("[")[2].rstrip("]").split(",")}
    for use, versions in passed["versions"].items():
        bounds = dict(line.split(">=") for line in lines.get(use, extras["dev"]) if ">=" in line)
        for name, version in versions.items():
            wanted = bounds[name].split(".")
            assert version.split(".")[: len(wanted)] == wanted, (name, version, bounds[name])
            assert not version.split(".")[len(wanted) :] or set(version.split(".")[len(wanted) :]) == {"0"}, name
        assert use == "tests" or versions.keys() == bounds.keys()


def test_nobody_is_named_and_no_address_given():
    for name in ("CITATION.cff", "SECURITY.md", "CODE_OF_CONDUCT.md", "pyproject.toml", "LICENSE"):
        assert not re.search(r"[\w.]+@\w+\.\w+", text_of(name)), name
    assert PROJECT["authors"] == [{"name": "The outputcodes developers"}]


def test_the_workflows_do_what_the_commands_do():
    targets = set(re.findall(r"^([\w-]+):", text_of("Makefile"), re.M))
    for path in (ROOT / ".github" / "workflows").glob("*.yml"):
        called = set(re.findall(r"run: make ([\w-]+)", path.read_text(encoding="utf-8")))
        assert called <= targets, (path.name, called - targets)
        assert called, path.name
    assert 'sudo env "PATH=$PATH" .ci/run' in text_of(".github/workflows/ci.yml")
    # A pull request that breaks the site is noticed before it is merged.
    assert "run: make docs" in text_of(".github/workflows/ci.yml")
    assert (ROOT / ".ci" / "run").stat().st_mode & 0o111
