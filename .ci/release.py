"""Build the sdist and the wheel, check what is in them, and try the wheel in an environment with nothing else.

python .ci/release.py

The files are left in dist/. The empty environment gets the wheel and its dependencies, no extra: importing, training
and predicting work there, and what needs an extra says which.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import tomllib
import venv
import zipfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
DIST = ROOT / "dist"
VERSION = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
# What the sdist must have besides the package, so that it can be tested and its documentation built.
BESIDES = ["LICENSE", "README.md", "CHANGELOG.md", "CITATION.cff", "CONTRIBUTING.md", "Makefile", "pyproject.toml"]
BESIDES += [".ci/run", ".ci/oldest.py", ".github/workflows/ci.yml"]
BESIDES += ["tests/conftest.py", "docs/index.md", "examples/own_code.py", "reproduce/__main__.py", "benchmarks/run.py"]
NEVER = re.compile(
    r"(^|/)(\.git|\.venv[^/]*|build|dist|demo|__pycache__|\.[a-z_]+_cache)(/|$)|\.(pyc|skops~)$|\.csv\.gz$"
)
LARGEST_MB = {"whl": 2.0, "gz": 8.0}

WITHOUT_EXTRAS = """
import sys
from functools import partial
from importlib.metadata import version
import numpy as np
from sklearn.datasets import load_iris
from sklearn.model_selection import cross_val_score
from sklearn.svm import SVC
import outputcodes
from outputcodes import *

assert outputcodes.__version__ == version("outputcodes") == sys.argv[1]
assert "site-packages" in outputcodes.__file__, outputcodes.__file__
X, y = load_iris(return_X_y=True)
for model in (
    OutputCodeClassifier(),
    OutputCodeClassifier(SVC(), code="dense", random_state=0),
    OutputCodeClassifier("kernel-svm", probability="likelihood"),
    OutputCodeClassifier("boosted-trees", code="one-vs-all"),
    GradientBoost(n_rounds=20),
    AdaBoostOC(n_rounds=20, random_state=0),
    MulticlassSVC(),
    DecisionTree(),
):
    assert model.fit(X, y).score(X, y) > 0.9, model
assert cross_val_score(OutputCodeClassifier("ridge", code="dense", random_state=0), X, y).mean() > 0.7
model = OutputCodeClassifier("ridge").fit(X, y)


def asks_for(extra, call, *arguments):
    try:
        call(*arguments)
    except ImportError as error:
        assert f"outputcodes[{extra}]" in str(error), error
    else:
        raise AssertionError(f"{call} needs no extra {extra}")


from outputcodes import app, codes, selection

asks_for("onnx", to_onnx, model)
asks_for("skops", app.persistence.save, model, "model.skops")
asks_for("table", app.datasets.load, "iris")
asks_for("dask", partial(selection.Race(time_limit=5).fit, cluster="local"), X, y)
asks_for("plot", codes.plot, model.code_matrix_)
asks_for("bch", OutputCodeClassifier("ridge", code="bch").fit, np.repeat(X, 9, axis=0), np.arange(9 * len(X)) % 20)
print("The wheel works without extras:", ", ".join(f"{name} {version(name)}" for name in ("numpy", "scikit-learn")))
"""


def build() -> tuple[Path, Path]:
    """Return the sdist and the wheel, built anew."""
    shutil.rmtree(DIST, ignore_errors=True)
    subprocess.run([sys.executable, "-m", "build", "--outdir", str(DIST), str(ROOT)], check=True)
    sdist, wheel = DIST / f"outputcodes-{VERSION}.tar.gz", DIST / f"outputcodes-{VERSION}-py3-none-any.whl"
    assert sorted(DIST.iterdir()) == sorted([sdist, wheel]), sorted(DIST.iterdir())
    return sdist, wheel


def check_contents(sdist: Path, wheel: Path) -> None:
    """Check that all of the package, and nothing foreign, is in both files."""
    package = {
        path.relative_to(ROOT / "src").as_posix()
        for path in (ROOT / "src" / "outputcodes").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    in_wheel = {name for name in zipfile.ZipFile(wheel).namelist() if not name.endswith("/")}
    described = f"outputcodes-{VERSION}.dist-info/"
    extra = {name for name in in_wheel if not name.startswith(described)}
    assert extra == package, sorted(extra ^ package)[:20]
    for name in ("METADATA", "WHEEL", "RECORD", "entry_points.txt", "licenses/LICENSE"):
        assert described + name in in_wheel, name
    with tarfile.open(sdist) as archive:
        in_sdist = {member.name.partition("/")[2] for member in archive.getmembers() if member.isfile()}
    missing = [name for name in [*BESIDES, *(f"src/{name}" for name in package)] if name not in in_sdist]
    assert not missing, missing[:20]
    foreign = sorted(name for name in in_wheel | in_sdist if NEVER.search(name))
    assert not foreign, foreign[:20]
    for path in (sdist, wheel):
        size = path.stat().st_size / 1e6
        assert size < LARGEST_MB[path.suffix[1:]], (path.name, size)
        print(f"{path.name}: {size:.2f} MB, {len(in_sdist if path is sdist else in_wheel)} files")
    print("In the wheel:", *sorted(in_wheel), sep="\n  ")


def try_wheel(wheel: Path) -> None:
    """Install the wheel into an empty environment, and use it from a folder without the sources."""
    with tempfile.TemporaryDirectory() as folder:
        venv.create(folder, with_pip=True)
        python = str(Path(folder) / "bin" / "python")
        subprocess.run([python, "-m", "pip", "install", "--quiet", str(wheel)], check=True)
        subprocess.run([python, "-W", "error", "-c", WITHOUT_EXTRAS, VERSION], check=True, cwd=folder)
        shown = subprocess.run([Path(folder) / "bin" / "outputcodes", "--version"], capture_output=True, text=True)
        assert "outputcodes[cli]" in shown.stderr + shown.stdout, shown


def main() -> int:
    """Do all of it."""
    sdist, wheel = build()
    check_contents(sdist, wheel)
    try_wheel(wheel)
    return 0


if __name__ == "__main__":
    sys.exit(main())
