"""The package is imported in parts: what a program does not use is not loaded, and every public name still works."""

import os
import subprocess
import sys

import pytest

import outputcodes


def python(code):
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=os.environ)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def loaded_after(statement):
    return set(python(f"{statement}\nimport sys\nprint(*sys.modules)"))


def test_the_package_alone_loads_nothing():
    before = loaded_after("import __future__, importlib, typing")
    own = {"outputcodes", "outputcodes._ground", "outputcodes._ground.lazy"}
    assert loaded_after("import outputcodes") - before == own


def test_classifiers_do_without_the_application():
    loaded = loaded_after("from outputcodes import OutputCodeClassifier, AdaBoostMO, DecisionTree, MulticlassSVC")
    assert {"outputcodes.classifier", "sklearn", "numpy"} <= loaded
    assert not {module for module in loaded if module.startswith(("outputcodes.app", "outputcodes.selection"))}
    of_scikit_learn = loaded_after("import sklearn.linear_model, sklearn.model_selection")
    unused = {"pandas", "pyarrow", "matplotlib", "rich", "typer", "skops", "jinja2"}
    assert not unused & (loaded - of_scikit_learn)


def test_every_name_is_what_it_says():
    names = "(getattr(outputcodes, name).__name__.split('.')[-1] for name in outputcodes.__all__)"
    found = python(f"import outputcodes\nprint(*{names})")
    assert found == outputcodes.__all__


def test_star_dir_and_unknown_names():
    found = python("from outputcodes import *\nprint(*[n for n in dir() if not n.startswith('__')])")
    assert found == sorted(outputcodes.__all__)
    listed = python("import outputcodes\nprint(*dir(outputcodes))")
    assert set(outputcodes.__all__) | {"__version__"} <= set(listed)
    with pytest.raises(AttributeError, match="module 'outputcodes' has no attribute 'Nothing'"):
        _ = outputcodes.Nothing
    with pytest.raises(ImportError, match="cannot import name 'Nothing' from 'outputcodes'"):
        from outputcodes import Nothing  # noqa: F401


def test_submodules_by_their_full_name_and_pickles():
    fit = "model = outputcodes.OutputCodeClassifier('ridge').fit([[0.0], [1.0], [2.0]], [0, 1, 2])"
    python(
        "import outputcodes.app.tables, pickle\n"
        "assert outputcodes.app.tables.__name__ == 'outputcodes.app.tables'\n"
        f"{fit}\n"
        "assert (pickle.loads(pickle.dumps(model)).predict([[2.0]]) == 2).all()\n"
        "assert type(model) is outputcodes.classifier.OutputCodeClassifier"
    )


def test_a_pickle_loads_what_it_needs(tmp_path):
    path = tmp_path / "model.pkl"
    python(
        "import pickle\nfrom outputcodes import OutputCodeClassifier\n"
        "model = OutputCodeClassifier('ridge').fit([[0.0], [1.0], [2.0]], [0, 1, 2])\n"
        f"open({str(path)!r}, 'wb').write(pickle.dumps(model))"
    )
    assert python(f"import pickle\nprint(*pickle.load(open({str(path)!r}, 'rb')).predict([[2.0]]))") == ["2"]
