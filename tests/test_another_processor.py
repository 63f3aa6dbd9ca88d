"""The second pass of CI is what it claims to be: no 512-bit register in compiled code, NumPy or OpenBLAS."""

import json
import os
import platform
import re
import subprocess
import sys
from pathlib import Path

import numba
import pytest

from outputcodes._histograms.stumps import score_cuts, sum_sides
from outputcodes.boosting._compiled.stumps import weigh_triples

AS_HASWELL = Path(__file__).resolve().parent.parent / ".ci" / "as_haswell.py"
MATRIX, VECTOR, SIGNS = numba.float64[:, ::1], numba.float64[::1], numba.int8[:, ::1]
KERNELS = [
    (sum_sides, (MATRIX, numba.int64, numba.boolean, MATRIX, MATRIX)),
    (score_cuts, (MATRIX, MATRIX, numba.int64, numba.boolean, VECTOR)),
    (weigh_triples, (numba.int64, numba.int64, SIGNS, SIGNS, MATRIX, VECTOR)),
]

pytestmark = pytest.mark.skipif(
    platform.machine().lower() not in ("x86_64", "amd64"), reason="not an x86-64 processor: it has no AVX-512"
)


def registers():
    """The vector registers that some kernels use, compiled for this process: numba does not show cached code."""
    found = set()
    for kernel, signature in KERNELS:
        own = numba.njit(nogil=True)(kernel.py_func)
        own.compile(signature)
        found |= set(re.findall(r"%([xyz]mm)", own.inspect_asm(own.signatures[0])))
    return sorted(found)


def processor():
    """What this process takes its processor for."""
    import numpy as np
    from threadpoolctl import threadpool_info

    return {
        "registers": registers(),
        "numpy": np.show_config(mode="dicts")["SIMD Extensions"]["found"],
        "blas": sorted({library["architecture"] for library in threadpool_info() if library["user_api"] == "blas"}),
    }


def elsewhere(command, **variables):
    """`processor()` of a new process with these variables, which compiles everything itself."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("NUMBA_", "NPY_", "OPENBLAS_CORETYPE", "PYTEST", "COV_"))
    }
    answer = subprocess.run(
        [*command, sys.executable, "-W", "error::ImportWarning", "-W", "error::RuntimeWarning", __file__],
        env=kept | variables,
        capture_output=True,
        text=True,
        check=True,
    )
    return json.loads(answer.stdout)


def test_a_command_runs_as_a_processor_without_avx512():
    found = elsewhere([sys.executable, str(AS_HASWELL)])
    assert found["registers"] == ["xmm", "ymm"]
    assert not [name for name in found["numpy"] if "AVX512" in name or name == "X86_V4"]
    assert found["blas"] == ["Haswell"]


def test_wide_registers_would_be_seen():
    # Compiled for a processor that has them, and not run.
    features = "+avx512f,+avx512vl,+avx512dq,+avx512bw,+avx512cd,-prefer-256-bit"
    found = elsewhere([], NUMBA_CPU_NAME="skylake-avx512", NUMBA_CPU_FEATURES=features)
    assert "zmm" in found["registers"]


def test_in_the_pass_without_avx512_this_process_does_without():
    if os.environ.get("NUMBA_CPU_NAME") != "haswell":
        pytest.skip("this is not the pass of `make test-haswell`")
    assert os.environ["OPENBLAS_CORETYPE"] == "Haswell"
    assert Path(os.environ["NUMBA_CACHE_DIR"]).is_dir()
    assert "zmm" not in registers()
    assert "ymm" in registers()


if __name__ == "__main__":
    print(json.dumps(processor()))
