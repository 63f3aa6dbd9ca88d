"""Data sets from a directory, from scikit-learn, from the cache, and from a stand-in for OpenML with its accidents."""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import threading
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_iris

from outputcodes.app import datasets
from outputcodes.app.datasets.known import KNOWN, Known

pd = pytest.importorskip("pandas")
pytest.importorskip("pyarrow")

TINY = "size,colour,empty,split,target\n1.5,01,,train,2\n,1,,train,10\n3,,,test,2\n"


@pytest.fixture(autouse=True)
def nowhere(monkeypatch, tmp_path):
    """No directory, an empty cache, no network, and a data set of three rows."""
    monkeypatch.delenv("OUTPUTCODES_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setitem(KNOWN, "tiny", Known(3, 3, [2, 1], [1, 1], openml=7, openml_drop=["speaker"]))
    monkeypatch.setattr("time.sleep", lambda seconds: None)


@pytest.fixture
def directory(monkeypatch, tmp_path):
    folder = tmp_path / "data"
    folder.mkdir()
    content = gzip.compress(TINY.encode())
    (folder / "tiny.csv.gz").write_bytes(content)
    entry = {
        "name": "tiny",
        "file": "tiny.csv.gz",
        "categorical": ["colour"],
        "text_columns": [],
        "sha256": hashlib.sha256(content).hexdigest(),
        "source": "made up",
        "licence": "none",
    }
    (folder / "index.json").write_text(json.dumps({"datasets": [entry]}))
    monkeypatch.setenv("OUTPUTCODES_DATA", str(folder))
    return folder


def test_from_a_directory(directory):
    tiny = datasets.load("tiny")
    assert tiny.feature_names == ["size", "colour", "empty"]
    assert tiny.data["size"].tolist()[::2] == [1.5, 3]
    assert tiny.data["colour"].tolist()[:2] == ["01", "1"]
    assert tiny.data.isna().sum().tolist() == [1, 1, 3]
    assert tiny.target.tolist() == [2, 10, 2]
    assert tiny.target_names == [2, 10]
    assert tiny.split.tolist() == ["train", "train", "test"]
    assert tiny.frame["target"].equals(tiny.target)
    assert tiny.provenance == {"source": "made up", "licence": "none", "location": str(directory / "tiny.csv.gz")}


def test_a_changed_file(directory):
    path = directory / "tiny.csv.gz"
    content = path.read_bytes()
    path.write_bytes(content[:-9])
    with pytest.raises(datasets.ChecksumError, match=r"tiny\.csv\.gz is incomplete or changed"):
        datasets.load("tiny")
    path.unlink()
    with pytest.raises(datasets.UnavailableError, match="no such file"):
        datasets.load("tiny")


def test_other_data_under_the_name(directory, monkeypatch):
    monkeypatch.setitem(KNOWN, "tiny", Known(4, 3, [3, 1]))
    with pytest.raises(
        datasets.UnexpectedDataError, match=r"rows 3 in place of 4; class counts \[2, 1\] in place of \[3, 1\]"
    ):
        datasets.load("tiny")


def test_a_directory_without_index(monkeypatch, tmp_path):
    monkeypatch.setenv("OUTPUTCODES_DATA", str(tmp_path))
    with pytest.raises(datasets.DatasetError, match=r"OUTPUTCODES_DATA=.*index\.json"):
        datasets.load("tiny")


@pytest.mark.parametrize("name", ["iris", "wine", "digits"])
def test_scikit_learns_own(name):
    bunch = datasets.load(name)
    assert bunch.provenance["location"] == "scikit-learn"
    assert bunch.split is None
    if name == "iris":
        assert np.array_equal(bunch.data, load_iris().data)


def test_names():
    with pytest.raises(ValueError, match="did you mean 'pendigits'"):
        datasets.load("pendigit")
    with pytest.raises(datasets.UnavailableError, match="OpenML has no known full copy: set OUTPUTCODES_DATA"):
        datasets.load("thyroid")


class OpenML:
    """A server on this machine that answers as OpenML does, and an opener that sends all that is asked of it there."""

    def __init__(self):
        rows = ["1.5,red,f,?,a", "?,blue,m,?,b", "3,?,f,?,a"]
        kinds = {"size": "numeric", "colour": "nominal", "speaker": "nominal", "empty": "numeric", "class": "nominal"}
        values = {"colour": "{red,blue}", "speaker": "{f,m}", "class": "{a,b}"}
        header = [f"@attribute {name} {values.get(name, kind)}" for name, kind in kinds.items()]
        self.file = "\n".join(["@relation tiny", *header, "@data", *rows, ""]).encode()
        self.sent = self.file
        self.length = None
        self.packed = False
        flags = {"is_ignore": "false", "is_row_identifier": "false", "number_of_missing_values": "0"}
        features = [
            {"index": str(i), "name": name, "data_type": kind, "is_target": str(name == "class").lower(), **flags}
            for i, (name, kind) in enumerate(kinds.items())
        ]
        self.description = {
            "id": "7",
            "name": "tiny",
            "version": "1",
            "description": "",
            "format": "ARFF",
            "licence": "Public",
            "url": "https://www.openml.org/data/v1/download/7/tiny.arff",
            "status": "active",
            "md5_checksum": hashlib.md5(self.file).hexdigest(),
        }
        self.answers = {
            "/api/v1/json/data/7": lambda: {"data_set_description": self.description},
            "/api/v1/json/data/features/7": lambda: {"data_features": {"feature": features}},
            "/api/v1/json/data/qualities/7": lambda: {"data_qualities": {"quality": []}},
        }


@pytest.fixture
def openml():
    state = OpenML()

    class Answer(BaseHTTPRequestHandler):
        def do_GET(self):
            if self.path in state.answers:
                content = json.dumps(state.answers[self.path]()).encode()
                self.respond(content, len(content))
            else:
                sent = gzip.compress(state.sent) if state.packed else state.sent
                self.respond(sent[: state.length], len(sent), state.packed)

        def respond(self, content, length, packed=False):
            self.send_response(200)
            self.send_header("Content-Length", str(length))
            if packed:
                self.send_header("Content-Encoding", "gzip")
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *args):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Answer)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()

    class ToHere(urllib.request.HTTPSHandler):
        def https_open(self, request):
            here = f"http://127.0.0.1:{server.server_port}{request.selector}"
            return self.parent.open(urllib.request.Request(here, headers=dict(request.header_items())))

    urllib.request.install_opener(urllib.request.build_opener(urllib.request.ProxyHandler({}), ToHere))
    yield state
    urllib.request.install_opener(urllib.request.build_opener())
    server.shutdown()
    server.server_close()
    thread.join()


def where(name):
    return next(listed for listed in datasets.available() if listed.name == name)


@pytest.mark.parametrize("packed", [False, True])
def test_fetched_once_then_cached(openml, tmp_path, packed):
    openml.packed = packed
    assert (where("tiny").where, where("tiny").here) == ("OpenML data set 7", False)
    tiny = datasets.load("tiny")
    assert tiny.feature_names == ["size", "colour", "empty"]
    assert tiny.data["colour"].tolist()[:2] == ["red", "blue"]
    assert tiny.data.isna().sum().tolist() == [1, 1, 3]
    assert tiny.target.tolist() == ["a", "b", "a"]
    # The first two rows have one row of each class, as the training part should.
    assert tiny.split.tolist() == ["train", "train", "test"]
    assert "OpenML data set 7" in tiny.provenance["source"]
    openml.answers.clear()
    assert datasets.load("tiny").frame.equals(tiny.frame)
    assert (where("tiny").where, where("tiny").here) == (tiny.provenance["location"], True)
    assert sorted(os.listdir(tmp_path / "cache" / "outputcodes")) == ["tiny.csv.gz", "tiny.json"]


def test_rows_in_another_order_have_no_split(openml, monkeypatch):
    monkeypatch.setitem(KNOWN, "tiny", Known(3, 3, [2, 1], [2], openml=7, openml_drop=["speaker"]))
    assert datasets.load("tiny").split is None


@pytest.mark.parametrize("packed", [False, True])
def test_a_truncated_download(openml, tmp_path, packed):
    openml.packed = packed
    openml.length = 60
    with pytest.raises(datasets.ChecksumError, match="'tiny' came damaged from OpenML data set 7"):
        datasets.load("tiny")
    assert not (tmp_path / "cache").exists()


def test_a_wrong_checksum(openml, tmp_path):
    openml.sent = openml.file.replace(b"1.5", b"2.5")
    with pytest.raises(datasets.ChecksumError, match="came damaged from OpenML data set 7"):
        datasets.load("tiny")
    assert not (tmp_path / "cache").exists()


def test_another_data_set_under_the_number(openml, tmp_path):
    openml.sent = openml.file.replace(b"b\n3", b"a\n3")
    openml.description["md5_checksum"] = hashlib.md5(openml.sent).hexdigest()
    with pytest.raises(
        datasets.UnexpectedDataError, match="OpenML data set 7 is not the data set 'tiny': class counts"
    ):
        datasets.load("tiny")
    assert not (tmp_path / "cache").exists()


def test_a_damaged_cache(openml, tmp_path):
    tiny = datasets.load("tiny")
    path = Path(tiny.provenance["location"])
    path.write_bytes(path.read_bytes()[:20])
    with pytest.raises(datasets.ChecksumError, match="delete it to fetch it again"):
        datasets.load("tiny")
    path.unlink()
    assert datasets.load("tiny").frame.equals(tiny.frame)


def test_no_network(tmp_path):
    class Cut(urllib.request.HTTPSHandler):
        def https_open(self, request):
            raise urllib.error.URLError("Name or service not known")

    urllib.request.install_opener(urllib.request.build_opener(urllib.request.ProxyHandler({}), Cut))
    try:
        with pytest.raises(
            datasets.UnavailableError, match=r"'tiny' could not be fetched.*not known.*set OUTPUTCODES_DATA"
        ):
            datasets.load("tiny")
    finally:
        urllib.request.install_opener(urllib.request.build_opener())
    assert not (tmp_path / "cache").exists()


REAL = os.environ.get("OUTPUTCODES_DATA")


@pytest.mark.skipif(not REAL, reason="OUTPUTCODES_DATA names no directory")
@pytest.mark.parametrize("name", [name for name in KNOWN if name != "digits"])
def test_the_real_directory(monkeypatch, name):
    monkeypatch.setenv("OUTPUTCODES_DATA", REAL)
    entry = next(e for e in json.loads((Path(REAL) / "index.json").read_text())["datasets"] if e["name"] == name)
    bunch = datasets.load(name)
    assert bunch.target.astype(str).value_counts().to_dict() == entry["class_counts"]
    assert int(bunch.data.isna().to_numpy().sum()) == entry["missing_values"]
    texts = [c for c in bunch.data if bunch.data[c].dtype.kind not in "iuf" and bunch.data[c].notna().any()]
    assert set(texts) <= {*entry["categorical"], *entry["text_columns"]}
    if entry["train_rows"] is None:
        assert bunch.split is None
    else:
        assert bunch.split.value_counts().to_dict() == {"train": entry["train_rows"], "test": entry["test_rows"]}
