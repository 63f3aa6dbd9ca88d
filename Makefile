# Two commands do everything: `make demo` runs the main job, `make test` runs every check that CI runs.
PYTHON ?= python3
BIN := .venv/bin

.PHONY: demo test test-haswell test-peers test-gpu test-oldest test-release check-wheels fuzz bench docs reproduce clean

demo: .venv/installed
	rm -rf demo
	$(BIN)/outputcodes compare --quick --out demo

test: .venv/installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	# One BLAS thread for each of the two workers: more would only get in each other's way.
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/pytest -q -n 2

# The suite as a processor without AVX-512 runs it: what is chosen must not hang on rounding.
test-haswell: .venv/installed
	# What was compiled for older sources may be stale.
	rm -rf build/numba-haswell
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python .ci/as_haswell.py $(BIN)/pytest -q -n 2

# N odd tables through the command line and N odd combinations of estimator, code, decoder and data; tests run 300 of each.
fuzz: N ?= 1000
fuzz: .venv/installed
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 PYTHONPATH=tests $(BIN)/python -m fuzzing $(N) $(ARGS)

# What needs LightGBM, XGBoost and CatBoost, which take part in races where they are installed.
test-peers: .venv/installed
	$(BIN)/python -m pip install --quiet --editable '.[dev,peers]'
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/pytest -q -n 2 tests/selection/test_race_boosters.py \
		tests/selection/test_spaces.py tests/app/run/test_probable.py

# The functions for a GPU; where there is none, it says that they were not tested.
test-gpu: .venv/installed
	$(BIN)/python -m pip install --quiet --editable '.[dev,gpu]'
	OUTPUTCODES_GPU=1 $(BIN)/pytest -q -rs tests/gpu

# The suite with the oldest supported version of every dependency, in an environment of its own. What these say is
# outdated about each other is no error.
test-oldest:
	rm -rf .venv-oldest && mkdir -p build
	$(PYTHON) .ci/oldest.py > build/oldest.txt
	$(PYTHON) -m venv .venv-oldest
	.venv-oldest/bin/python -m pip install --quiet --requirement build/oldest.txt \
		clarabel cvxpy hypothesis pytest-timeout pytest-xdist --editable .
	.venv-oldest/bin/python -m pip freeze
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 NUMBA_CACHE_DIR=build/numba-oldest \
		.venv-oldest/bin/pytest -q -n 2 -W default::DeprecationWarning $(ARGS)
	# The versions of a whole run are shown in docs/releases.md.
	$(if $(ARGS),,.venv-oldest/bin/python .ci/oldest.py --passed)

# The sdist and the wheel in dist/, their contents checked, and the wheel tried in an empty environment.
test-release: .venv/installed
	$(BIN)/python .ci/release.py

# Whether all wheels are there for other versions of Python.
check-wheels: .venv/installed
	$(BIN)/python .ci/wheels.py

# What is older than the code is measured again, script by script; a run that was stopped continues where it ended.
# `make bench ARGS=--list` shows the expected minutes, ARGS="linear trees" runs some, ARGS=--quick tries all on a few rows.
bench: .venv/installed
	$(BIN)/python -m pip install --quiet --editable '.[dev,bench]'
	$(BIN)/python benchmarks/run.py $(ARGS)

# Figures, the numbers of README.md and docs/ from the files of results, and the site in build/site, with its gallery.
docs: .venv/installed
	$(BIN)/python -m pip install --quiet --editable '.[dev,docs]'
	$(BIN)/python docs/figures.py
	$(BIN)/python docs/choosing.py
	$(BIN)/python docs/numbers_of_pages.py
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python docs/site/build.py -q
	OUTPUTCODES_SITE=build/site $(BIN)/pytest -q tests/site

# One environment for all commands, made again whenever the project's own file changes.
.venv/installed: pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "outputcodes needs Python 3.11 or later: make PYTHON=python3.x")'
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --editable '.[dev]'
	touch $@

# Published tables and figures, measured again. Without ARGS: all that docs/published lacks, and the page made of it.
# With ARGS: `make reproduce ARGS="--list"`, ARGS="jin-table6 --quick", ARGS="--help". OUTPUTCODES_DATA names the
# directory of the data sets.
reproduce: ARGS ?= --resume --jobs 2
reproduce: .venv/installed
	$(BIN)/python -m reproduce $(ARGS)
	$(BIN)/python docs/numbers_of_pages.py

clean:
	rm -rf demo .venv .venv-oldest build dist .mypy_cache .ruff_cache .pytest_cache
