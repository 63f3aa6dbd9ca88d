"""Names and messages as people read them: short, on one line, without the folders of a machine."""

import pytest

from outputcodes._ground.words import in_words, listed, quoted, shorten


def test_a_name_of_any_length_is_cut_in_the_middle():
    for length in (1, 20, 21, 79, 80, 81, 100_000):
        name = "".join(chr(97 + i % 26) for i in range(length))
        short = shorten(name)
        assert len(short) <= 20
        assert short == name or (short[:10], short[10], short[-9:]) == (name[:10], "…", name[-9:])
    assert shorten("a\n  b") == "a b"
    assert shorten(3) == "3"


def test_many_names_are_counted():
    assert listed(["a", "b"]) == "a, b"
    assert listed(list(range(12))) == "0, 1, 2, 3, 4, 5, 6, 7, 8, 9 and 2 more"
    assert quoted(["a", "it's"]) == """'a', "it's\""""
    assert quoted(range(22)).endswith("'18', '19' and 2 more")


class _KeptError(Exception):
    pass


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (ValueError("C=-1 must be\n positive."), "C=-1 must be positive."),
        (MemoryError(), "MemoryError"),
        (_KeptError("broken"), "KeptError: broken"),
        (RuntimeError("/opt/venv/lib/site-packages/numba/x.py:3 failed"), "RuntimeError: x.py:3 failed"),
        (RuntimeError(r"C:\Users\me\site-packages\numba\x.py failed"), "RuntimeError: x.py failed"),
        (ValueError("a rate of 3/4, or 1/2/3, in m/s"), "a rate of 3/4, or 1/2/3, in m/s"),
    ],
)
def test_a_message_names_no_folder_of_this_machine(error, expected):
    assert in_words(error) == expected
