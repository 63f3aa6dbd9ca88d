"""A journal survives whatever is written to it, and takes no file for its own that is not."""

from __future__ import annotations

import pytest

from outputcodes.app.workflow.journal import Journal, JournalError


@pytest.mark.parametrize("text", ["a\u2028b", "a\u0085b", "a\nb", "\ud800", "µ"])
def test_any_text_is_read_back(tmp_path, text):
    path = tmp_path / "results.jsonl"
    with Journal(path, {"columns": [text]}) as journal:
        journal.add({"failed": text})
    with Journal(path, {"columns": [text]}, resume=True) as journal:
        assert journal.lines == [{"failed": text}]


def test_a_description_alone_is_replaced_and_other_files_are_kept(tmp_path):
    path = tmp_path / "results.jsonl"
    with Journal(path, {"seed": 0}):
        pass
    with Journal(path, {"seed": 1}) as journal:
        journal.add({"fold": 0})
    assert path.read_text() == '{"seed": 1}\n{"fold": 0}\n'
    for foreign in ('{"my own": "data"}\n', "a line\n", "[1]\n"):
        path.write_text(foreign)
        with pytest.raises(JournalError):
            Journal(path, {"seed": 1})
        assert path.read_text() == foreign
