"""check_code: every condition on a user's matrix, one by one."""

import warnings

import numpy as np
import pytest

from outputcodes.codes import check_code

GOOD = [[1, -1, 0], [-1, 1, 1], [-1, -1, -1]]


@pytest.mark.parametrize(
    "M",
    [
        GOOD,
        np.array(GOOD, dtype=float),
        np.array(GOOD, dtype=object),
        np.asfortranarray(GOOD),
        np.array(GOOD)[:, ::-1][:, ::-1],
    ],
)
@pytest.mark.parametrize("strict", [False, True])
def test_good_codes_come_back_as_contiguous_int8(M, strict):
    checked = check_code(M, strict=strict)
    assert checked.dtype == np.int8
    assert checked.flags.c_contiguous
    assert checked.tolist() == GOOD


@pytest.mark.parametrize(
    ("M", "message"),
    [
        ([[1, 2], [-1, 1]], r"-1, 0 and \+1, got 2 in row 0, column 1 \(1 such"),
        ([[1, 0.5], [-1, 1]], r"got 0\.5 in row 0, column 1"),
        ([[1, -1], [np.nan, 1]], "got nan in row 1, column 0"),
        ([[1, -1], [np.inf, 1]], "got inf in row 1, column 0"),
        (np.array([[255, 1], [1, 0]], dtype=np.uint8), "got 255 in row 0, column 0"),
        ([["a", "b"], ["c", "d"]], "rectangular table of numbers"),
        ([[1, None], [1, -1]], "rectangular table of numbers|got nan"),
        ([[1, -1], [1]], "rectangular table of numbers"),
        ([1, -1], r"got shape \(2,\)"),
        ([[[1], [-1]]], r"got shape \(1, 2, 1\)"),
        ([[1, -1]], r"at least 2 classes.*got shape \(1, 2\)"),
        (np.empty((3, 0)), r"1 column, got shape \(3, 0\)"),
        ([[1, -1], [0, 0], [-1, 1]], "all-zero rows 1:"),
        ([[1, 0, -1], [-1, 0, 1]], "all-zero columns 1:.*remove"),
        ([[1, -1], [-1, 1], [1, -1]], "equal rows 0 and 2:"),
        ([[1, 0, -1], [-1, 1, 1], [1, 0, -1]], "equal rows 0 and 2:"),
        (np.eye(3), r"columns with one sign only 0, 1, 2: .*over \{0, 1\} by 2 \* M - 1"),
        ([[1, 0], [0, 1], [1, 1]], r"columns with one sign only 0, 1: .*over \{0, 1\} by 2 \* M - 1"),
    ],
)
@pytest.mark.parametrize("strict", [False, True])
def test_faults_are_refused(M, message, strict):
    with pytest.raises(ValueError, match=message):
        check_code(M, strict=strict)


def test_one_sided_columns_warn_or_are_refused():
    M = [[1, 1, 1, 0], [-1, 1, 0, -1]]
    message = "columns with one sign only 1, 2, 3: .*both"
    with pytest.warns(UserWarning, match=message) as caught:
        assert check_code(M).tolist() == M
    assert caught[0].filename == __file__
    with pytest.raises(ValueError, match=message):
        check_code(M, strict=True)


@pytest.mark.parametrize(
    ("M", "message"),
    [
        # Only the first column is trained: it tells class 0 from the others, and nothing tells these apart.
        (
            [[1, 1], [-1, 0], [-1, 1]],
            "rows 1 and 2 are equal in all columns with both signs: columns with one sign only 1",
        ),
        ([[1, 1], [-1, 1], [0, 1]], "rows 2 are zero in all columns with both signs: columns with one sign only 1"),
    ],
)
def test_classes_that_only_one_sided_columns_distinguish_are_refused(M, message):
    with pytest.raises(ValueError, match=message):
        check_code(M)


@pytest.mark.parametrize("strict", [False, True])
def test_unseparated_rows_warn(strict):
    M = [[1, 0, 1], [0, 1, 1], [-1, -1, -1]]
    with pytest.warns(UserWarning, match="rows that no column opposes 0 and 1: .*add a column"):
        assert check_code(M, strict=strict).tolist() == M


def test_equal_and_mirrored_columns_are_allowed():
    M = [[1, 1, -1], [-1, -1, 1]]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert check_code(M, strict=True).tolist() == M


def test_long_lists_are_cut():
    with pytest.raises(ValueError, match=r"equal rows 0 and 1, 0 and 2, 0 and 3, 0 and 4, 0 and 5 \(and 4 more\)"):
        check_code([[1, -1]] * 10)
