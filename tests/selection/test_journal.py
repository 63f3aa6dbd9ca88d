"""A journal survives whatever is written to it, and takes no file for its own that is not."""

from __future__ import annotations

import subprocess
import sys

import pytest

from outputcodes.selection.journal import Journal, JournalError

HOLDER = """
import sys, time
from pathlib import Path
from outputcodes.selection.journal import Journal
with Journal(Path(sys.argv[1]), {"seed": 0}) as journal:
    journal.add({"fold": 0})
    print("held", flush=True)
    time.sleep(600)
"""


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


def test_a_journal_cut_anywhere_keeps_all_whole_lines(tmp_path):
    path, run = tmp_path / "results.jsonl", {"seed": 0}
    with Journal(path, run) as journal:
        for fold in range(3):
            journal.add({"fold": fold, "error": 0.1 + fold / 3, "name": "é\n"})
    content = path.read_bytes()
    for cut in range(len(content) + 1):
        path.write_bytes(content[:cut])
        with Journal(path, run, resume=True) as journal:
            assert journal.lines == [
                {"fold": f, "error": 0.1 + f / 3, "name": "é\n"} for f in range(len(journal.lines))
            ]
            assert len(journal.lines) == max(content[:cut].count(b"\n") - 1, 0)
            for fold in range(len(journal.lines), 3):
                journal.add({"fold": fold, "error": 0.1 + fold / 3, "name": "é\n"})
        assert path.read_bytes() == content


def test_a_damaged_journal(tmp_path):
    path = tmp_path / "results.jsonl"
    path.write_bytes(b'{"seed": 0}\nnonsense\n{"fold": 1}\n')
    with pytest.raises(JournalError, match="damaged"):
        Journal(path, {"seed": 0}, resume=True)


def test_one_run_at_a_time_and_a_killed_one_holds_nothing(tmp_path):
    path = tmp_path / "results.jsonl"
    holder = subprocess.Popen([sys.executable, "-c", HOLDER, str(path)], stdout=subprocess.PIPE, text=True)
    try:
        assert holder.stdout.readline() == "held\n"
        before = path.read_bytes()
        for resume in (True, False):
            with pytest.raises(JournalError, match="is being written by another run"):
                Journal(path, {"seed": 0}, resume=resume)
        assert path.read_bytes() == before
    finally:
        holder.kill()
        holder.wait()
        holder.stdout.close()
    with Journal(path, {"seed": 0}, resume=True) as journal:
        assert journal.lines == [{"fold": 0}]


def test_a_file_of_empty_lines_alone_is_written_over(tmp_path):
    path = tmp_path / "results.jsonl"
    with Journal(path, {"seed": 0}) as journal:
        journal.add({"decoders": {}})
    with pytest.raises(JournalError, match="earlier run"):
        Journal(path, {"seed": 0})
    with Journal(path, {"seed": 1}, is_empty=lambda line: not line["decoders"]) as journal:
        assert journal.lines == []
        journal.add({"decoders": {"loss": 1}})
    with pytest.raises(JournalError, match="differs in seed"):
        Journal(path, {"seed": 2}, is_empty=lambda line: not line["decoders"])


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b'{"seed": 0}\n{"fold": 0}\nnonsense\n{"fold": 1}\n', "line 3, is damaged: Expecting value.*Remove this line"),
        (b'{"seed": 0}\n[1]\n', "line 2, is damaged: it is a list, not a JSON object. Remove this line to measure it"),
        (b"\xff\n", "line 1, is damaged: .*Remove the file to start again, or write to another folder"),
        (b'{"seed": 0}\n{"fold": 0}\n{"fold": -1}\n', "line 3, is damaged: a fold of -1 is impossible. Remove this"),
        (b'{"seed": 0}\n{"error": 1}\n', "line 2, is damaged: KeyError: 'fold'. Remove this line to measure it again"),
    ],
)
def test_a_damaged_line_is_named_with_the_remedy(tmp_path, content, message):
    def check(line):
        if line["fold"] < 0:
            raise ValueError(f"a fold of {line['fold']} is impossible")

    path = tmp_path / "results.jsonl"
    path.write_bytes(content)
    with pytest.raises(JournalError, match=f"results.jsonl, {message}"):
        Journal(path, {"seed": 0}, resume=True, check=check)
    assert path.read_bytes() == content


def test_a_line_that_was_cut_off_is_dropped_with_a_note(tmp_path):
    path = tmp_path / "results.jsonl"
    path.write_bytes(b'{"seed": 0}\n{"fold": 0}\n{"fold": 1, "err')
    with Journal(path, {"seed": 0}, resume=True) as journal:
        assert journal.lines == [{"fold": 0}]
        assert journal.notes == [f"{path}: the last line was cut off when the run ended; it is measured again."]
    with Journal(path, {"seed": 0}, resume=True) as journal:
        assert journal.notes == []
