"""The built site, and the browser of the report's tests."""

import os
from pathlib import Path

import pytest
from app.report.conftest import browser  # noqa: F401


@pytest.fixture(scope="session")
def site():
    folder = Path(os.environ["OUTPUTCODES_SITE"]).resolve()
    assert (folder / "index.html").exists(), "Run make docs first."
    return folder
