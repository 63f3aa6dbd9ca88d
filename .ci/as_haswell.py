"""Run a command as an x86-64 processor without AVX-512 would: python .ci/as_haswell.py COMMAND ARGUMENT…

Sums are then added in other orders, by OpenBLAS, by NumPy and by our compiled code.
"""

import os
import platform
import sys
from pathlib import Path

import numpy as np

CACHE = Path(__file__).resolve().parent.parent / "build" / "numba-haswell"


def avx512_groups() -> list[str]:
    """Return the names under which this NumPy uses AVX-512 on this machine; other names would be refused."""
    found = np.show_config(mode="dicts")["SIMD Extensions"].get("found", [])
    return [name for name in found if "AVX512" in name or name == "X86_V4"]


def environment() -> dict[str, str]:
    """Return the variables that differ."""
    variables = {
        "OPENBLAS_CORETYPE": "Haswell",
        "NUMBA_CPU_NAME": "haswell",
        "NUMBA_CPU_FEATURES": "",  # the name alone would keep the AVX-512 of the machine
        "NUMBA_CACHE_DIR": str(CACHE),
    }
    if groups := avx512_groups():
        variables["NPY_DISABLE_CPU_FEATURES"] = " ".join(groups)
    return variables


if __name__ == "__main__":
    if platform.machine().lower() not in ("x86_64", "amd64"):
        print(f"{platform.machine()} has no AVX-512 to do without: nothing is run.")
        sys.exit(0)
    os.execvpe(sys.argv[1], sys.argv[1:], os.environ | environment())
