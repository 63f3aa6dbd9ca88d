"""Help comes at once: nothing is imported for it but the command line itself."""

import json
import os
import re
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

from outputcodes.app import persistence
from outputcodes.app.cli import _options, app

HEAVY = ("sklearn", "numba", "pandas", "pyarrow", "scipy", "skops", "matplotlib")
LOADED = """
import sys
import outputcodes
before = set(sys.modules)
from outputcodes.app.cli import main
sys.argv = ["outputcodes", *sys.argv[1:]]
try:
    main()
except SystemExit as end:
    assert not end.code
import json
print("MODULES" + json.dumps([sorted(sys.modules), sorted(set(sys.modules) - before)]))
"""


def modules_after(*words):
    """The modules that a command leaves behind, and those among them that `import outputcodes` does not load."""
    done = subprocess.run(
        [sys.executable, "-c", LOADED, *words], capture_output=True, text=True, timeout=120, env={**os.environ}
    )
    assert done.returncode == 0, done.stderr
    text, _, found = done.stdout.rpartition("MODULES")
    return text, *json.loads(found)


@pytest.mark.parametrize("words", [["--help"], *([verb, "--help"] for verb in app.VERBS)])
def test_help_imports_nothing_heavy(words):
    text, everything, ours = modules_after(*words)
    assert "Usage: outputcodes" in text
    assert not [name for name in everything if name.partition(".")[0] in HEAVY]
    rooms = {name.split(".")[2] for name in ours if name.startswith("outputcodes.app.")}
    assert rooms <= {"cli", "run"}


def test_the_table_of_verbs_says_what_each_verb_says_of_itself():
    for verb, sentence in app.VERBS.items():
        assert app.command(verb).help.partition("\n\n")[0] == sentence


def test_the_limit_of_model_files_is_that_of_the_library():
    assert _options.MAX_BYTES == persistence.MAX_BYTES


def test_every_option_has_help(run):
    for verb in app.VERBS:
        for parameter in app.command(verb).params:
            assert parameter.name == "help" or parameter.help, (verb, parameter.name)


def test_every_option_is_in_the_documentation():
    page = (Path(__file__).parents[3] / "docs" / "command-line.md").read_text()
    for verb in app.VERBS:
        assert f"outputcodes {verb}" in page
        options = {name for one in app.command(verb).params for name in one.opts if name.startswith("--")}
        assert [name for name in sorted(options - {"--help"}) if not re.search(rf"{name}\b", page)] == []


def test_the_version(run):
    assert run("--version").out == f"outputcodes {version('outputcodes')}\n"
    assert "Multiclass classification by output codes." in run("--help").out


@pytest.mark.parametrize("words", [["--help"], ["fit", "--help"], ["compare", "--help"]])
def test_flags_take_no_value(run, words):
    done = run(*words)
    assert "--help" in done.out
    assert "bool" not in done.out.lower()


def test_an_unknown_verb(run):
    done = run("comapre")
    assert done.code == 2
    assert "compare" in done.err


def test_names_are_listed(run):
    done = run("names")
    assert done.code == 0, done.err
    for name in ("kernel-svm", "adaboost-mh", "all-pairs", "beta-density", "log-loss"):
        assert f"  {name} " in done.out
    done = run("names", "svc")
    assert (done.code, "gamma" in done.out, "'scale'" in done.out) == (0, True, True)
    done = run("names", "svcc")
    assert (done.code, "Error: learner='svcc' is unknown; did you mean 'svc'?" in done.err) == (2, True)


def test_a_code_made_from_data_is_not_drawn(run):
    done = run("code", "designed")
    assert (done.code, "Error: code='designed' is made from data" in done.err) == (2, True), done.err
