"""What a user can do wrong: each thing its own message on stderr, exit code 2, and nothing written."""

import json
import pickle
from zipfile import ZipFile

import pytest

BAD_TABLES = {
    "empty": (b"", "empty"),
    "only a header": (b"x,class\n", "no rows"),
    "no target": (b"x,z\n1,a\n2,b\n", "name the target column"),
    "one class": (b"x,class\n1,a\n2,a\n", "all labels are 'a'"),
    "no labels": (b"x,class\n1,\n2,\n", "no row has a label"),
    "ragged": (b"x,class\n1,a\n2,b,c\n", "ragged|fields|columns"),
    "encoding": ("x,class\n1,\xe4\n2,\xf6\n".encode("latin-1"), "--encoding latin-1"),
    "measurements": (b"x,class\n1,0.5\n2,1.25\n3,1.75\n", "measurements, not classes"),
    "semicolons": (b"x;class\n1;a\n2;b\n", "fields look separated by ';'"),
    "twice": (b"x,x,class\n1,2,a\n3,4,b\n", "'x'"),
}


@pytest.mark.parametrize("name", BAD_TABLES)
@pytest.mark.parametrize("verb", ["compare", "fit"])
def test_bad_tables(run, tmp_path, name, verb):
    content, message = BAD_TABLES[name]
    path = tmp_path / "bad.csv"
    path.write_bytes(content)
    out = tmp_path / ("m.skops" if verb == "fit" else "out")
    done = run(verb, path, "--out", out)
    assert done.code == 2
    assert any(words in done.err for words in message.split("|")), done.err
    assert not out.exists()


def test_a_target_or_a_split_that_is_not_there(run, fruit):
    done = run("compare", "--exhaustive", fruit, "--target", "species")
    assert (done.code, "no target column 'species' (--target); it has 'mass', 'skin'" in done.err) == (2, True)
    done = run("compare", "--exhaustive", fruit, "--split", "part")
    assert (done.code, "no split column 'part' (--split)" in done.err) == (2, True)
    done = run("compare", "--exhaustive", fruit, "--split", "skin")
    assert (done.code, "'skin' splits nothing" in done.err) == (2, True)


def test_all_messages_differ(run, tmp_path):
    messages = set()
    for content, _ in BAD_TABLES.values():
        (tmp_path / "bad.csv").write_bytes(content)
        messages.add(run("fit", tmp_path / "bad.csv", "--out", tmp_path / "m.skops").err)
    assert len(messages) == len(BAD_TABLES)


def test_a_line_that_never_ends(run, tmp_path):
    path = tmp_path / "long.csv"
    path.write_bytes(b"x,class\n" + b'1,"' + b"a" * (65 << 20))
    done = run("fit", path, "--out", tmp_path / "m.skops")
    assert done.code == 2
    assert "a line is longer than" in done.err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["compare", "nowhere.csv"], "There is no file nowhere.csv"),
        (["compare", "digit"], "did you mean 'digits'"),
        (["compare", "iris", "--target", "species"], "iris"),
        (["compare", "--exhaustive", "iris", "--codes", "onevsall"], "did you mean 'one-vs-all'"),
        (["compare", "--exhaustive", "iris", "--learners", "rigde"], "did you mean 'ridge'"),
        (["compare", "--exhaustive", "iris", "--decoders", "guess"], "guess"),
        (["compare", "iris", "--metric", "luck"], "luck"),
        (["compare", "iris", "--cv", "1"], "--cv"),
        (["compare", "iris", "--cv", "60"], "--cv 60 is more than"),
        (["compare", "iris", "--cv", "3", "--split", "z"], "one of cv, test and split (--cv, --test, --split)"),
        (
            [
                "compare",
                "--exhaustive",
                "iris",
                "--learners",
                "ridge",
                "--codes",
                "dense",
                "--decoders",
                "vote",
                "--cv",
                "2",
            ],
            "ridge dense: the decoder vote can't be used with this code.",
        ),
        (["compare", "iris", "--resume"], "needs out (--out)"),
        (["code", "nothing"], "nothing"),
        (["fit", "iris", "--out", "nowhere/m.skops"], "There is no folder nowhere"),
        (["predict", "m.skops", "new.csv", "--out", "nowhere/p.csv"], "There is no folder nowhere"),
        (["fit", "iris", "--out", "m.csv"], "must be a file whose name ends in .skops"),
        (["fit", "iris", "--out", "m.onnx"], "ends in .skops. For m.onnx, save the model, then run outputcodes export"),
        (["predict", "m.skops", "new.csv", "--out", "p.txt"], "must be a file whose name ends in .csv or .csv.gz"),
        (["code", "dense", "--out", "code.txt"], "code.txt must end in .csv, .png, .svg, .pdf"),
        (["inspect", "nowhere.skops"], "There is no model file"),
        (["fit", "iris", "--learner", "svc", "--code", "dense", "--out", "x.skops"], "takes no code"),
    ],
)
def test_bad_words(run, words, message):
    done = run(*words)
    assert done.code == 2
    assert message in done.err


def test_tables_that_do_not_fit_the_model(run, model, tmp_path):
    path, out = tmp_path / "new.csv", tmp_path / "p.csv"
    for content, names in [
        ("mass,skin,picked\nheavy,red,2026-01-01\n", ["mass", "heavy"]),
        ("skin,picked\nred,2026-01-01\n", ["mass"]),
        ("mass,skin,picked\n1,red,soon\n", ["picked", "soon"]),
    ]:
        path.write_text(content)
        done = run("predict", model, path, "--out", out)
        assert done.code == 2
        assert all(name in done.err for name in names), done.err
    assert not out.exists()
    assert not list(tmp_path.glob(".*.part"))


def test_probabilities_of_a_model_without(run, fruit, tmp_path):
    run("fit", fruit, "--learner", "ridge", "--out", tmp_path / "m.skops")
    done = run("predict", tmp_path / "m.skops", fruit, "--proba", "--out", tmp_path / "p.csv")
    assert done.code == 2
    assert "no probabilities: fit it with --probability softmax" in done.err
    run("fit", fruit, "--learner", "svc", "--out", tmp_path / "m.skops")
    done = run("predict", tmp_path / "m.skops", fruit, "--proba", "--out", tmp_path / "p.csv")
    assert (done.code, "the SVC in it has no probabilities: fit another" in done.err) == (2, True)


def test_what_is_read_is_not_written_over(run, fruit, model, tmp_path):
    as_model = tmp_path / "data.skops"
    as_model.symlink_to(fruit)
    as_table = tmp_path / "model.csv"
    as_table.symlink_to(model)
    folder = tmp_path / "parts"
    folder.mkdir()
    part = folder / "1.csv"
    part.write_bytes(fruit.read_bytes())
    before = fruit.read_bytes(), model.read_bytes()
    for words in [
        ("predict", model, fruit, "--out", fruit),
        ("predict", model, folder, "--out", part),
        ("predict", model, folder / "*.csv", "--out", part),
        ("predict", model, fruit, "--out", as_table),
        ("fit", fruit, "--out", as_model),
    ]:
        done = run(*words)
        assert (done.code, "is the file that is read" in done.err) == (2, True), done.err
    assert (fruit.read_bytes(), model.read_bytes()) == before
    assert part.read_bytes() == before[0]
    done = run("compare", "--exhaustive", fruit, "--out", fruit)
    assert (done.code, "is a file: name a folder" in done.err) == (2, True), done.err
    done = run("compare", "--exhaustive", fruit, "--test", fruit)
    assert (done.code, "is the table itself" in done.err) == (2, True), done.err


class Bomb:
    def __reduce__(self):
        return (print, ("a pickle was read",))


@pytest.mark.parametrize("verb", ["inspect", "predict"])
def test_files_that_are_no_models(run, model, fruit, tmp_path, verb, capfd):
    rest = [] if verb == "inspect" else [fruit, "--out", tmp_path / "p.csv"]
    bad = tmp_path / "bad.skops"
    bad.write_bytes(pickle.dumps(Bomb()))
    done = run(verb, bad, *rest)
    assert (done.code, "pickle, which may run any code" in done.err) == (2, True)
    bad.write_bytes(model.read_bytes()[:2000])
    done = run(verb, bad, *rest)
    assert (done.code, "incomplete or damaged" in done.err) == (2, True)
    with ZipFile(model) as old, ZipFile(bad, "w") as new:
        for name in old.namelist():
            content = old.read(name)
            if name == "schema.json":
                content = json.dumps(json.loads(content) | {"__module__": "os", "__class__": "system"})
            new.writestr(name, content)
    done = run(verb, bad, *rest)
    assert (done.code, "os.system" in done.err) == (2, True)
    assert "a pickle was read" not in capfd.readouterr().out


def test_folders_that_are_not_there_or_are_too_many_files(run, fruit, model, tmp_path):
    out = tmp_path / "m.skops"
    done = run("fit", f"{tmp_path}/nothere/", "--target", "t", "--out", out)
    assert (done.code, "There is no file or folder" in done.err) == (2, True)
    for data in (tmp_path, tmp_path / "*.csv"):
        done = run("compare", data)
        assert (done.code, "a race needs one table: join them to one file, or train one" in done.err) == (2, True)
    for words in (("predict", model, fruit, fruit), ("fit", fruit, fruit)):
        done = run(*words, "--out", out)
        assert (done.code, "quote their pattern" in done.err) == (2, True)
    assert not out.exists()


def test_one_row_without_a_label_is_one_row(run, fruit, tmp_path):
    folder = tmp_path / "parts"
    folder.mkdir()
    (folder / "a.csv").write_text(fruit.read_text() + "1,red,2026-01-03,\n")
    done = run("fit", folder, "--learner", "ridge", "--out", tmp_path / "m.skops")
    assert (done.code, "1 row without a label left out." in done.out) == (0, True), done
