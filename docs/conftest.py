"""Examples of pages that write files do so elsewhere."""

import pytest


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(request, tmp_path, monkeypatch):
    if request.node.path.name in ("first-hour.md", "onnx.md"):
        monkeypatch.chdir(tmp_path)
