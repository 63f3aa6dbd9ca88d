"""A file that is being written appears under its name when it is whole, and not before."""

import pytest

from outputcodes._ground.files import in_place_of


def test_the_old_file_stays_until_the_new_one_is_whole(tmp_path):
    path = tmp_path / "results.json"
    path.write_text("old")
    with in_place_of(path) as part:
        part.write_text("new")
        assert (part.parent, path.read_text()) == (tmp_path, "old")
    assert path.read_text() == "new"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("written", [True, False])
def test_an_error_leaves_the_old_file_and_nothing_else(tmp_path, written):
    path = tmp_path / "results.json"
    path.write_text("old")

    def stopped():
        with in_place_of(path) as part:
            if written:
                part.write_text("half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        stopped()
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_two_writers_of_one_name_do_not_share_a_temporary_file(tmp_path):
    path = tmp_path / "results.json"
    with in_place_of(path) as first, in_place_of(path) as second:
        assert first != second
        first.write_text("first")
        second.write_text("second")
    assert path.read_text() == "first"
