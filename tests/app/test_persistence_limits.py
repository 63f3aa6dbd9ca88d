"""A small file can unpack to more than the memory holds: it is refused before it is unpacked, also where it lies."""

from __future__ import annotations

import io
import json
import struct
import tracemalloc
import zlib
from zipfile import ZIP_BZIP2, ZIP_DEFLATED, ZipFile

import numpy as np
import pytest
from scipy.sparse import csr_array, save_npz
from sklearn.datasets import load_iris

from outputcodes import OutputCodeClassifier
from outputcodes.app import persistence
from outputcodes.app.persistence import archive, describe, load, save

pytest.importorskip("skops")

LIMIT = 1 << 20
ZEROS = bytes(20 << 20)


@pytest.fixture(scope="module")
def model():
    X, y = load_iris(return_X_y=True)
    return OutputCodeClassifier("ridge").fit(X, y)


@pytest.fixture
def saved(tmp_path, model):
    save(model, tmp_path / "m.skops")
    return tmp_path / "m.skops"


def changed(path, change, compression=ZIP_DEFLATED):
    """The archive with its members changed: change(members) on a dict of bytes."""
    with ZipFile(path) as old:
        members = {name: old.read(name) for name in old.namelist()}
    change(members)
    with ZipFile(path, "w", compression) as new:
        for name, content in members.items():
            new.writestr(name, content)


def refused(path, **more):
    """What `load` and `describe` say, with the memory that they took at most."""
    messages = []
    for reader in (load, describe):
        tracemalloc.start()
        with pytest.raises(persistence.ModelFileError) as raised:
            reader(path, **more)
        taken = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert taken < 8 * LIMIT, f"{taken} bytes"
        messages.append((type(raised.value), str(raised.value)))
    assert messages[0] == messages[1]
    return messages[0]


@pytest.mark.parametrize("name", ["zeros.npy", "schema.json", persistence.MANIFEST])
def test_a_member_that_unpacks_to_more_than_the_limit(saved, name):
    changed(saved, lambda members: members.update({name: ZEROS}))
    kind, message = refused(saved, max_bytes=LIMIT)
    assert kind is persistence.TooLargeModelError
    assert str(saved) in message
    assert "the limit is 1.0 MB" in message
    assert "max_bytes=" in message
    assert "--max-bytes " in message


def test_the_limit_can_be_raised_to_what_the_message_says(saved):
    with pytest.raises(persistence.TooLargeModelError) as raised:
        load(saved, max_bytes=1000)
    needed = int(str(raised.value).rpartition("--max-bytes ")[2].rstrip(")."))
    assert load(saved, max_bytes=needed)[0].classes_.tolist() == [0, 1, 2]
    with pytest.raises(persistence.TooLargeModelError):
        load(saved, max_bytes=needed - 1)


def lying(path, name, declared, content):
    """An archive whose directory and header declare fewer bytes than a member holds, with a checksum to match."""
    with ZipFile(path, "a", ZIP_DEFLATED) as archive:
        archive.writestr(name, content)
    raw = bytearray(path.read_bytes())
    truth = struct.pack("<LL", zlib.crc32(content), 0)[:4]
    size, fake = struct.pack("<L", len(content)), struct.pack("<L", declared)
    crc = struct.pack("<L", zlib.crc32(content[:declared]))
    places = [i for i in range(len(raw)) if raw.startswith(truth, i)]
    assert len(places) == 2
    for place in places:  # checksum, packed size, size
        raw[place : place + 4] = crc
        assert raw[place + 8 : place + 12] == size
        raw[place + 8 : place + 12] = fake
    path.write_bytes(raw)


def test_a_directory_that_lies(saved):
    lying(saved, "zeros.npy", 100, ZEROS)
    with ZipFile(saved) as packed:
        assert packed.getinfo("zeros.npy").file_size == 100
    tracemalloc.start()
    # The first bytes are as declared, and nothing refers to the member: the model is whole, and no more was unpacked.
    loaded, _ = load(saved, max_bytes=LIMIT)
    taken = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert taken < 8 * LIMIT
    assert loaded.classes_.tolist() == [0, 1, 2]


def test_an_archive_in_the_archive(saved):
    npz = io.BytesIO()
    save_npz(npz, csr_array((1, 1)))
    with ZipFile(npz, "a", ZIP_DEFLATED) as inner:
        inner.writestr("more.npy", ZEROS)
    changed(saved, lambda members: members.update({"0.npz": npz.getvalue()}))
    assert refused(saved, max_bytes=LIMIT)[0] is persistence.TooLargeModelError


def test_one_member_read_again_and_again(saved):
    def repeat(members):
        schema = json.loads(members["schema.json"])
        buffer = io.BytesIO()
        np.save(buffer, np.zeros(1000))
        members["a.npy"] = buffer.getvalue()
        node = {"__class__": "ndarray", "__module__": "numpy", "__loader__": "NdArrayNode", "type": "numpy"}
        schema["more"] = [node | {"file": "a.npy", "__id__": i} for i in range(200)]
        members["schema.json"] = json.dumps(schema).encode()

    changed(saved, repeat)
    assert refused(saved, max_bytes=LIMIT + (1 << 19))[0] is persistence.TooLargeModelError


def test_another_compression(saved):
    changed(saved, lambda members: None, ZIP_BZIP2)
    kind, message = refused(saved)
    assert kind is persistence.NotAModelError
    assert "compression" in message


def test_sparse_matrices_survive(tmp_path):
    X, y = load_iris(return_X_y=True)
    model = OutputCodeClassifier("kernel-svm").fit(csr_array(X), y)
    save(model, tmp_path / "m.skops")
    with ZipFile(tmp_path / "m.skops") as packed:
        assert any(name.endswith(".npz") for name in packed.namelist())
    loaded, _ = load(tmp_path / "m.skops")
    np.testing.assert_array_equal(loaded.decision_function(csr_array(X)), model.decision_function(csr_array(X)))


@pytest.mark.parametrize("ending", sorted(persistence.files.OTHER_FORMATS))
def test_an_ending_that_promises_another_format(tmp_path, model, ending):
    with pytest.raises(persistence.ModelFileError, match=rf"m\{ending} ends in \{ending}.*name it m\.skops"):
        save(model, tmp_path / f"m{ending}")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", ["m.skops", "m", "model.v2"])
def test_other_endings_are_free(tmp_path, model, name):
    save(model, tmp_path / name)
    assert load(tmp_path / name)[0].classes_.tolist() == [0, 1, 2]


def test_a_limit_of_nothing(saved):
    with pytest.raises(persistence.ModelFileError, match="max_bytes=0 must be at least 1"):
        load(saved, max_bytes=0)
    assert archive.MAX_BYTES == 1 << 30
