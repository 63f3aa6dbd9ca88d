"""Workers of Dask keep what they have freed: the arrays of the next expression cost no page faults."""

from __future__ import annotations

import os
import platform
import subprocess
import sys

import pytest

FAULTS = """
import resource
import numpy as np
from outputcodes._ground.freed_memory import keep_freed_memory

def faults():
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(50):
        np.ones(1 << 17)
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before

given_back = faults()
keep_freed_memory()
faults()
print(given_back, faults())
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="the system has another malloc than glibc's")
def test_freed_memory_is_used_again_where_dask_has_it_given_back():
    own = os.environ | {"MALLOC_TRIM_THRESHOLD_": "65536"}
    run = subprocess.run([sys.executable, "-c", FAULTS], env=own, capture_output=True, text=True, check=True)
    given_back, kept = map(int, run.stdout.split())
    # An array of 1 MB has 256 pages of 4 KB.
    assert given_back > 50 * 200
    assert kept < given_back / 20
