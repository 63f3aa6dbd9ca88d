"""Rows of a sparse matrix without their empty features."""

import numpy as np
import scipy.sparse as sp

from outputcodes._ground.local_rows import local_rows, unnumbered


def test_local_rows_are_the_rows_and_leave_the_scratch_as_it_was():
    X = sp.random_array((20, 50), density=0.1, rng=np.random.default_rng(0), format="csr")
    scratch, rows = unnumbered(50), np.array([7, 3, 3, 19])
    local = local_rows(X, rows, scratch)
    shape = (len(rows), len(local.features))
    dense = np.zeros((len(rows), 50), dtype=np.float32)
    dense[:, local.features] = sp.csr_array(local[:3], shape=shape).toarray()
    assert np.array_equal(dense, X.toarray()[rows].astype(np.float32))
    assert (scratch == -1).all()
